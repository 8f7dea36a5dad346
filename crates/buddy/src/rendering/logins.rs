//! The parts that were deleted when the user logged out.

use buddy_protocol::operations::{LogOutReport, TokenRevocation};
use buddy_tui::{Exit, Printer};

/// Prints it. Tokens that could not be revoked are a failure.
pub(crate) fn print_log_out(report: &LogOutReport, printer: &mut Printer) -> Exit {
    for warning in &report.warnings {
        printer.status(&format!("warning: {warning}"));
    }
    if report.keys.is_empty() && report.logins.is_empty() {
        printer.status("Not logged in.");
    }
    for key in &report.keys {
        printer.status(&format!("Removed the key for `{}`.", key.profile));
    }
    let mut exit = Exit::Ok;
    for login in &report.logins {
        let name = &login.provider;
        printer.status(&match &login.tokens {
            TokenRevocation::Done => format!("Logged out of {name}."),
            TokenRevocation::NotOffered => format!(
                "Logged out of {name} here. The provider cannot revoke tokens, so they stay valid until they expire."
            ),
            TokenRevocation::Failed(error) => {
                exit = Exit::Failed;
                format!("Logged out of {name} here, but buddy could not revoke its tokens: {error}")
            }
        });
    }
    exit
}
