//! Follows the stream of one pane on a thread of its own: finds marks, believes those with the right nonce,
//! and gives the output between them to the waiting caller. Bytes between the marks of the pane's marker are
//! stderr.

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::marks::{Kind, LineEnds, Mark, Marks, Piece};
use super::source::{Came, Source};
use super::spool::Part;
use crate::drain::{Output, Taken};
use crate::{Stream, TargetError};

/// The number of watches that may wait to be taken up: one for each call that is on its way.
const QUEUED_WATCHES: usize = 4;

/// The longest silence of stderr after the prompt before it is taken for ended. Only a marker that is gone
/// stays silent, and a shell that was killed: all others send the last word.
const FLUSH_LIMIT: Duration = Duration::from_secs(1);

/// A command that a caller waits for.
pub(super) struct Watch {
    /// The nonce that its marks must carry.
    pub(super) nonce: String,
    /// Whether its stderr comes by the marker, which reports its end too.
    pub(super) is_apart: bool,
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
    /// The number of times that a marker reported that it runs.
    pub(super) markers: u64,
    /// The number of times that one did so after another was killed.
    pub(super) restarts: u64,
    /// Commands whose end of stderr was not reported.
    pub(super) unfinished: u64,
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

/// Follows a stream. A number of its own identifies the spool in it, and a secret the marker.
pub(super) fn follow(source: Source, spool: String, secret: String) -> Result<Follower, TargetError> {
    let (orders, inbox) = mpsc::channel(QUEUED_WATCHES);
    let (shown, seen) = watch::channel(Seen::default());
    let runtime = Handle::current();
    let spawned = thread::Builder::new()
        .name("pane-follow".into())
        .spawn(move || runtime.block_on(Following::new(shown, spool, secret).run(source, inbox)));
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
    errors: Errors,
    /// A command that has ended and whose stderr is not yet whole.
    ending: Option<Ending>,
}

/// The wait at the end of a command.
#[derive(Clone, Copy)]
struct Ending {
    status: Option<i32>,
    /// Its deadline; counted anew from each piece that comes.
    until: Instant,
    /// Whether no prompt reported the end.
    is_called_off: bool,
}

/// The state of stderr.
struct Errors {
    /// The secret that proves a marker.
    secret: String,
    /// Whether the stream is between the marks of a marker.
    is_inside: bool,
    /// Finds the shell's word that stderr has ended, also if it came in two pieces.
    marks: Marks,
    ends: LineEnds,
    /// Whether all stderr of the watched command has come.
    is_flushed: bool,
}

impl Following {
    fn new(seen: watch::Sender<Seen>, spool: String, secret: String) -> Self {
        Self {
            marks: Marks::default(),
            spool,
            seen,
            watch: None,
            is_begun: false,
            shell_status: None,
            last: None,
            ends: LineEnds::default(),
            errors: Errors {
                secret,
                is_inside: false,
                marks: Marks::default(),
                ends: LineEnds::default(),
                is_flushed: false,
            },
            ending: None,
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
                () = until(self.ending) => self.give_up(),
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
        self.errors.ends = LineEnds::default();
        self.errors.is_flushed = false;
        self.ending = None;
    }

    fn call_off(&mut self, nonce: &str) {
        let Some(watch) = self.watch.as_ref().filter(|watch| watch.nonce == nonce) else { return };
        if self.is_begun && watch.is_apart && !self.errors.is_flushed {
            let status = self.ending.and_then(|ending| ending.status);
            let until = Instant::now() + FLUSH_LIMIT;
            self.ending = Some(Ending { status, until, is_called_off: true });
        } else {
            self.finish_called_off(None);
        }
    }

    /// Ends a watch with the output so far.
    fn finish_called_off(&mut self, status: Option<i32>) {
        self.is_begun = false;
        self.ending = None;
        if let Some(watch) = self.watch.take() {
            let (status, taken) = (status.or(self.shell_status.take()), watch.output.finish());
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
                Piece::Mark(mark) if mark.nonce == self.errors.secret => self.marker(mark.kind),
                // It comes by a way of its own, and so in the middle of anything.
                Piece::Mark(mark) if mark.kind == Kind::Died && mark.nonce == self.spool => {
                    self.seen.send_modify(|seen| seen.deaths += 1);
                }
                Piece::Text(text) if self.errors.is_inside => self.errors(&text),
                Piece::Mark(mark) if self.errors.is_inside => self.errors(&mark.raw),
                Piece::Text(text) => self.text(&text),
                Piece::Mark(mark) => self.mark(mark),
            }
        }
        self.seen.send_modify(|seen| seen.bytes += chunk.len() as u64);
    }

