//! Rows as they are read aloud: a sign becomes a word, and columns become commas.

/// The signs that begin a row, and their words.
const MARKS: [(&str, &str); 7] = [
    ("✓ ", "done: "),
    ("✗ ", "failed: "),
    ("● ", "running: "),
    ("○ ", "to do: "),
    ("▲ ", "note: "),
    ("✻ ", ""),
    ("› ", "you: "),
];
/// Signs within a row.
const SIGNS: [(&str, &str); 6] =
    [(" → ", " becomes "), (" · ", ", "), ("⏎", " "), ("…", "and more"), ("“", "\""), ("”", "\"")];

/// The text in words, line by line.
pub(crate) fn speak_signs(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(spoken_line).collect();
    lines.join("\n")
}

fn spoken_line(line: &str) -> String {
    let bare = line.trim_start();
    let mark = MARKS.iter().find_map(|(sign, word)| Some((*word, bare.strip_prefix(sign)?)));
    let mut said = match mark {
        Some((word, rest)) => format!("{word}{}", columns(rest)),
        // Of other rows the columns are kept: a question or a command is read as it is.
        None => line.to_owned(),
    };
    for (sign, word) in SIGNS {
        said = said.replace(sign, word);
    }
    counts(&said)
}

/// A row whose columns are parted by spaces: the verb in lower case, then the rest parted by commas.
fn columns(row: &str) -> String {
    let (verb, rest) = row.split_once(' ').unwrap_or((row, ""));
    let parts: Vec<&str> = rest.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
    format!("{} {}", verb.to_lowercase(), parts.join(", ")).trim_end().to_owned()
}

/// `+14 −3` in words.
fn counts(text: &str) -> String {
    let word = |word: &str| {
        let number = |sign: char| word.strip_prefix(sign).filter(|rest| rest.parse::<u32>().is_ok());
        match (number('+'), number('−')) {
            (Some(added), _) => format!("{added} added,"),
            (_, Some(removed)) => format!("{removed} removed"),
            _ => word.to_owned(),
        }
    };
    if !text.contains('−') {
        return text.to_owned();
    }
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_said_in_words() {
        let check = |row: &str, words: &str| assert_eq!(speak_signs(row), words);
        check("  ✗ Ran     cargo clippy  exit 101: error", "failed: ran cargo clippy, exit 101: error");
        check("  ✓ Edited  src/lib.rs  +3 −1", "done: edited src/lib.rs, 3 added, 1 removed");
        check("  ● Run     cargo build", "running: run cargo build");
        check("▲ Context is 91% full.", "note: context is 91% full.");
        check("y yes · d deny", "y yes, d deny");
        check("a\nls  -l  +x", "a\nls  -l  +x");
        check("2 files +14 −3", "2 files 14 added, 3 removed");
    }
}
