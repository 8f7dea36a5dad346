//! Options of a program: those that are known, and the words left when they are taken off.
//!
//! The lists have the options that are known to be harmless, so an option that is not listed, or is
//! abbreviated, is not harmless.

use crate::shell::ShellWord;

/// The options that are known of a program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flags {
    /// Single letters, which can be joined.
    pub(crate) short: &'static str,
    /// Single letters that take a value, joined to them or as the next word.
    pub(crate) short_value: &'static str,
    /// Long names without their dashes.
    pub(crate) long: &'static [&'static str],
    /// Long names that take a value, after `=` or as the next word.
    pub(crate) long_value: &'static [&'static str],
}

impl Flags {
    pub(crate) const NONE: Self = Self::of("", "");

    pub(crate) const fn of(short: &'static str, short_value: &'static str) -> Self {
        Self { short, short_value, long: &[], long_value: &[] }
    }

    pub(crate) const fn long(
        self,
        long: &'static [&'static str],
        long_value: &'static [&'static str],
    ) -> Self {
        Self { long, long_value, ..self }
    }
}

/// The end of the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlagOrder {
    /// Options may stand between and after operands.
    Mixed,
    /// The first operand ends them: the rest is another program's business.
    First,
}

/// The words of a program, told apart.
#[derive(Debug, Default)]
pub(crate) struct Split<'a> {
    pub(crate) given: Vec<(String, Option<String>)>,
    pub(crate) operands: Vec<&'a ShellWord>,
    /// The number of words before the first operand.
    pub(crate) before: usize,
}

impl Split<'_> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| given == name)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| given == name).and_then(|(_, value)| value.as_deref())
    }
}

/// Tells options and operands apart. `None` if an option is not listed, or if the kind of a word is not
/// certain.
pub(crate) fn split<'a>(arguments: &'a [ShellWord], flags: &Flags, order: FlagOrder) -> Option<Split<'a>> {
    let mut split = Split::default();
    let mut words = arguments.iter().enumerate();
    let mut is_open = true;
    while let Some((at, word)) = words.next() {
        let text = match word {
            ShellWord::Literal(text) => text.as_str(),
            ShellWord::Home { .. } => "",
            // A pattern that begins with a plain character cannot become an option.
            ShellWord::Glob(text) if text.starts_with(|first| !"-*?[".contains(first)) => "",
            ShellWord::Glob(_) if !is_open => "",
            ShellWord::Glob(_) | ShellWord::Unknown(_) => return None,
        };
        if !is_open || !text.starts_with('-') || text == "-" {
            if split.operands.is_empty() {
                split.before = at;
            }
            split.operands.push(word);
            is_open = is_open && order == FlagOrder::Mixed;
        } else if text == "--" {
            is_open = false;
            if order == FlagOrder::First {
                split.before = at + 1;
            }
        } else if let Some(long) = text.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let value = match (flags.long.contains(&name), flags.long_value.contains(&name), value) {
                (true, _, None) => None,
                (_, true, Some(value)) => Some(value.to_owned()),
                (_, true, None) => Some(words.next()?.1.literal()?.to_owned()),
                _ => return None,
            };
            split.given.push((name.to_owned(), value));
        } else {
            let cluster = text.strip_prefix('-').unwrap_or(text);
            short(cluster, flags, &mut words, &mut split)?;
        }
    }
    if split.operands.is_empty() {
        split.before = arguments.len();
    }
    Some(split)
}

fn short<'a>(
    cluster: &str,
    flags: &Flags,
    words: &mut impl Iterator<Item = (usize, &'a ShellWord)>,
    split: &mut Split<'_>,
) -> Option<()> {
    let mut letters = cluster.chars();
    while let Some(letter) = letters.next() {
        if flags.short.contains(letter) {
            split.given.push((letter.to_string(), None));
        } else if flags.short_value.contains(letter) {
            let joined = letters.as_str();
            let value = if joined.is_empty() { words.next()?.1.literal()? } else { joined };
            split.given.push((letter.to_string(), Some(value.to_owned())));
            break;
        } else {
            return None;
        }
    }
    Some(())
}

/// Whether one of the words is, or could be, this option: in a cluster, joined to a value, or abbreviated.
pub(crate) fn might_give(arguments: &[ShellWord], short: Option<char>, long: &str) -> bool {
    arguments.iter().any(|word| {
        let text = word.unexpanded();
        let Some(rest) = text.strip_prefix('-') else { return false };
        match rest.strip_prefix('-') {
            Some(given) => {
                let name = given.split('=').next().unwrap_or(given);
                !long.is_empty() && !name.is_empty() && long.starts_with(name)
            }
            None => rest == long || short.is_some_and(|short| rest.contains(short)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: Flags = Flags::of("ab", "n").long(&["all"], &["lines"]);

    fn words(line: &str) -> Vec<ShellWord> {
        line.split(' ').map(ShellWord::decode).collect()
    }

    fn check(line: &str, operands: Option<&[&str]>) {
        let words = words(line);
        let split = split(&words, &FLAGS, FlagOrder::Mixed);
        let found =
            split.map(|split| split.operands.iter().map(|word| word.unexpanded()).collect::<Vec<_>>());
        assert_eq!(
            found.as_deref(),
            operands.map(|all| all.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref()
        );
    }

    #[test]
    fn known_options_are_taken_off_in_every_spelling() {
        check("-ab x -n 3 --all --lines=4 --lines 5 -n6 y", Some(&["x", "y"]));
        check("-- -z", Some(&["-z"]));
        check("- src/*.rs", Some(&["-", "src/*.rs"]));
    }

    #[test]
    fn everything_else_is_not_certain() {
        for line in ["-az", "--al", "--lines", "-n", "--all=1", "$x", "*.rs", "-n $x", "--zoo"] {
            check(line, None);
        }
    }

    #[test]
    fn a_dangerous_option_is_seen_in_every_spelling() {
        for line in ["-o x", "-no x", "-ox", "--output=x", "--output x", "--outp x", "--o=x"] {
            assert!(might_give(&words(line), Some('o'), "output"), "{line}");
        }
        assert!(!might_give(&words("x --other -n"), Some('o'), "output"));
    }
}
