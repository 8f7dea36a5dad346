//! The order of a line's changes: steps that may put a link somewhere, and later changes that would go through it.
//!
//! Links are looked up before a line runs, so one that the line itself moves, copies, unpacks or checks out is not seen. This says
//! which changes could meet such a link, and what has to be known of it. A step that stands before another is
//! only then taken to be over first if nothing in the line repeats it or runs it at the same time.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::touch::{TouchAccess, TouchReach};
use crate::Carried;
use crate::shell::ShellScript;

/// The place of a simple command in a script.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    index: usize,
    /// Commands before it that can still run when it is done.
    beside: Vec<Range<usize>>,
    /// Whether it and every other command of its script can run after it.
    repeats: bool,
}

impl Level {
    /// The place of a command of a script.
    pub(super) fn of(script: &ShellScript, index: usize) -> Self {
        let runs_with =
            |(earlier, later): &(Range<usize>, Range<usize>)| later.contains(&index).then(|| earlier.clone());
        Self {
            index,
            beside: script.overlaps.iter().filter_map(runs_with).collect(),
            repeats: script.repeats,
        }
    }

    /// The place of a command that another one runs as often as it likes.
    pub(super) fn repeated(index: usize) -> Self {
        Self { index, beside: Vec::new(), repeats: true }
    }
}

/// A step after which links may be at a place.
#[derive(Debug, Clone)]
pub(crate) struct BringingStep {
    pub(super) at: Vec<Level>,
    pub(super) to: TouchReach,
    /// The files that come there with all the links that they are or hold.
    pub(super) from: Vec<Carried>,
    /// Whether nobody can know which links come there.
    pub(super) is_unknown: bool,
    /// The targets of links that it makes: a link that is there by then counts too.
    pub(super) leads_to: Vec<PathBuf>,
}

/// A change of a file.
#[derive(Debug, Clone)]
pub(crate) struct ChangingStep {
    pub(super) at: Vec<Level>,
    pub(super) access: TouchAccess,
    pub(super) reach: TouchReach,
    pub(super) risky: Option<String>,
}

/// The steps of a line.
#[derive(Debug, Default)]
pub(crate) struct LineSteps {
    pub(super) brings: Vec<BringingStep>,
    pub(super) changes: Vec<ChangingStep>,
    /// Whether a part of the line runs in the background, so that it can come after any other.
    pub(super) has_background: bool,
}

/// A change that could go through a link that the same line brings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Crossing {
    pub(crate) path: PathBuf,
    /// The files that would bring it: if none is or holds a link, there is none. Nothing if that cannot be known.
    pub(crate) carried: Option<Vec<Carried>>,
    pub(crate) risky: Option<String>,
}

impl LineSteps {
    /// The changes that could go through links which the line brings.
    pub(crate) fn crossings(&self) -> Vec<Crossing> {
        let mut crossings = Vec::new();
        for (at, step) in self.brings.iter().enumerate() {
            let mut met = self.changes.iter().filter(|change| self.precedes(&step.at, &change.at));
            let Some(change) = met.find(|change| self.meets(change, &step.to)) else { continue };
            let Some(path) = change.reach.path() else { continue };
            let carried = self.carried(at);
            if carried.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            let crossing = Crossing { path: path.to_owned(), carried, risky: change.risky.clone() };
            if !crossings.contains(&crossing) {
                crossings.push(crossing);
            }
        }
        crossings
    }

    /// Everything that comes with a step, from steps before it too; nothing if that cannot be known.
    fn carried(&self, at: usize) -> Option<Vec<Carried>> {
        let (mut open, mut seen) = (vec![at], BTreeSet::from([at]));
        let mut carried: Vec<Carried> = Vec::new();
        while let Some(step) = open.pop().and_then(|at| self.brings.get(at)) {
            if step.is_unknown {
                return None;
            }
            carried.extend(step.from.iter().cloned());
            let sources: Vec<&Path> = step.from.iter().map(Carried::path).collect();
            let leads_to = step.leads_to.iter().map(PathBuf::as_path);
            let sources: Vec<&Path> = sources.into_iter().chain(leads_to).collect();
            for (other, before) in self.brings.iter().enumerate() {
                let holds = before.to.path().is_some_and(|to| sources.iter().any(|path| overlap(path, to)));
                if holds && self.precedes(&before.at, &step.at) && seen.insert(other) {
                    open.push(other);
                }
            }
        }
        carried.dedup();
        Some(carried)
    }

    /// Whether a change could go through a link at the place, or below it.
    fn meets(&self, change: &ChangingStep, place: &TouchReach) -> bool {
        let (Some(path), Some(to)) = (change.reach.path(), place.path()) else { return false };
        let is_link_itself = matches!(place, TouchReach::Path(_));
        match (change.access, &change.reach) {
            // Written into a directory, files get names in it.
            (TouchAccess::Write | TouchAccess::Perhaps, _) => overlap(path, to),
            // A removed link goes by itself, unless the program follows it.
            (TouchAccess::Delete, TouchReach::Path(_)) => {
                let above = path.parent().unwrap_or(path);
                above.starts_with(to) && (is_link_itself || above != to)
                    || path.starts_with(to) && self.is_followed(change)
            }
            (TouchAccess::Delete, _) => path.starts_with(to) && (is_link_itself || path != to),
            _ => false,
        }
    }

    /// Whether the program that removes a name follows it if it is a link.
    fn is_followed(&self, removal: &ChangingStep) -> bool {
        self.changes.iter().any(|change| {
            change.access == TouchAccess::Followed
                && change.reach == removal.reach
                && indexes(&change.at).eq(indexes(&removal.at))
        })
    }

    /// Whether a later step could find what an earlier one left.
    fn precedes(&self, earlier: &[Level], later: &[Level]) -> bool {
        let mut repeats = false;
        for (one, other) in earlier.iter().zip(later) {
            repeats |= one.repeats;
            if one.index != other.index {
                let runs_beside = || one.beside.iter().any(|range| range.contains(&other.index));
                return repeats || self.has_background || one.index < other.index || runs_beside();
            }
        }
        // It is the same command.
        repeats
    }
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn indexes(levels: &[Level]) -> impl Iterator<Item = usize> {
    levels.iter().map(|level| level.index)
}
