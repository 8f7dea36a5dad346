//! The format of git's settings, parsed as git parses it: sections, quotes, escapes, comments and continued
//! lines.

use std::iter::Peekable;
use std::str::Chars;

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// `section.name` in lower case, without the part between them.
    pub(crate) key: String,
    /// The part between them, such as the name of a remote; empty if there is none.
    pub(crate) of: String,
    pub(crate) value: String,
}

/// All settings of a text. A line that git would refuse is skipped.
pub(super) fn settings(text: &str) -> Vec<Setting> {
    let text = text.replace("\r\n", "\n");
    let mut letters = text.trim_start_matches('\u{feff}').chars().peekable();
    let (mut section, mut of) = (String::new(), String::new());
    let mut found = Vec::new();
    while let Some(letter) = letters.next() {
        match letter {
            '#' | ';' => skip_line(&mut letters),
            '[' => (section, of) = read_section(&mut letters),
            letter if letter.is_alphabetic() => {
                let name = read_name(letter, &mut letters);
                let value = read_value(&mut letters);
                found.push(Setting { key: format!("{section}.{name}"), of: of.clone(), value });
            }
            _ => {}
        }
    }
    found
}

fn skip_line(letters: &mut Peekable<Chars<'_>>) {
    for letter in letters.by_ref() {
        if letter == '\n' {
            return;
        }
    }
}

/// The first name of a section and what follows it, up to the bracket that closes it outside of quotes.
fn read_section(letters: &mut Peekable<Chars<'_>>) -> (String, String) {
    let (mut name, mut of, mut is_quoted, mut is_named) = (String::new(), String::new(), false, false);
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            '\\' if is_quoted => of.extend(letters.next()),
            '"' => (is_quoted, is_named) = (!is_quoted, true),
            ']' if !is_quoted => break,
            letter if is_quoted => of.push(letter),
            letter if !is_named && (letter.is_whitespace() || letter == '.') => is_named = !name.is_empty(),
            letter if !is_named => name.extend(letter.to_lowercase()),
            letter if !letter.is_whitespace() => of.extend(letter.to_lowercase()),
            _ => {}
        }
    }
    (name, of)
}

fn read_name(first: char, letters: &mut Peekable<Chars<'_>>) -> String {
    let mut name: String = first.to_lowercase().collect();
    while let Some(letter) = letters.next_if(|letter| letter.is_alphanumeric() || *letter == '-') {
        name.extend(letter.to_lowercase());
    }
    name
}

/// The value behind a name; a missing one is empty.
fn read_value(letters: &mut Peekable<Chars<'_>>) -> String {
    while letters.next_if(|letter| *letter == ' ' || *letter == '\t').is_some() {}
    if letters.next_if_eq(&'=').is_none() {
        return String::new();
    }
    let (mut value, mut is_quoted) = (String::new(), false);
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            '#' | ';' if !is_quoted => {
                skip_line(letters);
                break;
            }
            '"' => is_quoted = !is_quoted,
            '\\' => match letters.next() {
                Some('\n') | None => {}
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some(other) => value.push(other),
            },
            other => value.push(other),
        }
    }
    value.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "\u{feff}; no\n[Core]\n  Pager=less # x\n[a \"B ] \\\" c\"] d = \"x ; y\" z\\\n w\n[old.style]e\n f=1\\\\2\r\n";
        let found: Vec<_> = settings(text).into_iter().map(|setting| (setting.key, setting.value)).collect();
        let expected = [("core.pager", "less"), ("a.d", "x ; y z w"), ("old.e", ""), ("old.f", "1\\2")];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
        let parts: Vec<String> = settings(text).into_iter().map(|setting| setting.of).collect();
        assert_eq!(parts, ["", "B ] \" c", "style", "style"]);
    }
}
