//! Help: the commands and the keys.

use std::fmt::Write;

use super::line_face::ON_A_SCREEN;
use super::state::Console;
use crate::editor::Keymap;
use crate::slash_commands::list_slash_commands;

/// The effect of each action, as `?` names it.
const KEYS: &[(&str, &str)] = &[
    ("submit", "send; steer while working"),
    ("newline", "new line"),
    ("complete", "complete; or queue"),
    ("escape", "interrupt"),
    ("cancel", "clear, interrupt, leave"),
    ("end-or-delete", "leave"),
    ("cycle-mode", "auto, ask, edits, plan"),
    ("up", "earlier prompts"),
    ("search-older", "search earlier prompts"),
    ("open-editor", "edit in your editor"),
    ("expand", "show folded output"),
    ("plan", "show the plan"),
    ("left-or-background", "send to the background"),
    ("paste-image", "paste an image"),
    ("suspend", "suspend"),
];
/// Signs that begin or end a line, and are no keys.
const SIGNS: &[(&str, &str)] =
    &[("/", "a command"), ("@", "a file"), ("!", "a command of your own"), ("text &", "in the background")];
/// The columns of the keys; longer names have a row for themselves.
const KEYS_WIDTH: usize = 10;
/// The columns of one of two rows that stand beside each other.
const HALF: usize = 44;

impl Console {
    pub(super) fn show_keys(&mut self) {
        let text = keys(&self.keymap, self.text_width());
        self.say_plain(&text);
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
        if self.by_line.is_some() {
            let text = list_slash_commands(&self.custom, |name| !ON_A_SCREEN.contains(&name));
            return self
                .say(&format!("{text}\n!COMMAND runs a command as you; any other line goes to the agent"));
        }
        let text = format!(
            "{}\n{}",
            list_slash_commands(&self.custom, |_| true),
            keys(&self.keymap, self.text_width())
        );
        self.say_plain(&text);
    }
}

/// The keys as they are bound, in rows that fit the window: two beside each other where there is room.
fn keys(keymap: &Keymap, columns: usize) -> String {
    let bound = keymap.listed();
    let keys = |action: &str| {
        let found = bound.iter().find(|(name, _)| *name == action);
        found.map(|(_, keys)| keys.join(", ")).unwrap_or_default()
    };
    let actions =
        KEYS.iter().map(|(action, text)| (keys(action), *text)).filter(|(keys, _)| !keys.is_empty());
    let signs = SIGNS.iter().map(|(sign, text)| ((*sign).to_owned(), *text));
    let between = if columns < 2 * HALF { format!("\n{:KEYS_WIDTH$}  ", "") } else { "  ".to_owned() };
    let row = |(keys, text): (String, &str)| match keys.len() {
        0..=KEYS_WIDTH => format!("{keys:<KEYS_WIDTH$}  {text}"),
        _ => format!("{keys}{between}{text}"),
    };
    let rows: Vec<String> = actions.chain(signs).map(row).collect();
    if columns < 2 * HALF {
        return rows.join("\n");
    }
    let (left, right) = rows.split_at(rows.len().div_ceil(2));
    let right = right.iter().map(String::as_str).chain(std::iter::repeat(""));
    let beside = |(left, right): (&String, &str)| format!("{left:<HALF$}{right}").trim_end().to_owned();
    left.iter().zip(right).map(beside).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_those_that_are_bound_and_fit_a_narrow_window() {
        let mut keymap = Keymap::new();
        let shown = keys(&keymap, 38);
        assert!(shown.contains("shift-enter") && shown.contains("enter       send"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= 38), "{shown}");
        keymap.bind("ctrl-x", "open-editor").unwrap();
        keymap.bind("ctrl-z", "none").unwrap();
        let shown = keys(&keymap, 100);
        assert!(shown.contains("ctrl-x") && !shown.contains("suspend"), "{shown}");
        assert_eq!(shown.lines().count(), 9, "{shown}");
        for (action, _) in KEYS {
            assert!(Keymap::new().listed().iter().any(|(name, _)| name == action), "{action}");
        }
    }
}
