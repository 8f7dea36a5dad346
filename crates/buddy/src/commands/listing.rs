//! How every list is printed.

use buddy_tui::{Exit, OutputClosed, Printer};
use serde::Serialize;

use crate::cli::Listing;
use crate::commands::printer;

/// Prints what there is, up to the limit: as one array of JSON, or as `shown` does it for people.
pub(super) fn print<T: Serialize>(
    listing: &Listing,
    mut rows: Vec<T>,
    shown: impl FnOnce(&[T], &mut Printer) -> Result<(), OutputClosed>,
) -> anyhow::Result<Exit> {
    rows.truncate(listing.limit.unwrap_or(usize::MAX));
    let mut printer = printer();
    let printed = if listing.is_json() {
        printer.line(&serde_json::to_string_pretty(&rows)?)
    } else {
        shown(&rows, &mut printer)
    };
    Ok(if printed.is_ok() { Exit::Ok } else { Exit::OutputClosed })
}
