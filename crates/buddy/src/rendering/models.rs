//! The list of model profiles.

use buddy_protocol::operations::ModelRow;
use buddy_tui::{Table, TableColumn};

const COLUMNS: [TableColumn; 6] = [
    TableColumn::word("  PROFILE"),
    TableColumn::free("MODEL"),
    TableColumn::word("API").dropped_at(3),
    TableColumn::word("HOST").dropped_at(2),
    TableColumn::word("CONTEXT").dropped_at(4),
    TableColumn::word("KEY").dropped_at(1),
];

/// The profiles; the one in use is marked.
pub(crate) fn models_table(rows: &[ModelRow]) -> Table {
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
            row.api.as_str().into(),
            row.host.as_str().into(),
            context.into(),
            format!("{} {}", row.key_source, row.key).into(),
        ]);
    }
    table
}
