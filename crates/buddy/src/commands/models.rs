//! `buddy models`.

use buddy_tui::Exit;

use crate::commands::printer;
use crate::commands::setup::{Invocation, Notes};

/// Lists the profiles.
pub(crate) async fn list(invocation: &Invocation<'_>, as_json: bool) -> anyhow::Result<Exit> {
    let setup = invocation.prepare(Notes::Warnings).await?;
    let rows = setup.models.rows();
    let mut printer = printer();
    if as_json {
        printer.line(&serde_json::to_string_pretty(&rows)?)?;
        return Ok(Exit::Ok);
    }
    let cells = rows.iter().map(|row| {
        let mark = if row.active { "*" } else { " " };
        let key = format!("{} {}", row.key_source, row.key);
        [format!("{mark} {}", row.name), row.model.clone(), row.api.to_owned(), row.host.clone(), key]
    });
    let heads = ["  PROFILE", "MODEL", "API", "HOST", "KEY"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heads).chain(cells).collect();
    printer.answer(&table(&rows))?;
    Ok(Exit::Ok)
}

fn table(rows: &[[String; 5]]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
