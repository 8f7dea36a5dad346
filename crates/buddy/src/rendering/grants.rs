//! The list of saved grants.

use buddy_protocol::operations::SavedGrant;
use buddy_tui::{ListView, Table, TableColumn};

/// The target that is not named, as it is the usual one.
const LOCAL: &str = "local";

const COLUMNS: [TableColumn; 5] = [
    TableColumn::number("N"),
    TableColumn::free("ALLOWS"),
    TableColumn::free("FOLDER"),
    TableColumn::word("TARGET").dropped_at(2),
    TableColumn::word("EXPIRES").dropped_at(1),
];

/// The grants with their numbers, by which they are revoked.
pub(crate) fn grants_table(grants: &[SavedGrant], view: &ListView) -> Table {
    let mut table = Table::new(&COLUMNS, "No saved permissions.");
    for (number, grant) in (1..).zip(grants) {
        let project = grant.project.as_ref().map(|project| view.path(project));
        table.add([
            number.to_string().into(),
            grant.allows.as_str().into(),
            project.unwrap_or_else(|| "everywhere".to_owned()).into(),
            if grant.target == LOCAL { "".into() } else { grant.target.as_str().into() },
            view.time(grant.expires).into(),
        ]);
    }
    table
}
