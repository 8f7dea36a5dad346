//! The status line that a command of the user's own makes.
//!
//! It is asked again when something changed that it is told, one at a time and not more than once a second; what is shown
//! meanwhile is what it said last. Nothing waits for it.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::output::ShownOutput;
use crate::text::{StyledLine, TerminalLook};

/// The shortest time between two runs.
const PAUSE: Duration = Duration::from_secs(1);
/// Columns of what it said that are held.
const COLUMNS: usize = 1000;

/// The state of the command.
#[derive(Debug, Default)]
pub(super) struct OwnStatus {
    /// Whether there is such a command.
    is_wanted: bool,
    /// Its last input, and when it got it.
    told: Option<(Value, Instant)>,
    /// Whether it runs.
    is_running: bool,
    line: Option<String>,
    /// Whether a failure was told to the user.
    has_failed: bool,
}

impl OwnStatus {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, ..Self::default() }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// The line to show.
    pub(super) fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// Whether it is to be run once the pause is over.
    pub(super) fn is_due(&self, facts: &Value) -> bool {
        self.is_wanted && !self.is_running && self.told.as_ref().is_none_or(|(told, _)| told != facts)
    }

    /// Says whether it is to be run on these facts now.
    pub(super) fn wants(&mut self, facts: &Value, now: Instant) -> bool {
        let is_pause = self.told.as_ref().is_some_and(|(_, at)| now.saturating_duration_since(*at) < PAUSE);
        if is_pause || !self.is_due(facts) {
            return false;
        }
        (self.told, self.is_running) = (Some((facts.clone(), now)), true);
        true
    }

    /// Takes what it said. Returns a failure that the user was not told of yet.
    pub(super) fn take_text(&mut self, said: Result<String, String>) -> Option<String> {
        self.is_running = false;
        match said {
            Ok(text) => {
                self.line = first_line(&text);
                None
            }
            Err(failure) => {
                self.line = None;
                (!std::mem::replace(&mut self.has_failed, true)).then_some(failure)
            }
        }
    }
}

/// The first line with something in it, without what steers a terminal.
fn first_line(text: &str) -> Option<String> {
    let mut output = ShownOutput::new(1, 1);
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    output.push(line);
    let rows = output.folded(&TerminalLook::plain(), COLUMNS);
    rows.first().map(StyledLine::text).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_runs_once_for_each_change_and_not_too_often() {
        let now = Instant::now();
        let mut status = OwnStatus::new(true);
        assert!(status.wants(&json!(1), now));
        assert!(!status.wants(&json!(2), now + PAUSE), "it runs");
        assert_eq!(status.take_text(Ok("\n\u{1b}[31mred\u{1b}[0m \u{7}line\nmore\n".to_owned())), None);
        assert_eq!(status.line(), Some("red line"));
        assert!(!status.wants(&json!(1), now + PAUSE), "nothing changed");
        assert!(status.is_due(&json!(2)) && !status.wants(&json!(2), now), "too soon");
        assert!(status.wants(&json!(2), now + PAUSE));
        assert!(!OwnStatus::new(false).wants(&json!(1), now));
    }

    #[test]
    fn a_failure_is_told_once_and_the_usual_line_is_back() {
        let mut status = OwnStatus::new(true);
        assert_eq!(status.take_text(Ok("fine".to_owned())), None);
        assert_eq!(status.take_text(Err("broken".to_owned())), Some("broken".to_owned()));
        assert_eq!((status.take_text(Err("broken".to_owned())), status.line()), (None, None));
    }
}
