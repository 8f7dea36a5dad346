//! The sinks for the output of a run: captured ends, live chunks, log file. They use bounded memory and never
//! wait for a reader.

use bytes::Bytes;
use tokio::sync::mpsc;

use super::Chunks;
use crate::captured::{Capture, Captured};
use crate::logs::LogWriter;
use crate::running::{CHUNK_BYTES, MAX_CHUNKS};
use crate::{Chunk, LogInfo, OutputLimits, Stream};

/// The sinks of one run.
pub(crate) struct Output {
    stdout: Capture,
    stderr: Capture,
    log: Option<LogWriter>,
    /// Full when the reader is slow, closed when there is none.
    chunks: mpsc::Sender<Chunk>,
    manner: Chunks,
    chunks_sent: u64,
    chunks_dropped: u64,
}

/// The captured output, once the run has ended.
pub(crate) struct Taken {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
    pub(crate) log: Option<LogInfo>,
    pub(crate) chunks_dropped: u64,
}

impl Output {
    pub(crate) fn new(limits: OutputLimits, chunks: mpsc::Sender<Chunk>, manner: Chunks) -> Self {
        Self {
            stdout: Capture::new(limits.keep_head, limits.keep_tail),
            stderr: Capture::new(limits.keep_head, limits.keep_tail),
            log: limits.log.map(LogWriter::new),
            chunks,
            manner,
            chunks_sent: 0,
            chunks_dropped: 0,
        }
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
        if self.manner == Chunks::Whole {
            // Fails when there is no reader any more; then nobody misses it.
            let _ = self.chunks.blocking_send(Chunk { stream, bytes: Bytes::copy_from_slice(piece) });
            return;
        }
        let place = if self.chunks_sent < MAX_CHUNKS { self.chunks.try_reserve().ok() } else { None };
        match place {
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
