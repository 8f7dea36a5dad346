//! The undo store: entries and blobs of all sessions of this account, in one folder.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use buddy_protocol::{Clock, PathText};
use serde::Serialize;

use super::folder::Shared;
use super::journal::{Header, Read, Record};
use super::project::ProjectLock;
use super::recorder::Recorder;
use super::settings::UndoSettings;
use super::state::State;
use crate::{OrderGuard, TargetError};

/// The reason why an entry could not be undone.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no entry of this name.
    #[error("there is no entry `{0}` to undo")]
    NotFound(String),
    /// There is no entry that was not undone yet.
    #[error("there is nothing to undo")]
    Nothing,
    /// Calls still change files of the project.
    #[error(
        "a call of buddy still changes files in this project; wait for its end or stop it, and try again"
    )]
    Busy,
    /// Paths were changed since.
    #[error("{0} of the paths were changed since, or are in the way")]
    Conflicts(usize),
    /// A needed content was evicted.
    #[error("the old content of `{}` is no longer kept", .0.display())]
    Gone(PathBuf),
    /// A path could not be restored. Paths restored before it were put back.
    #[error("cannot restore `{}`", path.display())]
    Restore {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A path could not be reached.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Files that commands planted could not be told from others.
    #[error("buddy cannot look after files that programs run by themselves: {0}")]
    Unwatched(String),
    /// The store itself failed.
    #[error("the undo store failed")]
    Store(#[from] io::Error),
}

/// The entry that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// The newest that was not undone, and is no undo itself.
    Last,
    /// The entry of this name.
    Id(String),
}

/// One line of the list of entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoEntry {
    /// Its properties.
    pub header: Header,
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
    /// Whether its call is known to have come to its end.
    #[serde(skip)]
    is_ended: bool,
}

impl UndoEntry {
    /// Whether it is a change that nobody took back, or passed over because undo has nothing of it.
    fn is_standing_change(&self) -> bool {
        let is_change = self.changes > 0 || self.is_interrupted || !self.is_covered;
        is_change && !self.is_undone && self.header.undoes.is_none()
    }
}

/// The store.
#[derive(Clone)]
pub struct UndoStore {
    pub(super) shared: Arc<Shared>,
}

impl UndoStore {
    /// The store in this folder, which is made with the first entry.
    pub fn new(folder: PathBuf, settings: UndoSettings, clock: Arc<dyn Clock>) -> Self {
        Self::with_guard(folder, settings, clock, None)
    }

    /// The same, and what an undo restores is kept from names that programs take orders from if commands may have planted it.
    pub fn with_guard(
        folder: PathBuf,
        settings: UndoSettings,
        clock: Arc<dyn Clock>,
        guard: Option<OrderGuard>,
    ) -> Self {
        Self { shared: Arc::new(Shared::new(folder, settings, clock, guard)) }
    }

    /// A recorder for one call.
    pub fn begin(&self, header: Header) -> Recorder {
        Recorder::new(self.shared.clone(), header)
    }

    /// All entries, newest first.
    pub fn list(&self) -> Result<Vec<UndoEntry>, UndoError> {
        let journals = self.shared.read()?;
        let undone = undone(&journals);
        let line = |journal: &Read| UndoEntry {
            changes: journal.records.iter().filter(|record| matches!(record, Record::Change { .. })).count(),
            is_undone: undone.contains(&journal.header.id),
            is_interrupted: is_interrupted(journal),
            is_covered: is_covered(journal),
            is_ended: is_ended(journal),
            path: any_path(journal),
            header: journal.header.clone(),
        };
        Ok(journals.iter().rev().map(line).collect())
    }

    /// The newest change among these entries, of which the newest is the first. An undone one does not count, and neither does one
    /// that was cut short before it changed anything.
    pub fn newest<'e>(&self, entries: &'e [UndoEntry]) -> Result<Option<&'e UndoEntry>, UndoError> {
        for entry in entries.iter().filter(|entry| entry.is_standing_change()) {
            // A plan for another host needs a connection.
            let is_sure = entry.is_ended || entry.header.target.is_some();
            if is_sure || !self.plan(&Which::Id(entry.header.id.clone()))?.is_void() {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    pub(super) fn find(&self, which: &Which) -> Result<Read, UndoError> {
        let journals = self.shared.read()?;
        let undone = undone(&journals);
        let is_wanted = |journal: &&Read| match which {
            Which::Last => journal.header.undoes.is_none() && !undone.contains(&journal.header.id),
            Which::Id(id) => journal.header.id == *id,
        };
        journals.iter().rev().find(is_wanted).cloned().ok_or_else(|| match which {
            Which::Last => UndoError::Nothing,
            Which::Id(id) => UndoError::NotFound(id.clone()),
        })
    }

    /// Waits until no call changes files of the project of this directory, and keeps calls from it until the
    /// lock is dropped.
    pub fn claim(&self, directory: &Path, wait: Duration) -> Result<ProjectLock, UndoError> {
        self.shared.claim(directory, wait)?.ok_or(UndoError::Busy)
    }

    /// Waits until no undo restores files of the project of this directory.
    pub async fn wait_for_undo(&self, directory: PathBuf) -> io::Result<()> {
        let shared = self.shared.clone();
        let waited = tokio::task::spawn_blocking(move || shared.enter(&directory).map(drop)).await;
        waited.unwrap_or_else(|error| Err(error.into()))
    }

    /// Removes the oldest entries while the store is over its limits.
    pub fn evict(&self) {
        self.shared.evict();
    }
}

/// The names of entries that were undone by an undo that came to its end and was not undone itself.
fn undone(journals: &[Read]) -> HashSet<String> {
    let mut undone = HashSet::new();
    for journal in journals.iter().rev() {
        let is_done = journal.records.contains(&Record::Undone);
        if let Some(other) = journal.header.undoes.clone().filter(|_| is_done)
            && !undone.contains(&journal.header.id)
        {
            undone.insert(other);
        }
    }
    undone
}

/// A path that the entry is about.
fn any_path(journal: &Read) -> Option<PathText> {
    journal.records.iter().find_map(|record| match record {
        Record::Change { path, .. } | Record::NotCovered { path, .. } => Some(path.clone()),
        Record::Command { roots } => roots.first().cloned(),
        _ => None,
    })
}

/// Whether all changes that are known are kept.
pub(super) fn is_covered(journal: &Read) -> bool {
    let has_command = journal.records.iter().any(|record| matches!(record, Record::Command { .. }));
    let is_left_out = |record: &Record| match record {
        Record::NotCovered { is_changed, .. } => *is_changed || !has_command,
        Record::Change { before, .. } => matches!(before, State::NotKept { .. }),
        _ => false,
    };
    !journal.records.iter().any(is_left_out)
}

/// Whether the call of the entry is known to have come to its end.
pub(super) fn is_ended(journal: &Read) -> bool {
    journal.records.iter().any(|record| matches!(record, Record::Ended | Record::Undone))
}

/// Whether a command or an undo of the entry did not come to its end.
pub(super) fn is_interrupted(journal: &Read) -> bool {
    let count = |wanted: fn(&Record) -> bool| journal.records.iter().filter(|record| wanted(record)).count();
    let begun = count(|record| matches!(record, Record::Command { .. }));
    let ended = count(|record| matches!(record, Record::CommandEnded));
    begun > ended || (journal.header.undoes.is_some() && !journal.records.contains(&Record::Undone))
}
