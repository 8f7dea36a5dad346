//! Scripted peers and helpers for tests.
#![expect(clippy::expect_used, reason = "this crate runs in tests only: a broken setup ends the test")]

pub mod model;
