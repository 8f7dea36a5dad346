//! The handing over of a command that runs: to one who waits for it, or who leaves it in its pane. One that nobody takes is ended.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};

use super::run::Begun;
use super::stop::{Brake, Wish};
use crate::{Exit, PaneRunning, Running, Stopper, TargetError};

/// What becomes of a command that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Its end is waited for.
    Waited,
    /// It is left to itself.
    Left,
}

/// A command that runs, for the one who asked for it.
pub(super) struct Handed {
    /// The id of its pane.
    pane: String,
    running: PaneRunning,
    /// Told when it was taken. Going away without means that nobody has it.
    taken: oneshot::Sender<()>,
}

impl Handed {
    /// Takes it: the id of its pane, and the run.
    pub(super) fn take(self) -> (String, PaneRunning) {
        // One who is not there any more has ended the command.
        let _ = self.taken.send(());
        (self.pane, self.running)
    }
}

/// Hands a command over and sees it out. Where nobody takes it, it is ended: who asked for it was told that it was interrupted.
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
        // Whether it ended or not, there is nobody to tell.
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
            // That nobody holds the run is no wish to end it here.
            let (_, wished) = watch::channel(Wish::default());
            let (result, _) = begun.see_out(limit, wished).await;
            link.keep_news(news(&result));
        }
    }
}

/// How a command ended that was left to itself.
fn news(result: &Result<Exit, TargetError>) -> String {
    let how = match result {
        Ok(Exit { code: Some(code), .. }) => format!("with exit code {code}"),
        Ok(Exit { signal: Some(signal), .. }) => format!("by signal {signal}"),
        Ok(_) => "with an unknown exit code".to_owned(),
        Err(error) => format!("with an unknown outcome: {error}"),
    };
    format!("the command that was left running in the pane ended {how}")
}
