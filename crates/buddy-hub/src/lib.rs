//! Live sessions: authorize, stamp, append, publish, ask.
//!
//! Each live session has one actor that owns the right to write to its log. Everything in the session goes
//! through that actor: it gives a fact its number, appends it to the store, and only then shows it to
//! subscribers. The hub knows agents and the store only by their traits.

mod access;
mod actor;
mod asks;
mod feed;
mod fork;
mod hub;
mod limits;
mod live;
mod live_sessions;
mod parts;
mod sink;
mod subscription;

pub use access::{Action, Denied, Resource, SessionResource, authorize};
pub use hub::{Hub, HubLimits, HubParts};
