//! Text from a server made fit for a person: one line, short, no control characters.

/// The text on one line, cut to so many characters.
pub(crate) fn clipped(text: &str, limit: usize) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().filter(|letter| !letter.is_control()));
        if words.len() > limit.saturating_mul(4) {
            break;
        }
    }
    match words.char_indices().nth(limit) {
        None => words,
        Some((cut, _)) => {
            words.truncate(cut);
            words + "…"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_short_line() {
        assert_eq!(clipped(" a\n\tb\u{1b}[31m ", 80), "a b[31m");
        assert_eq!(clipped("äöüß", 3), "äöü…");
        assert_eq!(clipped("abc", 3), "abc");
    }
}
