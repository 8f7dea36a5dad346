//! The jail: the kernel keeps a command to its [`Bounds`](crate::Bounds).
//!
//! The supervisor turns the bounds into a plan and starts this program again in a second hidden mode, inside
//! bubblewrap where that is installed. That process confines itself (limits, no new privileges, Landlock,
//! seccomp), which nothing can undo, and only then starts the command. If a layer cannot be applied, the
//! command is refused and the error names the layer.
//!
//! With bubblewrap, mounts do what Landlock cannot: they protect names inside a directory that may be
//! written. Without it Landlock protects them by granting less: nothing can be created directly in a
//! directory on the way to such a name. Names that do not exist yet are swept: files that a command makes
//! there are moved to quarantine before its end is reported.

mod baselines;
mod broker;
mod bubblewrap;
mod cache_layers;
mod caller;
mod closed;
mod config_writes;
mod confine;
mod connects;
mod covers;
mod denial;
mod git_config;
mod git_lines;
mod ground;
mod guards;
mod inside;
mod landlock_rules;
mod layers;
mod links;
mod litter;
mod look;
mod mounts;
mod names;
mod order_guard;
mod overlays;
mod plain_settings;
mod probe;
mod quarantine;
mod raw_path;
mod refusal;
mod repositories;
mod resolve;
mod rules;
mod seals;
mod seccomp;
mod setuid;
mod single_files;
mod socket_list;
mod stand_in;
mod start;
mod sweeper;
mod walk;
mod watched;
mod way_out;
mod words;
mod write_places;

pub(crate) use baselines::running_supervisors;
pub(crate) use cache_layers::LOCK as CACHE_LOCK;
pub use denial::{Denial, DenialKind, denials};
pub(crate) use git_config::local_directory;
pub(crate) use guards::sealed;
pub use inside::{JAIL, jail};
pub use layers::{Layer, LayerState, layers};
pub use litter::clear_litter;
pub(crate) use look::{secrets_beneath, secrets_in};
pub use order_guard::OrderGuard;
pub(crate) use order_guard::{OrderWatch, RunningCommands};
pub use quarantine::{Moved, SweepNote};
pub(crate) use refusal::Refusal;
pub use repositories::{git_orders, places_of_remotes};
pub(crate) use stand_in::is_stand_in;
pub(crate) use start::{Jail, Keeper, Words, start};
pub(crate) use sweeper::SweepLine;
pub use walk::{Unseen, UnseenReason};
pub(crate) use words::Status;

/// Whether commands get namespaces of their own, as far as can be told without starting one.
pub fn has_namespaces() -> bool {
    matches!(bubblewrap::find(), Ok(Some(_)))
}
