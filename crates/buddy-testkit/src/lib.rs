//! Scripted peers and helpers for tests.
