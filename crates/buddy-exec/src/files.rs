//! Files on the local machine, as a target reaches them. All of this blocks and belongs on a blocking thread.

mod list;
mod read;
mod write;

pub(crate) use list::list;
pub use list::{Entry, EntryKind, Listing};
pub use read::FileContent;
pub(crate) use read::read;
pub(crate) use write::write;
pub use write::{BEFORE_CAP, Written};

use std::fs::{FileType, Metadata};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::{NotFile, TargetError};

/// Refuses everything that is not a regular file, with its kind.
fn require_file(path: &Path, metadata: &Metadata) -> Result<(), TargetError> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(TargetError::NotAFile { path: path.to_owned(), what: kind_of(metadata.file_type()) })
}

fn kind_of(file_type: FileType) -> NotFile {
    if file_type.is_dir() {
        NotFile::Directory
    } else if file_type.is_fifo() {
        NotFile::Fifo
    } else if file_type.is_char_device() || file_type.is_block_device() {
        NotFile::Device
    } else if file_type.is_socket() {
        NotFile::Socket
    } else {
        NotFile::Other
    }
}
