//! Control groups: limits on a command as a whole, and one more way to end all of it.
//!
//! Limits of a process do not stop many processes, and root has none on their number. A control group does
//! both. It is made below the group that this process is in, so that the limits of that group still apply.
//! If no group can be made there, commands run without these limits, and `buddy doctor` says so.

mod group;
mod limits;
mod part;
mod places;

pub(crate) use group::Group;
pub use limits::{Limits, LimitsHit};

/// Describes the limits that control groups can set for commands on this machine, found out by
/// making one.
pub(crate) fn tried() -> String {
    Group::make(Limits::usual()).map(|group| group.described()).unwrap_or_default()
}
