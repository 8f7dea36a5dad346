//! Text from models, tools and hosts, made safe to show: whatever could steer a terminal or hide a part of the text is
//! shown as an escape.

/// The text with line breaks and tabs kept and every other control, bidi or invisible character made visible.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character == '\n' || character == '\t' || !is_hidden(character) {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    shown
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

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
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
    fn one_line_says_what_is_missing() {
        assert_eq!(one_line("a\nb", 10), "a⏎b");
        assert_eq!(one_line("abcdef", 3), "abc… (3 more)");
    }
}
