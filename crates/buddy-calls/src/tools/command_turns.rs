//! Turns of commands: any number that nobody was asked about run together, one that was approved with its files runs alone.

use std::sync::Arc;

use buddy_policy::Verdict;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::gate::Judged;

/// The commands of a session that run in calls: any number that nobody was asked about, or one call that was approved with its files.
#[derive(Clone, Default)]
pub(crate) struct CommandTurns {
    /// Shared by commands that can change files.
    writers: Arc<RwLock<()>>,
    /// Shared by all commands that are kept from secrets. Taken after the other.
    sealed: Arc<RwLock<()>>,
}

/// A command's turn, for as long as this is not dropped.
#[derive(Default)]
pub(crate) struct CommandTurn {
    _beside_others: Option<OwnedRwLockReadGuard<()>>,
    _alone: Option<OwnedRwLockWriteGuard<()>>,
    _is_sealed: Option<OwnedRwLockReadGuard<()>>,
    _changes_secrets: Option<OwnedRwLockWriteGuard<()>>,
}

impl CommandTurns {
    /// Waits for the turn of a call.
    pub(crate) async fn take(&self, judged: &Judged) -> CommandTurn {
        let decision = &judged.decision;
        let has_pins = judged.pins.as_ref().is_some_and(|pins| !pins.is_empty()) || judged.is_bound();
        let is_unasked = decision.needs.runs && decision.verdict != Verdict::Ask;
        let (writers, sealed) = (self.writers.clone(), self.sealed.clone());
        let (beside, alone) = match has_pins || !decision.changed_orders.is_empty() {
            true => (None, Some(writers.write_owned().await)),
            false if is_unasked && !decision.is_read_only => (Some(writers.read_owned().await), None),
            false => (None, None),
        };
        let (is_sealed, changes_secrets) = match decision.changed_secrets.is_empty() {
            false => (None, Some(sealed.write_owned().await)),
            true if is_unasked => (Some(sealed.read_owned().await), None),
            true => (None, None),
        };
        CommandTurn {
            _beside_others: beside,
            _alone: alone,
            _is_sealed: is_sealed,
            _changes_secrets: changes_secrets,
        }
    }
}
