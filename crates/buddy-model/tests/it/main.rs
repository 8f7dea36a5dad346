//! Tests of buddy-model through its public API.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a broken assumption ends the test")]

mod body;
mod fixtures;
mod http;
mod login;
mod probe;
mod splits;
mod wires;
