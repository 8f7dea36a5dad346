//! The protocol as other programs see it.

mod commands;
mod schema;
mod sessions_wire;
