//! Making a directory, with those above it.

use std::path::Path;

use rustix::fs::FileType;

use super::spot::Parents;
use super::view::View;
use crate::TargetError;
use crate::undo::Recorder;

/// Makes a directory and the missing ones above it. Returns false if it existed already.
pub(crate) fn make_directory(view: &View, recorder: &Recorder, path: &Path) -> Result<bool, TargetError> {
    let failed = |error: std::io::Error| TargetError::from_io("make", path, error);
    let (spot, mut made) = view.spot(path, Parents::Make)?;
    if let Some(stat) = spot.stat().map_err(failed)? {
        recorder.directories_made(&made)?;
        return match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Ok(false),
            FileType::Symlink => Err(TargetError::Link { path: path.to_owned(), to: view.leads_to(path) }),
            _ => Err(TargetError::NotADirectory { path: path.to_owned() }),
        };
    }
    spot.make_directory().map_err(failed)?;
    made.push(spot);
    recorder.directories_made(&made)?;
    for directory in made.iter().rev() {
        directory.sync().map_err(failed)?;
    }
    Ok(true)
}
