//! Text from models, tools and hosts, made safe to show: whatever could steer a terminal or hide a part of the text is
//! shown as an escape.

use std::fmt::Write;

use buddy_protocol::is_hidden;

/// The text with line breaks and tabs kept and every other control, bidi or invisible character made visible.
pub(crate) fn visible(text: &str) -> String {
    shown(text, |character, shown| shown.extend(character.escape_unicode()))
}

/// JSON that says the same, with the same characters as escapes of JSON.
pub(crate) fn visible_json(text: &str) -> String {
    shown(text, |character, shown| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing into a text cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

fn shown(text: &str, escape: impl Fn(char, &mut String)) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        if character == '\n' || character == '\t' || !is_hidden(character) || joins(before, character, next) {
            shown.push(character);
        } else {
            escape(character, &mut shown);
        }
        before = character;
    }
    shown
}

/// Whether an invisible character makes one picture of the two around it, or says that the one before is a picture.
fn joins(before: char, character: char, next: char) -> bool {
    match character {
        '\u{200d}' => (is_picture(before) || before == '\u{fe0f}') && is_picture(next),
        '\u{fe0f}' => is_picture(before),
        _ => false,
    }
}

fn is_picture(character: char) -> bool {
    matches!(character, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}')
}

/// The text in one line, at most `limit` characters of it, and how much more there is.
pub(crate) fn one_line(text: &str, limit: usize) -> String {
    let shown = visible(&text.replace('\n', "⏎"));
    let count = shown.chars().count();
    if count <= limit {
        return shown;
    }
    let kept: String = shown.chars().take(limit).collect();
    format!("{kept}… ({} more)", count - limit)
}

/// A text in about `limit` characters. Its middle is left out, as its end says what to do next.
pub(crate) fn without_middle(text: &str, limit: usize) -> String {
    let shown = visible(text);
    let count = shown.chars().count();
    if count <= limit {
        return shown;
    }
    let head: String = shown.chars().take(limit / 2).collect();
    let tail: String = shown.chars().skip(count - limit / 2).collect();
    format!("{head} … ({} more) … {tail}", count - 2 * (limit / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        assert_eq!(visible("a\tb\nç 漢"), "a\tb\nç 漢");
        assert_eq!(visible("\u{1b}[2K\r\u{8}"), "\\u{1b}[2K\\u{d}\\u{8}");
        assert_eq!(visible("rm \u{202e}txt\u{200b}"), "rm \\u{202e}txt\\u{200b}");
    }

    #[test]
    fn json_stays_json_that_says_the_same() {
        let text = serde_json::Value::from("a\u{9b}31m\u{7f} \u{202e}b\u{e0041}ç\u{1b}");
        let shown = visible_json(&text.to_string());
        assert_eq!(shown, "\"a\\u009b31m\\u007f \\u202eb\\udb40\\udc41ç\\u001b\"");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), text);
    }

    #[test]
    fn pictures_made_of_several_stay_whole_and_nothing_hides_between_letters() {
        for whole in ["👩‍👩‍👧", "❤️", "🏳️‍🌈"] {
            assert_eq!(visible(whole), whole);
        }
        assert_eq!(visible("r\u{200d}m\u{fe0f}"), "r\\u{200d}m\\u{fe0f}");
        assert_eq!(visible("👩\u{200d}m"), "👩\\u{200d}m");
    }

    #[test]
    fn the_end_of_a_long_text_stays() {
        assert_eq!(without_middle("abcdef", 6), "abcdef");
        assert_eq!(without_middle("abcdefgh", 4), "ab … (4 more) … gh");
    }

    #[test]
    fn one_line_says_what_is_missing() {
        assert_eq!(one_line("a\nb", 10), "a⏎b");
        assert_eq!(one_line("abcdef", 3), "abc… (3 more)");
    }
}
