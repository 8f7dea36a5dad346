//! Which key does what.

use std::collections::HashMap;
use std::fmt::{self, Write};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of keys that text is edited with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyStyle {
    /// Those of a shell.
    #[default]
    Readline,
    /// Those of vim, with two modes.
    Vim,
}

/// A key with what is held down beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EditorKey {
    pub(crate) code: KeyCode,
    pub(crate) held: KeyModifiers,
}

impl fmt::Display for EditorKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(KeyModifiers::CONTROL, "ctrl+"), (KeyModifiers::ALT, "alt+")] {
            formatter.write_str(if self.held.contains(held) { name } else { "" })?;
        }
        match self.code {
            KeyCode::Char(' ') => formatter.write_str("space"),
            KeyCode::Char(letter) => formatter.write_char(letter),
            KeyCode::BackTab => formatter.write_str("shift+tab"),
            KeyCode::F(number) => write!(formatter, "F{number}"),
            code => formatter.write_str(&format!("{code:?}").to_lowercase()),
        }
    }
}

/// The effect of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EditAction {
    Submit,
    Newline,
    /// Completes; while a turn runs and there is nothing to complete, queues the draft.
    Complete,
    /// Stops what runs, closes what is open.
    Escape,
    /// Clears the draft, else stops what runs, else leaves at the second time.
    Cancel,
    /// Leaves at an empty draft, else deletes.
    EndOrDelete,
    CycleMode,
    Up,
    Down,
    HistoryOlder,
    HistoryNewer,
    SearchOlder,
    SearchNewer,
    Left,
    /// Left; at an empty draft sends the running command to the background.
    LeftOrBackground,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Backspace,
    Delete,
    CutWordLeft,
    CutToSpace,
    CutWordRight,
    CutToLineStart,
    CutToLineEnd,
    PutBack,
    Undo,
    Redo,
    OpenEditor,
    PasteImage,
    Redraw,
    Suspend,
    Expand,
    Plan,
}

/// Names for files in which people choose keys of their own, and the keys by default.
const ACTIONS: &[(&str, EditAction, &[&str])] = &[
    ("submit", EditAction::Submit, &["enter"]),
    ("newline", EditAction::Newline, &["shift-enter", "alt-enter", "ctrl-j"]),
    ("complete", EditAction::Complete, &["tab"]),
    ("escape", EditAction::Escape, &["esc"]),
    ("cancel", EditAction::Cancel, &["ctrl-c"]),
    ("end-or-delete", EditAction::EndOrDelete, &["ctrl-d"]),
    ("cycle-mode", EditAction::CycleMode, &["shift-tab"]),
    ("up", EditAction::Up, &["up"]),
    ("down", EditAction::Down, &["down"]),
    ("history-older", EditAction::HistoryOlder, &["ctrl-p"]),
    ("history-newer", EditAction::HistoryNewer, &["ctrl-n"]),
    ("search-older", EditAction::SearchOlder, &["ctrl-r"]),
    ("search-newer", EditAction::SearchNewer, &["ctrl-s"]),
    ("left", EditAction::Left, &["left"]),
    ("left-or-background", EditAction::LeftOrBackground, &["ctrl-b"]),
    ("right", EditAction::Right, &["right", "ctrl-f"]),
    ("word-left", EditAction::WordLeft, &["alt-b", "ctrl-left", "alt-left"]),
    ("word-right", EditAction::WordRight, &["alt-f", "ctrl-right", "alt-right"]),
    ("line-start", EditAction::LineStart, &["ctrl-a", "home"]),
    ("line-end", EditAction::LineEnd, &["ctrl-e", "end"]),
    ("backspace", EditAction::Backspace, &["backspace", "ctrl-h", "shift-backspace"]),
    ("delete", EditAction::Delete, &["delete"]),
    ("cut-word-left", EditAction::CutWordLeft, &["alt-backspace", "ctrl-backspace"]),
    ("cut-to-space", EditAction::CutToSpace, &["ctrl-w"]),
    ("cut-word-right", EditAction::CutWordRight, &["alt-d"]),
    ("cut-to-line-start", EditAction::CutToLineStart, &["ctrl-u"]),
    ("cut-to-line-end", EditAction::CutToLineEnd, &["ctrl-k"]),
    ("put-back", EditAction::PutBack, &["ctrl-y"]),
    ("undo", EditAction::Undo, &["ctrl-_", "ctrl-7"]),
    ("redo", EditAction::Redo, &["alt-_", "alt-r"]),
    ("open-editor", EditAction::OpenEditor, &["ctrl-g"]),
    ("paste-image", EditAction::PasteImage, &["ctrl-v"]),
    ("redraw", EditAction::Redraw, &["ctrl-l"]),
    ("suspend", EditAction::Suspend, &["ctrl-z"]),
    ("expand", EditAction::Expand, &["ctrl-o"]),
    ("plan", EditAction::Plan, &["ctrl-t"]),
];

/// Keys that type no letter, and the space.
const NAMES: &[(&str, KeyCode)] = &[
    ("enter", KeyCode::Enter),
    ("tab", KeyCode::Tab),
    ("esc", KeyCode::Esc),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("space", KeyCode::Char(' ')),
];

/// Keys and what they do.
#[derive(Debug, Clone)]
pub(crate) struct Keymap {
    actions: HashMap<EditorKey, EditAction>,
}

