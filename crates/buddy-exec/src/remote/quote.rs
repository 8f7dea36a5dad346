//! Words in quotes that every POSIX shell reads back exactly.

/// A word in single quotes, which any POSIX shell takes as it is.
pub fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word in quotes on one line: line breaks come from the variable `n`, which the script's reader sets.
pub(super) fn quote_line(word: &str) -> String {
    quote(word).replace('\n', r#"'"$n"'"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_line_breaks_are_kept_apart_from_the_rest() {
        assert_eq!(quote("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quote_line("a\nb"), r#"'a'"$n"'b'"#);
        assert_eq!(quote(""), "''");
    }
}
