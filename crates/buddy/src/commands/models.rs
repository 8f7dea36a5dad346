//! `buddy models`.

use buddy_tui::Exit;

use crate::cli::Listing;
use crate::commands::listing;
use crate::commands::setup::{Invocation, Notes};
use crate::models::Row;

/// The columns of the table.
const COLUMNS: usize = 6;

/// Lists the profiles. Of the active one, a server nearby is asked for its context window.
pub(crate) async fn list(invocation: &Invocation<'_>, listing: &Listing) -> anyhow::Result<Exit> {
    let setup = invocation.prepare(Notes::Warnings).await?;
    setup.models.look(None).await;
    let rows = setup.models.rows();
    listing::print(listing, rows, |rows, printer| printer.answer(&table(&lines(rows))))
}

fn lines(rows: &[Row]) -> Vec<[String; COLUMNS]> {
    let cells = rows.iter().map(|row| {
        let mark = if row.active { "*" } else { " " };
        let key = format!("{} {}", row.key_source, row.key);
        let context = match (row.context_window, row.context_source) {
            (Some(tokens), Some(source)) => format!("{tokens} ({source})"),
            _ => "unknown".to_owned(),
        };
        let (name, api) = (format!("{mark} {}", row.name), row.api.to_owned());
        [name, row.model.clone(), api, row.host.clone(), context, key]
    });
    let heads = ["  PROFILE", "MODEL", "API", "HOST", "CONTEXT", "KEY"].map(str::to_owned);
    std::iter::once(heads).chain(cells).collect()
}

fn table(rows: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS).map(width).collect();
    let line = |row: &[String; COLUMNS]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
