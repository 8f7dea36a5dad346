//! Text for people, in which nothing hides a part or steers a screen.

use buddy_protocol::is_hidden;

/// The command with every character made visible: control characters, those that turn the direction of
/// writing, and invisible ones become escapes. A line break becomes `\n`, so the result is one line and each
/// line break is seen.
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
