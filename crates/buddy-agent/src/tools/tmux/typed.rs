//! What keys add up to, for those who judge them.

/// Keys that stand for a character. All others move something or are commands to the program in the pane.
const CHARACTERS: &[(&str, &str)] = &[
    ("Enter", "\n"),
    ("KPEnter", "\n"),
    ("C-m", "\n"),
    ("C-j", "\n"),
    ("Space", " "),
    ("Tab", "\t"),
    ("C-i", "\t"),
];

/// Names of keys beside those with a modifier and the function keys.
const NAMED: &[&str] = &[
    "BSpace", "BTab", "DC", "Delete", "Down", "End", "Escape", "Home", "IC", "Insert", "Left", "NPage",
    "PageDown", "PageUp", "PgDn", "PgUp", "PPage", "Right", "Up",
];

/// The text that keys type. What is not the name of a key is typed letter by letter, as tmux does.
pub(super) fn text(literal: Option<&str>, keys: &[String], enter: bool) -> String {
    let mut text = literal.unwrap_or_default().to_owned();
    for key in keys {
        match CHARACTERS.iter().find(|(name, _)| name == key) {
            Some((_, character)) => text.push_str(character),
            None if is_named(key) => {}
            None => text.push_str(key),
        }
    }
    if enter {
        text.push('\n');
    }
    text
}

/// Whether something is typed that does nothing yet: what it becomes is decided by what is typed after it.
pub(super) fn is_unfinished(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\n')
}

fn is_named(key: &str) -> bool {
    let has_modifier = matches!(key.as_bytes(), [b'C' | b'M' | b'S', b'-', _, ..] | [b'^', _]);
    let is_function =
        key.strip_prefix('F').is_some_and(|number| number.parse().is_ok_and(|number: u8| number <= 12));
    has_modifier || is_function || NAMED.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(literal: Option<&str>, keys: &[&str], enter: bool, expected: &str) {
        let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        assert_eq!(text(literal, &keys, enter), expected);
    }

    #[test]
    fn letters_by_themselves_add_up_to_the_command_that_they_type() {
        check(None, &["r", "m", "Space", "-rf", "Space", "~", "Enter"], false, "rm -rf ~\n");
        check(Some("rm"), &[" -rf ~"], true, "rm -rf ~\n");
        check(None, &["C-c"], false, "");
        check(None, &["Up", "Enter"], false, "\n");
        check(None, &["F5", "F50"], false, "F50");
    }

    #[test]
    fn what_is_not_sent_yet_is_unfinished() {
        assert!(is_unfinished("rm"));
        assert!(!is_unfinished("rm\n"));
        assert!(!is_unfinished(""));
    }
}
