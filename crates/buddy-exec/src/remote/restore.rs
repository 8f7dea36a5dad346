//! The access to another host that undo needs beside that of the tools.

use std::path::Path;

use super::RemoteTarget;
use crate::undo::{Look, State, Upcoming};
use crate::{Bounds, Recorder, TargetError};

const SET_MODE: &str = "chmod -- \"$2\" \"$1\" || exit 41\n";
const MAKE_LINK: &str = "rm -f -- \"$1\" && ln -s -- \"$2\" \"$1\" || exit 41\n";
/// These scripts answer nothing.
const ANSWER_BYTES: usize = 256;

impl RemoteTarget {
    /// The object at a path, with up to this many bytes of its content.
    pub(crate) async fn look(&self, path: &Path, most: u64) -> Result<Look, TargetError> {
        let bounds = Bounds::open();
        let files = self.files(&bounds);
        files.look(&files.spot_itself(path).await?, most, "").await
    }

    /// Sets the permission bits of a file or directory.
    pub(crate) async fn set_mode(&self, path: &Path, mode: u32) -> Result<(), TargetError> {
        let bounds = Bounds::open();
        let files = self.files(&bounds);
        let spot = files.spot_itself(path).await?;
        files.run(SET_MODE, &spot, &[&spot.path, &format!("{mode:o}")], b"", ANSWER_BYTES).await.map(drop)
    }

    /// Makes a link, in the place of an existing one.
    pub(crate) async fn make_link(
        &self,
        recorder: &Recorder,
        path: &Path,
        target: &State,
    ) -> Result<(), TargetError> {
        let State::Link { target: leads } = target else { return Ok(()) };
        let text = leads.0.to_str().ok_or(TargetError::BadPath { why: "is not UTF-8" })?;
        let bounds = Bounds::open();
        let files = self.files(&bounds);
        let spot = files.spot_itself(path).await?;
        if let Some(most) = recorder.most_bytes() {
            let look = files.look(&spot, most, "").await?;
            let change = Upcoming { path: look.path, before: look.seen, after: target.clone() };
            recorder.changing_elsewhere(vec![change]).await?;
        }
        files.run(MAKE_LINK, &spot, &[&spot.path, text], b"", ANSWER_BYTES).await.map(drop)
    }
}
