//! The trips of git in a command line: which remotes it uses, and whether the rest of the line leaves alone where they lead.

use std::path::PathBuf;

use buddy_protocol::{RemoteName, RemoteUse};

use super::files::{GitPlace, git_words};
use super::flags::might_give;
use super::git::alias;
use super::remotes::remote_meant;
use super::{CommandEffect, CommandLeaf};
use crate::shell::ShellWord;
use crate::{GitTrip, TripRemote};

/// Subcommands of git that connect to places which buddy does not read from its settings.
const UNREAD: &[&str] = &[
    "archimport",
    "backfill",
    "cvsexportcommit",
    "cvsimport",
    "fetch-pack",
    "http-fetch",
    "http-push",
    "imap-send",
    "maintenance",
    "p4",
    "request-pull",
    "scalar",
    "send-email",
    "send-pack",
    "svn",
];
/// Subcommands that have such subcommands of their own.
const UNREAD_IN: &[(&str, &[&str])] = &[
    ("lfs", &["clone", "fetch", "lock", "locks", "pre-push", "prune", "pull", "push", "unlock"]),
    ("submodule", &["add", "update"]),
    ("subtree", &["add", "pull", "push"]),
];
/// Subcommands that change neither which repository git finds, nor its remotes, nor the branch.
const SETTLED: &[&str] = &[
    "add",
    "am",
    "apply",
    "cherry-pick",
    "commit",
    "fetch",
    "ls-remote",
    "merge",
    "mv",
    "notes",
    "pull",
    "push",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "stash",
    "tag",
];
/// The same of subcommands that can change the branch, which counts only if no remote is named.
const MOVES: &[&str] = &["branch", "checkout", "switch"];

/// Other programs that connect to a place which files of the project name, with the words that make them do so; without words they
/// always do.
const BY_SETTINGS: &[(&str, &[&str])] = &[
    ("brz", &["pull", "push", "send"]),
    ("bzr", &["pull", "push", "send"]),
    ("darcs", &["pull", "push", "send"]),
    ("dotnet", &["nuget"]),
    ("fossil", &["pull", "push", "sync", "update"]),
    ("gh", &[]),
    ("git-lfs", &[]),
    ("glab", &[]),
    ("gradle", &["publish"]),
    ("hg", &["incoming", "outgoing", "pull", "push"]),
    ("hub", &[]),
    ("jj", &["git"]),
    ("mvn", &["deploy"]),
    ("pijul", &["pull", "push"]),
    ("svn", &[]),
];

/// The trips of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineTrips {
    pub(crate) trips: Vec<GitTrip>,
    /// Whether these are all, and nothing else in the line can change where they lead.
    pub(crate) is_whole: bool,
}

impl LineTrips {
    const NONE: Self = Self { trips: Vec::new(), is_whole: true };
    const UNREAD: Self = Self { trips: Vec::new(), is_whole: false };

    /// Whether there is any.
    pub(crate) fn connects(&self) -> bool {
        !self.trips.is_empty() || !self.is_whole
    }
}

/// Those of all simple commands. Their order does not count: some can run at the same time.
pub(crate) fn line_trips(leaves: &[CommandLeaf]) -> LineTrips {
    let mut line = LineTrips::NONE;
    for leaf in leaves {
        let LineTrips { trips, is_whole } = leaf_trips(leaf);
        line.is_whole &= is_whole;
        line.trips.extend(trips.into_iter().filter(|trip| !line.trips.contains(trip)).collect::<Vec<_>>());
    }
    let is_named = line.trips.iter().all(|trip| matches!(trip.remote, TripRemote::Named(_)));
    let is_settled = || leaves.iter().all(|leaf| keeps_settings(leaf, is_named));
    line.is_whole &= line.trips.is_empty() || is_settled();
    line
}

/// Those of a simple command.
pub(crate) fn leaf_trips(leaf: &CommandLeaf) -> LineTrips {
    if leaf.program != "git" {
        return if goes_by_settings(leaf) { LineTrips::UNREAD } else { LineTrips::NONE };
    }
    let (words, places) = git_words(leaf.words.get(1..).unwrap_or_default());
    let before = leaf.words.len().saturating_sub(words.len());
    // With this option the directory is the repository, whatever it holds.
    let is_bare = leaf.words.iter().take(before).any(|word| word.literal() == Some("--bare"));
    let Some(remotes) = remotes(&words).filter(|_| !is_bare) else { return LineTrips::UNREAD };
    if remotes.is_empty() {
        return LineTrips::NONE;
    }
    let directories = directories(leaf, &places).filter(|_| !leaf.has_assignments && leaf.launcher.is_none());
    let (Some(directories), Some(recurses)) = (directories, recurses(&words)) else {
        return LineTrips::UNREAD;
    };
    let mut trips = Vec::new();
    for directory in directories {
        trips.extend(remotes.iter().cloned().map(|(remote, pushes)| GitTrip {
            directory: directory.clone(),
            remote,
            pushes,
            recurses,
        }));
    }
    LineTrips { is_whole: !trips.is_empty(), trips }
}

