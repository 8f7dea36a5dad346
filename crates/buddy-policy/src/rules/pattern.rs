//! Patterns of commands: words, where `*` stands for one word and a last `*` for any more words.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::shell::Word;

/// The longest pattern: the longest words that a grant can have.
const MAX_PATTERN: usize = buddy_protocol::MAX_GRANT_WORDS;

/// A pattern of simple commands, such as `cargo test *` or `npm run lint-*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    text: String,
    words: Vec<Part>,
    /// Whether any more words may follow.
    is_open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    text: String,
    /// Whether a star in the text stands for anything.
    is_pattern: bool,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing in it.
    #[error("the pattern is empty")]
    Empty,
    /// It is longer than anyone could check.
    #[error("the pattern is longer than {MAX_PATTERN} bytes")]
    TooLong,
    /// It has shell syntax, and patterns are held against one simple command at a time.
    #[error(
        "`{0}`: a pattern is about one simple command; write one for each, and quote what is meant as text"
    )]
    Syntax(String),
    /// It would match every program.
    #[error("`{0}`: the first word of a pattern names a program")]
    NoProgram(String),
}

/// How a command stands to a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    No,
    /// Words that are computed when it runs could make it match.
    Maybe,
    Yes,
}

impl CommandPattern {
    /// Reads a pattern. Quotes make a star ordinary.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_PATTERN {
            return Err(PatternError::TooLong);
        }
        let shown = || crate::display_command(text);
        let mut words = Vec::new();
        for source in split(text).ok_or_else(|| PatternError::Syntax(shown()))? {
            words.push(match Word::decode(&source) {
                Word::Literal(text) => Part { text, is_pattern: false },
                Word::Glob(text) if !text.contains(['?', '[']) => Part { text, is_pattern: true },
                Word::Home { source, .. } => Part { text: source, is_pattern: false },
                Word::Glob(_) | Word::Unknown(_) => return Err(PatternError::Syntax(shown())),
            });
        }
        let first = words.first().ok_or(PatternError::Empty)?;
        if first.is_pattern && first.text.starts_with('*') {
            return Err(PatternError::NoProgram(shown()));
        }
        let is_star = |part: &Part| part.is_pattern && part.text == "*";
        let is_open = words.len() > 1 && words.last().is_some_and(is_star);
        if is_open {
            words.pop();
        }
        Ok(Self { text: text.to_owned(), words, is_open })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first word.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", |part| part.text.as_str())
    }

    /// Whether every command that matches matches the other one too, as far as that can be told from the words: those of the
    /// other one begin this one.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let is_open = other.is_open || (!self.is_open && self.words.len() == other.words.len());
        is_open && self.words.starts_with(&other.words)
    }

    /// Holds the words of a simple command against the pattern. `program` is the first word as rules know it.
    pub(crate) fn matches(&self, program: &str, words: &[Word]) -> Match {
        let mut found = Match::Yes;
        for (at, part) in self.words.iter().enumerate() {
            let word = match words.get(at) {
                Some(Word::Unknown(_)) => return Match::Maybe,
                Some(word) => word,
                None => return Match::No,
            };
            let text =
                if at == 0 && !part.text.contains('/') { program.to_owned() } else { word.unexpanded() };
            found = match (part.matches(&text), word) {
                (_, Word::Glob(_)) if !(part.is_pattern && part.text == "*") => Match::Maybe,
                (true, _) => found,
                (false, _) => return Match::No,
            };
        }
        let rest = words.get(self.words.len()..).unwrap_or_default();
        match (self.is_open || rest.is_empty(), rest.iter().all(Word::is_unknown)) {
            (true, _) => found,
            (false, true) => Match::Maybe,
            (false, false) => Match::No,
        }
    }
}

impl Part {
    fn matches(&self, text: &str) -> bool {
        if self.is_pattern { matches_star(&self.text, text) } else { self.text == text }
    }
}

/// Whether the text matches a pattern in which a star stands for any characters.
pub(crate) fn matches_star(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Splits at blanks outside quotes. None where quotes do not close or a control character is in it.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (_, control) if control.is_control() => return None,
            (None, ' ') => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            (quoted, '\\') if quoted != Some('\'') => {
                word.push('\\');
                word.push(characters.next()?);
            }
            (None, '\'' | '"') => {
                quote = Some(character);
                word.push(character);
            }
            (Some(open), _) if open == character => {
                quote = None;
                word.push(character);
            }
            _ => word.push(character),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    quote.is_none().then_some(words)
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Serialize for CommandPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for CommandPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, command: &str, expected: Match) {
        let pattern = CommandPattern::parse(pattern).unwrap();
        let words: Vec<Word> = command.split(' ').map(Word::decode).collect();
        let program = words[0].unexpanded();
        let program = program.rsplit('/').next().unwrap();
        assert_eq!(pattern.matches(program, &words), expected, "{pattern} / {command}");
    }

    #[test]
    fn words_match_word_by_word() {
        check("cargo test *", "cargo test", Match::Yes);
        check("cargo test *", "cargo test -p a", Match::Yes);
        check("cargo test *", "cargo testing", Match::No);
        check("cargo *", "cargo-evil x", Match::No);
        check("git * origin", "git push origin", Match::Yes);
        check("git * origin", "git push origin main", Match::No);
        check("npm run lint-*", "npm run lint-all", Match::Yes);
        check("rm *", "/usr/bin/rm x", Match::Yes);
        check("/usr/bin/rm *", "rm x", Match::No);
        check("echo '*'", "echo '*'", Match::Yes);
        check("echo '*'", "echo x", Match::No);
    }

    #[test]
    fn a_pattern_is_within_one_that_begins_it() {
        let is_within = |pattern: &str, other: &str| {
            CommandPattern::parse(pattern).unwrap().is_within(&CommandPattern::parse(other).unwrap())
        };
        for (pattern, other, expected) in [
            ("cargo test *", "cargo test *", true),
            ("cargo test -p a *", "cargo test *", true),
            ("cargo test", "cargo test *", true),
            ("cargo test 'a b' *", "cargo test *", true),
            ("cargo test", "cargo test", true),
            ("cargo *", "cargo test *", false),
            ("cargo test *", "cargo test", false),
            ("cargo test -p", "cargo test", false),
            ("cargo t* *", "cargo test *", false),
            ("carg* test *", "cargo test *", false),
            ("./cargo test *", "cargo test *", false),
        ] {
            assert_eq!(is_within(pattern, other), expected, "{pattern} / {other}");
        }
    }

    #[test]
    fn what_is_computed_may_match() {
        check("git push *", "git $x", Match::Maybe);
        check("git push", "git push $x", Match::Maybe);
        check("git push *", "git push $x", Match::Yes);
        check("git push *", "git pus?", Match::Maybe);
    }

    #[test]
    fn bad_patterns_are_refused() {
        for text in ["", "  ", "*", "* x", "a; b", "a | b", "$x y", "'a", "a\nb", "a ?", "a > b"] {
            assert!(CommandPattern::parse(text).is_err(), "{text}");
        }
    }
}
