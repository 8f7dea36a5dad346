//! Rivals of an approved command: commands that nobody was asked about and that can change a file which the approved one runs.
//!
//! An approved command starts while no rival runs, after its files were compared with those that the user was asked about. A mount of
//! the known content over a file would not hold: whoever replaces the file elsewhere takes the mounts on it away.

use std::sync::Arc;
use std::time::Duration;

use buddy_exec::FileOpens;
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

/// The commands of a session that run in calls: any number that nobody was asked about, or one that was approved with its files.
#[derive(Clone, Default)]
pub(crate) struct CommandTurns(Arc<RwLock<()>>);

/// A command's turn, for as long as this is not dropped.
#[derive(Default)]
pub(crate) struct CommandTurn {
    _beside_others: Option<OwnedRwLockReadGuard<()>>,
    _alone: Option<OwnedRwLockWriteGuard<()>>,
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
        if judged.pins.as_ref().is_some_and(|pins| !pins.is_empty()) {
            let alone = self.0.clone().write_owned().await;
            return CommandTurn { _alone: Some(alone), ..CommandTurn::default() };
        }
        let is_writer = judged.decision.needs.runs && !judged.decision.is_read_only;
        if is_writer && judged.decision.verdict != Verdict::Ask {
            let beside = self.0.clone().read_owned().await;
            return CommandTurn { _beside_others: Some(beside), ..CommandTurn::default() };
        }
        CommandTurn::default()
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
        let Some(pins) = &judged.pins else { return PinCheck::Same(turn) };
        if let Some(rival) = self.rival(ready, judged).await {
            return PinCheck::Rival(rival);
        }
        let now = Pins::take(&judged.decision.pins, &*ready.target.host.target).await;
        if now == **pins { PinCheck::Same(turn) } else { PinCheck::Changed }
    }

    /// Why a command that runs these files cannot be approved now: a rival runs in the background.
    pub(crate) async fn rival(&self, ready: &Ready, judged: &Judged) -> Option<ToolFailure> {
        let files = &judged.decision.pins;
        let file = files.first()?;
        // Where commands that nobody is asked about are not confined, none needs the rights of another.
        if judged.unasked_bounds.only_hide() {
            return None;
        }
        let could = |who: &str| {
            let file = ready.target.place.named(file);
            let message = format!(
                "{who} runs in the background without the user's approval, and could change `{file}` after the user has read it"
            );
            ToolFailure::new("rival", message)
                .hint("end it with `process_stop`, run this command, and start it again then")
        };
        if self.background.has_pane() {
            return Some(could("a command in a pane"));
        }
        let managed = ready.target.host.target.managed()?.clone();
        let files = files.clone();
        let found = spawn_blocking(move || managed.rivals(&files)).await;
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
