//! The effects of a command line, as far as they can be known without running it.

mod awk;
mod barred;
mod evaluated;
mod examine;
mod files;
mod find;
mod flags;
mod git;
mod git_reading;
mod guards;
mod hosts;
mod in_place;
mod interpreters;
mod launchers;
mod lookalikes;
mod names;
mod readers;
mod reading;
mod recall;
mod recipes;
mod remotes;
mod risky;
mod sed;
mod telling;
mod trips;
mod wrappers;

use std::path::{Path, PathBuf};

use crate::shell::Word;
use files::GitPlace;

pub use barred::ENGINE_VARIABLES;
pub(crate) use barred::{barred_in_jail, names_engine};
pub(crate) use examine::{examine, examine_words, reads_variables};
pub(crate) use files::{RUNNERS, rows};
pub(crate) use flags::might_give;
pub(crate) use git::{
    alias as git_alias, changes_own_settings, changes_settings, only_adds_remote, publishes,
};
pub(crate) use git_reading::GIT_READERS;
pub(crate) use guards::{PUBLISHES as PUBLISHES_PACKAGE, gains_rights};
pub(crate) use hosts::{destinations, goes_by_proxy, socket};
pub(crate) use interpreters::is_interpreter;
pub(crate) use launchers::launcher_uses;
pub(crate) use names::PLAIN as PLAIN_VARIABLES;
pub(crate) use readers::READERS;
pub(crate) use recall::Recall;
pub(crate) use recipes::RECIPES;
pub(crate) use risky::risky_words;
pub(crate) use telling::TELLING;
pub(crate) use trips::{LineTrips, leaf_trips, line_trips};
pub(crate) use wrappers::is_wrapper;

/// A command line, examined.
#[derive(Debug, Default)]
pub(crate) struct Examination {
    /// Every simple command, those in wrappers included.
    pub(crate) leaves: Vec<Leaf>,
    /// Every file that is known to be touched.
    pub(crate) touches: Vec<Touch>,
    /// Findings that always need the user.
    pub(crate) concerns: Vec<Concern>,
    /// The words of the commands that these come from.
    pub(crate) risky: Vec<String>,
    /// Variables that programs get and that no table describes.
    pub(crate) given: Vec<GivenVariable>,
    /// Uses of git that read tracked files.
    pub(crate) recalls: Vec<Recall>,
    /// Files that would be run as programs or scripts.
    pub(crate) pins: Vec<PathBuf>,
    /// The words, if it is one simple command with nothing around it.
    pub(crate) plain: Option<Vec<Word>>,
}

/// A variable that a program gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenVariable {
    pub(crate) name: String,
    /// The program; none for every command after an `export`.
    pub(crate) program: Option<String>,
}

/// A simple command.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// The program as rules know it: without the directories of the system.
    pub(crate) program: String,
    pub(crate) words: Vec<Word>,
    pub(crate) effect: Effect,
    /// Whether a table describes the program, or lists it as one that runs the project's own code.
    pub(crate) is_known: bool,
    /// Whether the program is a file that was named by its path, and not one of the system's.
    pub(crate) is_foreign: bool,
    /// Whether it gives variables to its program, or sets them.
    pub(crate) has_assignments: bool,
    /// The directories that it could run in; `None` if they are not known.
    pub(crate) cwds: Option<Vec<PathBuf>>,
    /// The simple command that launches it, as `npx` does: a rule that allows that one allows this
    /// one.
    pub(crate) launcher: Option<usize>,
}

/// The effect of a simple command by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// None: the command that it runs is judged apart, or it moves to another directory.
    None,
    /// It only reads.
    Reads,
    /// It only reads if the kernel holds all its processes to reading.
    Held,
    /// Anything.
    Unknown,
}

/// An access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Names, sizes and the like.
    Look,
    /// Its content.
    Read,
    Write,
    Delete,
    /// Git throws away changes of it that no commit holds. It leaves files that it ignores. In a directory it
    /// means the whole work tree that the directory is in.
    Discard,
    /// Perhaps it is written: an option that no table lists names it, or a link leads to it.
    Perhaps,
    /// A program that runs code of the project has a word for it, so without a jail it may be written.
    Named,
    /// A link of this name is followed, so without a jail its target may be changed. Nothing is said about the name itself.
    Followed,
}

/// A file that is touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) access: Access,
    pub(crate) reach: Reach,
    /// Whether the file is opened and written where it stands, so that nothing else in its directory changes.
    pub(crate) in_place: bool,
    /// Whether the word can mean another path instead, as it is not known whether an earlier `cd` worked.
    pub(crate) is_alternative: bool,
    /// The words that the risk of its command comes from.
    pub(crate) risky: Option<String>,
}

impl Touch {
    /// The path at which links decide where this lands: a removed object is a name in a directory, unless it
    /// is the content of the directory.
    pub(crate) fn anchor(&self) -> Option<&Path> {
        match &self.reach {
            Reach::Path(path) if self.access == Access::Delete => path.parent(),
            reach => reach.path(),
        }
    }

    /// The same access to the target of a link on the way. A write somewhere in a directory can go through
    /// the links in it; a removal does not.
    pub(crate) fn through(&self, (from, to): &(PathBuf, PathBuf)) -> Option<Self> {
        let path = self.reach.path()?;
        if from != path && from.starts_with(path) && matches!(self.access, Access::Write | Access::Perhaps) {
            return Some(Self { reach: Reach::Path(to.clone()), risky: self.risky.clone(), ..*self });
        }
        if self.anchor() != Some(from) {
            return None;
        }
        let access = if self.access == Access::Followed { Access::Named } else { self.access };
        let real = match (self.access, &self.reach, path.file_name()) {
            (Access::Delete, Reach::Path(_), Some(name)) => to.join(name),
            _ => to.clone(),
        };
        let reach = match &self.reach {
            Reach::Path(_) => Reach::Path(real),
            Reach::Beneath(_) => Reach::Beneath(real),
            Reach::Unknown(_) => return None,
        };
        Some(Self { reach, access, risky: self.risky.clone(), ..*self })
    }
}

/// The file, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This one.
    Path(PathBuf),
    /// Some in this directory or beneath it.
    Beneath(PathBuf),
    /// Not known; the words are for people.
    Unknown(String),
}

impl Reach {
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) | Self::Beneath(path) => Some(path),
            Self::Unknown(_) => None,
        }
    }
}

/// The kind of a concern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// It is known to be dangerous.
    Danger,
    /// It is not understood.
    Unclear,
}

/// A finding that the user has to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Concern {
    pub(crate) class: Class,
    pub(crate) reason: String,
}
