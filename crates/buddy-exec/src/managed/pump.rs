//! Brings the output of a command into its log, on a thread of its own, and looks for the line that tells its health.

use std::io::{self, PipeReader, Read};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use memchr::memmem;

use super::output_log::OutputLogs;
use crate::Stream;

/// Bytes per read.
const READ_BYTES: usize = 64 * 1024;

/// The time limit for the end of the output once the whole tree is dead. Only a process that could not be
/// killed holds it open.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// A pump that runs.
pub(super) struct Pump(Receiver<()>);

impl Pump {
    /// Starts one. `on_line` is called once, when the text to look for was printed.
    pub(super) fn start(
        mut pipe: PipeReader,
        stream: Stream,
        log: Arc<Mutex<OutputLogs>>,
        line: Option<String>,
        on_line: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (done, is_done) = mpsc::channel();
        thread::Builder::new().name("pump".into()).spawn(move || {
            let mut search = line.map(|line| (Search::new(line.as_bytes()), on_line));
            let mut buffer = vec![0; READ_BYTES];
            while let Some(length) = read(&mut pipe, &mut buffer) {
                let bytes = buffer.get(..length).unwrap_or_default();
                log.lock().unwrap_or_else(PoisonError::into_inner).write(stream, bytes);
                if search.as_mut().is_some_and(|(search, _)| search.finds(bytes))
                    && let Some((_, on_line)) = search.take()
                {
                    on_line();
                }
            }
            let _ = done.send(());
        })?;
        Ok(Self(is_done))
    }

    /// Waits for the end of the output.
    pub(super) fn finish(self) {
        let _ = self.0.recv_timeout(DRAIN_LIMIT);
    }
}

fn read(pipe: &mut PipeReader, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match pipe.read(buffer) {
            Ok(0) => return None,
            Ok(length) => return Some(length),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

/// Searches a stream for a text, also across the end of a piece.
struct Search {
    needle: Vec<u8>,
    /// The end of the stream so far, shorter than the needle.
    before: Vec<u8>,
}

impl Search {
    fn new(needle: &[u8]) -> Self {
        Self { needle: needle.to_vec(), before: Vec::new() }
    }

    fn finds(&mut self, bytes: &[u8]) -> bool {
        self.before.extend_from_slice(bytes);
        let is_found = memmem::find(&self.before, &self.needle).is_some();
        let keep = self.needle.len().saturating_sub(1).min(self.before.len());
        self.before.drain(..self.before.len() - keep);
        is_found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_is_cut() {
        let output = b"starting\nlistening on 80\nmore\n";
        for step in 1..output.len() {
            let mut search = Search::new(b"listening");
            let found = output.chunks(step).filter(|piece| search.finds(piece)).count();
            assert_eq!(found, 1, "{step}");
        }
    }
}
