//! One key for a pane: a text that is typed as it is, or a key by its name.
//!
//! tmux reads more into a word than its name says: names count in any case, `0x72` is a letter and `^U` a
//! control key. This module parses a word once. A word that is a text goes to tmux as a text, so that tmux
//! never parses it again in its own way.

use std::fmt;
use std::str::FromStr;

/// The longest word for a key.
const MAX_BYTES: usize = 40;

/// Names of keys beside those with a modifier and the function keys, as tmux writes them.
const NAMES: &[&str] = &[
    "BSpace", "BTab", "DC", "Delete", "Down", "End", "Enter", "Escape", "Home", "IC", "Insert", "Left",
    "NPage", "PageDown", "PageUp", "PgDn", "PgUp", "PPage", "Right", "Space", "Tab", "Up",
];

/// The names of keypad keys that tmux knows, after `KP`.
const KEYPAD: &[&str] = &["/", "*", "-", "+", ".", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "Enter"];

/// A key for a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(Read);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Read {
    /// Typed letter by letter.
    Text(String),
    /// A key by tmux's name for it.
    Named(String),
}

/// The reason why a word cannot be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadKey {
    /// It is empty.
    #[error("a key is empty")]
    Empty,
    /// It is longer than a key may be.
    #[error("a key has more than {MAX_BYTES} bytes; put text into `literal_text`")]
    TooLong,
    /// It has a control character.
    #[error("a key has a control character in it; name the key, such as `Enter` or `C-c`")]
    Control,
    /// It is a key by its number.
    #[error("keys by number, such as `0x72`, are not taken; name the key or type the letter")]
    Number,
    /// It is a control key in the way that tmux does not write it.
    #[error("`^` before a key is not taken; write `C-` for the control key")]
    Caret,
    /// It is a key of the keypad.
    #[error("keys of the keypad are not taken; use those of the keyboard, such as `1` or `Enter`")]
    Keypad,
}

impl Key {
    /// The characters that the program in the pane gets, if the key stands for nothing but them.
    ///
    /// `Tab` is none of them: a shell completes at it, so that the line becomes another one.
    pub fn characters(&self) -> Option<&str> {
        match &self.0 {
            Read::Text(text) => Some(text),
            Read::Named(name) if name == "Enter" => Some("\n"),
            Read::Named(name) if name == "Space" => Some(" "),
            Read::Named(_) => None,
        }
    }

    /// The name, if the key has one.
    pub(super) fn name(&self) -> Option<&str> {
        match &self.0 {
            Read::Text(_) => None,
            Read::Named(name) => Some(name),
        }
    }
}

impl FromStr for Key {
    type Err = BadKey;

    fn from_str(word: &str) -> Result<Self, BadKey> {
        if word.is_empty() {
            return Err(BadKey::Empty);
        }
        if word.len() > MAX_BYTES {
            return Err(BadKey::TooLong);
        }
        if word.contains(char::is_control) {
            return Err(BadKey::Control);
        }
        let (modifiers, rest) = modifiers(word);
        if is_number(rest) {
            return Err(BadKey::Number);
        }
        if rest.strip_prefix('^').is_some_and(is_one_key) {
            return Err(BadKey::Caret);
        }
        if is_of_keypad(rest) {
            return Err(BadKey::Keypad);
        }
        let name = name(rest).or_else(|| is_letter(rest).then(|| rest.to_owned()));
        Ok(Self(match name {
            Some(name) if !modifiers.is_empty() => Read::Named(format!("{modifiers}{name}")),
            Some(name) if !is_letter(rest) => Read::Named(name),
            _ => Read::Text(word.to_owned()),
        }))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Read::Text(text) => write!(formatter, "{text:?}"),
            Read::Named(name) => write!(formatter, "<{name}>"),
        }
    }
}

/// The modifiers that a word begins with, as tmux writes them, and the rest of it.
fn modifiers(word: &str) -> (String, &str) {
    let (mut found, mut rest) = (String::new(), word);
    while let [modifier @ (b'C' | b'c' | b'M' | b'm' | b'S' | b's'), b'-', _, ..] = rest.as_bytes() {
        found.push(char::from(modifier.to_ascii_uppercase()));
        found.push('-');
        rest = rest.get(2..).unwrap_or_default();
    }
    (found, rest)
}

/// The name of a key as tmux writes it. It takes names in any case.
fn name(word: &str) -> Option<String> {
    let is_function = |word: &&str| {
        let number = word.strip_prefix(['F', 'f']).filter(|number| !number.starts_with(['0', '+']));
        number.is_some_and(|number| number.parse().is_ok_and(|number: u8| (1..=12).contains(&number)))
    };
    let known = NAMES.iter().find(|name| name.eq_ignore_ascii_case(word)).map(|&name| name.to_owned());
    known.or_else(|| Some(word).filter(is_function).map(str::to_ascii_uppercase))
}

fn is_letter(word: &str) -> bool {
    word.chars().count() == 1
}

fn is_one_key(word: &str) -> bool {
    is_letter(word) || name(word).is_some() || is_of_keypad(word)
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    digits.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_hexdigit()))
}

fn is_of_keypad(word: &str) -> bool {
    let is_after = |rest: &str| KEYPAD.iter().any(|key| key.eq_ignore_ascii_case(rest));
    match word.split_at_checked(2) {
        Some((keypad, rest)) => keypad.eq_ignore_ascii_case("KP") && is_after(rest),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Result<&str, BadKey>) {
        let read = word.parse::<Key>().map(|key| key.to_string());
        assert_eq!(read.as_deref().map_err(|error| *error), expected, "{word:?}");
    }

    #[test]
    fn names_count_in_any_case_and_all_else_is_text() {
        check("enter", Ok("<Enter>"));
        check("bspace", Ok("<BSpace>"));
        check("c-u", Ok("<C-u>"));
        check("C-M-left", Ok("<C-M-Left>"));
        check("f12", Ok("<F12>"));
        check("F13", Ok("\"F13\""));
        check("-rf x", Ok("\"-rf x\""));
        check("s-expression", Ok("\"s-expression\""));
        check("C-", Ok("\"C-\""));
        check("^", Ok("\"^\""));
        check("é", Ok("\"é\""));
    }

    #[test]
    fn words_that_tmux_interprets_are_refused() {
        for word in ["0x72", "0X0d", "C-0x41"] {
            check(word, Err(BadKey::Number));
        }
        for word in ["^U", "^m", "^Left", "M-^x"] {
            check(word, Err(BadKey::Caret));
        }
        for word in ["KPEnter", "kp1", "KP/", "C-kp."] {
            check(word, Err(BadKey::Keypad));
        }
    }

    #[test]
    fn invalid_keys_are_refused_with_their_reason() {
        check("", Err(BadKey::Empty));
        check(&"x".repeat(MAX_BYTES + 1), Err(BadKey::TooLong));
        check("a\u{1b}[A", Err(BadKey::Control));
    }

    #[test]
    fn only_enter_and_space_stand_for_their_character() {
        let characters = |word: &str| word.parse::<Key>().unwrap().characters().map(str::to_owned);
        assert_eq!(characters("ENTER").as_deref(), Some("\n"));
        assert_eq!(characters("space").as_deref(), Some(" "));
        for word in ["Tab", "C-m", "M-a", "Up", "Home", "S-Enter"] {
            assert_eq!(characters(word), None, "{word}");
        }
    }
}
