//! `buddy models`.

use buddy_tui::{Exit, Table, TableColumn};

use crate::cli::Listing;
use crate::commands::listing;
use crate::commands::setup::{Invocation, Notes};
use crate::models::Row;

const COLUMNS: [TableColumn; 6] = [
    TableColumn::word("  PROFILE"),
    TableColumn::free("MODEL"),
    TableColumn::word("API").dropped_at(3),
    TableColumn::word("HOST").dropped_at(2),
    TableColumn::word("CONTEXT").dropped_at(4),
    TableColumn::word("KEY").dropped_at(1),
];

/// Lists the profiles. Of the active one, a server nearby is asked for its context window.
pub(crate) async fn list(invocation: &Invocation<'_>, listing: &Listing) -> anyhow::Result<Exit> {
    let setup = invocation.prepare(Notes::Warnings).await?;
    let models = setup.models.now();
    models.look(None).await;
    listing::print(invocation, listing, models.rows(), |rows, view, printer| {
        table(rows)
            .hint("Use one with `buddy -m PROFILE`, connect one with `buddy login`")
            .print(view, printer)
    })
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&COLUMNS, "No models.");
    for row in rows {
        let mark = if row.active { "*" } else { " " };
        let context = match (row.context_window, row.context_source) {
            (Some(tokens), Some(source)) => format!("{tokens} ({source})"),
            _ => "unknown".to_owned(),
        };
        table.add([
            format!("{mark} {}", row.name).into(),
            row.model.as_str().into(),
            row.api.into(),
            row.host.as_str().into(),
            context.into(),
            format!("{} {}", row.key_source, row.key).into(),
        ]);
    }
    table
}
