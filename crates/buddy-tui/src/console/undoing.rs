//! An undo on its way: lines that could change files wait for its end.

use anstyle::Style;

use super::desk::DeskCommand;
use super::effect::Errand;
use super::state::{Console, Undoing};
use super::tasks::MAX_QUEUED;
use crate::slash_commands::{find_slash_entry, is_slash_command};
use crate::text::{Paint, StyledLine, wrap};

/// Commands that lead to another conversation: lines that wait belong to this one.
const LEAVING: &[&str] = &["resume", "new", "fork", "session"];

impl Console {
    /// Starts an undo or a redo.
    pub(super) fn start_undo(&mut self, command: DeskCommand) {
        let text = command.progress().unwrap_or("Undoing…");
        if self.by_line.is_some() {
            self.say(text);
        }
        self.undoing = Some(Undoing { text, began: self.now });
        self.errand(Errand::Run(command));
    }

    /// Keeps a line that has to wait until files are restored. False if it need not wait.
    pub(super) fn waits_for_undo(&mut self, line: &str) -> bool {
        let Some(undoing) = self.undoing else { return false };
        let name = line.split_whitespace().next().unwrap_or_default().trim_start_matches('/');
        let own = find_slash_entry(name).filter(|_| is_slash_command(line));
        let goes_on = own.is_some_and(|entry| !entry.is_for_idle && !LEAVING.contains(&entry.name));
        if goes_on {
            return false;
        }
        if self.front().queue.len() >= MAX_QUEUED {
            self.complain(&format!("{MAX_QUEUED} lines wait already, so this one was dropped"));
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
            Ok(text) => self.show_undone(&text),
            Err(text) => self.complain(&text),
        }
        // Another branch may be checked out now.
        self.errand(Errand::LookAround);
        self.enter_queued();
    }

    /// Shows the report of an undo: its title, a mark for each path, and the rest dim.
    fn show_undone(&mut self, text: &str) {
        if self.by_line.is_some() {
            return self.say(text);
        }
        self.put_echo();
        let look = self.look.clone();
        let (strong, dim) = (look.style(Paint::Strong), look.style(Paint::Dim));
        let count = text.lines().count();
        for (place, line) in text.lines().enumerate() {
            if place + 1 == count && place > 1 && !line.starts_with("  ") {
                self.show([StyledLine::default()]);
            }
            let word = line.split_whitespace().next().unwrap_or_default();
            let is_path = line.starts_with("  ");
            let (lead, row) = match word {
                _ if place == 0 => {
                    let (title, facts) = line.split_at(line.rfind("  ").unwrap_or(line.len()));
                    (StyledLine::plain("  "), StyledLine::styled(title, strong).and(facts, dim))
                }
                "kept" if is_path => (
                    StyledLine::styled(look.sign("  ▲ ", "  ! "), look.style(Paint::Warning)),
                    StyledLine::plain(line.trim_start()),
                ),
                "restored" | "removed" if is_path => {
                    (StyledLine::styled(look.sign("  ✓ ", "  + "), dim), StyledLine::plain(line.trim_start()))
                }
                _ => (StyledLine::plain("  "), with_commands(line, dim, strong)),
            };
            let next = StyledLine::plain(&" ".repeat(lead.width()));
            self.show(wrap(&row, self.columns, &lead, &next));
        }
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

/// A sentence in which commands such as `/redo` stand out.
fn with_commands(line: &str, usual: Style, command: Style) -> StyledLine {
    let mut row = StyledLine::default();
    for (place, word) in line.split(' ').enumerate() {
        let style = if word.starts_with('/') && word.len() > 1 { command } else { usual };
        row = row.and(if place > 0 { " " } else { "" }, usual).and(word, style);
    }
    row
}
