//! Questions about a command line that only its host can answer: the paths that it touches, and where git connects to.

use std::path::{Path, PathBuf};

use crate::effect::{Touch, TouchAccess, TouchReach, examine, leaf_trips, line_trips, works_by_git};
use crate::grant::NamedPaths;
use crate::{Carried, Discarded, GitTrip, Mode, Places, Policy};

/// The most touched files that are checked for links. Beyond that, a line is judged by its words.
pub(in crate::decide) const MAX_TOUCHED: usize = 4096;

/// The files that a command is known to touch, as [`Touch::anchor`] names them.
pub(in crate::decide) fn touched(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<PathBuf> {
    let examined = examine(command, cwd, &policy.places);
    let touches = examined.map(|examination| examination.touches).unwrap_or_default();
    touches.iter().filter_map(|touch| touch.anchor().map(Path::to_owned)).collect()
}

/// The files that a command moves or copies before it changes something where they come to.
pub(in crate::decide) fn carried(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<Carried> {
    if policy.mode != Mode::Production {
        return Vec::new();
    }
    let examined = examine(command, cwd, &policy.places);
    let crossings = examined.map(|examination| examination.steps.crossings()).unwrap_or_default();
    crossings.into_iter().filter_map(|crossing| crossing.carried).flatten().collect()
}

/// The paths that the words of each simple command could name.
pub(in crate::decide) fn named_paths(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<NamedPaths> {
    let examined = examine(command, cwd, &policy.places);
    let leaves = examined.map(|examination| examination.leaves).unwrap_or_default();
    leaves.iter().filter_map(|leaf| NamedPaths::of(leaf, |_| false)).collect()
}

/// The directories whose repositories a command reads from; those of the session if they are not known.
pub(in crate::decide) fn recalled(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<PathBuf> {
    let recalls =
        examine(command, cwd, &policy.places).map(|examination| examination.recalls).unwrap_or_default();
    let session = || policy.places.workspace.iter().chain(&policy.places.untrusted).cloned().collect();
    recalls.into_iter().flat_map(|recall| recall.directories.unwrap_or_else(session)).collect()
}

/// The paths that a command is known to remove.
pub(in crate::decide) fn removed(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<PathBuf> {
    let examined = examine(command, cwd, &policy.places);
    let touches = examined.map(|examination| examination.touches).unwrap_or_default();
    let removals = touches.iter().filter(|touch| touch.access == TouchAccess::Delete);
    removals.filter_map(|touch| touch.reach.path().map(Path::to_owned)).collect()
}

/// The changes of work trees that a command makes git throw away.
pub(in crate::decide) fn discarded(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<Discarded> {
    let examined = examine(command, cwd, &policy.places);
    let touches = examined.map(|examination| examination.touches).unwrap_or_default();
    let discards = touches.into_iter().filter(|touch| touch.access == TouchAccess::Discard);
    let discarded = |touch: Touch| match touch.reach {
        TouchReach::Path(path) => Some(Discarded::Files(path)),
        TouchReach::Beneath(path) => Some(Discarded::WorkTree(path)),
        TouchReach::Unknown(_) => None,
    };
    discards.filter_map(discarded).collect()
}

/// The paths that a command is known to change.
pub(in crate::decide) fn changed(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<PathBuf> {
    let examined = examine(command, cwd, &policy.places);
    let touches = examined.map(|examination| examination.touches).unwrap_or_default();
    let changes =
        touches.iter().filter(|touch| matches!(touch.access, TouchAccess::Write | TouchAccess::Delete));
    changes.filter_map(|touch| touch.reach.path().map(Path::to_owned)).collect()
}

/// Whether git connects to a place that its settings name when the command runs.
pub(in crate::decide) fn connects_with_git(command: &str) -> bool {
    let examined = examine(command, None, &Places::default());
    let leaves = examined.map(|examination| examination.leaves).unwrap_or_default();
    leaves.iter().any(|leaf| leaf.program == "git" && leaf_trips(leaf).connects())
}

/// The trips of git that a command line has.
pub(in crate::decide) fn git_trips(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<GitTrip> {
    let examined = examine(command, cwd, &policy.places);
    examined.map(|examination| line_trips(&examination.leaves).trips).unwrap_or_default()
}

/// The directories in which git changes or records files of a work tree.
pub(in crate::decide) fn work_trees(command: &str, cwd: Option<&Path>, policy: &Policy) -> Vec<PathBuf> {
    let examined = examine(command, cwd, &policy.places);
    let leaves = examined.map(|examination| examination.leaves).unwrap_or_default();
    leaves.iter().filter_map(works_by_git).flatten().collect()
}
