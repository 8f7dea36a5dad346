//! `buddy guards`.

use std::io::{IsTerminal, Write};

use anyhow::bail;
use buddy_protocol::Operations;
use buddy_protocol::operations::ApproveGuards;
use buddy_tui::{Exit, Printer};

use crate::cli::GuardsAction;
use crate::invocation::Invocation;

/// Shows the guards or approves their change.
pub(crate) async fn run(invocation: &Invocation<'_>, action: &GuardsAction) -> anyhow::Result<Exit> {
    let operations = invocation.operations();
    let view = operations.show_guards(operations.owner()).await?;
    let mut printer = Printer::standard();
    let Some(pending) = view.pending else {
        let approved = view.approved.unwrap_or_default();
        let text = if approved.is_empty() { "only the built-in guards take effect" } else { &approved };
        printer.answer(&format!("{}\n", text.trim_end()))?;
        return Ok(Exit::Ok);
    };
    printer.answer(&pending.diff)?;
    if let Some(problem) = pending.problem {
        return Err(problem.into());
    }
    match action {
        GuardsAction::Show => {
            printer.status(&format!("To put {} into effect, run: buddy guards approve", view.file));
        }
        GuardsAction::Approve => {
            if !confirm()? {
                printer.status("Nothing changed.");
                return Ok(Exit::Failed);
            }
            operations.approve_guards(operations.owner(), ApproveGuards { seen: pending.text }).await?;
            printer.status("Approved. It takes effect at once.");
        }
    }
    Ok(Exit::Ok)
}

/// A user at a terminal says yes. What an agent runs has no terminal.
fn confirm() -> anyhow::Result<bool> {
    let input = std::io::stdin();
    if !input.is_terminal() {
        bail!("only a user at a terminal can approve this");
    }
    let mut status = std::io::stderr();
    write!(status, "let this take effect? [y/n] ")?;
    status.flush()?;
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "yes"))
}
