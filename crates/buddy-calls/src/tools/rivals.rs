//! Rivals of an approved call: commands that nobody was asked about and that can change a file which the call runs or which it
//! writes for programs that run it later. For a tool that changes a file with secrets, also commands that are kept from such files.
//!
//! An approved call starts while no rival runs, after its files were compared with those that the user was asked about. A mount
//! over a file would not hold: whoever replaces the file elsewhere takes the mounts on it away. A tool of buddy does just that.

use std::path::PathBuf;

use buddy_exec::managed::{ManagedError, Status};
use buddy_protocol::ToolFailure;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::gate::Judged;
use crate::tools::command_turns::CommandTurn;
use crate::tools::pins::Pins;
use crate::tools::pipeline::{Pipeline, Ready};

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
        let pinned = if is_confined { decision.pins.as_slice() } else { &[] };
        let pins = Pins::take(pinned, &*ready.target.host.target).await;
        let held = pins.held().chain(decision.changed_orders.iter().filter(|_| is_confined));
        let mut held: Vec<PathBuf> = held.cloned().collect();
        let ends = judged.destinations.iter().filter_map(|known| known.end.as_ref());
        let stores: Vec<PathBuf> = ends.filter(|_| is_confined).map(|end| end.repository.clone()).collect();
        let (runs_files, secret) = (!held.is_empty(), decision.changed_secrets.first());
        held.extend(stores);
        let file = held.first().or(secret)?;
        let file = ready.target.place.named(file);
        let could = |who: &str, id: Option<&str>| {
            let what = match (held.is_empty(), decision.needs.runs) {
                (true, _) => format!(
                    "could read the new `{file}`: it is kept from the secrets that were there when it started"
                ),
                (false, true) if !runs_files => {
                    format!("could redirect this command: it can change the addresses of remotes in `{file}`")
                }
                (false, true) => format!("could change `{file}` after the user has read it"),
                (false, false) => format!("could change `{file}` right after this call"),
            };
            let again = if decision.needs.runs { "run this command" } else { "make this change" };
            ToolFailure::new(
                "rival",
                format!("{who} runs in the background without the user's approval, and {what}"),
            )
            .hint(match id {
                Some(id) => format!(
                    "{again} after it has ended by itself, or end it with `process_stop` (the user can, with `/kill {id}`), {again}, and \
                     start it again then"
                ),
                None => format!("end it with `process_stop`, {again}, and start it again then"),
            })
        };
        if self.background.has_pane() {
            return Some(could("a command in a pane", None));
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
            Ok(Ok(rivals)) => rivals.first().map(|Status { record, .. }| {
                could(&format!("`{}` ({})", record.command, record.id), Some(&record.id))
            }),
            Ok(Err(_)) | Err(_) => Some(could("perhaps another command", None)),
        }
    }
}
