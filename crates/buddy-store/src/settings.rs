//! The settings for opening a store, and the report of opening it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use buddy_protocol::Clock;

/// The settings for opening a store.
#[derive(Clone)]
pub struct StoreSettings {
    /// The data directory. It holds `buddy.db` and `run/`, and is created if missing.
    pub directory: PathBuf,
    /// The role of the process.
    pub role: StoreRole,
    /// Identifies the boot of the machine, so that a clean mark from before a power cut is ignored. `None`
    /// means the kernel's own id.
    pub boot_id: Option<String>,
    /// The clock that dates migrations and lock holders.
    pub clock: Arc<dyn Clock>,
}

/// The role of a process that opens the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoreRole {
    /// A terminal or a one-shot run. Any number of them share a store with each other and with a server.
    Terminal,
    /// A server. A store has one server at a time.
    Server,
}

/// The report of opening a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReport {
    /// Whether the database was just created.
    pub created: bool,
    /// Whether the database was checked, and why not.
    pub integrity: Integrity,
    /// The migrations that were applied, in order.
    pub migrated: Vec<&'static str>,
    /// Files and directories that others could read until now.
    pub modes_fixed: Vec<PathBuf>,
    /// Whether anchors were missing and were made from the database: events that are missing now stay unnoticed.
    pub made_anchors_anew: bool,
    /// The version of `SQLite` in use.
    pub sqlite: &'static str,
}

/// Whether the database was checked when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// Not checked: the last process closed it cleanly, or it is new.
    Clean,
    /// Not checked: other processes have it open, and the first of them was responsible for the check.
    Shared,
    /// Checked and found intact: the last process did not close it, or the machine was rebooted.
    Checked,
    /// Not checked: it is open for reading only, even if it is damaged.
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
