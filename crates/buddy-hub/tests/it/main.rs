//! The hub over a real store, with an agent that does what its prompt says.
#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod access;
mod asks;
mod bench;
mod following;
mod forks;
mod keys;
mod sessions;
mod subscriptions;
mod terms;
mod unloading;
