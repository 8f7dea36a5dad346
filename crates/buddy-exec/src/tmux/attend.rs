//! Hands over a running command: to a caller that waits for it, or that leaves it in its pane. One that no
//! caller takes is ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::run::Begun;
use super::wish::{Brake, Wish};
use crate::{Exit, PaneRunning, Running, Stopper, TargetError};

/// The handling of a running command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// The caller waits for its end.
    Waited,
    /// It is left to itself.
    Left,
}

/// A running command, for the caller that asked for it.
pub(super) struct Handed {
    /// The id of its pane.
    pane: String,
    running: PaneRunning,
    /// Sent when the command was taken. Dropping it unsent means that no caller has it.
    taken: oneshot::Sender<()>,
}

impl Handed {
    /// Takes it: returns the id of its pane, and the run.
    pub(super) fn take(self) -> (String, PaneRunning) {
        // A receiver that is gone has ended the command.
        let _ = self.taken.send(());
        (self.pane, self.running)
    }
}

/// Hands a command over and waits for its end. If no caller takes it, it is ended: the caller was told that
/// it was interrupted.
pub(super) async fn attend(
    mut begun: Begun,
    manner: Manner,
    limit: Option<Duration>,
    hand: oneshot::Sender<Result<Handed, TargetError>>,
) {
    let link = begun.link.clone();
    let (exit, is_exited) = oneshot::channel();
    let (told, notes) = oneshot::channel();
    let (wish, wished) = watch::channel(Wish::default());
    let (taken, is_taken) = oneshot::channel();
    let (_, empty) = mpsc::channel(1);
    let live = std::mem::replace(&mut begun.live, empty);
    let running = Running::new(live, is_exited, Stopper::new(Arc::new(Brake(wish))));
    let handed = Handed { pane: link.id.clone(), running: PaneRunning { running, notes }, taken };
    link.is_dispatched.store(manner == Manner::Left, Ordering::Relaxed);
    if hand.send(Ok(handed)).is_err() || is_taken.await.is_err() {
        // Whether it ended or not, there is no caller to tell.
        let _ = begun.end().await;
        link.is_dispatched.store(false, Ordering::Relaxed);
        return;
    }
    match manner {
        Manner::Waited => {
            begun.tell(link.take_news());
            let (result, notes) = begun.see_out(limit, wished).await;
            let _ = told.send(notes);
            let _ = exit.send(result);
        }
        Manner::Left => {
            // A dropped run is no wish to end the command here.
            let (_, wished) = watch::channel(Wish::default());
            let (result, _) = begun.see_out(limit, wished).await;
            link.keep_news(news(&result));
        }
    }
}

/// The outcome of a command that was left to itself.
fn news(result: &Result<Exit, TargetError>) -> String {
    let how = match result {
        Ok(Exit { code: Some(code), .. }) => format!("with exit code {code}"),
        Ok(Exit { signal: Some(signal), .. }) => format!("by signal {signal}"),
        Ok(_) => "with an unknown exit code".to_owned(),
        Err(error) => format!("with an unknown outcome: {error}"),
    };
    format!("the command that was left running in the pane ended {how}")
}
