//! Managed processes: commands that outlive their call, their session and buddy itself.
//!
//! Each has a *keeper*: this program in a third hidden mode, detached from the process that started it. It
//! owns the process tree as the supervisor of a command does, writes the output to files and the [`Record`]
//! beside them, and restarts the command if requested. Nothing depends on a connection to the keeper: a
//! process that can read the record finds the keeper by its id, its start time and the boot, or finds that it
//! is gone. So a restarted buddy takes up all of them.
//!
//! A number alone is never signalled: a process is named by its [`Identity`], and signals go through a
//! descriptor that was opened before the identity was read again.

mod adopted;
mod directory;
mod error;
mod health;
mod identity;
mod keep;
mod launch;
mod line;
mod output_log;
mod processes;
mod pump;
mod record;
mod stop;
mod sweep;

pub use error::ManagedError;
pub use health::Health;
pub use identity::Identity;
pub use keep::keep;
pub use launch::Launch;
pub use output_log::{FILE_CAP_BYTES, Follow};
pub use processes::{MAX_LIVE, ManagedProcesses, ManagedSettings};
pub use record::{Condition, Owner, Record, Restart, State, Status};
pub use stop::Force;

/// The first argument under which this program becomes the keeper of a managed process.
pub const KEEP: &str = "__keep";

/// The variable that every process of a managed process has in its environment, with the id as its value.
/// buddy uses it to find the processes of a lost keeper.
pub const TAG: &str = "BUDDY_PROCESS";
