//! How every list is printed.

use std::io::IsTerminal;

use buddy_protocol::Clock;
use buddy_tui::{Exit, ListView, OutputClosed, Printer};
use serde::Serialize;

use crate::cli::ListFlags;
use crate::config::{DisplaySection, load};
use crate::desk::list_look;
use crate::invocation::Invocation;
use crate::system::SystemClock;

/// Prints what there is, up to the limit: as one array of JSON, or as `shown` does it for people.
pub(super) fn print<T: Serialize>(
    invocation: &Invocation<'_>,
    listing: &ListFlags,
    mut rows: Vec<T>,
    shown: impl FnOnce(&[T], &ListView, &mut Printer) -> Result<(), OutputClosed>,
) -> anyhow::Result<Exit> {
    rows.truncate(listing.limit.unwrap_or(usize::MAX));
    let mut printer = Printer::standard();
    let printed = if listing.is_json() {
        printer.line(&serde_json::to_string_pretty(&rows)?)
    } else {
        shown(&rows, &view(invocation), &mut printer)
    };
    Ok(if printed.is_ok() { Exit::Ok } else { Exit::OutputClosed })
}

/// How lists look where the output goes.
pub(super) fn view(invocation: &Invocation<'_>) -> ListView {
    if !std::io::stdout().is_terminal() {
        return ListView::plain();
    }
    // A configuration that cannot be read is told by the commands that need it.
    let loaded = load(invocation.environment, &invocation.cwd, &invocation.request);
    let display = loaded.map_or_else(|_| DisplaySection::default(), |loaded| loaded.config.display);
    let look = list_look(invocation.environment, &display);
    ListView::on_terminal(look, &invocation.cwd.to_string_lossy(), SystemClock.now())
}
