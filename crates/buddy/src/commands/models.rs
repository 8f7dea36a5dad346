//! `buddy models`.

use buddy_protocol::Operations;
use buddy_tui::{Exit, Printer};

use crate::cli::ListFlags;
use crate::commands::listing;
use crate::invocation::Invocation;
use crate::rendering::models_table;

/// Lists the profiles.
pub(crate) async fn list(invocation: &Invocation<'_>, listing: &ListFlags) -> anyhow::Result<Exit> {
    let operations = invocation.operations();
    let found = operations.list_models(operations.owner()).await?;
    for warning in &found.warnings {
        Printer::standard().status(&format!("warning: {warning}"));
    }
    listing::print(invocation, listing, found.models, |rows, view, printer| {
        models_table(rows)
            .hint("Use one with `buddy -m PROFILE`, connect one with `buddy login`")
            .print(view, printer)
    })
}
