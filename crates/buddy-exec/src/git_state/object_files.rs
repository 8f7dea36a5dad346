//! Objects as git keeps them in files: their kinds, their names, and their packed contents.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use flate2::bufread::ZlibDecoder;
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The largest object that is read. A directory with 100,000 files is a tree of some megabytes.
pub(super) const MAX_OBJECT: u64 = 16 * 1024 * 1024;
/// The length of names of objects by SHA-1.
const SHA1_LENGTH: usize = 20;

/// A kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Tree,
    Blob,
}

impl ObjectKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Blob => "blob",
        }
    }

    /// Its number in a pack.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Tree => 2,
            Self::Blob => 3,
        }
    }
}

/// The name of an object that has this content.
pub(crate) fn object_name(kind: ObjectKind, content: &[u8], length: usize) -> Vec<u8> {
    let head = format!("{} {}\0", kind.word(), content.len());
    if length == SHA1_LENGTH {
        Sha1::new().chain_update(&head).chain_update(content).finalize().to_vec()
    } else {
        Sha256::new().chain_update(&head).chain_update(content).finalize().to_vec()
    }
}

pub(super) fn inflate(packed: impl BufRead, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    ZlibDecoder::new(packed).take(limit + 1).read_to_end(&mut content)?;
    if u64::try_from(content.len()).is_ok_and(|length| length > limit) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(content)
}

/// Opens a file, never through a link, and without waiting for the other end of a pipe.
pub(super) fn open_object_file(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}
