//! The state before a change, read through the transport and given to the recorder. Nothing is changed unless
//! it could be kept.

use std::path::{Path, PathBuf};

use super::super::fence::Access;
use super::{Files, Spot};
use crate::undo::{Look, Seen, State, Upcoming};
use crate::{Deletion, Recorder, TargetError};

const STATE: &str = include_str!("../scripts/state.sh");
/// The most bytes about a path beside its content.
const HEADER_BYTES: usize = 64 * 1024;

impl Files<'_> {
    pub(in super::super) async fn keep_write(
        &self,
        recorder: &Recorder,
        path: &Path,
        content: &[u8],
    ) -> Result<(), TargetError> {
        let Some(most) = recorder.most_bytes() else { return Ok(()) };
        let spot = self.spot(path, Access::Write).await?;
        let look = self.look(&spot, most, "through").await?;
        let after = match (look.seen.file_mode(), &look.seen) {
            (Some(mode), _) => State::file(content, mode),
            (None, Seen::Large { .. }) => State::NotKept { why: "it was too large before".to_owned() },
            // The write itself reports why that is no file.
            (None, _) => return Ok(()),
        };
        let mut changes = look.ancestors_made();
        changes.push(Upcoming { path: look.path, before: look.seen, after });
        recorder.changing_elsewhere(changes).await
    }

    pub(in super::super) async fn keep_directory(
        &self,
        recorder: &Recorder,
        path: &Path,
    ) -> Result<(), TargetError> {
        let Some(most) = recorder.most_bytes() else { return Ok(()) };
        let spot = self.spot(path, Access::Write).await?;
        let look = self.look(&spot, most, "").await?;
        if !matches!(look.seen, Seen::Absent { .. }) {
            return Ok(());
        }
        let mut changes = look.ancestors_made();
        changes.push(Upcoming::made(look.path));
        recorder.changing_elsewhere(changes).await
    }

    pub(in super::super) async fn keep_rename(
        &self,
        recorder: &Recorder,
        from: &Path,
        to: &Path,
    ) -> Result<(), TargetError> {
        let Some(most) = recorder.most_bytes() else { return Ok(()) };
        let source = self.look(&self.spot_itself(from).await?, most, "").await?;
        let place = self.look(&self.spot_itself(to).await?, most, "").await?;
        if !matches!(place.seen, Seen::Absent { .. }) {
            return Ok(());
        }
        let mut changes = place.ancestors_made();
        let after = source.seen.state();
        changes.push(Upcoming { path: source.path, before: source.seen, after: State::Absent });
        changes.push(Upcoming { path: place.path, before: place.seen, after });
        recorder.changing_elsewhere(changes).await
    }

    pub(in super::super) async fn keep_delete(
        &self,
        recorder: &Recorder,
        path: &Path,
        deletion: Deletion,
    ) -> Result<(), TargetError> {
        let Some(most) = recorder.most_bytes() else { return Ok(()) };
        let spot = self.spot_itself(path).await?;
        let look = self.look(&spot, most, "").await?;
        match (&look.seen, deletion) {
            (Seen::Absent { .. }, _) => Ok(()),
            (Seen::Directory { .. }, Deletion::Recursive) => recorder.not_covered_elsewhere(look.path).await,
            _ => {
                let change = Upcoming { path: look.path, before: look.seen, after: State::Absent };
                recorder.changing_elsewhere(vec![change]).await
            }
        }
    }

    /// The object at a spot, with up to this many bytes of its content.
    pub(in super::super) async fn look(
        &self,
        spot: &Spot,
        most: u64,
        how: &str,
    ) -> Result<Look, TargetError> {
        let keep = usize::try_from(most).unwrap_or(usize::MAX).saturating_add(HEADER_BYTES);
        let exit = self.run(STATE, spot, &[&spot.path, &most.to_string(), how], b"", keep).await?;
        Look::read(&exit.stdout.head).ok_or_else(|| TargetError::NotKept {
            path: PathBuf::from(&spot.path),
            source: std::io::Error::other("the host did not say what is there"),
        })
    }
}
