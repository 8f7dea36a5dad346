//! Giving a file another name.

use std::io;
use std::path::Path;

use rustix::fs::{RenameFlags, renameat_with};

use super::spot::Parents;
use super::view::{View, require_file};
use crate::TargetError;
use crate::undo::{Recorder, State};

/// Moves a regular file to a free name. It keeps content, mode and owner.
pub(crate) fn rename(view: &View, recorder: &Recorder, from: &Path, to: &Path) -> Result<(), TargetError> {
    let failed = |error: io::Error| TargetError::from_io("move", from, error);
    let (source, _) = view.spot_itself(from, Parents::Need)?;
    let Some(stat) = source.stat().map_err(failed)? else {
        return Err(TargetError::NotFound { path: from.to_owned() });
    };
    require_file(from, &stat)?;
    let (place, made) = view.spot_itself(to, Parents::Make)?;
    recorder.directories_made(&made)?;
    view.protected.check_replace(to, &place.real())?;
    if recorder.is_on() {
        let moved = State::at(&source).map_err(failed)?;
        recorder.changing(&place, || moved)?;
        recorder.changing(&source, || State::Absent)?;
    }
    let (old, new) = (source.directory(), place.directory());
    renameat_with(old, source.name(), new, place.name(), RenameFlags::NOREPLACE)
        .map_err(|error| TargetError::from_io("move", to, error.into()))?;
    place.sync().and_then(|()| source.sync()).map_err(failed)
}
