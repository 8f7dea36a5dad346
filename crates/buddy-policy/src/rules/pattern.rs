//! Patterns of commands: words, where `*` stands for one word and a last `*` for any more words.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::effect::might_give;
use crate::shell::ShellWord;

/// The longest pattern: the longest words that a grant can have.
const MAX_PATTERN: usize = buddy_protocol::MAX_GRANT_WORDS;

/// A pattern of simple commands, such as `cargo test *` or `npm run lint-*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    text: String,
    words: Vec<PatternPart>,
    /// Whether any more words may follow.
    is_open: bool,
    /// Whether it is an entry of the denylist, which is found in every spelling.
    is_denial: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PatternPart {
    text: String,
    /// Whether a star in the text stands for anything.
    is_pattern: bool,
}

/// The reason why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is empty.
    #[error("the pattern is empty")]
    Empty,
    /// It is longer than anyone could check.
    #[error("the pattern is longer than {MAX_PATTERN} bytes")]
    TooLong,
    /// It has shell syntax, and patterns are compared with one simple command at a time.
    #[error(
        "`{0}`: a pattern is about one simple command; write one for each, and quote what is meant as text"
    )]
    Syntax(String),
    /// It would match every program.
    #[error("`{0}`: the first word of a pattern names a program")]
    NoProgram(String),
}

/// The result of comparing a command with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    No,
    /// Words that are computed when it runs could make it match.
    Maybe,
    Yes,
}

impl CommandPattern {
    /// Parses a pattern. Quotes make a star ordinary.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.len() > MAX_PATTERN {
            return Err(PatternError::TooLong);
        }
        let shown = || crate::display_command(text);
        let mut words = Vec::new();
        for source in split(text).ok_or_else(|| PatternError::Syntax(shown()))? {
            words.push(match ShellWord::decode(&source) {
                ShellWord::Literal(text) => PatternPart { text, is_pattern: false },
                ShellWord::Glob(text) if !text.contains(['?', '[']) => PatternPart { text, is_pattern: true },
                ShellWord::Home { source, .. } => PatternPart { text: source, is_pattern: false },
                ShellWord::Glob(_) | ShellWord::Unknown(_) => return Err(PatternError::Syntax(shown())),
            });
        }
        let first = words.first().ok_or(PatternError::Empty)?;
        if first.is_pattern && first.text.starts_with('*') {
            return Err(PatternError::NoProgram(shown()));
        }
        let is_star = |part: &PatternPart| part.is_pattern && part.text == "*";
        let is_open = words.len() > 1 && words.last().is_some_and(is_star);
        if is_open {
            words.pop();
        }
        Ok(Self { text: text.to_owned(), words, is_open, is_denial: false })
    }

    /// Parses an entry of the denylist. Any more words may follow, options may be spelt and ordered
    /// otherwise, and a last word such as `if=` is the beginning of one.
    pub fn denying(text: &str) -> Result<Self, PatternError> {
        let pattern = Self::parse(text)?;
        let program = pattern.program();
        // Neither an option nor an assignment is ever a program, so such an entry would deny nothing.
        if program.starts_with('-') || program.contains(['=', '|', '&', ';', '<', '>', '(', ')', '{', '}']) {
            return Err(PatternError::NoProgram(crate::display_command(text)));
        }
        if pattern.words.iter().any(|part| part.text.contains(['|', '&', ';', '<', '>', '(', ')'])) {
            return Err(PatternError::Syntax(crate::display_command(text)));
        }
        Ok(Self { is_denial: true, ..pattern })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first word.
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", |part| part.text.as_str())
    }

    /// Whether a word stands in it as it is.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|part| !part.is_pattern && part.text == word)
    }

    /// The same, or as a path with a star in it, such as `/srv/*`.
    pub(crate) fn names_word(&self, word: &str) -> bool {
        let is_path = |part: &&PatternPart| part.is_pattern && part.text.starts_with(['/', '~', '.']);
        self.has_word(word) || self.words.iter().filter(is_path).any(|part| part.matches(word))
    }

    /// Whether every command that matches matches the other one too, as far as that can be told from the words: those of the
    /// other one begin this one.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let is_open = other.is_open || (!self.is_open && self.words.len() == other.words.len());
        is_open && self.words.starts_with(&other.words)
    }

    /// Compares the words of a simple command with the pattern. `program` is the first word as rules know it.
    pub(crate) fn matches(&self, program: &str, words: &[ShellWord]) -> Match {
        if self.is_denial {
            let entry: Vec<&str> = self.words.iter().skip(1).map(|part| part.text.as_str()).collect();
            let is_program = self.words.first().is_some_and(|part| denies_program(part, program));
            return if is_program { denied(&entry, words.get(1..).unwrap_or_default()) } else { Match::No };
        }
        let mut found = Match::Yes;
        for (at, part) in self.words.iter().enumerate() {
            let word = match words.get(at) {
                Some(ShellWord::Unknown(_)) => return Match::Maybe,
                Some(word) => word,
                None => return Match::No,
            };
            let text =
                if at == 0 && !part.text.contains('/') { program.to_owned() } else { word.unexpanded() };
            found = match (part.matches(&text), word) {
                (_, ShellWord::Glob(_)) if !(part.is_pattern && part.text == "*") => Match::Maybe,
                (true, _) => found,
                (false, _) => return Match::No,
            };
        }
        let rest = words.get(self.words.len()..).unwrap_or_default();
        match (self.is_open || rest.is_empty(), rest.iter().all(ShellWord::is_unknown)) {
            (true, _) => found,
            (false, true) => Match::Maybe,
            (false, false) => Match::No,
        }
    }
}

