//! The sinks for the output of a run: captured ends, live chunks, log file. They use bounded memory and never
//! wait for a reader. Where the command has to wait for it, they tell whether there is room for more.

use std::io;

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::captured::{Capture, Captured};
use crate::exec::Chunks;
use crate::local::PIPE_BYTES;
use crate::logs::LogWriter;
use crate::room_sign::RoomSign;
use crate::running::{CHUNK_BYTES, MAX_CHUNKS, QUEUED_CHUNKS};
use crate::{Chunk, LogInfo, OutputLimits, Stream};

/// Bytes per read: fits the second-level cache, and makes the cost per call vanish.
pub(crate) const READ_BYTES: usize = 128 * 1024;

/// The most chunks of one read, with those of a beginning that was held back.
const READ_CHUNKS: usize = READ_BYTES / CHUNK_BYTES + 2;

/// Places in the queue of whole output for the end of a command: both of its pipes may be full, and it does
/// not wait for the reader any more.
const REST_CHUNKS: usize = 2 * (PIPE_BYTES / CHUNK_BYTES + READ_CHUNKS);

/// The sinks of one run.
pub(crate) struct Output {
    stdout: Capture,
    stderr: Capture,
    log: Option<LogWriter>,
    /// Full when the reader is slow, closed when there is none.
    chunks: mpsc::Sender<Chunk>,
    /// Given when the reader has taken a chunk; `None` if nothing waits for it.
    room: Option<RoomSign>,
    manner: Chunks,
    chunks_sent: u64,
    chunks_dropped: u64,
}

/// The reader's end of the live output.
pub(crate) struct LiveOutput {
    pub(crate) chunks: mpsc::Receiver<Chunk>,
    pub(crate) room: Option<RoomSign>,
}

/// The captured output, once the run has ended.
pub(crate) struct Taken {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) log: Option<LogInfo>,
    pub(crate) chunks_dropped: u64,
}

impl Output {
    /// Sinks, and the reader's end of their live output.
    pub(crate) fn new(limits: OutputLimits, manner: Chunks) -> io::Result<(Self, LiveOutput)> {
        let (places, room) = match manner {
            Chunks::Sampled => (QUEUED_CHUNKS, None),
            Chunks::Whole => (QUEUED_CHUNKS + REST_CHUNKS, Some(RoomSign::new()?)),
        };
        let (sender, chunks) = mpsc::channel(places);
        let output = Self { manner, room: room.clone(), ..Self::sampled(limits, sender) };
        Ok((output, LiveOutput { chunks, room }))
    }

    /// Sinks that wait for no reader.
    pub(crate) fn sampled(limits: OutputLimits, chunks: mpsc::Sender<Chunk>) -> Self {
        Self {
            stdout: Capture::new(limits.keep_head, limits.keep_tail),
            stderr: Capture::new(limits.keep_head, limits.keep_tail),
            log: limits.log.map(LogWriter::new),
            chunks,
            room: None,
            manner: Chunks::Sampled,
            chunks_sent: 0,
            chunks_dropped: 0,
        }
    }

    /// Sinks for nothing.
    pub(crate) fn none() -> Self {
        Self::sampled(OutputLimits::default(), mpsc::channel(1).0)
    }

    /// The sign to wait for before more is read, if there is no room now.
    pub(crate) fn full(&self) -> Option<&RoomSign> {
        let is_full = !self.chunks.is_closed() && self.chunks.capacity() < REST_CHUNKS + READ_CHUNKS;
        self.room.as_ref().filter(|_| is_full)
    }

    /// The command ends: nothing waits for the reader any more. Chunks that do not fit are counted and dropped.
    pub(crate) fn hurry(&mut self) {
        self.room = None;
    }

    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.stdout.push(bytes),
            Stream::Stderr => self.stderr.push(bytes),
        }
        if let Some(log) = &mut self.log {
            log.push(bytes);
        }
        for piece in bytes.chunks(CHUNK_BYTES) {
            self.send(stream, piece);
        }
    }

    fn send(&mut self, stream: Stream, piece: &[u8]) {
        let is_wanted = self.manner == Chunks::Whole || self.chunks_sent < MAX_CHUNKS;
        match if is_wanted { self.chunks.try_reserve().ok() } else { None } {
            Some(place) => {
                place.send(Chunk { stream, bytes: Bytes::copy_from_slice(piece) });
                self.chunks_sent += 1;
            }
            None => self.chunks_dropped += 1,
        }
    }

    pub(crate) fn finish(self) -> Taken {
        Taken {
            stdout: self.stdout.finish(),
            stderr: self.stderr.finish(),
            log: self.log.map(LogWriter::finish),
            chunks_dropped: self.chunks_dropped,
        }
    }
}
