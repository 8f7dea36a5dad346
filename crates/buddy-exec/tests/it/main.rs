//! The effects of the local target on real processes and files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bounds;
mod files;
mod groups;
mod hosts;
mod jail;
mod limits;
mod managed;
mod output;
mod panes;
mod parent;
mod pty;
mod race;
mod runs;
mod sealed;
mod search;
mod stage;
mod trees;
mod undo;
