//! What a program printed, as plain text: a model sees no screen, so nothing that steers one is left in it.

/// The longest sequence that is taken for one, in characters. One that does not end by then is text with a stray mark in it.
const MAX_SEQUENCE: usize = 4_096;

/// The text without control sequences and control characters, except for line breaks and tabs. Of a line that was written over,
/// as progress is shown, the last state stays.
pub(crate) fn plain(text: &str) -> String {
    if !text.chars().any(is_steering) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars();
    let mut is_returned = false;
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' => rest = after_escape(rest),
            '\u{9b}' => rest = after_parameters(rest),
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
                    shown.truncate(shown.rfind('\n').map_or(0, |end| end + 1));
                }
                shown.push(letter);
            }
        }
    }
    shown
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
