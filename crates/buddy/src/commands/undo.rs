//! `buddy undo`.

use std::io::{BufRead, IsTerminal, Read};

use anyhow::Context;
use buddy_protocol::Operations;
use buddy_protocol::operations::{
    ChangeList, ChangeScope, ListChanges, PreviewUndo, UndoChange, UndoChoice, UndoOutcome, UndoPreview,
    UndoableChange,
};
use buddy_tui::{Exit, Printer};
use serde_json::json;

use crate::cli::Undo;
use crate::commands::listing;
use crate::invocation::Invocation;
use crate::operations::HomeOperations;
use crate::rendering::{UndoFace, changes_table, print_outcome, print_preview};

/// The most entries that a list for people has; `--limit` and JSON have more.
const MAX_LISTED: usize = 10;
/// How long an undo waits for calls that change files of its project.
const CLAIM_WAIT_MS: u64 = 10_000;
/// The longest answer that is read.
const MAX_ANSWER: u64 = 1_024;

/// Lists what can be undone, or undoes it.
pub(crate) async fn run(invocation: &Invocation<'_>, undo: &Undo) -> anyhow::Result<Exit> {
    let scope = scope(undo);
    let operations = invocation.operations();
    if undo.list {
        let changes =
            operations.list_changes(operations.owner(), ListChanges { scope: scope.clone() }).await?;
        return list(invocation, undo, &scope, &changes);
    }
    let choice = undo.id.clone().map_or_else(|| UndoChoice::Newest(scope.clone()), UndoChoice::Change);
    let mut printer = Printer::standard();
    let mut seen = None;
    if !undo.yes {
        let Some(preview) =
            operations.preview_undo(operations.owner(), PreviewUndo { choice: choice.clone() }).await?
        else {
            return nothing(&operations, &scope, &mut printer).await;
        };
        if !undo.listing.is_json() {
            print_preview(&preview, &mut printer);
        }
        let is_possible = !preview.has_conflicts() || undo.force;
        if is_possible && !preview.steps.is_empty() && !is_wanted(&mut printer)? {
            printer.status("nothing was undone");
            report(undo, &preview, None, &mut printer)?;
            return Ok(Exit::Failed);
        }
        seen = Some(preview);
    }
    // The change that was shown is undone, and nothing newer.
    let choice = seen.as_ref().map_or(choice, |preview| UndoChoice::Change(preview.header.id.clone()));
    let previewed = seen.clone();
    let request = UndoChange {
        choice,
        conversation: None,
        // A change that undo cannot restore is passed over where somebody can read that.
        passes_over: seen.is_none() || std::io::stdin().is_terminal(),
        seen,
        is_forced: undo.force,
        wait_ms: 0,
    };
    let mut outcome = operations.undo_change(operations.owner(), request.clone()).await?;
    if matches!(outcome, UndoOutcome::Busy { .. }) {
        printer.status("waiting for a call that changes files in this project …");
        outcome = operations
            .undo_change(operations.owner(), UndoChange { wait_ms: CLAIM_WAIT_MS, ..request })
            .await?;
    }
    let (preview, id) = match &outcome {
        UndoOutcome::Nothing { .. } => return nothing(&operations, &scope, &mut printer).await,
        UndoOutcome::Undone { preview, id, .. } => (preview, Some(id.as_str())),
        UndoOutcome::Conflicts { preview }
        | UndoOutcome::Changed { preview }
        | UndoOutcome::Busy { preview, .. }
        | UndoOutcome::NotRestorable { preview } => (preview, None),
    };
    let face = UndoFace::CommandLine {
        is_named: undo.id.is_some(),
        // An undo that left paths as they are has more to tell.
        is_previewed: previewed.as_ref() == Some(preview),
        is_json: undo.listing.is_json(),
    };
    let exit = print_outcome(&outcome, face, &mut printer);
    report(undo, preview, id, &mut printer)?;
    Ok(exit)
}

/// Prints the plan and whether it was carried out, for a program.
fn report(
    undo: &Undo,
    preview: &UndoPreview,
    done: Option<&str>,
    printer: &mut Printer,
) -> anyhow::Result<()> {
    if undo.listing.is_json() {
        let report = json!({"plan": preview, "done": done.is_some(), "id": done});
        printer.line(&serde_json::to_string_pretty(&report)?)?;
    }
    Ok(())
}

/// Says that there is nothing to undo.
async fn nothing(
    operations: &HomeOperations,
    scope: &ChangeScope,
    printer: &mut Printer,
) -> anyhow::Result<Exit> {
    printer.status(&match scope {
        ChangeScope::Project => {
            let list =
                operations.list_changes(operations.owner(), ListChanges { scope: scope.clone() }).await?;
            let project = list.project.0.display();
            format!("there is nothing to undo in {project}; `buddy undo --list --all` lists other projects")
        }
        ChangeScope::Session(session) => format!("there is nothing to undo in {session}"),
        ChangeScope::Conversation(_) | ChangeScope::All => "there is nothing to undo".to_owned(),
    });
    Ok(Exit::Ok)
}

fn list(
    invocation: &Invocation<'_>,
    undo: &Undo,
    scope: &ChangeScope,
    list: &ChangeList,
) -> anyhow::Result<Exit> {
    // A note that a change was passed over is no change.
    let is_note = |change: &&UndoableChange| change.header.undoes.is_some() && change.changes == 0;
    let changes: Vec<_> = list.changes.iter().filter(|change| !is_note(change)).cloned().collect();
    listing::print(invocation, &undo.listing, changes, |changes, view, printer| {
        let most = undo.listing.limit.unwrap_or(MAX_LISTED);
        let (listed, left) = changes.split_at_checked(most).unwrap_or((changes, &[]));
        changes_table(list, listed, view).hint("Undo one with `buddy undo ID`").print(view, printer)?;
        if !left.is_empty() {
            let (total, scope) = (changes.len(), flags(scope));
            printer.status(&format!("… and {} more: `buddy undo --list{scope} --limit {total}`", left.len()));
        }
        Ok(())
    })
}

/// The changes that are meant.
fn scope(undo: &Undo) -> ChangeScope {
    match &undo.session {
        Some(session) => ChangeScope::Session(session.clone()),
        None if undo.all => ChangeScope::All,
        None => ChangeScope::Project,
    }
}

/// The options that mean them.
fn flags(scope: &ChangeScope) -> String {
    match scope {
        ChangeScope::Project | ChangeScope::Conversation(_) => String::new(),
        ChangeScope::Session(session) => format!(" --session {session}"),
        ChangeScope::All => " --all".to_owned(),
    }
}

/// Asks on a terminal. Where nobody can be asked the answer is no.
fn is_wanted(printer: &mut Printer) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        printer.status("buddy: there is no terminal to ask on; `--yes` does it without asking");
        return Ok(false);
    }
    printer.prompt("Restore these paths? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().take(MAX_ANSWER).read_line(&mut answer);
    read.context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
