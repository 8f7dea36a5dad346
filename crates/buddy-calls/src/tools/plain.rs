//! The output of a program, as plain text: a model sees no screen, so nothing that steers one is left in it. The pipeline does
//! this to the results of all tools that tell what programs printed.

use serde_json::Value;

/// The longest sequence that is taken for one, in characters. One that does not end by then is text with a stray mark in it.
const MAX_SEQUENCE: usize = 4_096;

/// The mark in the place of the text that a program painted on a screen of its own.
const FULL_SCREEN: &str = "[a program that takes the whole screen ran here]";

/// A result with plain texts alone.
pub(crate) fn plain_texts(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(&text)),
        Value::Array(values) => values.into_iter().map(plain_texts).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, plain_texts(value))).collect(),
        other => other,
    }
}

/// The text without control sequences and control characters, except for line breaks and tabs. Of a line that was written over,
/// as progress is shown, the last state stays; of what was painted on a screen of its own, a word stays that it was.
pub fn plain(text: &str) -> String {
    if !text.chars().any(is_steering) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars();
    let mut is_returned = false;
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' | '\u{9b}' => {
                let before = rest.as_str();
                rest = if letter == '\u{1b}' { after_escape(rest) } else { after_parameters(rest) };
                match meaning(letter, before, rest.as_str()) {
                    Meaning::LineErased => shown.truncate(line_start(&shown)),
                    Meaning::Returned => is_returned = true,
                    Meaning::ScreenTaken => {
                        rest = after_screen(rest.as_str()).chars();
                        shown.push_str(if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" });
                        shown.push_str(FULL_SCREEN);
                        shown.push('\n');
                    }
                    Meaning::Nothing => {}
                }
            }
            '\r' => is_returned = true,
            '\u{8}' => {
                if !shown.ends_with('\n') {
                    shown.pop();
                }
            }
            '\n' => {
                shown.push('\n');
                is_returned = false;
            }
            '\t' => shown.push('\t'),
            control if control.is_control() => {}
            letter => {
                if std::mem::take(&mut is_returned) {
                    shown.truncate(line_start(&shown));
                }
                shown.push(letter);
            }
        }
    }
    shown
}

/// Where the last line of a text begins.
fn line_start(text: &str) -> usize {
    text.rfind('\n').map_or(0, |end| end + 1)
}

/// The effect of a sequence on the text, as far as it matters here.
enum Meaning {
    Nothing,
    LineErased,
    Returned,
    ScreenTaken,
}

/// The meaning of a sequence that stands between a text and a later part of it.
fn meaning(first: char, before: &str, after: &str) -> Meaning {
    let length = before.len() - after.len();
    let sequence = before.get(..length).unwrap_or_default();
    let parameters = if first == '\u{9b}' { Some(sequence) } else { sequence.strip_prefix('[') };
    match parameters {
        Some("2K") => Meaning::LineErased,
        Some("G" | "1G") => Meaning::Returned,
        Some("?1049h" | "?1047h" | "?47h") => Meaning::ScreenTaken,
        _ => Meaning::Nothing,
    }
}

/// The rest behind what was painted until the screen was given back; nothing where it never was.
fn after_screen(text: &str) -> &str {
    const BACK: [&str; 3] = ["\u{1b}[?1049l", "\u{1b}[?1047l", "\u{1b}[?47l"];
    let ends = BACK.iter().filter_map(|back| Some(text.find(back)? + back.len()));
    text.get(ends.min().unwrap_or(text.len())..).unwrap_or_default()
}

fn is_steering(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\t')
}

/// The rest of a text behind the sequence that an escape began.
fn after_escape(rest: std::str::Chars<'_>) -> std::str::Chars<'_> {
    let mut ahead = rest.clone();
    match ahead.next() {
        Some(']' | 'P' | 'X' | '^' | '_') => after_string(ahead),
        // Behind a space to a slash, for character sets and the like, more letters of this kind come, then one that ends it.
        Some('[' | ' '..='/') => after_parameters(ahead),
        Some('0'..='~') => ahead,
        _ => rest,
    }
}

/// The rest behind parameters and the letter that ends them.
fn after_parameters(rest: std::str::Chars<'_>) -> std::str::Chars<'_> {
    let mut ahead = rest.clone();
    for letter in ahead.by_ref().take(MAX_SEQUENCE) {
        match letter {
            '@'..='~' => return ahead,
            ' '..='?' => {}
            _ => break,
        }
    }
    rest
}

/// The rest behind a string that a bell or an escape with a backslash ends.
fn after_string(rest: std::str::Chars<'_>) -> std::str::Chars<'_> {
    let mut ahead = rest.clone();
    let mut count = 0;
    while let Some(letter) = ahead.next() {
        count += 1;
        match letter {
            '\u{7}' | '\u{9c}' => return ahead,
            '\u{1b}' if ahead.clone().next() == Some('\\') => {
                ahead.next();
                return ahead;
            }
            _ if count > MAX_SEQUENCE => break,
            _ => {}
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_is_left() {
        for (printed, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[1;31mred\u{1b}[0m and \u{9b}32mgreen\u{1b}[m", "red and green"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\b", "alinkb"),
            ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
            ("ab\u{8}c\u{7}\u{0}", "ac"),
            ("\u{1b}(Bx\u{1b}=y\u{1b}M", "xy"),
            ("a \u{1b}]never ended", "a never ended"),
            ("tail\r", "tail"),
            ("cut\u{1b}[3", "cut3"),
            ("half\u{1b}[2K\u{1b}[1Gwhole\n", "whole\n"),
            ("one\u{1b}[Gtwo", "two"),
            (
                "a\u{1b}[?1049h\u{1b}[2J~ painted\u{1b}[?1049l\u{1b}[0mb",
                "a\n[a program that takes the whole screen ran here]\nb",
            ),
            ("\u{1b}[?47hpainted", "[a program that takes the whole screen ran here]\n"),
        ] {
            assert_eq!(plain(printed), expected, "{printed:?}");
        }
    }

    #[test]
    fn no_order_of_marks_and_letters_leaves_a_mark() {
        let pieces = ["a", "[", "]", "0", "\u{1b}", "\u{9b}", "\r", "\n", "\u{7}", "\u{8}", "\\"];
        let count = pieces.len();
        for number in 0..count.pow(4) {
            let places = [number, number / count, number / count.pow(2), number / count.pow(3)];
            let text: String = places.map(|place| pieces[place % count]).concat();
            let shown = plain(&text);
            assert!(!shown.chars().any(is_steering), "{text:?} is {shown:?}");
            assert_eq!(plain(&shown), shown);
        }
    }
}
