//! Intents: the files that a call would read and write, the commands it would run, and the hosts it
//! would reach.

use std::path::{Path, PathBuf};

use buddy_protocol::Risk;
use serde::{Deserialize, Serialize};

/// The effects of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intent {
    /// All its effects; empty means it touches nothing outside buddy.
    pub actions: Vec<Action>,
    /// The way to ask for calls of this tool, as the registry says.
    pub tier: Tier,
    /// The model's claims about it.
    pub claims: Option<Claims>,
    /// Whether it is a change of files by a tool that does nothing else, which the user may accept
    /// beforehand.
    pub is_edit: bool,
    /// Whether its commands are background processes that outlive the call, as a server does that
    /// others are to reach.
    pub runs_on: bool,
    /// Whether its commands are typed into a terminal that outlives them and has one set of bounds for all.
    pub shares_terminal: bool,
}

/// The way to ask for calls of a tool. The registry sets it; policy may raise it, and the model has no say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// They run by themselves.
    #[default]
    Auto,
    /// Several may be asked for together, each with an answer of its own.
    Batch,
    /// Each is asked for alone.
    Individual,
}

/// One effect of a call. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Read a file or directory.
    Read(PathBuf),
    /// Create or change a file.
    Write(PathBuf),
    /// Remove a file, or a directory with everything in it.
    Delete(PathBuf),
    /// Change the records of a repository, without a change of its files.
    Repository {
        /// Its top directory.
        top: PathBuf,
        /// The change.
        change: RepositoryChange,
    },
    /// Fetch from this address on the web, which leaves the host as it is.
    Fetch(String),
    /// Run a shell command.
    Run {
        /// The command line, exactly as it would be run.
        command: String,
        /// The directory it would run in.
        cwd: PathBuf,
    },
    /// Use a terminal that is shared with people: type into it, or make or end one.
    Terminal {
        /// The text that the user is shown.
        line: String,
        /// The place, in words for the user.
        place: String,
        /// The typed text.
        typing: Typing,
    },
}

/// A change of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepositoryChange {
    /// Stage files.
    Stage,
    /// Commit the staged files.
    Commit,
    /// Receive a push, in the repository that `top` is.
    Receive,
}

/// The input that a call types into a terminal. The directory of the shell that reads it is
/// unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typing {
    /// Nothing: a terminal is made or ended.
    Nothing,
    /// Whole lines, exactly as the program gets them. They are judged like commands.
    Lines(String),
    /// Keys that edit a line, recall one or leave one unsent: only that program knows their effect.
    Keys,
}

/// The model's claims about its own call. They may raise the gate and never lower it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claims {
    /// The risk that it claims.
    pub risk: Risk,
    /// Whether it says that the call changes anything; none if it says nothing about it.
    pub mutation: Option<bool>,
    /// Whether it says that the call needs more rights.
    pub privesc: bool,
}

impl Intent {
    /// The intent of a call that touches nothing outside buddy.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// The intent of a call that does one thing.
    pub fn of(action: Action) -> Self {
        Self { actions: vec![action], ..Self::default() }
    }

    /// The same intent of a tool that changes files and does nothing else.
    #[must_use]
    pub fn as_edit(self) -> Self {
        Self { is_edit: true, ..self }
    }

    /// The same intent of a call whose commands outlive it.
    #[must_use]
    pub fn running_on(self) -> Self {
        Self { runs_on: true, ..self }
    }

    /// The same intent of a tool in this tier.
    pub fn in_tier(self, tier: Tier) -> Self {
        Self { tier, ..self }
    }

    /// Whether the order of the two calls could matter, so that they must not run at the same time.
    ///
    /// The files that a command touches are not known, so one that may change a file is in conflict with
    /// everything that touches the host. This orders calls and opens no gate, so the model's word on
    /// `mutation` is enough here.
    pub fn conflicts(&self, other: &Self) -> bool {
        let meet = |first: &Action, second: &Action| match (first, second) {
            (Action::Read(_), Action::Read(_)) | (Action::Fetch(_), _) | (_, Action::Fetch(_)) => false,
            (Action::Run { .. }, Action::Read(_)) => self.may_change(),
            (Action::Read(_), Action::Run { .. }) => other.may_change(),
            (Action::Run { .. }, Action::Run { .. }) => self.may_change() || other.may_change(),
            (Action::Terminal { .. }, _)
            | (_, Action::Terminal { .. })
            | (Action::Run { .. }, Action::Write(_) | Action::Delete(_) | Action::Repository { .. })
            | (Action::Write(_) | Action::Delete(_) | Action::Repository { .. }, Action::Run { .. }) => true,
            (
                Action::Read(first)
                | Action::Write(first)
                | Action::Delete(first)
                | Action::Repository { top: first, .. },
                Action::Read(second)
                | Action::Write(second)
                | Action::Delete(second)
                | Action::Repository { top: second, .. },
            ) => overlap(first, second),
        };
        self.actions.iter().any(|first| other.actions.iter().any(|second| meet(first, second)))
    }

    fn may_change(&self) -> bool {
        self.claims.is_none_or(|claims| claims.mutation.unwrap_or(true) || claims.privesc)
    }
}

fn overlap(first: &Path, second: &Path) -> bool {
    first.starts_with(second) || second.starts_with(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(mutation: bool) -> Intent {
        let claims = Claims { risk: Risk::Low, mutation: Some(mutation), privesc: false };
        Intent {
            claims: Some(claims),
            ..Intent::of(Action::Run { command: "true".to_owned(), cwd: "/w".into() })
        }
    }

    fn read(path: &str) -> Intent {
        Intent::of(Action::Read(path.into()))
    }

    fn write(path: &str) -> Intent {
        Intent::of(Action::Write(path.into()))
    }

    fn check(first: &Intent, second: &Intent, conflict: bool) {
        assert_eq!(first.conflicts(second), conflict, "{first:?} / {second:?}");
        assert_eq!(second.conflicts(first), conflict, "{second:?} / {first:?}");
    }

    #[test]
    fn reads_run_beside_each_other() {
        check(&read("/w/a"), &read("/w/a"), false);
        check(&Intent::nothing(), &write("/w/a"), false);
    }

    #[test]
    fn writes_meet_what_they_touch() {
        check(&write("/w/a"), &read("/w/a"), true);
        check(&write("/w/a"), &read("/w"), true);
        check(&write("/w/a"), &write("/w/b"), false);
        check(&write("/w/a"), &read("/w/ab"), false);
    }

    #[test]
    fn a_removal_meets_what_is_in_it_and_a_fetch_meets_nothing() {
        let remove = Intent::of(Action::Delete("/w/a".into()));
        check(&remove, &read("/w/a/b"), true);
        check(&remove, &read("/w/b"), false);
        check(&remove, &run(false), true);
        check(&Intent::of(Action::Fetch("https://example.org/".to_owned())), &run(true), false);
    }

    #[test]
    fn commands_that_may_change_something_run_alone() {
        check(&run(false), &run(false), false);
        check(&run(false), &run(true), true);
        check(&run(true), &read("/w/a"), true);
        check(&run(false), &write("/w/a"), true);
        check(&run(false), &read("/w/a"), false);
    }
}
