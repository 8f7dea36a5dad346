//! Follows the stream of one pane on a thread of its own: finds marks, believes those with the right nonce,
//! and gives the output between them to the waiting caller. A terminal has one stream, so all of it is stdout.

use std::ops::ControlFlow;
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

use super::marks::{Kind, LineEnds, Mark, Marks, Piece};
use super::source::{Came, Source};
use super::spool::Part;
use crate::drain::{Output, Taken};
use crate::{Stream, TargetError};

/// The number of watches that may wait to be taken up: one for each call that is on its way.
const QUEUED_WATCHES: usize = 4;

/// A command that a caller waits for.
pub(super) struct Watch {
    /// The nonce that its marks must carry.
    pub(super) nonce: String,
    pub(super) output: Output,
    /// Sent when its output begins.
    pub(super) begun: Option<oneshot::Sender<()>>,
    /// Sent when it has ended. Dropping it unsent means that the stream has ended.
    pub(super) done: oneshot::Sender<Done>,
}

/// The end of a command, or its state when its watch was called off.
pub(super) struct Done {
    /// The status that the prompt hook reported, or the shell at its own end.
    pub(super) status: Option<i32>,
    pub(super) taken: Taken,
}

/// An order for the follower.
pub(super) enum Order {
    Watch(Box<Watch>),
    /// Ends the watch with this nonce, with the output so far.
    CallOff(String),
}

/// Counts of what was seen in the stream so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Prompts that belong to no command of ours: a user pressed Enter.
    pub(super) strange_prompts: u64,
    /// All prompts.
    pub(super) prompts: u64,
    /// The nonce of the last setup that was carried out.
    pub(super) ready: String,
    /// Hints that the shell has ended.
    pub(super) deaths: u64,
    /// Bytes that came.
    pub(super) bytes: u64,
    /// The number of times that the connection to the pane was lost and made again.
    pub(super) returns: u64,
    /// The number of times that a part of the stream was lost on the way.
    pub(super) gaps: u64,
    /// The stream has ended.
    pub(super) is_closed: bool,
    /// It has ended because its host could not be reached any more.
    pub(super) is_out_of_reach: bool,
}

/// The handle of a follower. Dropping it ends the following.
pub(super) struct Follower {
    pub(super) orders: mpsc::Sender<Order>,
    pub(super) seen: watch::Receiver<Seen>,
}

/// Follows a stream. A number of its own identifies the spool in it.
pub(super) fn follow(source: Source, spool: String) -> Result<Follower, TargetError> {
    let (orders, inbox) = mpsc::channel(QUEUED_WATCHES);
    let (shown, seen) = watch::channel(Seen::default());
    let runtime = Handle::current();
    let spawned = thread::Builder::new()
        .name("pane-follow".into())
        .spawn(move || runtime.block_on(Following::new(shown, spool).run(source, inbox)));
    spawned.map_err(|source| TargetError::Io { action: "follow", path: "pane".into(), source })?;
    Ok(Follower { orders, seen })
}

struct Following {
    marks: Marks,
    /// The number that hints at the end of a shell must carry.
    spool: String,
    seen: watch::Sender<Seen>,
    watch: Option<Box<Watch>>,
    /// Whether the output of the watched command has begun.
    is_begun: bool,
    /// The status with which the shell ended during the watched command.
    shell_status: Option<i32>,
    /// The nonce of the last command of ours that has ended.
    last: Option<String>,
    ends: LineEnds,
}

impl Following {
    fn new(seen: watch::Sender<Seen>, spool: String) -> Self {
        Self {
            marks: Marks::default(),
            spool,
            seen,
            watch: None,
            is_begun: false,
            shell_status: None,
            last: None,
            ends: LineEnds::default(),
        }
    }

