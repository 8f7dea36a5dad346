//! Live sessions: authorize, stamp, append, publish, ask.
//!
//! Each live session has one actor that owns the right to write to its log. Everything in the session goes
//! through that actor: it gives a fact its number, appends it to the store, and only then shows it to
//! subscribers. The hub knows agents and the store only by their traits.

mod access;
mod actor;
mod asks;
mod fork;
mod hub;
mod live;
mod parts;
mod sink;
mod subscription;

pub use hub::{Hub, HubParts};
