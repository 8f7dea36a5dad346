//! Files with secrets that commands in the background are kept from, which they can read once somebody replaces them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use buddy_exec::SealWatch;
use buddy_policy::Trail;

use crate::gate::Gate;

/// The files of a session that are watched.
pub(crate) struct SecretWatch {
    gate: Arc<Gate>,
    /// Held for a look or a change only.
    files: Mutex<SealWatch>,
}

impl SecretWatch {
    pub(crate) fn new(gate: Arc<Gate>) -> Self {
        Self { gate, files: Mutex::default() }
    }

    /// Watches further files.
    pub(crate) fn watch(&self, files: Vec<PathBuf>) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).add(files);
    }

    /// Whether a file is another than when a command in the background began that is kept from it.
    pub(crate) fn is_replaced(&self) -> bool {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).replaced().is_some()
    }

    /// Takes a secret for read that a command in the background can read since it was replaced.
    pub(crate) fn note_replaced(&self) {
        if !self.gate.has_read_secret() && self.is_replaced() {
            self.gate.trace(Trail::read_secret);
        }
    }
}
