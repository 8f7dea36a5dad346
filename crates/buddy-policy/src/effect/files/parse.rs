//! The words of a program, told apart by its row: options with an effect, and operands.

use super::row::{Does, FileRow, OperandForm, RowCondition};
use crate::shell::ShellWord;

/// The words of a program.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// Options with an effect, with their values.
    pub(super) given: Vec<(Does, Option<ShellWord>)>,
    pub(super) operands: Vec<ShellWord>,
    /// Names of all options.
    pub(super) names: Vec<String>,
    /// Whether an option is not listed.
    pub(super) has_unlisted: bool,
    /// Words that could be values of such options.
    pub(super) loose: Vec<ShellWord>,
}

impl Parsed {
    pub(super) fn has(&self, wanted: Does) -> bool {
        self.given.iter().any(|(does, _)| *does == wanted)
    }
}

/// The kind of an option.
enum ArgumentMeaning {
    Plain { takes_value: bool },
    Effect(Does),
}

/// Tells the words apart.
pub(super) fn parse(row: &FileRow, arguments: &[ShellWord]) -> Parsed {
    let mut parser = Parser { row, parsed: Parsed::default(), computed: None, is_open: false };
    let mut rest = arguments;
    if row.form == OperandForm::Bundled {
        rest = parser.bundle(rest);
    }
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        // A computed word that begins like an option is that option, with an unknown value.
        let text = word.unexpanded();
        let text = if word.is_unknown() { text.trim_start_matches(['"', '\'']) } else { text.as_str() };
        let is_text = word.literal().is_some() || (word.is_unknown() && text.starts_with('-'));
        parser.computed = word.is_unknown().then(|| word.clone());
        let is_option = is_text && text.len() > 1 && text.starts_with('-');
        match row.form {
            OperandForm::Assigned if is_text => parser.assigned(text),
            _ if text == "--" => parser.parsed.operands.extend(words.by_ref().cloned()),
            OperandForm::Single if is_option => parser.single(text, &mut words),
            _ if is_option && text.starts_with("--") => parser.long(text, &mut words),
            _ if is_option => parser.cluster(text, &mut words),
            _ => {
                if std::mem::take(&mut parser.is_open) {
                    parser.parsed.loose.push(word.clone());
                }
                parser.parsed.operands.push(word.clone());
            }
        }
    }
    parser.parsed
}

struct Parser<'a> {
    row: &'a FileRow,
    parsed: Parsed,
    /// The current word, if it is computed.
    computed: Option<ShellWord>,
    /// Whether the option before could take the next word for its value.
    is_open: bool,
}

