//! A turn on its way out: steps that run one by one as the client reads.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use futures::stream;
use hyper::body::Frame;
use tokio::sync::watch;

use crate::model::gate::Gates;
use crate::model::turn::{Ending, Fault, Turn};
use crate::model::wire::{Asked, Piece, Wire};

/// The next action of the server.
#[derive(Debug)]
pub(super) enum Step {
    Send(Bytes),
    Gate(String),
    Pause(Duration),
    /// These bytes again and again.
    Repeat(Bytes),
    Hang,
    Reset,
}

/// The steps of a streamed turn, including its fault.
pub(super) fn steps(wire: &dyn Wire, turn: &Turn, asked: &Asked, pieces: Vec<Piece>) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    let mut chunks = 0;
    for piece in pieces {
        if let Some((after, name)) = &turn.inner_gate
            && *after == chunks
            && matches!(piece, Piece::Chunk(_))
        {
            steps.push_back(Step::Gate(name.clone()));
        }
        if let Some(Fault::After { chunks: limit, ending }) = &turn.fault
            && *limit == chunks
        {
            match ending {
                Ending::Truncated => return steps,
                Ending::Reset => steps.push_back(Step::Reset),
                Ending::Endless => {
                    let last = steps.iter().rev().find_map(|step| match step {
                        Step::Send(bytes) => Some(bytes.clone()),
                        _ => None,
                    });
                    steps.extend(last.map(Step::Repeat));
                }
                Ending::Hang => steps.push_back(Step::Hang),
                Ending::Malformed => steps.push_back(Step::Send(wire.malformed().into())),
                Ending::Error { code, message } => {
                    steps.push_back(Step::Send(wire.stream_error(asked, code, message).into()));
                    steps.push_back(Step::Hang);
                }
            }
            if !matches!(ending, Ending::Malformed) {
                return steps;
            }
        }
        match piece {
            Piece::Gate(name) => steps.push_back(Step::Gate(name)),
            Piece::Chunk(data) => {
                steps.extend(turn.chunk_delay.map(Step::Pause));
                steps.push_back(Step::Send(data.into()));
                chunks += 1;
            }
        }
    }
    steps
}

/// A response body in progress.
pub(super) struct Answer {
    pub(super) steps: VecDeque<Step>,
    pub(super) gates: Arc<Gates>,
    /// Tells the connection to end with a reset.
    pub(super) reset: Arc<AtomicBool>,
    pub(super) departure: Departure,
}

/// Notices a client that disconnects before the answer is complete.
pub(super) struct Departure {
    pub(super) completed: bool,
    pub(super) departures: watch::Sender<usize>,
}

impl Drop for Departure {
    fn drop(&mut self) {
        if !self.completed {
            self.departures.send_modify(|count| *count += 1);
        }
    }
}

impl Answer {
    /// The body as a stream of frames; an error ends the connection.
    pub(super) fn into_frames(self) -> impl Stream<Item = Result<Frame<Bytes>, io::Error>> + Send {
        stream::unfold(self, async |mut answer| {
            let frame = answer.next().await?;
            Some((frame.map(Frame::data), answer))
        })
    }

    async fn next(&mut self) -> Option<Result<Bytes, io::Error>> {
        loop {
            let Some(step) = self.steps.pop_front() else {
                self.departure.completed = true;
                return None;
            };
            match step {
                Step::Send(bytes) => return Some(Ok(bytes)),
                Step::Repeat(bytes) => {
                    self.steps.push_front(Step::Repeat(bytes.clone()));
                    return Some(Ok(bytes));
                }
                Step::Pause(delay) => tokio::time::sleep(delay).await,
                Step::Hang => std::future::pending().await,
                Step::Gate(name) => {
                    // The HTTP layer flushes its buffer when the body is not ready, so yield once.
                    tokio::task::yield_now().await;
                    self.gates.get(&name).wait().await;
                }
                Step::Reset => {
                    tokio::task::yield_now().await;
                    self.departure.completed = true;
                    self.reset.store(true, Ordering::SeqCst);
                    return Some(Err(io::Error::other("cut by the script")));
                }
            }
        }
    }
}
