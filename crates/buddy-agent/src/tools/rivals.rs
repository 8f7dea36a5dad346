//! Rivals of an approved call: commands that nobody was asked about and that can change a file which the call runs or which it
//! writes for programs that run it later. For a tool that changes a file with secrets, also commands that are kept from such files.
//!
//! An approved call starts while no rival runs, after its files were compared with those that the user was asked about. A mount
//! over a file would not hold: whoever replaces the file elsewhere takes the mounts on it away. A tool of buddy does just that.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::FileOpens;
use buddy_exec::managed::ManagedError;
use buddy_policy::Verdict;
use buddy_protocol::ToolFailure;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::gate::Judged;
use crate::tools::pins::Pins;
use crate::tools::run::{Pipeline, Ready};
use crate::tools::tool::ToolContext;

/// How long a command that is left to itself has to open the files that it runs. Far more than a program needs for that; some of the
/// files may not be used at all.
const READ_WITHIN: Duration = Duration::from_secs(3);

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

/// Whether an approved command may start.
pub(crate) enum PinCheck {
    /// Its files are those that the user was asked about, and nobody is there to change them.
    Same(CommandTurn),
    /// Its files are others now.
    Changed,
    /// A rival runs.
    Rival(ToolFailure),
    /// The user interrupted the call before its turn came.
    Interrupted,
}

impl CommandTurns {
    async fn take(&self, judged: &Judged) -> CommandTurn {
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

impl Pipeline {
    /// Waits for a call's turn and compares the files that it runs with those that the user was asked about.
    pub(crate) async fn check_pins(
        &self,
        ready: &Ready,
        judged: &Judged,
        cancel: &CancellationToken,
    ) -> PinCheck {
        let turn = tokio::select! {
            turn = self.turns.take(judged) => turn,
            () = cancel.cancelled() => return PinCheck::Interrupted,
        };
        // A rule lets a tool change a file without a question, and the file is as open to others then.
        let is_change =
            !judged.decision.changed_orders.is_empty() || !judged.decision.changed_secrets.is_empty();
        if (judged.pins.is_some() || is_change || judged.is_bound())
            && let Some(rival) = self.rival(ready, judged).await
        {
            return PinCheck::Rival(rival);
        }
        let is_same = match &judged.pins {
            Some(pins) => Pins::take(&judged.decision.pins, &*ready.target.host.target).await == **pins,
            None => true,
        };
        let is_same = is_same && self.leads_as_before(ready, judged).await;
        if is_same { PinCheck::Same(turn) } else { PinCheck::Changed }
    }

    /// Why a call that runs or changes these files cannot go on now: a rival runs in the background.
    pub(crate) async fn rival(&self, ready: &Ready, judged: &Judged) -> Option<ToolFailure> {
        let decision = &judged.decision;
        // Where commands that nobody is asked about are not confined, none needs the rights of another.
        let is_confined = !judged.unasked_bounds.only_hide();
        let held = decision.pins.iter().chain(&decision.changed_orders).filter(|_| is_confined);
        let mut held: Vec<PathBuf> = held.cloned().collect();
        let ends = judged.destinations.iter().filter_map(|known| known.end.as_ref());
        let stores: Vec<PathBuf> = ends.filter(|_| is_confined).map(|end| end.repository.clone()).collect();
        let (runs_files, secret) = (!held.is_empty(), decision.changed_secrets.first());
        held.extend(stores);
        let file = held.first().or(secret)?;
        let file = ready.target.place.named(file);
        let could = |who: &str| {
            let what = match (held.is_empty(), decision.needs.runs) {
                (true, _) => format!(
                    "could read the new `{file}`: it is kept from the secrets that were there when it started"
                ),
                (false, true) if !runs_files => format!("could change in `{file}` where git connects to"),
                (false, true) => format!("could change `{file}` after the user has read it"),
                (false, false) => format!("could change `{file}` right after this call"),
            };
            let again = if decision.needs.runs { "run this command" } else { "make this change" };
            ToolFailure::new(
                "rival",
                format!("{who} runs in the background without the user's approval, and {what}"),
            )
            .hint(format!("end it with `process_stop`, {again}, and start it again then"))
        };
        if self.background.has_pane() {
            return Some(could("a command in a pane"));
        }
        let managed = ready.target.host.target.managed()?.clone();
        let (files, changes_secret) = (held.clone(), secret.is_some());
        let found = spawn_blocking(move || {
            let mut rivals = managed.rivals(&files)?;
            if changes_secret {
                rivals.extend(managed.sealed_off()?);
            }
            Ok::<_, ManagedError>(rivals)
        })
        .await;
        match found {
            Ok(Ok(rivals)) => rivals
                .first()
                .map(|rival| could(&format!("`{}` ({})", rival.record.command, rival.record.id))),
            Ok(Err(_)) | Err(_) => Some(could("perhaps another command")),
        }
    }
}

/// Waits until an approved command that runs on has opened its files, so that a later command changes nothing that it was approved with.
pub(crate) struct PinsRead(Option<FileOpens>);

impl PinsRead {
    /// Begins before the command starts.
    pub(crate) fn begin(context: &ToolContext) -> Self {
        let is_watched = !context.pins.is_empty() && context.target.managed().is_some();
        let opens = is_watched.then(|| FileOpens::watch(&context.pins));
        Self(opens.and_then(|opens| {
            opens.inspect_err(|error| tracing::warn!(%error, "cannot watch the files of a command")).ok()
        }))
    }

    pub(crate) async fn wait(self) {
        if let Some(opens) = self.0 {
            // If it fails, the time that the command had until now has to do.
            let _ = spawn_blocking(move || opens.wait(READ_WITHIN)).await;
        }
    }
}
