//! Another host, reached by a [`Transport`](crate::Transport): the whole of [`Target`](crate::Target) over anything that
//! runs one POSIX shell there.
//!
//! Every call starts one shell over there with a fixed short text, which reads a script from its standard input and runs
//! it. So no word of a call passes through a shell's reading, and no length is limited by what a command line takes. The
//! script of a command is a small supervisor (`scripts/supervised.sh`): the command gets a session of its own and a mark
//! in its resource limits that all its descendants inherit, by which they are found and ended. What the script has to
//! tell goes over the standard error between marks that the command does not know.

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
