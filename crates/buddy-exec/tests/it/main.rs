//! What the local target does to real processes and files, asserted on their effects.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod files;
mod jail;
mod output;
mod parent;
mod runs;
mod stage;
mod trees;