/// Whether files of the project decide where another program than git connects to.
fn goes_by_settings(leaf: &CommandLeaf) -> bool {
    let words = leaf.words.get(1..).unwrap_or_default();
    let is_meant = |(program, wanted): &(&str, &[&str])| {
        *program == leaf.program
            && (wanted.is_empty()
                || words.iter().any(|word| word.literal().is_none_or(|text| wanted.contains(&text))))
    };
    BY_SETTINGS.iter().any(is_meant)
}

/// The remotes that these words, from the subcommand on, connect to, and whether they are pushed to. None if buddy cannot tell.
fn remotes(words: &[ShellWord]) -> Option<Vec<(TripRemote, bool)>> {
    let Some((subcommand, rest)) = words.split_first() else { return Some(Vec::new()) };
    let subcommand = subcommand.literal()?;
    let operands: Vec<&ShellWord> = rest.iter().filter(|word| !word.unexpanded().starts_with('-')).collect();
    let first = operands.first().map(|word| word.unexpanded()).unwrap_or_default();
    let is_inner = |(outer, inner): &(&str, &[&str])| *outer == subcommand && inner.contains(&first.as_str());
    match subcommand {
        "push" | "fetch" | "pull" => meant(words),
        "ls-remote" => {
            let fetch = ShellWord::Literal("fetch".to_owned());
            meant(&[std::slice::from_ref(&fetch), rest].concat())
        }
        "remote" if first == "update" => meant(words),
        "remote" if matches!(first.as_str(), "show" | "prune" | "set-head") => {
            let named = |word: &&ShellWord| Some((TripRemote::Named(word.literal()?.to_owned()), false));
            operands.get(1..).unwrap_or_default().iter().map(named).collect()
        }
        "remote" if first == "add" && might_give(rest, Some('f'), "fetch") => None,
        "archive" if might_give(rest, None, "remote") => None,
        _ if UNREAD.contains(&subcommand) || UNREAD_IN.iter().any(is_inner) || alias(words).is_some() => None,
        _ => Some(Vec::new()),
    }
}

fn meant(words: &[ShellWord]) -> Option<Vec<(TripRemote, bool)>> {
    let (name, usage) = remote_meant(words)?;
    let remote = match name {
        RemoteName::Named(name) => TripRemote::Named(name.to_owned()),
        RemoteName::Usual => TripRemote::Usual,
        RemoteName::All => TripRemote::All,
    };
    Some(vec![(remote, usage == RemoteUse::Push)])
}

/// Whether git can connect for submodules too. None if it is told to push them, whatever its settings say.
fn recurses(words: &[ShellWord]) -> Option<bool> {
    let is_off = |word: &ShellWord| {
        matches!(word.literal(), Some("--no-recurse-submodules" | "--recurse-submodules=no"))
    };
    if words.iter().any(is_off) {
        return Some(false);
    }
    let is_told = might_give(words, None, "recurse-submodules");
    let is_push = words.first().and_then(ShellWord::literal) == Some("push");
    (!is_told || !is_push).then_some(true)
}

/// The directories in which a simple command of git looks for its repository. None if they are not known.
pub(super) fn repositories(leaf: &CommandLeaf) -> Option<Vec<PathBuf>> {
    directories(leaf, &git_words(leaf.words.get(1..).unwrap_or_default()).1)
}

/// Whether the commands of git in a line change neither which repository git finds nor where its remotes lead.
pub(crate) fn git_keeps_settings(leaves: &[CommandLeaf]) -> bool {
    leaves.iter().filter(|leaf| leaf.program == "git").all(|leaf| keeps_settings(leaf, true))
}

/// The directories in which git looks for its repository. None if they are not known, or if a store is named.
fn directories(leaf: &CommandLeaf, places: &[GitPlace]) -> Option<Vec<PathBuf>> {
    let mut directories = leaf.cwds.clone()?;
    for place in places {
        let GitPlace::Directory(word) = place else { return None };
        let name = word.literal().filter(|name| !name.starts_with('~'))?;
        directories = directories.iter().map(|directory| directory.join(name)).collect();
    }
    Some(directories)
}

/// Whether a simple command changes neither which repository git finds nor where its remotes lead.
fn keeps_settings(leaf: &CommandLeaf, is_named: bool) -> bool {
    if leaf.effect != CommandEffect::Unknown || !leaf_trips(leaf).trips.is_empty() {
        return true;
    }
    let (words, _) = git_words(leaf.words.get(1..).unwrap_or_default());
    let subcommand = words.first().and_then(ShellWord::literal).unwrap_or_default();
    let is_kept = SETTLED.contains(&subcommand) || is_named && MOVES.contains(&subcommand);
    leaf.program == "git" && is_kept
}
