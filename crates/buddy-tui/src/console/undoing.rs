//! An undo on its way: lines that could change files wait for its end.

use std::time::Instant;

use super::commands;
use super::desk::DeskCommand;
use super::effect::Effect;
use super::state::Console;
use super::tasks::MAX_QUEUED;

/// An undo or a redo that restores files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undoing {
    /// What the user reads meanwhile.
    pub(super) text: &'static str,
    pub(super) began: Instant,
}

/// Commands that lead to another conversation: lines that wait belong to this one.
const LEAVING: &[&str] = &["resume", "new", "fork", "session"];

impl Console {
    /// Starts an undo or a redo.
    pub(super) fn start_undo(&mut self, command: DeskCommand) {
        let text = if command == DeskCommand::Redo { "Redoing…" } else { "Undoing…" };
        self.undoing = Some(Undoing { text, began: self.now });
        self.effect(Effect::Run(command));
    }

    /// Keeps a line that has to wait until files are restored. False if it need not wait.
    pub(super) fn waits_for_undo(&mut self, line: &str) -> bool {
        let Some(undoing) = self.undoing else { return false };
        let name = line.split_whitespace().next().unwrap_or_default().trim_start_matches('/');
        let own = commands::canonical(name).filter(|_| commands::is_command(line));
        let goes_on = own.is_some_and(|name| !commands::is_for_idle(name) && !LEAVING.contains(&name));
        if goes_on {
            return false;
        }
        if self.front().queue.len() >= MAX_QUEUED {
            self.complain(&format!("{MAX_QUEUED} lines wait already; this was not done"));
            return true;
        }
        self.front_mut().queue.push_back(line.to_owned());
        let what = undoing.text.trim_end_matches('…').to_lowercase();
        self.say(&format!("this waits until {what} has ended; esc brings it back"));
        true
    }

    /// The files are restored, or stay as they were.
    pub(super) fn undo_ended(&mut self, said: Result<String, String>) {
        self.undoing = None;
        match said {
            Ok(text) => self.say_plain(&text),
            Err(text) => self.complain(&text),
        }
        self.enter_queued();
    }

    /// Enters lines that waited, up to one that starts a turn or an undo.
    pub(super) fn enter_queued(&mut self) {
        while self.front().is_idle()
            && self.undoing.is_none()
            && let Some(next) = self.front_mut().queue.pop_front()
        {
            self.enter(next.trim());
        }
    }
}