/// Whether an entry of the denylist names a program, or the family of one: `mkfs` is also `mkfs.ext4`.
fn denies_program(part: &PatternPart, program: &str) -> bool {
    part.matches(program)
        || program.strip_prefix(part.text.as_str()).is_some_and(|rest| rest.starts_with('.'))
}

/// Whether every word of an entry is among these: options by their letters and names, the others in their order.
fn denied(entry: &[&str], words: &[ShellWord]) -> Match {
    let is_option = |text: &&str| text.starts_with('-') && text.len() > 1;
    let has_options = entry.iter().filter(|text| is_option(text)).all(|option| gives(option, words));
    let wanted: Vec<&str> = entry.iter().filter(|text| !is_option(text)).copied().collect();
    let given: Vec<String> =
        words.iter().map(ShellWord::unexpanded).filter(|text| !is_option(&text.as_str())).collect();
    let mut left = given.iter();
    let is_named = wanted.iter().all(|wanted| left.any(|given| names(wanted, given)));
    match (has_options && is_named, words.iter().any(ShellWord::is_unknown)) {
        (true, _) => Match::Yes,
        (false, true) => Match::Maybe,
        (false, false) => Match::No,
    }
}

/// Whether a word is the one of an entry: the same place in another spelling, or a word that begins with
/// `if=` or the like.
fn names(wanted: &str, given: &str) -> bool {
    let place = |text: &str| crate::path::clean(std::path::Path::new(text));
    wanted == given
        || (wanted.ends_with('=') && given.starts_with(wanted))
        || (wanted.contains('*') && matches_star(wanted, given))
        || (wanted.starts_with('/')
            && given.starts_with('/')
            && place(wanted) == place(given.trim_end_matches('*')))
}

/// Long names of letters that entries use, as programs of the system spell them.
const LONG: &[(char, &str)] = &[('r', "recursive"), ('R', "recursive"), ('f', "force"), ('a', "all")];

/// Whether an option is among the words, in a cluster, alone, or by its long name.
fn gives(option: &str, words: &[ShellWord]) -> bool {
    if option.starts_with("--") {
        let name = option.trim_start_matches('-').split('=').next().unwrap_or_default();
        return might_give(words, None, name);
    }
    let letters = option.trim_start_matches('-').chars();
    letters.into_iter().all(|letter| {
        let long = LONG.iter().find(|(short, _)| *short == letter).map_or("", |(_, long)| long);
        // `-r` and `-R` are one to most programs.
        let other = if letter == 'r' { 'R' } else { letter };
        might_give(words, Some(letter), long) || might_give(words, Some(other), "")
    })
}

impl PatternPart {
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

/// Splits at blanks outside quotes. `None` if quotes do not close or a control character is in it.
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
        let words: Vec<ShellWord> = command.split(' ').map(ShellWord::decode).collect();
        let program = words[0].unexpanded();
        let program = program.rsplit('/').next().unwrap();
        assert_eq!(pattern.matches(program, &words), expected, "{pattern} / {command}");
    }

    #[test]
    fn an_entry_of_the_denylist_is_found_in_every_spelling() {
        let check = |entry: &str, command: &str, expected: Match| {
            let pattern = CommandPattern::denying(entry).unwrap();
            let words: Vec<ShellWord> = command.split(' ').map(ShellWord::decode).collect();
            let program = words[0].unexpanded();
            assert_eq!(pattern.matches(&program, &words), expected, "{entry} / {command}");
        };
        for (entry, command) in [
            ("mkfs", "mkfs.ext4 /dev/sda"),
            ("mkfs", "mkfs -t ext4 /dev/sda"),
            ("shutdown", "shutdown -h now"),
            ("shutdown *", "shutdown"),
            ("dd if=", "dd if=/dev/zero of=x"),
            ("dd if=", "dd of=x if=/dev/zero"),
            ("rm -rf /", "rm -rf /"),
            ("rm -rf /", "rm -fr /"),
            ("rm -rf /", "rm -r -f -v //"),
            ("rm -rf /", "rm --recursive --force /"),
            ("rm -rf /", "rm -Rf /"),
            ("rm -rf /", "rm -rf --no-preserve-root /"),
            ("rm -rf /", "rm / -rf"),
            ("rm -rf /", "rm -rf /*"),
            ("git push", "git -C a push origin"),
        ] {
            check(entry, command, Match::Yes);
        }
        for (entry, command) in [
            ("rm -rf /", "rm -rf /tmp/x"),
            ("rm -rf /", "rm -f /"),
            ("rm -rf /", "rm -rf x"),
            ("dd if=", "dd of=x"),
            ("shutdown", "shutdowns"),
            ("git push", "git pull"),
        ] {
            check(entry, command, Match::No);
        }
        check("rm -rf /", "rm -rf $x", Match::Maybe);
        for entry in ["", "-rf /", "A=b", "*", "curl x | sh", "> /dev/sda", ":(){ :|:& };:"] {
            assert!(CommandPattern::denying(entry).is_err(), "{entry}");
        }
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
    fn computed_words_may_match() {
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
