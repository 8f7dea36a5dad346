//! Another host, reached by a [`Transport`](crate::Transport): the whole of [`Target`](crate::Target) over
//! anything that runs one POSIX shell there.
//!
//! Every call starts one shell over there with a fixed short text, which reads a script from its stdin and
//! runs it. So no shell parses a word of a call, and the limit on command lines does not apply. The script of
//! a command is a small supervisor (`scripts/supervised.sh`): the command gets a session of its own and a
//! mark in its resource limits that all its descendants inherit, by which they are found and killed. The
//! script reports over stderr between marks that the command does not know.

mod call;
mod drive;
mod ere;
mod feed;
mod fence;
mod files;
mod marks;
mod probe;
mod quote;
mod restore;
mod script;
mod search;
mod spare;
mod target;

pub use quote::quote;
pub use target::{RemoteSettings, RemoteTarget};
