//! Git as tools, by the `git` program of the target, with everything off that a repository could make it run.
//!
//! A repository is somebody else's text: its configuration names programs for watching files, showing and filtering them,
//! signing, paging, connecting. `shield.rs` takes all of these away before `git` looks at any file, and what cannot be
//! taken away without changing what the user would get is refused with a word on why. buddy starts no `git` but by
//! `start.rs`, also for the user.

mod add;
mod branch;
mod changes;
mod commit;
mod diff;
mod glance;
mod log;
mod push;
mod repository;
mod shield;
mod start;
mod status;
mod trip_end;

pub(crate) use add::GitAdd;
pub(crate) use branch::GitBranch;
pub use changes::RepositoryChanges;
pub(crate) use commit::GitCommit;
pub(crate) use diff::GitDiff;
pub use glance::{RepositoryGlance, glance_at_repository};
pub(crate) use log::GitLog;
pub(crate) use push::GitPush;
pub(crate) use status::GitStatus;
pub(crate) use trip_end::trip_ends;