    fn text(&mut self, text: &[u8]) {
        // After the prompt only stderr belongs to the command.
        let is_wanted = self.is_begun && self.ending.is_none_or(|ending| ending.is_called_off);
        if let Some(watch) = self.watch.as_mut().filter(|_| is_wanted) {
            let text = self.ends.push(text);
            watch.output.push(Stream::Stdout, &text);
        }
    }

    fn mark(&mut self, mark: Mark) {
        let is_ours = self.watch.as_ref().is_some_and(|watch| watch.nonce == mark.nonce);
        match mark.kind {
            Kind::Begun if is_ours && !self.is_begun => self.begin(),
            Kind::Prompt if is_ours && self.is_begun => self.prompted(mark.status),
            Kind::Exit if is_ours && self.is_begun => self.shell_status = mark.status,
            // While a command of ours runs, every mark without its nonce is its own output.
            _ if self.is_begun => self.text(&mark.raw),
            Kind::Prompt => self.prompt(&mark.nonce),
            Kind::Ready => self.ready(mark.nonce),
            Kind::Begun
            | Kind::Died
            | Kind::Exit
            | Kind::Marker
            | Kind::MarkerAgain
            | Kind::ErrorsBegin
            | Kind::ErrorsEnd
            | Kind::Flushed => {}
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

    /// A message of a marker.
    fn marker(&mut self, kind: Kind) {
        match kind {
            Kind::ErrorsBegin => self.errors.is_inside = true,
            Kind::ErrorsEnd => self.errors.is_inside = false,
            Kind::Marker => self.seen.send_modify(|seen| seen.markers += 1),
            Kind::MarkerAgain => {
                self.errors.is_inside = false;
                self.errors.marks = Marks::default();
                self.seen.send_modify(|seen| seen.restarts += 1);
            }
            _ => {}
        }
    }

    /// A piece of stderr.
    fn errors(&mut self, piece: &[u8]) {
        if let Some(ending) = &mut self.ending {
            ending.until = Instant::now() + FLUSH_LIMIT;
        }
        for piece in self.errors.marks.push(piece) {
            match piece {
                Piece::Mark(mark) if mark.kind == Kind::Flushed => self.flushed(&mark),
                Piece::Mark(mark) => self.error_text(&mark.raw),
                Piece::Text(text) => self.error_text(&text),
            }
        }
    }

    fn error_text(&mut self, text: &[u8]) {
        if let Some(watch) = self.watch.as_mut().filter(|_| self.is_begun) {
            let text = self.errors.ends.push(text);
            watch.output.push(Stream::Stderr, &text);
        }
    }

    /// The shell reported the end of stderr.
    fn flushed(&mut self, mark: &Mark) {
        if self.watch.as_ref().is_some_and(|watch| self.is_begun && watch.nonce == mark.nonce) {
            self.errors.is_flushed = true;
            self.finish_ending();
        } else if self.last.as_ref() != Some(&mark.nonce) {
            // The word of the last command may come late; all others were printed by a program.
            self.error_text(&mark.raw);
        }
    }

    /// The prompt is back. Bytes on their way through the marker are waited for.
    fn prompted(&mut self, status: Option<i32>) {
        let is_apart = self.watch.as_ref().is_some_and(|watch| watch.is_apart);
        if !is_apart || self.errors.is_flushed {
            self.end(status);
        } else if self.ending.is_none() {
            let until = Instant::now() + FLUSH_LIMIT;
            self.ending = Some(Ending { status, until, is_called_off: false });
        }
    }

    /// No more stderr came.
    fn give_up(&mut self) {
        if self.ending.is_some_and(|ending| !ending.is_called_off) {
            self.seen.send_modify(|seen| seen.unfinished += 1);
        }
        self.finish_ending();
    }

    fn finish_ending(&mut self) {
        match self.ending {
            Some(ending) if ending.is_called_off => self.finish_called_off(ending.status),
            Some(ending) => self.end(ending.status),
            None => {}
        }
    }

    fn end(&mut self, status: Option<i32>) {
        self.is_begun = false;
        self.ending = None;
        let rest = self.ends.finish();
        let error_rest = self.errors.ends.finish();
        if let Some(mut watch) = self.watch.take() {
            watch.output.push(Stream::Stdout, rest);
            watch.output.push(Stream::Stderr, error_rest);
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

async fn until(ending: Option<Ending>) {
    match ending {
        Some(ending) => sleep_until(ending.until).await,
        None => std::future::pending().await,
    }
}
