//! Where a face prints: the answer on one stream, everything else on the other.

use std::io::{self, IsTerminal, Write};

use crate::spoken::spoken;
use crate::text::{Line, wrap};
use crate::visible::{visible, visible_json};

/// The output takes nothing more: nobody reads it, or, as was told then, it could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the output was closed")]
pub struct OutputClosed;

/// The two streams of a face.
pub struct Printer {
    output: Box<dyn Write + Send>,
    status: Box<dyn Write + Send>,
    /// Whether the output is a terminal, which text must not steer. A file or pipe gets the exact bytes.
    is_terminal: bool,
    /// Whether a program reads the status aloud: signs become words.
    is_read_aloud: bool,
}

impl Printer {
    /// A printer on these streams.
    pub fn new(output: Box<dyn Write + Send>, status: Box<dyn Write + Send>, is_terminal: bool) -> Self {
        Self { output, status, is_terminal, is_read_aloud: false }
    }

    /// Prints a part of the answer.
    pub fn answer(&mut self, text: &str) -> Result<(), OutputClosed> {
        if self.is_terminal { self.write(&visible(text)) } else { self.write(text) }
    }

    /// Prints a line of the answer as it is; on a terminal what steers or hides is written as JSON escapes it.
    pub fn line(&mut self, text: &str) -> Result<(), OutputClosed> {
        let shown = if self.is_terminal { visible_json(text) } else { text.to_owned() };
        self.write(&format!("{shown}\n"))
    }

    /// Prints rows that were made of spans, which hold nothing that steers a terminal but their own styles.
    pub(crate) fn styled(&mut self, rows: &str) -> Result<(), OutputClosed> {
        self.write(rows)
    }

    fn write(&mut self, text: &str) -> Result<(), OutputClosed> {
        let written = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush());
        written.map_err(|error| {
            // A reader that went away knows it; a full disk is told.
            if error.kind() != io::ErrorKind::BrokenPipe {
                self.status(&format!("buddy: cannot write the output: {error}"));
            }
            OutputClosed
        })
    }

    /// Says signs in words from now on, or no longer.
    pub(crate) fn read_aloud(&mut self, is_read_aloud: bool) {
        self.is_read_aloud = is_read_aloud;
    }

    pub(crate) fn is_read_aloud(&self) -> bool {
        self.is_read_aloud
    }

    fn said(&self, text: &str) -> String {
        let text = visible(text);
        if self.is_read_aloud { spoken(&text) } else { text }
    }

    /// Prints a line of status. Losing status is no reason to stop.
    pub fn status(&mut self, text: &str) {
        let text = self.said(text);
        let _ = writeln!(self.status, "{text}");
    }

    /// Prints a sentence of status, broken between words where a terminal would break it within one.
    pub fn tell(&mut self, text: &str) {
        let columns = std::io::stderr().is_terminal().then(crossterm::terminal::size).and_then(Result::ok);
        let Some((columns, _)) = columns.filter(|(columns, _)| *columns > 0) else {
            return self.status(text);
        };
        let none = Line::default();
        for line in visible(text).lines() {
            for row in wrap(&Line::plain(line), columns.into(), &none, &none) {
                self.status(&row.text());
            }
        }
    }

    /// Prints status without ending the line, as a prompt does.
    pub fn prompt(&mut self, text: &str) {
        let text = self.said(text);
        let _ = write!(self.status, "{text}");
        let _ = self.status.flush();
    }

    /// Sends something to the terminal that steers it. The text is buddy's own.
    pub(crate) fn order(&mut self, text: &str) {
        let _ = self.status.write_all(text.as_bytes()).and_then(|()| self.status.flush());
    }
}
