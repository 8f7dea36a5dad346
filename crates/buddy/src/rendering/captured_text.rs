//! Text that a printer prints into, for a conversation to show.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use buddy_tui::Printer;

/// The output on both streams, in its order.
#[derive(Clone, Default)]
pub(crate) struct CapturedText {
    /// Held for a write or a look only.
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl CapturedText {
    /// A printer that prints into it.
    pub(crate) fn printer(&self) -> Printer {
        Printer::new(Box::new(self.clone()), Box::new(self.clone()), false)
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for CapturedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
