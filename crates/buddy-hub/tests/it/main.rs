//! The hub over a real store, with an agent that does what its prompt says.
#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod asks;
mod bench;
mod forks;
mod sessions;
mod subscriptions;
