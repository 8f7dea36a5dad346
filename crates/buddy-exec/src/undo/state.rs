//! The state of a path, which undo compares and restores.

use std::io;

use buddy_protocol::PathText;
use rustix::fs::FileType;
use serde::{Deserialize, Serialize};

use super::blobs::Blobs;
use super::digest;
use crate::FileSync;
use crate::files::Spot;

/// The object at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// No object.
    Absent,
    /// A regular file.
    File {
        /// The SHA-256 of its content, in hexadecimal.
        digest: String,
        /// Its size in bytes.
        size: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Its target.
        target: PathText,
    },
    /// A directory.
    Directory {
        /// Its permission bits.
        mode: u32,
    },
    /// An object that was not kept.
    NotKept {
        /// The reason.
        why: String,
    },
}

impl State {
    /// A file of this content.
    pub(crate) fn file(content: &[u8], mode: u32) -> Self {
        Self::File { digest: digest::digest_of(content), size: content.len() as u64, mode: mode & 0o7777 }
    }

    /// The object at the spot, with its content kept as a blob.
    pub(super) fn keep(spot: &Spot, blobs: &Blobs, sync: FileSync) -> io::Result<Self> {
        Self::look(spot, |file, size| match blobs.put(file, sync)? {
            Some(blob) => Ok((blob.digest, blob.size)),
            None => Err(io::Error::other(format!("its {size} bytes are more than undo keeps of one file"))),
        })
    }

    /// The object at the spot, with nothing kept.
    pub(crate) fn at(spot: &Spot) -> io::Result<Self> {
        Self::look(spot, |mut file, _| {
            digest::copy(&mut file, &mut io::sink(), u64::MAX)?
                .ok_or_else(|| io::ErrorKind::FileTooLarge.into())
        })
    }

    fn look(
        spot: &Spot,
        read: impl FnOnce(std::fs::File, u64) -> io::Result<(String, u64)>,
    ) -> io::Result<Self> {
        let Some(stat) = spot.stat()? else { return Ok(Self::Absent) };
        let mode = stat.st_mode & 0o7777;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let file = spot.open_file()?;
                if !file.metadata()?.is_file() {
                    return Ok(Self::NotKept { why: "it changed while it was looked at".to_owned() });
                }
                match read(file, u64::try_from(stat.st_size).unwrap_or(0)) {
                    Ok((digest, size)) => Self::File { digest, size, mode },
                    Err(error) if error.kind() == io::ErrorKind::Other => {
                        Self::NotKept { why: error.to_string() }
                    }
                    Err(error) => return Err(error),
                }
            }
            FileType::Directory => Self::Directory { mode },
            FileType::Symlink => Self::Link { target: PathText(spot.link_target()?) },
            _ => Self::NotKept { why: "it is neither a file nor a directory".to_owned() },
        })
    }

    /// One word and a figure, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Absent => "nothing".to_owned(),
            Self::File { size, mode, .. } => format!("a file of {size} bytes, mode {mode:o}"),
            Self::Link { target } => format!("a link to {target}"),
            Self::Directory { mode } => format!("a directory, mode {mode:o}"),
            Self::NotKept { why } => format!("not kept: {why}"),
        }
    }

    /// Whether both are of the same kind, so that one can be made into the other without removing it first.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}
