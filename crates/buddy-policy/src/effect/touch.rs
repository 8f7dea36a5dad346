//! A file that a command touches: the access, and the path as far as it is known.

use std::path::{Path, PathBuf};

/// A file that is touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) access: TouchAccess,
    pub(crate) reach: TouchReach,
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
            TouchReach::Path(path) if self.access == TouchAccess::Delete => path.parent(),
            reach => reach.path(),
        }
    }

    /// The same access to the target of a link on the way. A write somewhere in a directory can go through
    /// the links in it; a removal does not.
    pub(crate) fn through(&self, (from, to): &(PathBuf, PathBuf)) -> Option<Self> {
        let path = self.reach.path()?;
        if from != path
            && from.starts_with(path)
            && matches!(self.access, TouchAccess::Write | TouchAccess::Perhaps)
        {
            return Some(Self { reach: TouchReach::Path(to.clone()), risky: self.risky.clone(), ..*self });
        }
        if self.anchor() != Some(from) {
            return None;
        }
        let access = if self.access == TouchAccess::Followed { TouchAccess::Named } else { self.access };
        let real = match (self.access, &self.reach, path.file_name()) {
            (TouchAccess::Delete, TouchReach::Path(_), Some(name)) => to.join(name),
            _ => to.clone(),
        };
        let reach = match &self.reach {
            TouchReach::Path(_) => TouchReach::Path(real),
            TouchReach::Beneath(_) => TouchReach::Beneath(real),
            TouchReach::Unknown(_) => return None,
        };
        Some(Self { reach, access, risky: self.risky.clone(), ..*self })
    }
}

/// An access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TouchAccess {
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

/// The file, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TouchReach {
    /// This one.
    Path(PathBuf),
    /// Some in this directory or beneath it.
    Beneath(PathBuf),
    /// Not known; the words are for people.
    Unknown(String),
}

impl TouchReach {
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) | Self::Beneath(path) => Some(path),
            Self::Unknown(_) => None,
        }
    }
}
