//! Server text made fit for users: one line, short, no control characters.

/// The text on one line, cut to `limit` characters.
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

/// Secrets shorter than this may be parts of other words.
const SHORT_SECRET: usize = 8;

/// The text without a secret. A short secret is removed only if it is a whole word: otherwise other text
/// would become unreadable, and the gaps would reveal the secret.
pub(crate) fn masked(text: &str, secret: &str) -> String {
    if secret.is_empty() {
        return text.to_owned();
    }
    let is_short = secret.chars().count() < SHORT_SECRET;
    let is_part = |letter: Option<char>| is_short && letter.is_some_and(char::is_alphanumeric);
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(secret) {
        let last = before.chars().next_back().or_else(|| shown.chars().next_back());
        let is_word = !is_part(last) && !is_part(after.chars().next());
        shown.push_str(before);
        shown.push_str(if is_word { "***" } else { secret });
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_secret_is_masked_only_as_a_word() {
        assert_eq!(masked("the key `test` of testing", "test"), "the key `***` of testing");
        assert_eq!(masked("x", "x"), "***");
        assert_eq!(masked("extra x, x", "x"), "extra ***, ***");
        assert_eq!(masked("axsk-1234567b", "sk-1234567"), "ax***b");
        assert_eq!(masked("nothing", ""), "nothing");
    }

    #[test]
    fn one_short_line() {
        assert_eq!(clipped(" a\n\tb\u{1b}[31m ", 80), "a b[31m");
        assert_eq!(clipped("äöüß", 3), "äöü…");
        assert_eq!(clipped("abc", 3), "abc");
    }
}
