//! Words: the result of the shell's expansion of a stretch of source text, as far as that is
//! certain.

/// One word of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShellWord {
    /// Certain: the shell passes exactly this.
    Literal(String),
    /// A pattern of file names that are otherwise literal.
    Glob(String),
    /// The home directory, and the rest of the path.
    Home {
        /// Empty, or beginning with a slash.
        rest: String,
        source: String,
    },
    /// Computed when it runs. The source is kept for people and for words that are passed on without a shell.
    Unknown(String),
}

impl ShellWord {
    /// The text, if it is certain.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            _ => None,
        }
    }

    /// The text as it would be without any expansion.
    pub(crate) fn unexpanded(&self) -> String {
        match self {
            Self::Literal(text)
            | Self::Glob(text)
            | Self::Unknown(text)
            | Self::Home { source: text, .. } => text.clone(),
        }
    }

    /// Whether the word can become anything, or any number of words.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// Decodes the source of one word.
    pub(crate) fn decode(source: &str) -> Self {
        let mut decoder = WordDecoder::new(source);
        match decoder.run() {
            Some(()) => decoder.finish(source),
            None => Self::Unknown(source.to_owned()),
        }
    }
}

struct WordDecoder<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    text: String,
    has_glob: bool,
    /// A quoted or escaped character that would be special in a pattern: text and pattern cannot share one string.
    has_quoted_special: bool,
    has_brace: bool,
    has_brace_separator: bool,
    is_home: bool,
    previous: Option<char>,
}

impl<'a> WordDecoder<'a> {
    fn new(source: &'a str) -> Self {
        let (is_home, rest) = strip_home(source);
        Self {
            rest: rest.chars().peekable(),
            text: String::with_capacity(source.len()),
            has_glob: false,
            has_quoted_special: false,
            has_brace: false,
            has_brace_separator: false,
            is_home,
            previous: None,
        }
    }

    fn finish(self, source: &str) -> ShellWord {
        let is_uncertain = (self.has_brace && self.has_brace_separator)
            || (self.has_glob && (self.has_quoted_special || self.is_home))
            || (self.is_home && !(self.text.is_empty() || self.text.starts_with('/')));
        match (is_uncertain, self.has_glob, self.is_home) {
            (true, _, _) => ShellWord::Unknown(source.to_owned()),
            (_, true, _) => ShellWord::Glob(self.text),
            (_, _, true) => ShellWord::Home { rest: self.text, source: source.to_owned() },
            _ => ShellWord::Literal(self.text),
        }
    }

    /// Decodes to the end; `None` if a part is not certain.
    fn run(&mut self) -> Option<()> {
        let mut is_first = !self.is_home;
        while let Some(character) = self.rest.next() {
            match character {
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => self.escaped()?,
                '$' => self.dollar()?,
                '`' | ' ' | '\t' | '\n' | '|' | '&' | ';' | '(' | ')' | '<' | '>' => return None,
                // Comments, and characters that other shells and interactive ones expand.
                '#' | '^' | '=' if is_first && (character != '=' || self.rest.peek().is_some()) => {
                    return None;
                }
                '~' if is_first || matches!(self.previous, Some('=' | ':')) => return None,
                '!' if self.rest.peek().is_some_and(|next| !matches!(next, '=' | ' ')) => return None,
                '*' | '?' | '[' => self.special(character),
                '{' | '}' => self.brace(character),
                ',' => self.separator(character),
                '.' if self.previous == Some('.') => self.separator(character),
                _ if character.is_control() => return None,
                _ => self.text.push(character),
            }
            self.previous = Some(character);
            is_first = false;
        }
        Some(())
    }

    fn special(&mut self, character: char) {
        self.has_glob = true;
        self.text.push(character);
    }

    fn brace(&mut self, character: char) {
        self.has_brace = true;
        self.text.push(character);
    }

    fn separator(&mut self, character: char) {
        self.has_brace_separator = true;
        self.text.push(character);
    }

    fn quoted(&mut self, character: char) {
        self.has_quoted_special |= matches!(character, '*' | '?' | '[' | ']' | '\\');
        self.text.push(character);
    }

    fn single_quoted(&mut self) -> Option<()> {
        loop {
            match self.rest.next()? {
                '\'' => return Some(()),
                character => self.quoted(character),
            }
        }
    }

    fn double_quoted(&mut self) -> Option<()> {
        loop {
            match self.rest.next()? {
                '"' => return Some(()),
                '`' => return None,
                '$' if self.rest.peek().copied().is_some_and(|next| next != '\'' && expands(next)) => {
                    return None;
                }
                '!' if self.rest.peek().is_some_and(|next| !matches!(next, '"' | '=' | ' ')) => return None,
                '\\' => match self.rest.next()? {
                    '\n' => {}
                    next @ ('$' | '`' | '"' | '\\') => self.quoted(next),
                    next => {
                        self.quoted('\\');
                        self.quoted(next);
                    }
                },
                character => self.quoted(character),
            }
        }
    }

    fn escaped(&mut self) -> Option<()> {
        match self.rest.next()? {
            '\n' => {}
            character => self.quoted(character),
        }
        Some(())
    }

