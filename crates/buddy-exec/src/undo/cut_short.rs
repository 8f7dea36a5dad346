//! The changes of a command whose call did not come to its end: everything that differs from its snapshot, as far as
//! the command can have done it.
//!
//! Files go on changing after the command is dead, and these changes are somebody else's. The mark of the supervisor
//! tells when the last process of the command was gone. A path that was made later is no change of the call. Of one
//! that was there before and was touched later nobody knows who changed it, and the same holds for all paths if the
//! end is not known: such changes are *doubtful*, and undo leaves them alone unless it is forced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use buddy_protocol::PathText;

use super::journal::{Read, Record, end_mark_of, snapshot_of};
use super::not_covered::left_out;
use super::state::State;
use super::store::{UndoError, is_interrupted};
use super::whole_tree::Everything;
use crate::end_mark::{changed_at, read_end};
use crate::jail::is_stand_in;

/// The most entries that are looked at in the directories of a command.
const MAX_NAMES: usize = 10_000;

const TOUCHED_LATER: &str = "it was changed after the call had ended";
const GONE_LATER: &str = "it may have been removed after the call had ended";
const END_UNKNOWN: &str = "it is not known when the call ended, so this may be somebody else's change";

/// A change that no record tells of.
pub(super) struct UnrecordedChange {
    pub(super) path: PathText,
    pub(super) before: State,
    pub(super) after: State,
    /// The reason why it may be somebody else's.
    pub(super) doubt: Option<String>,
}

/// What bounds the changes of the command.
#[derive(Debug, Clone, Copy)]
enum CommandEnd {
    /// It still runs.
    Ahead,
    At(i128),
    Unknown,
}

/// Who changed a path.
enum ChangedBy {
    Call,
    SomebodyElse,
    Doubtful(&'static str),
}

/// The changes of a command that no record tells of yet; none if all of its commands came to their end.
pub(super) fn unrecorded(journal: &Read) -> Result<Vec<UnrecordedChange>, UndoError> {
    let mut found = Vec::new();
    if !is_interrupted(journal) {
        return Ok(found);
    }
    let Ok(snapshot) = fs::read_to_string(snapshot_of(&journal.path)) else { return Ok(found) };
    let end = command_end(journal);
    let reach = Everything::new()?;
    let mut known = BTreeSet::new();
    let mut add = |path: PathBuf, before: State| {
        // It holds a name for commands that run, and the mount over it goes with it.
        if is_stand_in(&path) {
            return;
        }
        // A path that cannot be read is reported as a conflict later.
        let after = reach.state(&path).unwrap_or(State::Absent);
        let doubt = match changed_by(&path, &before, end) {
            _ if after == before => return,
            ChangedBy::SomebodyElse => return,
            ChangedBy::Call => None,
            ChangedBy::Doubtful(why) => Some(why.to_owned()),
        };
        found.push(UnrecordedChange { path: PathText(path), before, after, doubt });
    };
    let lines = snapshot.lines().filter_map(|line| serde_json::from_str::<(PathText, State)>(line).ok());
    for (path, before) in lines {
        known.insert(path.0.clone());
        add(path.0, before);
    }
    let roots = journal.records.iter().filter_map(|record| match record {
        Record::Command { roots } => Some(roots),
        _ => None,
    });
    let left_out: Vec<PathBuf> =
        journal.records.iter().filter_map(left_out).map(|left_out| left_out.path.0).collect();
    for path in roots.flatten().flat_map(|root| new_paths(&root.0, &known, &left_out)) {
        add(path, State::Absent);
    }
    Ok(found)
}

/// The journal of a call is locked by the buddy that makes the call.
fn command_end(journal: &Read) -> CommandEnd {
    let is_held = File::open(&journal.path).is_ok_and(|file| file.try_lock_shared().is_err());
    if is_held {
        return CommandEnd::Ahead;
    }
    read_end(&end_mark_of(&journal.path)).map_or(CommandEnd::Unknown, CommandEnd::At)
}

fn changed_by(path: &Path, before: &State, end: CommandEnd) -> ChangedBy {
    let at = match end {
        CommandEnd::Ahead => return ChangedBy::Call,
        CommandEnd::Unknown => return ChangedBy::Doubtful(END_UNKNOWN),
        CommandEnd::At(at) => at,
    };
    let Ok(metadata) = path.symlink_metadata() else {
        return if above_changed_at(path).is_some_and(|changed| changed <= at) {
            ChangedBy::Call
        } else {
            ChangedBy::Doubtful(GONE_LATER)
        };
    };
    let is_new = *before == State::Absent;
    match made_at(&metadata) {
        Some(made) if is_new && made > at => ChangedBy::SomebodyElse,
        // Its time stamps follow those of its entries, which are changes of their own.
        Some(_) if is_new && metadata.is_dir() => ChangedBy::Call,
        _ if changed_at(&metadata) <= at => ChangedBy::Call,
        _ => ChangedBy::Doubtful(TOUCHED_LATER),
    }
}

/// When an entry of the nearest directory above a path that exists was last made, moved or removed.
fn above_changed_at(path: &Path) -> Option<i128> {
    let above = path.ancestors().skip(1).find_map(|above| above.symlink_metadata().ok())?;
    Some(changed_at(&above))
}

/// When an object was made, where its file system knows it.
fn made_at(metadata: &Metadata) -> Option<i128> {
    let made = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i128::try_from(made.as_nanos()).ok()
}

/// Paths below a root that are not known, except in directories that are not covered.
fn new_paths(root: &Path, known: &BTreeSet<PathBuf>, left_out: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut queue = vec![root.to_owned()];
    while let Some(directory) = queue.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if left_out.contains(&path) || found.len() >= MAX_NAMES {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                queue.push(path.clone());
            }
            if !known.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// The doubts about the changes, by path.
pub(super) fn doubts(unrecorded: &[UnrecordedChange]) -> BTreeMap<PathText, String> {
    let doubt = |change: &UnrecordedChange| change.doubt.clone().map(|doubt| (change.path.clone(), doubt));
    unrecorded.iter().filter_map(doubt).collect()
}
