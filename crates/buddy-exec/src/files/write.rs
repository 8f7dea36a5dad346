//! Replacing a file in one step.
//!
//! The content goes to a new file in the same directory, which is synced and then renamed over the old one,
//! and the directory is synced too: after a crash or a power cut the file has the old content or the new. A
//! hard link to the old file keeps the old content.

use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{FileType, Stat, fstat};

use super::read::read_content;
use super::spot::{Parents, Spot};
use super::view::{View, require_file};
use crate::undo::{Recorder, State};
use crate::{FileDraft, TargetError};

/// The most bytes of the previous content that are returned: more than anyone reads as a diff.
pub const BEFORE_CAP: u64 = 1024 * 1024;

/// The result of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The size of the new content.
    pub bytes: u64,
    /// Whether the file is new.
    pub created: bool,
    /// The previous content, unless the file is new, could not be read, or was larger than [`BEFORE_CAP`].
    pub before: Option<Vec<u8>>,
}

/// Replaces or creates the file at `path`.
pub(crate) fn write(
    view: &View,
    recorder: &Recorder,
    path: &Path,
    content: &[u8],
) -> Result<Written, TargetError> {
    let failed = |error: io::Error| TargetError::from_io("write", path, error);
    let (spot, made) = view.spot(path, Parents::Make)?;
    recorder.directories_made(&made)?;
    let existing = existing_file(&spot)?;
    view.protected.check_replace(path, &spot.real())?;
    // Contents that may not be read are not shown in a diff either.
    let before =
        existing.as_ref().filter(|stat| !view.seals(&spot.real(), stat)).and_then(|_| read_before(&spot));
    let draft = draft(&spot, content, existing.as_ref()).map_err(failed)?;
    let mode = fstat(&draft.file).map_err(|error| failed(error.into()))?.st_mode;
    recorder.changing(&spot, || State::file(content, mode))?;
    fail::fail_point!("undo.kept");
    draft.keep(&spot).map_err(failed)?;
    for directory in made.iter().rev() {
        directory.sync().map_err(failed)?;
    }
    Ok(Written { bytes: content.len() as u64, created: existing.is_none(), before })
}

/// The file to be replaced, if there is one and it may be written. Nothing is opened, so nothing can wait.
fn existing_file(spot: &Spot) -> Result<Option<Stat>, TargetError> {
    let failed = |error: io::Error| TargetError::from_io("write", &spot.named, error);
    let Some(stat) = spot.stat().map_err(failed)? else { return Ok(None) };
    if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
        return Err(TargetError::Link { path: spot.named.clone(), to: None });
    }
    require_file(&spot.named, &stat)?;
    // A rename asks for rights on the directory only, but a read-only file is meant to stay as it is.
    spot.check_writable().map_err(failed)?;
    Ok(Some(stat))
}

fn read_before(spot: &Spot) -> Option<Vec<u8>> {
    let content = read_content(spot.open_file().ok()?, BEFORE_CAP).ok()?;
    (!content.truncated).then_some(content.bytes)
}

/// The content in a synced file that has yet to take its place.
fn draft(spot: &Spot, content: &[u8], existing: Option<&Stat>) -> io::Result<FileDraft> {
    // The mode of a new file follows the umask, as with any program; a replacement stays closed until it has
    // the old file's mode.
    let mut draft = FileDraft::beside(spot, if existing.is_some() { 0o600 } else { 0o666 })?;
    draft.file.write_all(content)?;
    if let Some(existing) = existing {
        draft.take_over(existing)?;
    }
    draft.file.sync_all()?;
    Ok(draft)
}
