//! Text for people, with nothing in it that hides a part or steers a screen.

/// The command with every character made visible: control characters, those that turn the direction of writing, and those
/// that nobody sees become escapes. A line break becomes `\n`, so what is shown is one line and each line break is seen.
pub fn display_command(command: &str) -> String {
    let mut shown = String::with_capacity(command.len());
    for character in command.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            _ if is_hidden(character) => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// Whether a character cannot be seen, or changes how others are seen.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
                | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_or_steers() {
        assert_eq!(display_command("ls ç 漢"), "ls ç 漢");
        assert_eq!(display_command("a\u{1b}[2K\r\u{8}b"), "a\\u{1b}[2K\\u{d}\\u{8}b");
        assert_eq!(display_command("\u{202e}x\u{2066}\u{200b}"), "\\u{202e}x\\u{2066}\\u{200b}");
        assert_eq!(display_command("\u{e0041}\u{1b}]52;c;x\u{7}"), "\\u{e0041}\\u{1b}]52;c;x\\u{7}");
        assert_eq!(display_command("a\nb\tc"), "a\\nb\\tc");
    }
}
