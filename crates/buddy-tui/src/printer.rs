//! Where a face prints: the answer on one stream, everything else on the other.

use std::io::{self, IsTerminal, Write};

use crate::spoken::speak_signs;
use crate::text::{Overlong, StyledLine, unmarked, wrap_printed};
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
    /// Whether status goes to a terminal, which would break its lines within words.
    is_status_wrapped: bool,
    /// Whether a program reads the status aloud: signs become words.
    is_read_aloud: bool,
}

impl Printer {
    /// A printer on these streams.
    pub fn new(output: Box<dyn Write + Send>, status: Box<dyn Write + Send>, is_terminal: bool) -> Self {
        Self { output, status, is_terminal, is_status_wrapped: false, is_read_aloud: false }
    }

    /// A printer on stdout and stderr.
    pub fn standard() -> Self {
        let is_status_wrapped = io::stderr().is_terminal();
        let printer = Self::new(Box::new(io::stdout()), Box::new(io::stderr()), io::stdout().is_terminal());
        Self { is_status_wrapped, ..printer }
    }

    /// The width of the terminal that status goes to; none where it is no terminal or tells no width.
    pub(crate) fn columns(&self) -> Option<usize> {
        let size = self.is_status_wrapped.then(crossterm::terminal::size).and_then(Result::ok);
        size.map(|(columns, _)| columns.into()).filter(|columns| *columns > 0)
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

    fn spell_out(&self, text: &str) -> String {
        let text = visible(text);
        if self.is_read_aloud { speak_signs(&text) } else { text }
    }

    /// Prints lines of status, on a terminal broken between words. Losing status is no reason to stop.
    pub fn status(&mut self, text: &str) {
        let text = self.spell_out(text);
        let Some(columns) = self.columns() else { return self.status_as_is(&unmarked(&text)) };
        for row in wrap_printed(&text, columns, Overlong::Whole) {
            self.status_as_is(&row.text());
        }
    }

    /// Prints what a program wrote, whose lines have a shape of their own.
    pub(crate) fn program_output(&mut self, text: &str) {
        let text = self.spell_out(text);
        self.status_as_is(&text);
    }

    fn status_as_is(&mut self, text: &str) {
        let _ = writeln!(self.status, "{text}");
    }

    /// Prints status without ending the line, as a prompt does.
    pub fn prompt(&mut self, text: &str) {
        let mut text = self.spell_out(text);
        if let Some(columns) = self.columns() {
            let rows = wrap_printed(&text, columns, Overlong::Whole);
            text = rows.iter().map(StyledLine::text).collect::<Vec<_>>().join("\n");
        }
        let text = unmarked(&text);
        let _ = write!(self.status, "{text}");
        let _ = self.status.flush();
    }

    /// Sends something to the terminal that steers it. The text is buddy's own.
    pub(crate) fn order(&mut self, text: &str) {
        let _ = self.status.write_all(text.as_bytes()).and_then(|()| self.status.flush());
    }
}
