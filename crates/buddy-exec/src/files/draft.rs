//! The draft of a file in the workspace, which takes the place of the file or is removed again.

use std::io;

use rustix::fs::{Gid, Stat, Uid, fchown, fstat};

use super::spot::Spot;
use crate::FileDraft;

impl FileDraft {
    /// A new draft in the directory of the spot. The mode is cut by the account's mask.
    pub(crate) fn beside(spot: &Spot, mode: u32) -> io::Result<Self> {
        Self::create_in(spot.directory().clone(), mode)
    }

    /// Gives the draft owner and mode of the file that it is to replace.
    pub(crate) fn take_over(&self, existing: &Stat) -> io::Result<()> {
        let own = fstat(&self.file)?;
        if (own.st_uid, own.st_gid) != (existing.st_uid, existing.st_gid) {
            let (owner, group) = (Uid::from_raw(existing.st_uid), Gid::from_raw(existing.st_gid));
            // Only root may give files away; for others the content matters more than the owner.
            let _ = fchown(&self.file, Some(owner), Some(group));
        }
        // After the owner, as changing that clears the set-id bits.
        self.set_mode(existing.st_mode)
    }

    /// Puts the draft in its place. An existing link is replaced and not followed.
    pub(crate) fn keep(self, spot: &Spot) -> io::Result<()> {
        self.move_to(spot.directory(), spot.name())?;
        spot.sync()
    }
}
