//! The list of changes, and what became of an undo.

use buddy_protocol::operations::{ChangeHeader, ChangeList, UndoOutcome, UndoPreview, UndoableChange};
use buddy_protocol::{PrincipalKind, UnixMillis};
use buddy_tui::{Exit, ListView, Printer, Table, TableCell, TableColumn};

use super::undo_rows::{Tense, count_paths, preview_rows};

const COLUMNS: [TableColumn; 7] = [
    TableColumn::word("ID"),
    TableColumn::word("WHEN").dropped_at(1),
    TableColumn::number("PATHS").dropped_at(3),
    TableColumn::word("STATUS").dropped_at(2),
    TableColumn::word("TARGET").dropped_at(4),
    TableColumn::word("PROJECT").dropped_at(5),
    TableColumn::free("CALL"),
];

/// The list of changes. The project of the working directory is not named.
pub(crate) fn changes_table(list: &ChangeList, changes: &[UndoableChange], view: &ListView) -> Table {
    let mut table = Table::new(&COLUMNS, "there is nothing to undo");
    let ids: Vec<&str> = changes.iter().map(|change| change.header.id.as_str()).collect();
    for (change, id) in changes.iter().zip(view.ids(&ids)) {
        let header = &change.header;
        let status = match change {
            UndoableChange { is_covered: false, .. } => TableCell::failed("not kept"),
            UndoableChange { is_undone: true, .. } => "undone".into(),
            UndoableChange { is_interrupted: true, .. } => TableCell::waiting("interrupted"),
            _ => "".into(),
        };
        let is_elsewhere = change.project.as_ref().is_some_and(|project| *project != list.project);
        let elsewhere = header.workspace.as_ref().filter(|_| is_elsewhere);
        table.add([
            id.into(),
            view.time(UnixMillis(header.unix_ms)).into(),
            change.changes.to_string().into(),
            status,
            header.target.as_ref().map(|target| target.name.clone()).unwrap_or_default().into(),
            elsewhere.map(|workspace| view.path(&workspace.to_string())).unwrap_or_default().into(),
            label_of(header).into(),
        ]);
    }
    table
}

/// The call, and the client that made it. The user who reads the list did or let do all else.
fn label_of(header: &ChangeHeader) -> String {
    let label = header.label.replace('\n', "⏎");
    match header.by.as_ref().filter(|by| by.kind() == PrincipalKind::Agent) {
        Some(client) => format!("{label}  (by {})", client.name),
        None => label,
    }
}

/// Where an undo is asked for, which decides the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UndoFace {
    /// In a conversation, with `/undo` or `/redo`.
    Conversation,
    /// On the command line.
    CommandLine {
        /// Whether the change was named.
        is_named: bool,
        /// Whether the preview was printed already.
        is_previewed: bool,
        /// Whether a program reads the report, so that no row of paths is printed.
        is_json: bool,
    },
}

impl UndoFace {
    /// Whether the paths are still to be printed.
    fn has_rows(self) -> bool {
        match self {
            Self::Conversation => true,
            Self::CommandLine { is_previewed, is_json, .. } => !is_previewed && !is_json,
        }
    }
}

/// Prints what an undo would do.
pub(crate) fn print_preview(preview: &UndoPreview, printer: &mut Printer) {
    print_rows(preview, Tense::Ahead, printer);
}

fn print_rows(preview: &UndoPreview, tense: Tense, printer: &mut Printer) {
    for row in preview_rows(preview, tense) {
        printer.status(&row);
    }
}

/// Prints what became of an undo.
pub(crate) fn print_outcome(outcome: &UndoOutcome, face: UndoFace, printer: &mut Printer) -> Exit {
    match outcome {
        UndoOutcome::Nothing { .. } => printer.status("there is nothing to undo"),
        UndoOutcome::Undone { id, preview, swept, left_of_prompt } => {
            if face.has_rows() {
                print_rows(preview, Tense::Behind, printer);
            }
            for note in swept {
                printer.status(note);
            }
            let (back, it) = match (face, preview.header.is_redo()) {
                (UndoFace::Conversation, true) => ("/undo".to_owned(), "it"),
                (UndoFace::Conversation, false) => ("/redo".to_owned(), "it"),
                (UndoFace::CommandLine { .. }, _) => (format!("`buddy undo {id} --yes`"), "this"),
            };
            let left = match left_of_prompt {
                None | Some(0) => String::new(),
                Some(1) => ". 1 more change of this prompt is left".to_owned(),
                Some(left) => format!(". {left} more changes of this prompt are left"),
            };
            printer.status(&format!("{}; {back} takes {it} back{left}", count_paths(preview)));
            return Exit::Ok;
        }
        UndoOutcome::Busy { message, .. } => {
            printer.status(&format!("buddy: nothing was undone: {message}"));
        }
        UndoOutcome::Changed { .. } => {
            printer.status("buddy: nothing was undone, as files changed while you were asked; try again");
        }
        UndoOutcome::Conflicts { preview } => {
            if face.has_rows() {
                print_rows(preview, Tense::Ahead, printer);
            }
            let (done, command) =
                if preview.header.is_redo() { ("redone", "/redo") } else { ("undone", "/undo") };
            let force = if face == UndoFace::Conversation {
                format!("{command} --force")
            } else {
                "--force".to_owned()
            };
            printer.status(&format!(
                "buddy: nothing was {done}, as paths were changed since; `{force}` restores them all the same"
            ));
        }
        UndoOutcome::NotRestorable { preview } => {
            if face.has_rows() {
                print_rows(preview, Tense::Ahead, printer);
            }
            let again = match face {
                UndoFace::Conversation => "type /undo again",
                UndoFace::CommandLine { is_named: false, .. } => "run `buddy undo` again",
                UndoFace::CommandLine { is_named: true, .. } => "run `buddy undo`",
            };
            printer.status(&format!("nothing was undone; to undo the change before it, {again}"));
        }
    }
    Exit::Failed
}