    fn dollar(&mut self) -> Option<()> {
        match self.rest.peek().copied() {
            Some('\'') => {
                self.rest.next();
                self.ansi_quoted()
            }
            Some(next) if next == '"' || expands(next) => None,
            _ => {
                self.text.push('$');
                Some(())
            }
        }
    }

    /// `$'…'`. Escapes whose meaning depends on the locale, and a zero byte, are not certain.
    fn ansi_quoted(&mut self) -> Option<()> {
        loop {
            match self.rest.next()? {
                '\'' => return Some(()),
                '\\' => {
                    let character = self.ansi_escape()?;
                    self.quoted(character);
                }
                character => self.quoted(character),
            }
        }
    }

    fn ansi_escape(&mut self) -> Option<char> {
        let code = match self.rest.next()? {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            character @ ('\\' | '\'' | '"' | '?') => return Some(character),
            digit @ '0'..='7' => self.digits(digit.to_digit(8)?, 8, 2),
            'x' => self.needed_digits(2)?,
            'u' => self.needed_digits(4)?,
            'U' => self.needed_digits(8)?,
            _ => return None,
        };
        (1..0x80).contains(&code).then(|| char::from_u32(code)).flatten()
    }

    fn needed_digits(&mut self, most: u32) -> Option<u32> {
        let first = self.rest.next()?.to_digit(16)?;
        Some(self.digits(first, 16, most - 1))
    }

    fn digits(&mut self, first: u32, radix: u32, most: u32) -> u32 {
        let mut code = first;
        for _ in 0..most {
            let Some(digit) = self.rest.peek().and_then(|next| next.to_digit(radix)) else { break };
            code = code.saturating_mul(radix).saturating_add(digit);
            self.rest.next();
        }
        code
    }
}

/// Whether a dollar before this character begins an expansion.
fn expands(next: char) -> bool {
    next.is_alphanumeric() || matches!(next, '_' | '{' | '(' | '[' | '@' | '*' | '#' | '?' | '-' | '$' | '!')
}

/// Whether the source begins with the user's home directory, and the rest.
fn strip_home(source: &str) -> (bool, &str) {
    if let Some(rest) = source.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return (true, rest);
    }
    for home in ["\"$HOME\"", "\"${HOME}\"", "${HOME}", "$HOME"] {
        if let Some(rest) = source.strip_prefix(home)
            && (rest.is_empty() || rest.starts_with(['/', '"', '\'']))
        {
            return (true, rest);
        }
    }
    // `"$HOME/x"`: quoted as a whole, with nothing else that expands.
    for home in ["\"$HOME/", "\"${HOME}/"] {
        if let Some(rest) = source.strip_prefix(home).and_then(|rest| rest.strip_suffix('"'))
            && !rest.contains(['"', '\\', '$', '`', '!', '*', '?', '[', '\n'])
            && let Some(start) = source.find('/')
            && let Some(rest) = source.get(start..source.len() - 1)
            && rest.chars().all(|character| character.is_alphanumeric() || "/._-".contains(character))
        {
            return (true, rest);
        }
    }
    (false, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, word: &ShellWord) {
        assert_eq!(&ShellWord::decode(source), word, "{source}");
    }

    fn literal(source: &str, text: &str) {
        check(source, &ShellWord::Literal(text.to_owned()));
    }

    fn unknown(source: &str) {
        check(source, &ShellWord::Unknown(source.to_owned()));
    }

    #[test]
    fn quotes_and_escapes_are_taken_off() {
        literal("'r'm", "rm");
        literal(r"r\m", "rm");
        literal(r"$'\x72m'", "rm");
        literal(r"$'\162\u006d'", "rm");
        literal(r#""a\"b\$c\d""#, r#"a"b$c\d"#);
        literal(r#""a"'b'c\ d"#, "abc d");
        literal("''", "");
        literal("{}", "{}");
        literal("HEAD@{1}", "HEAD@{1}");
        literal("foo$", "foo$");
        literal("a\\\nb", "ab");
    }

    #[test]
    fn expansions_are_not_literal() {
        for source in
            ["$a", "a${b}", "`x`", "$(x)", "{a,b}", "{1..3}", "~root/x", "a=~/x", "\"$x\"", "$\"x\""]
        {
            unknown(source);
        }
        for source in [r"$'\xff'", r"$'a\0b'", "!!", "\"a!b\"", "#x", "a b", "a;b", "'a", "=ls", "a\u{7}"] {
            unknown(source);
        }
    }

    #[test]
    fn patterns_and_the_home_are_kept_as_such() {
        check("src/*.rs", &ShellWord::Glob("src/*.rs".to_owned()));
        unknown("'*'*");
        for source in ["~", "$HOME", "\"$HOME\"", "${HOME}", "\"${HOME}\""] {
            check(source, &ShellWord::Home { rest: String::new(), source: source.to_owned() });
        }
        for source in ["~/x", "$HOME/x", "\"$HOME/x\"", "\"$HOME\"/x"] {
            check(source, &ShellWord::Home { rest: "/x".to_owned(), source: source.to_owned() });
        }
        unknown("$HOMEx");
    }
}
