//! The protocol as other programs see it.
#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

mod commands;
mod schema;
mod sessions_wire;
