//! Undo and redo: the changes of calls, and what taking one back does to each path.

use serde::{Deserialize, Serialize};

use crate::{ItemId, PathText, Principal, SessionId, SessionTarget};

/// The beginning of the label of an undo.
const UNDO_OF: &str = "undo of: ";
/// The beginning of the label of an undo that was taken back.
const REDO_OF: &str = "redo of: ";

/// The changes that a request is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeScope {
    /// Those of the project that the working directory is in.
    Project,
    /// Those of a session, by its id.
    Session(String),
    /// Those of a conversation: of a session and, up to the time of the copy, of those that it was copied from.
    Conversation(SessionId),
    /// All.
    All,
}

/// Lists changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListChanges {
    /// Which ones.
    pub scope: ChangeScope,
}

/// Counts changes that stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountChanges {
    /// The calls that may have made them.
    pub calls: Vec<ItemId>,
}

/// Changes, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeList {
    /// The project that the working directory is in.
    pub project: PathText,
    /// The changes.
    pub changes: Vec<UndoableChange>,
}

/// The change to undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UndoChoice {
    /// The newest that was not undone.
    Newest(ChangeScope),
    /// The newest undo in a conversation that was not taken back.
    NewestUndo(SessionId),
    /// The change with this id, or with an id that begins with these digits.
    Change(String),
}

/// Asks what an undo would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewUndo {
    /// The change.
    pub choice: UndoChoice,
}

/// Undoes a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoChange {
    /// The change.
    pub choice: UndoChoice,
    /// The conversation that wants it. The undo belongs to it, so that a copy redoes its own undos.
    pub conversation: Option<SessionId>,
    /// The preview that the user agreed to. Nothing is undone if files changed since.
    pub seen: Option<UndoPreview>,
    /// Whether paths are restored that changed since.
    pub is_forced: bool,
    /// Whether a change of which undo has nothing is passed over, so that the next undo takes the one before it.
    pub passes_over: bool,
    /// How long to wait for calls that change files of the project, in milliseconds.
    pub wait_ms: u64,
}

/// The outcome of an undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum UndoOutcome {
    /// There is nothing to undo.
    Nothing {
        /// The project that the working directory is in.
        project: PathText,
    },
    /// Paths were restored.
    Undone {
        /// The id of the undo.
        id: String,
        /// The undo that was done.
        preview: UndoPreview,
        /// Notes about files that a command may have planted and that were not restored.
        swept: Vec<String>,
        /// How many changes of the same prompt are left, if a conversation wanted the undo.
        left_of_prompt: Option<usize>,
    },
    /// Nothing was undone, because paths were changed since.
    Conflicts {
        /// The undo that would be done.
        preview: UndoPreview,
    },
    /// Nothing was undone, because files changed since the user saw the preview.
    Changed {
        /// The undo that would be done now.
        preview: UndoPreview,
    },
    /// Nothing was undone, because calls change files of the project.
    Busy {
        /// The undo that would be done.
        preview: UndoPreview,
        /// The reason, for people.
        message: String,
    },
    /// Nothing was undone, because undo has nothing of this change.
    NotRestorable {
        /// The change.
        preview: UndoPreview,
    },
}

/// The properties of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeHeader {
    /// Its id: that of the call.
    pub id: String,
    /// The call, in one line.
    pub label: String,
    /// The session that it was in.
    pub session: String,
    /// The directory on this machine that the session works in; absent in changes of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathText>,
    /// The time, in milliseconds since 1970.
    pub unix_ms: u64,
    /// The change that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// The target that it is about; absent for this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<SessionTarget>,
    /// The user or the client that asked for it; absent for the agent's own calls and in changes of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Principal>,
}

impl ChangeHeader {
    /// Whether its undo does a change again.
    pub fn is_redo(&self) -> bool {
        self.undoes.is_some() && !self.label.starts_with(REDO_OF)
    }

