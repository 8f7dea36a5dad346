//! Invisible characters, and characters that change how others are shown. Code that shows foreign text
//! escapes them.

/// Whether a character is invisible or changes how others are shown.
pub fn is_hidden(character: char) -> bool {
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
    fn printable_characters_are_visible_and_control_characters_are_hidden() {
        assert!("ls ç 漢 é — “x”".chars().all(|character| !is_hidden(character)));
        assert!("\u{1b}\r\u{8}\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{2800}".chars().all(is_hidden));
    }
}
