//! Signals: the first asks for an orderly stop, the second stops at once.

use std::future::Future;

use anyhow::Context;
use buddy_tui::{Printer, Signalled};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Signals that may wait to be seen.
const QUEUE: usize = 4;

/// Interrupts as they come. The set must be kept as long as they are wanted.
pub(crate) fn interrupts() -> anyhow::Result<(mpsc::Receiver<Signalled>, JoinSet<()>)> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let mut tasks = JoinSet::new();
    let kinds = [
        (SignalKind::interrupt(), Signalled::Interrupt),
        (SignalKind::terminate(), Signalled::End),
        (SignalKind::hangup(), Signalled::End),
        (SignalKind::quit(), Signalled::End),
    ];
    for (kind, signalled) in kinds {
        let mut signals = signal(kind).context("cannot listen for signals")?;
        let sender = sender.clone();
        tasks.spawn(async move {
            while signals.recv().await.is_some() {
                // A full queue already holds the wish to stop.
                let _ = sender.try_send(signalled);
            }
        });
    }
    Ok((receiver, tasks))
}

/// Does something until an interrupt, which drops it; none then.
///
/// Once something has listened for signals they end the process no more by themselves. So whatever waits for a user or for
/// another machine before there is a conversation has to be done in here.
pub(crate) async fn unless_interrupted<T>(
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<Option<T>> {
    let (mut signals, _watch) = interrupts()?;
    tokio::select! {
        done = work => done.map(Some),
        _ = signals.recv() => {
            Printer::standard().status("buddy: interrupted");
            Ok(None)
        }
    }
}
