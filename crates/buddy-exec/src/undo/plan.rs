//! The plan of an undo: the new state of each path, and conflicts with later changes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use buddy_protocol::PathText;
use serde::Serialize;

use super::cut_short::{UnrecordedChange, doubts, unrecorded};
use super::journal::{Beside, Header, Read, Record};
use super::kept_directories::keep_directories;
use super::left_behind::left_behind;
use super::not_covered::{NotCovered, left_out};
use super::state::State;
use super::step::Step;
use super::store::{UndoError, UndoStore, Which, is_covered, is_ended, is_interrupted};
use super::whole_tree::Everything;

/// The effects of undoing an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndoPlan {
    /// The entry.
    pub header: Header,
    /// Path by path; paths that are already as they were are left out.
    pub steps: Vec<Step>,
    /// Changes that cannot be undone.
    pub not_covered: Vec<NotCovered>,
    /// Whether the call did not come to its end, so that it is unknown which of these changes are its own.
    pub is_interrupted: bool,
    /// Whether undo has all changes of the call.
    pub is_covered: bool,
    /// Whether the call is known to have come to its end.
    #[serde(skip)]
    pub(super) is_ended: bool,
    /// Whether a path that cannot be restored is left as it is, and the others are restored.
    #[serde(skip)]
    pub(super) is_forced: bool,
    /// The directories that it is about.
    #[serde(skip)]
    pub(super) roots: Vec<PathBuf>,
    /// Set if other commands ran while the states before were kept.
    #[serde(skip)]
    pub(super) beside: Option<Beside>,
}

impl UndoPlan {
    /// Whether the entry changed something, and undo can restore nothing of it.
    pub fn is_beyond_undo(&self) -> bool {
        self.steps.is_empty() && !self.is_covered
    }

    /// Whether the call was cut short, or still runs, and changed nothing so far.
    pub fn is_void(&self) -> bool {
        self.steps.is_empty() && self.is_covered && !self.is_ended
    }

    /// The same plan without a step: to pass over an entry that undo cannot restore.
    pub fn passing_over(mut self) -> Self {
        self.steps.clear();
        self
    }

    /// The same plan for a user who was told of the conflicts and wants the old states all the same. The
    /// replaced states are kept, as the undo is an entry too.
    pub fn overwriting(mut self) -> Self {
        self.steps.iter_mut().for_each(|step| step.conflict = None);
        self.is_forced = true;
        self
    }

    /// The plan as it was carried out: these paths were left as they are.
    pub fn leaving(mut self, left: Vec<NotCovered>) -> Self {
        self.steps.retain(|step| left.iter().all(|left| left.path != step.path));
        self.not_covered.extend(left);
        self
    }

    /// The number of steps with a conflict.
    pub fn conflicts(&self) -> usize {
        self.steps.iter().filter(|step| step.conflict.is_some()).count()
    }
}

impl UndoStore {
    /// The plan of undoing an entry, by the present states.
    pub fn plan(&self, which: &Which) -> Result<UndoPlan, UndoError> {
        let journal = self.find(which)?;
        let mut changes = changes(&journal);
        let unrecorded = unrecorded(&journal)?;
        let doubts = doubts(&unrecorded);
        for UnrecordedChange { path, before, after, .. } in unrecorded {
            changes.insert(path, (before, after));
        }
        let reach = Everything::new()?;
        let mut steps = Vec::new();
        let mut not_covered = not_covered(&journal);
        let is_covered = is_covered(&journal) && !not_covered.iter().any(|place| place.is_changed);
        for (path, (before, after)) in changes {
            if let State::NotKept { why } = before {
                not_covered.push(NotCovered { path, why, is_changed: true });
                continue;
            }
            let now = reach.state(&path.0).map_err(|error| error.to_string());
            let doubt = doubts.get(&path);
            let step = step(path, before, &after, now);
            steps
                .extend(step.map(|step| Step { conflict: step.conflict.or_else(|| doubt.cloned()), ..step }));
        }
        let roots = roots(&journal);
        let real_roots = real_paths(&roots);
        not_covered.extend(keep_directories(&mut steps, &real_roots));
        let made = missing_directories(&steps, &real_roots, &reach);
        steps.extend(made);
        steps.sort_by(|first, second| first.path.cmp(&second.path));
        Ok(UndoPlan {
            header: journal.header.clone(),
            steps,
            not_covered,
            is_interrupted: is_interrupted(&journal),
            is_covered,
            is_ended: is_ended(&journal),
            is_forced: false,
            roots,
            beside: beside(&journal),
        })
    }
}

