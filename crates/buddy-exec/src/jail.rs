//! The jail: how a command is kept to its [`Bounds`](crate::Bounds) by the kernel.
//!
//! The supervisor turns the bounds into a plan and starts this program again in a second hidden mode, inside
//! bubblewrap where that is installed. That process confines itself (limits, no new privileges, Landlock, seccomp), which
//! nothing can undo, and only then starts the command. What cannot be applied refuses the command and names the layer.
//!
//! With bubblewrap, mounts do what Landlock cannot: they protect names inside a directory that may be written, also
//! names that do not exist yet. Without it Landlock protects them by granting less: nothing can be created directly in a
//! directory on the way to such a name.

mod bubblewrap;
mod confine;
mod ground;
mod inside;
mod layers;
mod mounts;
mod placeholder;
mod probe;
mod refusal;
mod resolve;
mod rules;
mod seccomp;
mod start;
mod words;

pub use inside::jail;
pub use layers::{Layer, LayerState, layers};
pub use placeholder::is_placeholder_at;
pub(crate) use placeholder::is_placeholder_by;
pub(crate) use refusal::Refusal;
pub(crate) use start::{Jail, Words, start};
pub(crate) use words::Status;

/// The first argument under which this program becomes the process inside the jail.
pub const JAIL: &str = "__jail";
