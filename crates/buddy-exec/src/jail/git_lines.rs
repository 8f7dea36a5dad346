//! Single lines of git's settings, in the form that git itself writes. Anything else is not read, so that it cannot mean to git what it does not
//! mean here: lines that go on, sections with a setting behind them, signs that steer a terminal.

/// The content of one line. Names are in lower case.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GitLine {
    /// It is empty, or a remark.
    Nothing,
    Section {
        name: String,
        of: Option<String>,
    },
    /// Without a value it is the same as true.
    Setting {
        name: String,
        value: Option<String>,
    },
}

/// Reads a line without its end; none where it has another form.
pub(super) fn read_git_line(line: &str) -> Option<GitLine> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains(|letter: char| (letter.is_control() && letter != '\t') || letter == '\u{feff}') {
        return None;
    }
    let bare = line.trim_matches([' ', '\t']);
    if bare.is_empty() || bare.starts_with(['#', ';']) {
        return Some(GitLine::Nothing);
    }
    match bare.strip_prefix('[') {
        Some(header) => section(header.strip_suffix(']')?),
        None => setting(bare),
    }
}

fn section(header: &str) -> Option<GitLine> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if let Some((name, quoted)) = header.split_once(' ') {
        let quoted = quoted.strip_prefix('"')?.strip_suffix('"')?;
        // Names with quotes and backslashes in them have escapes, which nobody needs.
        let is_plain = !name.is_empty() && name.chars().all(is_of_name) && !quoted.contains(['"', '\\']);
        return is_plain.then(|| GitLine::Section { name: name.to_lowercase(), of: Some(quoted.to_owned()) });
    }
    // The old way to write the second name.
    let (name, of) = header.split_once('.').map_or((header, None), |(name, of)| (name, Some(of)));
    let is_plain = !name.is_empty() && name.chars().all(is_of_name);
    let is_plain =
        is_plain && of.is_none_or(|of| of.chars().all(|letter| is_of_name(letter) || letter == '.'));
    is_plain.then(|| GitLine::Section { name: name.to_lowercase(), of: of.map(str::to_lowercase) })
}

fn setting(line: &str) -> Option<GitLine> {
    let (name, value) = match line.split_once('=') {
        Some((name, value)) => (name, Some(read_value(value)?)),
        None => (line, None),
    };
    let name = name.trim_end_matches([' ', '\t']);
    let is_plain = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    is_plain.then(|| GitLine::Setting { name: name.to_lowercase(), value })
}

fn read_value(text: &str) -> Option<String> {
    let (mut value, mut is_quoted, mut kept) = (String::new(), false, 0);
    let mut letters = text.trim_start_matches([' ', '\t']).chars();
    while let Some(letter) = letters.next() {
        match letter {
            '#' | ';' if !is_quoted => break,
            '"' => is_quoted = !is_quoted,
            '\\' => value.push(match letters.next()? {
                letter @ ('\\' | '"') => letter,
                'n' => '\n',
                't' => '\t',
                'b' => '\u{8}',
                _ => return None,
            }),
            letter => value.push(letter),
        }
        // Blanks at the end count only in quotes.
        if is_quoted || !matches!(letter, ' ' | '\t') {
            kept = value.len();
        }
    }
    value.truncate(kept);
    (!is_quoted).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_git_writes_them() {
        let section = |name: &str, of: Option<&str>| {
            Some(GitLine::Section { name: name.into(), of: of.map(str::to_owned) })
        };
        let setting = |name: &str, value: Option<&str>| {
            Some(GitLine::Setting { name: name.into(), value: value.map(str::to_owned) })
        };
        for (line, expected) in [
            ("", Some(GitLine::Nothing)),
            ("\t# x = y", Some(GitLine::Nothing)),
            ("[Core]", section("core", None)),
            ("[remote \"My One\"]\r", section("remote", Some("My One"))),
            ("[branch.Main]", section("branch", Some("main"))),
            ("\tUrl = a b  ", setting("url", Some("a b"))),
            ("url=\"a ; b\" c # d", setting("url", Some("a ; b c"))),
            ("url = \"a \"", setting("url", Some("a "))),
            ("url = \\\"a\\\\", setting("url", Some("\"a\\"))),
            ("bare", setting("bare", None)),
            ("url = a\\", None),
            ("url = \"a", None),
            ("url = \\x", None),
            ("[core] url = x", None),
            ("[core \"a\\\"b\"]", None),
            ("[core", None),
            ("bare # x", None),
            ("a\rb = x", None),
            ("a = x\u{1b}", None),
            ("1a = x", None),
        ] {
            assert_eq!(read_git_line(line), expected, "{line:?}");
        }
    }
}
