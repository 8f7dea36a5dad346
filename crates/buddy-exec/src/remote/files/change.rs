//! Changing files.

use std::path::Path;

use super::super::fence::Access;
use super::look::split;
use super::{Files, MAX_ENTRIES, Spot};
use crate::{BEFORE_CAP, Deleted, Deletion, ListOptions, TargetError, Written};

const WRITE: &str = include_str!("../scripts/write.sh");
const MAKE_DIRECTORY: &str = include_str!("../scripts/make_directory.sh");
const RENAME: &str = include_str!("../scripts/rename.sh");
const DELETE: &str = include_str!("../scripts/delete.sh");
/// Room for a short answer.
const ANSWER_BYTES: usize = 256;

impl Files<'_> {
    /// Writes beside the file and renames: a reader sees the old content or the new, and a connection that is lost on the
    /// way leaves the old.
    pub(in super::super) async fn write(&self, path: &Path, content: &[u8]) -> Result<Written, TargetError> {
        let spot = self.spot(path, Access::Write).await?;
        check_replace(&spot)?;
        let (length, cap) = (content.len().to_string(), BEFORE_CAP.to_string());
        let keep = usize::try_from(BEFORE_CAP).unwrap_or(0) + ANSWER_BYTES;
        let exit = self.run(WRITE, &spot, &[&spot.path, &length, &cap], content, keep).await?;
        let (header, before) = split(&exit.stdout.head);
        let mut words = header.split_whitespace();
        let created = words.next() == Some("created");
        // Contents that may not be read are not shown in a diff either.
        let is_sealed = spot.fence.as_ref().is_some_and(|fence| fence.seals(Path::new(&spot.path)));
        let has_before = words.next().is_some_and(|size| size != "-") && !is_sealed;
        Ok(Written { bytes: content.len() as u64, created, before: has_before.then_some(before) })
    }

    pub(in super::super) async fn make_directory(&self, path: &Path) -> Result<bool, TargetError> {
        let spot = self.spot(path, Access::Write).await?;
        let exit = self.run(MAKE_DIRECTORY, &spot, &[&spot.path], b"", ANSWER_BYTES).await?;
        Ok(exit.stdout.head.starts_with(b"made"))
    }

    pub(in super::super) async fn rename(&self, from: &Path, to: &Path) -> Result<(), TargetError> {
        let source = self.spot_itself(from).await?;
        let place = self.spot_itself(to).await?;
        check_replace(&place)?;
        let renamed = self.run(RENAME, &source, &[&source.path, &place.path], b"", ANSWER_BYTES).await;
        match renamed {
            Err(TargetError::Exists { .. }) => Err(TargetError::Exists { path: place.named }),
            renamed => renamed.map(drop),
        }
    }

    pub(in super::super) async fn delete(
        &self,
        path: &Path,
        deletion: Deletion,
    ) -> Result<Deleted, TargetError> {
        let named = self.cwd.join(path);
        if self.cwd.starts_with(&named) {
            return Err(TargetError::IsRoot { path: named });
        }
        let spot = self.spot_itself(path).await?;
        self.check_tree(&spot, deletion).await?;
        let how = match deletion {
            Deletion::Single => "single",
            Deletion::Recursive => "recursive",
        };
        let keep = super::text(self.cwd)?;
        let exit = self.run(DELETE, &spot, &[&spot.path, how, &keep], b"", ANSWER_BYTES).await?;
        let entries = String::from_utf8_lossy(&exit.stdout.head).trim().parse().unwrap_or(1);
        Ok(Deleted { entries })
    }

    /// Refuses a tree with an entry that must stay.
    async fn check_tree(&self, spot: &Spot, deletion: Deletion) -> Result<(), TargetError> {
        let Some(fence) = &spot.fence else { return Ok(()) };
        let real = Path::new(&spot.path);
        fence.check_not_root(&spot.named, real)?;
        if deletion == Deletion::Single {
            return Ok(());
        }
        let all = ListOptions { depth: u32::from(u16::MAX), limit: MAX_ENTRIES, with_ignored: true };
        let listing = match self.list(&spot.named, all).await {
            // A file has no entries.
            Err(TargetError::NotADirectory { .. }) => return Ok(()),
            listing => listing?,
        };
        if listing.truncated {
            return Err(TargetError::TooMany { what: "entries to remove", limit: MAX_ENTRIES });
        }
        for entry in &listing.entries {
            fence.check_removal(&spot.named.join(&entry.path), &real.join(&entry.path))?;
        }
        Ok(())
    }
}

fn check_replace(spot: &Spot) -> Result<(), TargetError> {
    match &spot.fence {
        Some(fence) => fence.check_replace(&spot.named, Path::new(&spot.path)),
        None => Ok(()),
    }
}
