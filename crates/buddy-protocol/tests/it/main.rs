//! The protocol as other programs see it.

mod schema;
mod sessions_wire;