    async fn run(mut self, mut source: Source, mut inbox: mpsc::Receiver<Order>) {
        loop {
            tokio::select! {
                // Orders sent before the next piece of the stream count for it.
                biased;
                order = inbox.recv() => match order {
                    Some(Order::Watch(watch)) => self.take(watch),
                    Some(Order::CallOff(nonce)) => self.call_off(&nonce),
                    None => return,
                },
                came = source.next() => match came {
                    Came::Parts(parts) => if self.parts(parts).is_break() { break },
                    Came::Away => {}
                    Came::Back => self.seen.send_modify(|seen| seen.returns += 1),
                    Came::End => break,
                    Came::OutOfReach => {
                        self.seen.send_modify(|seen| seen.is_out_of_reach = true);
                        break;
                    }
                },
            }
        }
        self.watch = None;
        self.seen.send_modify(|seen| seen.is_closed = true);
    }

    fn take(&mut self, watch: Box<Watch>) {
        self.watch = Some(watch);
        self.is_begun = false;
        self.shell_status = None;
        self.ends = LineEnds::default();
    }

    fn call_off(&mut self, nonce: &str) {
        if let Some(watch) = self.watch.take_if(|watch| watch.nonce == nonce) {
            self.is_begun = false;
            let (status, taken) = (self.shell_status.take(), watch.output.finish());
            let _ = watch.done.send(Done { status, taken });
        }
    }

    fn parts(&mut self, parts: Vec<Part>) -> ControlFlow<()> {
        for part in parts {
            match part {
                Part::Bytes(bytes) => self.push(&bytes),
                Part::Gap => self.seen.send_modify(|seen| seen.gaps += 1),
                Part::End => return ControlFlow::Break(()),
            }
        }
        ControlFlow::Continue(())
    }

    fn push(&mut self, chunk: &[u8]) {
        for piece in self.marks.push(chunk) {
            match piece {
                // It comes by a way of its own, and so in the middle of anything.
                Piece::Mark(mark) if mark.kind == Kind::Died && mark.nonce == self.spool => {
                    self.seen.send_modify(|seen| seen.deaths += 1);
                }
                Piece::Text(text) => self.text(&text),
                Piece::Mark(mark) => self.mark(mark),
            }
        }
        self.seen.send_modify(|seen| seen.bytes += chunk.len() as u64);
    }

    fn text(&mut self, text: &[u8]) {
        if let Some(watch) = self.watch.as_mut().filter(|_| self.is_begun) {
            let text = self.ends.push(text);
            watch.output.push(Stream::Stdout, &text);
        }
    }

    fn mark(&mut self, mark: Mark) {
        let is_ours = self.watch.as_ref().is_some_and(|watch| watch.nonce == mark.nonce);
        match mark.kind {
            Kind::Begun if is_ours && !self.is_begun => self.begin(),
            Kind::Prompt if is_ours && self.is_begun => self.end(mark.status),
            Kind::Exit if is_ours && self.is_begun => self.shell_status = mark.status,
            // While a command of ours runs, every mark without its nonce is its own output.
            _ if self.is_begun => self.text(&mark.raw),
            Kind::Prompt => self.prompt(&mark.nonce),
            Kind::Ready => self.ready(mark.nonce),
            Kind::Begun | Kind::Died | Kind::Exit => {}
        }
    }

    /// The next prompt is that of the setup, and so no user's.
    fn ready(&mut self, nonce: String) {
        self.last = None;
        self.seen.send_modify(|seen| seen.ready = nonce);
    }

    fn begin(&mut self) {
        self.is_begun = true;
        if let Some(begun) = self.watch.as_mut().and_then(|watch| watch.begun.take()) {
            let _ = begun.send(());
        }
    }

    fn end(&mut self, status: Option<i32>) {
        self.is_begun = false;
        let rest = self.ends.finish();
        if let Some(mut watch) = self.watch.take() {
            watch.output.push(Stream::Stdout, rest);
            self.last = Some(watch.nonce);
            let _ = watch.done.send(Done { status, taken: watch.output.finish() });
        }
        self.seen.send_modify(|seen| seen.prompts += 1);
    }

    /// A prompt while no command of ours runs: the hook still has the last nonce, or none if the shell is
    /// new.
    fn prompt(&mut self, nonce: &str) {
        let is_strange = self.last.as_ref().is_some_and(|last| last == nonce);
        self.seen.send_modify(|seen| {
            seen.prompts += 1;
            seen.strange_prompts += u64::from(is_strange);
        });
    }
}
