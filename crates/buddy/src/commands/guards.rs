//! `buddy guards`.

use std::io::{IsTerminal, Write};

use anyhow::bail;
use buddy_tui::Exit;
use similar::TextDiff;

use crate::cli::GuardsAction;
use crate::commands::printer;
use crate::environment::Environment;
use crate::policy::{Guards, Pending, check_guards};

/// Shows the guards or approves their change.
pub(crate) fn run(environment: &Environment, action: &GuardsAction) -> anyhow::Result<Exit> {
    let guards = Guards::new(&environment.data);
    let standing = guards.standing()?;
    let mut printer = printer();
    let approved = standing.approved.as_deref().unwrap_or("");
    let Some(pending) = standing.pending else {
        let text = if approved.is_empty() { "only the built-in guards take effect" } else { approved };
        printer.answer(&format!("{}\n", text.trim_end()))?;
        return Ok(Exit::Ok);
    };
    let wanted = match &pending {
        Pending::Text(text) => text.as_str(),
        Pending::Removal => "",
    };
    let diff = TextDiff::from_lines(approved, wanted);
    printer.answer(&diff.unified_diff().header("takes effect", "waits for your approval").to_string())?;
    if !wanted.is_empty() {
        check_guards(wanted)?;
    }
    match action {
        GuardsAction::Show => {
            let file = guards.file().display();
            printer.status(&format!("To put {file} into effect, run: buddy guards approve"));
        }
        GuardsAction::Approve => {
            if !confirmed()? {
                printer.status("Nothing changed.");
                return Ok(Exit::Failed);
            }
            guards.approve(&pending)?;
            printer.status("Approved. It takes effect at once.");
        }
    }
    Ok(Exit::Ok)
}

/// A user at a terminal says yes. What an agent runs has no terminal.
fn confirmed() -> anyhow::Result<bool> {
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