    /// The call that its label is about, however often it was undone and redone.
    pub fn subject(&self) -> &str {
        let mut label = self.label.as_str();
        while let Some(rest) = label.strip_prefix(UNDO_OF).or_else(|| label.strip_prefix(REDO_OF)) {
            label = rest;
        }
        label
    }

    /// The label of its undo.
    pub fn undo_label(&self) -> String {
        let prefix = if self.is_redo() { REDO_OF } else { UNDO_OF };
        format!("{prefix}{}", self.subject())
    }
}

/// A change that can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoableChange {
    /// Its properties.
    pub header: ChangeHeader,
    /// The number of paths that it changed.
    pub changes: usize,
    /// Whether it was undone, and that was not undone in turn.
    pub is_undone: bool,
    /// Whether its command or undo did not come to its end.
    pub is_interrupted: bool,
    /// A path that it changed, or the directory that its command ran in.
    pub path: Option<PathText>,
    /// Whether all changes that are known can be undone.
    pub is_covered: bool,
    /// The project that it is of, if its directory is known.
    pub project: Option<PathText>,
}

/// The effects of undoing a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoPreview {
    /// The change.
    pub header: ChangeHeader,
    /// Path by path; paths that are already as they were are left out.
    pub steps: Vec<UndoStep>,
    /// Changes that cannot be undone.
    pub not_covered: Vec<UncoveredChange>,
    /// Whether the call did not come to its end, so that it is unknown which of these changes are its own.
    pub is_interrupted: bool,
    /// Whether undo has all changes of the call.
    pub is_covered: bool,
    /// The directory of its session without links, as in the paths of the steps.
    pub root: Option<PathText>,
}

impl UndoPreview {
    /// Whether the call changed something, and undo can restore nothing of it.
    pub fn is_beyond_undo(&self) -> bool {
        self.steps.is_empty() && !self.is_covered
    }

    /// Whether a path was changed since.
    pub fn has_conflicts(&self) -> bool {
        self.steps.iter().any(|step| step.conflict.is_some())
    }
}

/// The change of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoStep {
    /// The path, without links.
    pub path: PathText,
    /// The state now.
    pub now: PathState,
    /// The state before the call.
    pub to: PathState,
    /// The reason why restoring it would lose a change that the call did not make.
    pub conflict: Option<String>,
}

/// A path whose changes cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncoveredChange {
    /// The path, the directory in which changes are not known, or the receiver of work that was sent.
    pub path: PathText,
    /// The reason.
    pub why: String,
    /// Whether it is known to have changed. Otherwise buddy did not look there.
    pub is_changed: bool,
}

/// The object at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum PathState {
    /// No object.
    Absent,
    /// A regular file.
    File {
        /// The SHA-256 of its content, in hexadecimal.
        digest: String,
        /// Its size in bytes.
        size: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Its target.
        target: PathText,
    },
    /// A directory.
    Directory {
        /// Its permission bits.
        mode: u32,
    },
    /// An object that was not kept.
    NotKept {
        /// The reason.
        why: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(label: &str, undoes: Option<&str>) -> ChangeHeader {
        ChangeHeader {
            id: "call_1".to_owned(),
            label: label.to_owned(),
            session: String::new(),
            workspace: None,
            unix_ms: 0,
            undoes: undoes.map(str::to_owned),
            target: None,
            by: None,
        }
    }

    #[test]
    fn the_label_of_an_undo_names_the_call_once() {
        let call = header("edit a.txt", None);
        assert_eq!((call.is_redo(), call.undo_label().as_str()), (false, "undo of: edit a.txt"));
        let undo = header(&call.undo_label(), Some("call_1"));
        assert_eq!((undo.is_redo(), undo.undo_label().as_str()), (true, "redo of: edit a.txt"));
        let redo = header(&undo.undo_label(), Some("undo_1"));
        assert_eq!((redo.is_redo(), redo.undo_label().as_str()), (false, "undo of: edit a.txt"));
    }
}
