//! Reading a regular file up to a limit.

use std::fs::{File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::require_file;
use crate::TargetError;

/// What was read of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub size: u64,
    /// Whether there is more than `bytes`.
    pub truncated: bool,
}

/// Reads the first `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<FileContent, TargetError> {
    let (file, metadata) = open(path)?;
    let mut bytes = Vec::new();
    // One byte more, as the size of some files (in `/proc`) is not known before they are read.
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| TargetError::from_io("read", path, error))?;
    let size = metadata.len().max(bytes.len() as u64);
    let truncated = bytes.len() as u64 > limit;
    if truncated {
        bytes.pop();
    }
    Ok(FileContent { bytes, size, truncated })
}

/// Opens without waiting for the other end of a pipe, and checks what was opened rather than what was there before.
fn open(path: &Path) -> Result<(File, Metadata), TargetError> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) => {
            // A socket and a device without a driver cannot be opened at all; say what they are.
            if let Ok(metadata) = path.metadata() {
                require_file(path, &metadata)?;
            }
            return Err(TargetError::from_io("open", path, error));
        }
    };
    let metadata = file.metadata().map_err(|error| TargetError::from_io("look at", path, error))?;
    require_file(path, &metadata)?;
    Ok((file, metadata))
}