/// Steps for the directories in the workspace that are gone, and that paths which are restored were in. They get the mode of the one
/// that is above them.
fn missing_directories(steps: &[Step], roots: &[PathBuf], reach: &Everything) -> Vec<Step> {
    let mut made: BTreeMap<PathBuf, State> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.to != State::Absent) {
        let above = step.path.0.ancestors().skip(1);
        let mut missing = Vec::new();
        for directory in above.take_while(|directory| roots.iter().any(|root| directory.starts_with(root))) {
            let is_stepped = steps.iter().any(|other| other.path.0 == directory);
            match reach.state(directory) {
                Ok(State::Absent) if !is_stepped => missing.push(directory.to_owned()),
                Ok(State::Directory { mode }) => {
                    made.extend(missing.drain(..).map(|path| (path, State::Directory { mode })));
                    break;
                }
                // A link, a file, or a directory that the plan makes anyway.
                _ if !is_stepped => break,
                _ => {}
            }
        }
    }
    let step = |(path, to)| Step { path: PathText(path), now: State::Absent, to, conflict: None };
    made.into_iter().map(step).collect()
}

/// The directories of its commands, or that of its session.
pub(super) fn roots(journal: &Read) -> Vec<PathBuf> {
    let commands = journal.records.iter().filter_map(|record| match record {
        Record::Command { roots } | Record::Beside { roots, .. } => Some(roots),
        _ => None,
    });
    let mut roots: Vec<PathBuf> =
        commands.flatten().chain(&journal.header.workspace).map(|root| root.0.clone()).collect();
    roots.sort();
    roots.dedup_by(|inner, outer| inner.starts_with(&*outer));
    roots
}

/// The directories without links, as in the steps.
fn real_paths(roots: &[PathBuf]) -> Vec<PathBuf> {
    roots.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone())).collect()
}

fn beside(journal: &Read) -> Option<Beside> {
    let mut beside: Option<Beside> = None;
    for record in &journal.records {
        if let Record::Beside { roots, opened } = record {
            let all = beside.get_or_insert_default();
            all.roots.extend(roots.iter().map(|root| root.0.clone()));
            all.opened.extend(opened.iter().map(|path| path.0.clone()));
        }
    }
    beside
}

/// The step for a path, from its states before and after the call and now, or the reason why the last is
/// unknown. `None` when it is as it was.
pub(super) fn step(path: PathText, before: State, after: &State, now: Result<State, String>) -> Option<Step> {
    let (now, blocked) = match now {
        Ok(now) => (now, None),
        Err(error) => (State::Absent, Some(error)),
    };
    if now == before && blocked.is_none() {
        return None;
    }
    let is_as_left = now == *after || matches!(after, State::NotKept { .. });
    let conflict =
        blocked.or_else(|| (!is_as_left).then(|| format!("it was changed since: {}", now.describe())));
    Some(Step { path, now, to: before, conflict })
}

/// The places that an entry changed, or may have, and of which nothing is kept. A command that was cut short is compared now.
pub(super) fn not_covered(journal: &Read) -> Vec<NotCovered> {
    let ended = journal.records.iter().rposition(|record| *record == Record::CommandEnded);
    let pending = journal.records.iter().skip(ended.map_or(0, |at| at + 1)).filter_map(left_behind);
    journal.records.iter().cloned().chain(pending).filter_map(|record| left_out(&record)).collect()
}

/// For each path its states before its first recorded change and after its last.
pub(super) fn changes(journal: &Read) -> BTreeMap<PathText, (State, State)> {
    let mut changes: BTreeMap<PathText, (State, State)> = BTreeMap::new();
    for record in &journal.records {
        if let Record::Change { path, before, after } = record {
            let entry = changes.entry(path.clone()).or_insert_with(|| (before.clone(), after.clone()));
            entry.1 = after.clone();
        }
    }
    changes
}
