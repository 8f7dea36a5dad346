//! How a store is opened, and what opening it found.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use buddy_protocol::Clock;

/// How a store is opened.
#[derive(Clone)]
pub struct StoreSettings {
    /// The data directory. It holds `buddy.db` and `run/`, and is made when missing.
    pub directory: PathBuf,
    /// What the process is.
    pub role: Role,
    /// Names the run of the machine, so that a clean mark from before a power cut is not believed; none means the
    /// kernel's own name for it.
    pub boot_id: Option<String>,
    /// Dates migrations and lock holders.
    pub clock: Arc<dyn Clock>,
}

/// What a process that opens the store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A terminal or a one-shot run. Any number of them share a store, with each other and with a server.
    Terminal,
    /// A server. One store has one server at a time.
    Server,
}

/// What opening a store found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReport {
    /// Whether the database was made just now.
    pub created: bool,
    /// Whether the database was checked, and why not.
    pub integrity: Integrity,
    /// The migrations that were applied, in order.
    pub migrated: Vec<&'static str>,
    /// Files and directories that others could read until now.
    pub modes_fixed: Vec<PathBuf>,
    /// The version of `SQLite` in use.
    pub sqlite: &'static str,
}

/// Whether the database was checked when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// Not checked: the last process closed it cleanly, or it is new.
    Clean,
    /// Not checked: other processes have it open, and the first of them took care of it.
    Shared,
    /// Checked and found whole: the last process did not close it, or the machine was started anew.
    Checked,
    /// Not checked: it is opened for reading what can be read.
    Unchecked,
}

impl fmt::Debug for StoreSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreSettings")
            .field("directory", &self.directory)
            .field("role", &self.role)
            .field("boot_id", &self.boot_id)
            .finish_non_exhaustive()
    }
}