impl Parser<'_> {
    fn long_name(&self, name: &str) -> Option<ArgumentMeaning> {
        let FileRow { flags, options, when, .. } = self.row;
        let is_whole = |(names, _): &&(&[&str], Does)| names.contains(&name);
        if let Some((_, does)) = options.iter().find(is_whole).filter(|_| name.chars().count() > 1) {
            return Some(ArgumentMeaning::Effect(*does));
        }
        if flags.long.contains(&name) {
            return Some(ArgumentMeaning::Plain { takes_value: false });
        }
        if flags.long_value.contains(&name) {
            return Some(ArgumentMeaning::Plain { takes_value: true });
        }
        let could_be = |whole: &str| !name.is_empty() && whole.chars().count() > 1 && whole.starts_with(name);
        if let Some((_, does)) = options.iter().find(|(names, _)| names.iter().any(|whole| could_be(whole))) {
            return Some(ArgumentMeaning::Effect(*does));
        }
        let is_use = matches!(when, RowCondition::Option(names) if names.iter().any(|whole| could_be(whole)));
        is_use.then_some(ArgumentMeaning::Plain { takes_value: false })
    }

    fn letter(&self, letter: char) -> Option<ArgumentMeaning> {
        let FileRow { flags, options, when, .. } = self.row;
        let is_it = |name: &&str| name.chars().eq([letter]);
        if let Some((_, does)) = options.iter().find(|(names, _)| names.iter().any(is_it)) {
            return Some(ArgumentMeaning::Effect(*does));
        }
        if flags.short_value.contains(letter) {
            return Some(ArgumentMeaning::Plain { takes_value: true });
        }
        let is_use = matches!(when, RowCondition::Option(names) if names.iter().any(is_it));
        (is_use || flags.short.contains(letter)).then_some(ArgumentMeaning::Plain { takes_value: false })
    }

    fn note(&mut self, name: &str, meaning: &ArgumentMeaning, value: Option<ShellWord>) {
        self.parsed.names.push(name.to_owned());
        if let ArgumentMeaning::Effect(does) = meaning {
            self.parsed.given.push((*does, value));
        }
    }

    fn long<'w>(&mut self, text: &str, words: &mut impl Iterator<Item = &'w ShellWord>) {
        let given = text.strip_prefix("--").unwrap_or(text);
        let (name, joined) = given.split_once('=').map_or((given, None), |(name, value)| (name, Some(value)));
        let joined = joined.map(|value| self.value(value));
        match self.long_name(name) {
            Some(meaning) => {
                let value = joined.or_else(|| meaning.takes_value().then(|| words.next().cloned()).flatten());
                self.note(name, &meaning, value);
            }
            None => self.unlisted(name, joined),
        }
    }

    fn cluster<'w>(&mut self, text: &str, words: &mut impl Iterator<Item = &'w ShellWord>) {
        let mut letters = text.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            let rest = letters.as_str();
            let Some(meaning) = self.letter(letter) else {
                let loose = (!rest.is_empty()).then(|| self.value(rest));
                self.unlisted(&letter.to_string(), loose);
                continue;
            };
            if meaning.takes_value() {
                let joined = (!rest.is_empty()).then(|| self.value(rest));
                let value = joined.or_else(|| words.next().cloned());
                return self.note(&letter.to_string(), &meaning, value);
            }
            self.note(&letter.to_string(), &meaning, None);
        }
    }

    /// The first word of `tar`, whose letters take their values from the words after it, in their order.
    fn bundle<'w>(&mut self, arguments: &'w [ShellWord]) -> &'w [ShellWord] {
        let Some((first, mut rest)) = arguments.split_first() else { return arguments };
        let Some(letters) = first.literal().filter(|text| !text.starts_with('-')) else { return arguments };
        for letter in letters.chars() {
            let Some(meaning) = self.letter(letter) else {
                self.unlisted(&letter.to_string(), None);
                continue;
            };
            let value = meaning.takes_value().then(|| rest.split_first()).flatten();
            if let Some((_, after)) = value {
                rest = after;
            }
            self.note(&letter.to_string(), &meaning, value.map(|(word, _)| word.clone()));
        }
        rest
    }

    fn single<'w>(&mut self, text: &str, words: &mut impl Iterator<Item = &'w ShellWord>) {
        let given = text.trim_start_matches('-');
        let (name, joined) = given.split_once('=').map_or((given, None), |(name, value)| (name, Some(value)));
        let FileRow { flags, options, .. } = self.row;
        let is_it = |(names, _): &&(&[&str], Does)| names.contains(&name);
        let exact = options.iter().find(is_it).map(|(_, does)| ArgumentMeaning::Effect(*does));
        let known = flags.long.contains(&name).then_some(ArgumentMeaning::Plain { takes_value: false });
        let valued = flags.long_value.contains(&name).then_some(ArgumentMeaning::Plain { takes_value: true });
        if let Some(meaning) = exact.or(known).or(valued) {
            let joined = joined.map(|value| self.value(value));
            let value = joined.or_else(|| meaning.takes_value().then(|| words.next().cloned()).flatten());
            return self.note(name, &meaning, value);
        }
        let mut letters = given.chars();
        let meaning = letters.next().and_then(|letter| self.letter(letter));
        let rest = letters.as_str();
        match meaning {
            Some(meaning) if meaning.takes_value() => {
                let joined = (!rest.is_empty()).then(|| self.value(rest));
                let value = joined.or_else(|| words.next().cloned());
                self.note(name, &meaning, value);
            }
            Some(meaning) => {
                let joined = joined.map(|value| self.value(value));
                self.note(name, &meaning, joined);
            }
            None => {
                let loose = (!rest.is_empty()).then(|| self.value(rest));
                self.unlisted(name, loose);
            }
        }
    }

    fn assigned(&mut self, text: &str) {
        let Some((name, value)) = text.split_once('=') else { return };
        let is_it = |(names, _): &&(&[&str], Does)| names.contains(&name);
        if let Some((_, does)) = self.row.options.iter().find(is_it) {
            let value = Some(self.value(value));
            self.note(name, &ArgumentMeaning::Effect(*does), value);
        }
    }

    /// A part of the current word.
    fn value(&self, text: &str) -> ShellWord {
        self.computed.clone().unwrap_or_else(|| ShellWord::Literal(text.to_owned()))
    }

    /// An option that is not listed, with the text joined to it. The next word may be its value, and is an
    /// operand all the same.
    fn unlisted(&mut self, name: &str, loose: Option<ShellWord>) {
        self.parsed.names.push(name.to_owned());
        self.is_open = loose.is_none();
        self.parsed.has_unlisted |= !self.row.is_lenient;
        self.parsed.loose.extend(loose);
    }
}

impl ArgumentMeaning {
    fn takes_value(&self) -> bool {
        match self {
            Self::Plain { takes_value } => *takes_value,
            Self::Effect(does) => does.takes_value(),
        }
    }
}
