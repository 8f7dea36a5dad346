//! The outcome of the trust in a folder.

use std::path::Path;

use buddy_tui::Printer;

/// Says that a folder is trusted now.
pub(crate) fn print_trusted(path: &str, printer: &mut Printer) {
    printer.status(&format!("Trusted {path}: buddy reads its settings and can change files there."));
}

/// Says that a folder is not trusted now.
pub(crate) fn print_distrusted(folder: &Path, was_trusted: bool, printer: &mut Printer) {
    let verdict = if was_trusted { "no longer trusted" } else { "was not trusted" };
    printer.status(&format!("{}: {verdict}", folder.display()));
}
