//! Scripted peers and helpers for tests.
#![expect(clippy::expect_used, reason = "this crate runs in tests only: a broken setup ends the test")]

pub mod container_host;
pub mod home;
pub mod model;
pub mod oauth;
pub mod processes;
pub mod program;
pub mod ssh_host;
