//! The terminal itself: its modes, which are given back whatever happens, and what is sent to it beside rows.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::termios::tcgetwinsize;

/// No wrapping by the terminal, pastes told apart from keys, keys told apart from each other, the title kept aside, and told when
/// the user looks elsewhere.
const ENTER: &str = "\u{1b}[?7l\u{1b}[?2004h\u{1b}[>1u\u{1b}[22;2t\u{1b}[?1004h";
const LEAVE: &str = "\u{1b}[?1004l\u{1b}[23;2t\u{1b}[<1u\u{1b}[?2004l\u{1b}[?7h\u{1b}[?25h";
/// The most that terminals take for their clipboard.
const MAX_COPIED: usize = 74_000;
/// A size for a terminal that does not say it.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// Whether the terminal is in our hands, for whoever has to give it back in a hurry.
static IS_HELD: AtomicBool = AtomicBool::new(false);

/// Columns and rows of the terminal that questions are put on where there is no screen.
pub(crate) fn measure_terminal() -> (usize, usize) {
    size_of(io::stderr())
}

fn size_of(terminal: impl AsFd) -> (usize, usize) {
    // Not by way of crossterm, which starts other programs where a terminal is gone and does not say it.
    match tcgetwinsize(terminal) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => USUAL_SIZE,
    }
}

/// A terminal in our hands.
pub(super) struct HeldTerminal {
    out: io::Stdout,
    /// Whether a multiplexer stands between.
    is_in_tmux: bool,
    title: String,
}

impl HeldTerminal {
    /// Takes the terminal.
    pub(super) fn enter(is_in_tmux: bool) -> io::Result<Self> {
        let mut terminal = Self { out: io::stdout(), is_in_tmux, title: String::new() };
        terminal.take()?;
        Ok(terminal)
    }

    /// Takes it again after it was given back.
    pub(super) fn take(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        IS_HELD.store(true, Ordering::SeqCst);
        self.title.clear();
        self.write(ENTER)
    }

    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Columns and rows.
    pub(super) fn size() -> (usize, usize) {
        size_of(io::stdout())
    }

    /// Asks the terminal to put a text on the clipboard. Whether it does, it does not say. False if the text is too long.
    pub(super) fn copy(&mut self, text: &str) -> io::Result<bool> {
        let Some(order) = encode_copy(text, self.is_in_tmux) else { return Ok(false) };
        self.write(&order)?;
        Ok(true)
    }

    /// Rings, and tells terminals that show notifications, of which there are two kinds. The text is buddy's own.
    pub(super) fn ring(&mut self, text: &str) -> io::Result<()> {
        self.write(&encode_ring(text))
    }

    /// The title of the window. The text is buddy's own.
    pub(super) fn set_title(&mut self, title: &str) -> io::Result<()> {
        if self.title == title {
            return Ok(());
        }
        title.clone_into(&mut self.title);
        self.write(&encode_title(title))
    }
}

/// The bell, and the notifications of OSC 9 and OSC 777.
fn encode_ring(text: &str) -> String {
    format!("\u{7}\u{1b}]9;{text}\u{7}\u{1b}]777;notify;buddy;{text}\u{7}")
}

fn encode_title(title: &str) -> String {
    format!("\u{1b}]2;{title}\u{7}")
}

/// The sequence that asks a terminal to put a text on its clipboard; none if the text is too long.
pub(crate) fn encode_copy(text: &str, is_in_tmux: bool) -> Option<String> {
    let encoded = STANDARD.encode(text);
    let order = format!("\u{1b}]52;c;{encoded}\u{7}");
    let through = format!("\u{1b}Ptmux;{}\u{1b}\\", order.replace('\u{1b}', "\u{1b}\u{1b}"));
    let whole = if is_in_tmux { format!("{order}{through}") } else { order };
    (encoded.len() <= MAX_COPIED).then_some(whole)
}

impl Drop for HeldTerminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether the terminal is in our hands. A panic gives it back, also one that is caught.
pub(super) fn is_held() -> bool {
    IS_HELD.load(Ordering::SeqCst)
}

/// Gives the terminal back if it is in our hands. Also for a panic, which sees no destructor in time.
pub(super) fn give_back() {
    if IS_HELD.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        let _ = out.write_all(LEAVE.as_bytes()).and_then(|()| out.flush());
        let _ = disable_raw_mode();
    }
}

/// Gives the terminal back before a panic says what it has to say.
pub(super) fn give_back_on_panic() {
    if io::stdout().is_terminal() {
        let next = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            next(info);
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_a_bell_and_both_kinds_that_terminals_show() {
        assert_eq!(
            encode_ring("buddy is done"),
            "\x07\x1b]9;buddy is done\x07\x1b]777;notify;buddy;buddy is done\x07"
        );
        assert_eq!(encode_title("▲ buddy waits"), "\x1b]2;▲ buddy waits\x07");
    }
}
