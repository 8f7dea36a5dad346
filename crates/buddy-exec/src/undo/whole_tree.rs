//! The way to recorded paths, wherever they are.

use std::io;
use std::path::{Path, PathBuf};

use super::state::State;
use crate::files::{Parents, Roots, Spot, View};
use crate::{Bounds, Reach, TargetError};

/// The whole file system, reached through no link: recorded paths have none.
pub(super) struct Everything {
    view: View,
}

impl Everything {
    pub(super) fn new() -> Result<Self, TargetError> {
        let reach = Reach::Beneath(vec![PathBuf::from("/")]);
        let bounds = Bounds { read: reach.clone(), write: reach, ..Bounds::open() };
        Ok(Self { view: View::new(&Roots::default(), &bounds)? })
    }

    pub(super) fn spot(&self, path: &Path) -> Result<Spot, TargetError> {
        Ok(self.view.spot_itself(path, Parents::Need)?.0)
    }

    pub(super) fn state(&self, path: &Path) -> Result<State, TargetError> {
        match self.spot(path) {
            Ok(spot) => {
                State::at(&spot).map_err(|error: io::Error| TargetError::from_io("look at", path, error))
            }
            Err(TargetError::NotFound { .. } | TargetError::NotADirectory { .. }) => Ok(State::Absent),
            Err(error) => Err(error),
        }
    }
}
