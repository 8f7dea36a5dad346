//! Help: the commands and the keys.

use std::fmt::Write;

use super::commands::ALL;
use super::custom::CustomCommand;
use super::state::Console;

const KEYS: &str = "\
enter      send; while it works, steer      esc     interrupt
ctrl-j     new line (also alt-enter)        ctrl-c  clear, interrupt, twice: leave
tab        complete; while it works, queue  ctrl-d  leave
shift-tab  ask, accept edits, plan          ctrl-r  search what was sent
up, down   what was sent before             ctrl-g  edit in your editor
ctrl-o     show what is folded              ctrl-t  show the plan
ctrl-b     send what runs to the background ctrl-v  give the image on the clipboard
/ command, @ file, text & in background     ctrl-z  suspend
!command   run it yourself, the agent sees what comes out";

impl Console {
    pub(super) fn show_keys(&mut self) {
        self.say_plain(KEYS);
    }

    /// The keys as they are bound now.
    pub(super) fn show_keymap(&mut self) {
        let mut text = String::new();
        for (action, keys) in self.keymap.listed() {
            let _ = writeln!(
                text,
                "{action:<20} {}",
                if keys.is_empty() { "-".to_owned() } else { keys.join(", ") }
            );
        }
        text.push_str(
            "\n`keys.toml` beside `buddy.toml` binds others, one `\"ctrl-x\" = \"open-editor\"` a line",
        );
        self.say_plain(&text);
    }

    pub(super) fn show_help(&mut self) {
        let text = format!("{}\n{KEYS}", listed(&self.custom, |_| true));
        self.say_plain(&text);
    }
}

/// The commands that there are, one a line: those of buddy's own that are wanted, and those of the person's.
pub(crate) fn listed(custom: &[CustomCommand], is_wanted: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for entry in ALL.iter().filter(|entry| is_wanted(entry.name)) {
        let name = format!("/{} {}", entry.name, entry.arguments);
        let others: Vec<String> = entry.others.iter().map(|other| format!("/{other}")).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (also {})", others.join(", ")) };
        let _ = writeln!(text, "{:<34} {}{others}", name.trim_end(), entry.note);
    }
    for command in custom {
        let _ = writeln!(text, "{:<34} {}", format!("/{}", command.name), command.note);
    }
    text
}
