//! Feeds the shell on the host on a thread of its own: script, input, orders. A host that takes nothing holds
//! up this thread only.

use std::io::Write;
use std::process::ChildStdin;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use super::script::Script;
use crate::Stop;

/// An order for the shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FeedOrder {
    /// Ask the whole tree to end, and kill the rest after the grace.
    Term,
    /// Kill the whole tree now: the end of the stream.
    Kill,
}

/// Orders that may wait: one of each is enough.
const ORDERS: usize = 4;

/// The end of the line that the run and the handles that may stop it keep.
#[derive(Debug)]
pub(super) struct FeedLine {
    orders: SyncSender<FeedOrder>,
    /// The time of the first request to stop.
    stop_asked: OnceLock<Instant>,
}

impl FeedLine {
    pub(super) fn stop_asked(&self) -> Option<Instant> {
        self.stop_asked.get().copied()
    }

    fn send(&self, order: FeedOrder) {
        self.stop_asked.get_or_init(Instant::now);
        // Full only when the host takes nothing; the run deals with that.
        let _ = self.orders.try_send(order);
    }
}

impl Stop for FeedLine {
    fn stop(&self) {
        self.send(FeedOrder::Term);
    }

    fn kill(&self) {
        self.send(FeedOrder::Kill);
    }
}

/// Starts feeding. The stream is closed by the order to kill, and when the line is dropped.
pub(super) fn feed(script: Script, stdin: ChildStdin) -> std::io::Result<FeedLine> {
    let (orders, inbox) = sync_channel(ORDERS);
    std::thread::Builder::new().name("exec-feed".into()).spawn(move || run(&script, stdin, &inbox))?;
    Ok(FeedLine { orders, stop_asked: OnceLock::new() })
}

/// Sends a script whose connection is the command's stdin from then on. That is handed back, so nothing of it
/// waits here.
pub(super) fn feed_ahead(script: Script, mut stdin: ChildStdin) -> std::io::Result<AheadOfStdin> {
    let thread = std::thread::Builder::new().name("exec-feed".into());
    thread.spawn(move || stdin.write_all(&script.text).and_then(|()| stdin.flush()).map(|()| stdin))
}

/// Gives the connection back once the host has taken the script.
pub(super) type AheadOfStdin = JoinHandle<std::io::Result<ChildStdin>>;

fn run(script: &Script, mut stdin: ChildStdin, inbox: &Receiver<FeedOrder>) {
    // A failure means that the client is gone, which the run learns by the end of the streams.
    let sent = stdin.write_all(&script.text).and_then(|()| stdin.write_all(&script.input));
    if sent.and_then(|()| stdin.flush()).is_err() || !script.is_supervised {
        return;
    }
    while let Ok(FeedOrder::Term) = inbox.recv() {
        if stdin.write_all(b"t\n").and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}
