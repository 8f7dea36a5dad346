//! Files on the local machine, as a target reaches them. All of this blocks and belongs on a blocking thread.
//!
//! Every access goes through a [`View`]: the bounds of the call with their roots opened. Paths are resolved
//! by the kernel in one step (`beneath`), changes happen at a [`Spot`] in a directory that is already open,
//! and hidden or guarded objects are recognised by the real path of the opened object (`protected`).

mod beneath;
mod delete;
mod draft;
mod ignored;
mod list;
mod make_directory;
mod protected;
mod read;
mod rename;
mod roots;
mod spot;
mod tree;
mod view;
mod write;

pub(crate) use delete::delete;
pub use delete::{Deleted, Deletion};
pub(crate) use ignored::Ignored;
pub(crate) use list::list;
pub use list::{Entry, EntryKind, ListOptions, Listing};
pub(crate) use make_directory::make_directory;
pub use read::{FileContent, LineRange, Lines};
pub(crate) use read::{lines_of, read, read_lines};
pub(crate) use rename::rename;
pub(crate) use roots::Roots;
pub(crate) use spot::{Parents, Spot};
pub(crate) use tree::open_tree;
pub(crate) use view::{Opened, View};
pub(crate) use write::write;
pub use write::{BEFORE_CAP, Written};

use std::path::{Path, PathBuf};

use buddy_protocol::{ClimbedBy, climb};
use rustix::fs::FileType;

use crate::link_look::look_at_link;
use crate::{NotFile, TargetError};

/// The longest path that the kernel takes.
const MAX_PATH: usize = 4_095;

/// Refuses paths that no user means and that would be shown wrongly: with line breaks or NULs, not UTF-8, too
/// long.
pub(crate) fn check_path(path: &Path) -> Result<(), TargetError> {
    let Some(text) = path.to_str() else { return Err(TargetError::BadPath { why: "is not UTF-8" }) };
    if text.contains('\0') {
        return Err(TargetError::BadPath { why: "has a NUL in it" });
    }
    if text.contains(['\n', '\r']) {
        return Err(TargetError::BadPath { why: "has a line break in it" });
    }
    if text.len() > MAX_PATH {
        return Err(TargetError::BadPath { why: "is too long" });
    }
    Ok(())
}

/// The path without `..`. One that goes up from a link is refused: its text names another file than the kernel finds.
pub(crate) fn climb_no_link(path: &Path) -> Result<PathBuf, TargetError> {
    let climbed = climb(path, &look_at_link);
    match climbed.by {
        ClimbedBy::Text => Ok(climbed.path),
        ClimbedBy::Link | ClimbedBy::Unknown => {
            Err(TargetError::BadPath { why: "goes up from a symbolic link; name the file without `..`" })
        }
    }
}

/// The kind of an object that is not a regular file.
fn kind_of(kind: FileType) -> Option<NotFile> {
    match kind {
        FileType::RegularFile => None,
        FileType::Directory => Some(NotFile::Directory),
        FileType::Fifo => Some(NotFile::Fifo),
        FileType::CharacterDevice | FileType::BlockDevice => Some(NotFile::Device),
        FileType::Socket => Some(NotFile::Socket),
        FileType::Symlink | FileType::Unknown => Some(NotFile::Other),
    }
}