impl Keymap {
    /// The keys by default.
    pub(crate) fn new() -> Self {
        let each = |&(_, action, keys): &(&str, EditAction, &'static [&'static str])| {
            keys.iter().filter_map(move |key| Some((EditorKey::named(key)?, action)))
        };
        Self { actions: ACTIONS.iter().flat_map(each).collect() }
    }

    /// Gives a key another action. Says what is wrong with the names.
    pub(crate) fn bind(&mut self, key: &str, action: &str) -> Result<(), String> {
        let found = EditorKey::named(key)
            .ok_or_else(|| format!("`{key}` is not a key; use a name such as `ctrl-x` or `alt-enter`"))?;
        if action == "none" {
            self.actions.remove(&found);
            return Ok(());
        }
        let named = ACTIONS.iter().find(|(name, ..)| *name == action);
        let (_, action, _) = named.ok_or_else(|| {
            let names: Vec<&str> = ACTIONS.iter().map(|(name, ..)| *name).collect();
            format!("`{action}` is not an action; use one of {}, none", names.join(", "))
        })?;
        self.actions.insert(found, *action);
        Ok(())
    }

    /// Every action by its name, with its keys.
    pub(crate) fn listed(&self) -> Vec<(&'static str, Vec<String>)> {
        let keys = |action: EditAction| {
            let bound = self.actions.iter().filter(|(_, bound)| **bound == action);
            let mut keys: Vec<String> = bound.map(|(key, _)| key.name()).collect();
            keys.sort();
            keys
        };
        ACTIONS.iter().map(|(name, action, _)| (*name, keys(*action))).collect()
    }

    pub(crate) fn action(&self, key: EditorKey) -> Option<EditAction> {
        self.actions.get(&key).copied()
    }
}

impl EditorKey {
    /// The key of an event, with what is said twice taken away: a capital letter is one without its shift.
    pub(crate) fn of(event: KeyEvent) -> Self {
        let held = event.modifiers;
        match event.code {
            KeyCode::BackTab => Self { code: KeyCode::Tab, held: KeyModifiers::SHIFT },
            KeyCode::Char(letter) if held.contains(KeyModifiers::CONTROL) => {
                Self { code: KeyCode::Char(letter.to_ascii_lowercase()), held: held - KeyModifiers::SHIFT }
            }
            KeyCode::Char(_) => Self { code: event.code, held: held - KeyModifiers::SHIFT },
            code => Self { code, held },
        }
    }

    /// The letter that it types, if it types one.
    pub(crate) fn letter(self) -> Option<char> {
        match self.code {
            KeyCode::Char(letter) if self.held.is_empty() => Some(letter),
            _ => None,
        }
    }

    /// Its name.
    fn name(self) -> String {
        let held =
            [(KeyModifiers::CONTROL, "ctrl-"), (KeyModifiers::ALT, "alt-"), (KeyModifiers::SHIFT, "shift-")];
        let held: String =
            held.iter().filter(|(held, _)| self.held.contains(*held)).map(|(_, name)| *name).collect();
        let named = NAMES.iter().find(|(_, code)| *code == self.code).map(|(name, _)| (*name).to_owned());
        let key = named.unwrap_or_else(|| match self.code {
            KeyCode::Char(letter) => letter.to_string(),
            KeyCode::F(number) => format!("f{number}"),
            other => format!("{other:?}"),
        });
        format!("{held}{key}")
    }

    /// The key of this name, such as `ctrl-a` or `alt-enter`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut held = KeyModifiers::NONE;
        let mut rest = name;
        for (word, modifier) in
            [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)]
        {
            if let Some(after) = rest.strip_prefix(word) {
                (held, rest) = (held | modifier, after);
            }
        }
        let named = NAMES.iter().find(|(name, _)| *name == rest).map(|(_, code)| *code);
        let numbered = || match rest.strip_prefix('f')?.parse() {
            Ok(number @ 1..=24) => Some(KeyCode::F(number)),
            _ => None,
        };
        let letter = || {
            let mut letters = rest.chars();
            letters.next().filter(|_| letters.next().is_none()).map(KeyCode::Char)
        };
        let code = named.or_else(numbered).or_else(letter)?;
        Some(Self { code, held })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_key_has_a_name_and_no_key_two_actions() {
        let count: usize = ACTIONS.iter().map(|(.., keys)| keys.len()).sum();
        assert_eq!(Keymap::new().actions.len(), count);
        for (name, keys) in Keymap::new().listed() {
            assert!(!keys.is_empty(), "{name}");
            for key in keys {
                assert_eq!(
                    EditorKey::named(&key).map(EditorKey::name),
                    Some(key),
                    "a name leads back to its key"
                );
            }
        }
    }

    #[test]
    fn events_are_the_keys_that_people_mean() {
        let of = |code, modifiers| EditorKey::of(KeyEvent::new(code, modifiers));
        assert_eq!(Some(of(KeyCode::BackTab, KeyModifiers::SHIFT)), EditorKey::named("shift-tab"));
        assert_eq!(Some(of(KeyCode::Char('J'), KeyModifiers::CONTROL)), EditorKey::named("ctrl-j"));
        assert_eq!(of(KeyCode::Char('Ä'), KeyModifiers::SHIFT).letter(), Some('Ä'));
        assert_eq!(of(KeyCode::Char('a'), KeyModifiers::ALT).letter(), None);
    }

    #[test]
    fn people_choose_keys_of_their_own() {
        let mut keymap = Keymap::new();
        let enter = EditorKey::named("enter").unwrap();
        assert_eq!(keymap.bind("enter", "newline"), Ok(()));
        assert_eq!(keymap.action(enter), Some(EditAction::Newline));
        assert_eq!(keymap.bind("enter", "none"), Ok(()));
        assert_eq!(keymap.action(enter), None);
        assert!(keymap.bind("hyper-x", "submit").unwrap_err().contains("is not a key"));
        assert!(keymap.bind("f5", "dance").unwrap_err().contains("use one of submit"));
    }
}
