//! The output of a run, on a thread of its own: a reader that is slow or stands still keeps neither the time limit nor a signal
//! from being heeded.
//!
//! Pieces are printed in the order in which they were said. Whoever says them waits for room before it goes on, so that a slow
//! reader slows the run down and fills no memory.

use std::collections::VecDeque;
use std::io;
use std::thread;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::printer::Printer;

/// Pieces on their way to the thread.
const QUEUE: usize = 16;
/// Pieces that may wait here while a run is being stopped: its last events, which say how it ended, must be seen although
/// nobody reads what they look like.
const LAST: usize = 1024;

/// Something to print.
#[derive(Debug)]
enum OutletPiece {
    Answer(String),
    Line(String),
    Status(String),
    /// Bytes for the terminal that status goes to.
    Rows(String),
}

/// The way out of a run.
pub(super) struct ExecOutlet {
    pieces: mpsc::Sender<OutletPiece>,
    /// Lines that found no room yet.
    waiting: VecDeque<OutletPiece>,
    /// Cancelled when the output takes nothing more.
    closed: CancellationToken,
    /// Resolves when the thread has printed all and ended.
    ended: oneshot::Receiver<()>,
}

impl ExecOutlet {
    /// Starts the thread.
    pub(super) fn start(printer: Printer) -> io::Result<Self> {
        let (pieces, queue) = mpsc::channel(QUEUE);
        let (end, ended) = oneshot::channel();
        let closed = CancellationToken::new();
        let outlet = Self { pieces, waiting: VecDeque::new(), closed: closed.clone(), ended };
        // Not joined: one that is stuck with a reader who stands still ends with the process.
        thread::Builder::new().name("print".into()).spawn(move || {
            print(printer, queue, &closed);
            let _ = end.send(());
        })?;
        Ok(outlet)
    }

    /// A part of the answer.
    pub(super) fn answer(&mut self, text: String) {
        self.waiting.push_back(OutletPiece::Answer(text));
    }

    /// A line of JSON.
    pub(super) fn line(&mut self, text: String) {
        self.waiting.push_back(OutletPiece::Line(text));
    }

    /// A line of status.
    pub(super) fn status(&mut self, text: impl Into<String>) {
        self.waiting.push_back(OutletPiece::Status(text.into()));
    }

    /// Rows of status, as bytes for a terminal.
    pub(super) fn rows(&mut self, rows: String) {
        self.waiting.push_back(OutletPiece::Rows(rows));
    }

    /// Whether nothing waits.
    pub(super) fn is_drained(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the last words of a run that is being stopped may still be said.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < LAST
    }

    /// Cancelled when the output takes nothing more.
    pub(super) fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// Hands over what waits. What is given up halfway is taken up again by the next call.
    pub(super) async fn pass_on(&mut self) {
        while !self.waiting.is_empty() {
            // The thread ends before its queue only when it breaks.
            let Ok(room) = self.pieces.reserve().await else {
                self.waiting.clear();
                return self.closed.cancel();
            };
            if let Some(piece) = self.waiting.pop_front() {
                room.send(piece);
            }
        }
    }

    /// Waits until everything is printed. True when the output took it.
    pub(super) async fn finish(mut self) -> bool {
        self.pass_on().await;
        let Self { pieces, closed, ended, .. } = self;
        drop(pieces);
        let is_whole = ended.await.is_ok();
        is_whole && !closed.is_cancelled()
    }
}

/// Prints what comes. Status is told also when the output is closed.
fn print(mut printer: Printer, mut queue: mpsc::Receiver<OutletPiece>, closed: &CancellationToken) {
    while let Some(piece) = queue.blocking_recv() {
        let printed = match piece {
            OutletPiece::Status(text) => {
                printer.status(&text);
                Ok(())
            }
            OutletPiece::Rows(rows) => {
                printer.order(&rows);
                Ok(())
            }
            OutletPiece::Answer(_) | OutletPiece::Line(_) if closed.is_cancelled() => Ok(()),
            OutletPiece::Answer(text) => printer.answer(&text),
            OutletPiece::Line(text) => printer.line(&text),
        };
        if printed.is_err() {
            closed.cancel();
        }
    }
}
