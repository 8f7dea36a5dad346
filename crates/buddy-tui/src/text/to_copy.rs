//! Commands for people to copy, such as `buddy resume ID`, in the sentences that name them.
//!
//! A sentence has them in backticks, which are shown, or marked by [`to_copy`], which shows nothing. Rows break around them
//! (`wrap.rs`): a command that does not fit beside its sentence has a row of its own.

/// The marks around a command without backticks. They are no characters, so no other text has them.
const BEGIN: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// A command in a sentence, to be copied whole.
pub fn to_copy(command: &str) -> String {
    format!("{BEGIN}{command}{END}")
}

/// A sentence without the marks, for output that has no rows.
pub(crate) fn unmarked(text: &str) -> String {
    text.replace([BEGIN, END], "")
}

/// The parts of a sentence as they are shown, each with whether it is to be copied.
pub(super) fn parts(text: &str) -> Vec<(String, bool)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let Some((command, behind)) = after.split_once(END) else { break };
        parts.extend(quoted_parts(before));
        parts.push((unmarked(command), true));
        rest = behind;
    }
    parts.extend(quoted_parts(&unmarked(rest)));
    parts
}

/// The parts of a text without marks.
fn quoted_parts(text: &str) -> Vec<(String, bool)> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        plain.push_str(before);
        let Some((quoted, behind)) = after.split_once('`') else {
            rest = rest.strip_prefix(before).unwrap_or_default();
            break;
        };
        if is_command(quoted) {
            parts.push((std::mem::take(&mut plain), false));
            parts.push((format!("`{quoted}`"), true));
        } else {
            plain.extend(["`", quoted, "`"]);
        }
        rest = behind;
    }
    parts.push((plain + rest, false));
    parts.retain(|(text, _)| !text.is_empty());
    parts
}

/// Whether a quotation is a command of several words, of buddy or of a conversation.
fn is_command(text: &str) -> bool {
    let Some((first, _)) = text.split_once(' ') else { return false };
    let is_slash = |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase());
    first == "buddy" || first.strip_prefix('/').is_some_and(is_slash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, bool)]) {
        let parts = parts(text);
        let parts: Vec<(&str, bool)> =
            parts.iter().map(|(text, is_copied)| (text.as_str(), *is_copied)).collect();
        assert_eq!(parts, expected);
    }

    #[test]
    fn commands_are_told_from_the_words_around_them() {
        check("no command", &[("no command", false)]);
        check("run `buddy undo x` again", &[("run ", false), ("`buddy undo x`", true), (" again", false)]);
        check("`/resume ses_1`", &[("`/resume ses_1`", true)]);
        check("`buddy` or `/etc/a b` or `x y`", &[("`buddy` or `/etc/a b` or `x y`", false)]);
        check("a ` b `buddy undo", &[("a ` b `buddy undo", false)]);
        check(
            "see `x` or `buddy undo y`, `z`",
            &[("see `x` or ", false), ("`buddy undo y`", true), (", `z`", false)],
        );
        check("`buddy a b``/c d`", &[("`buddy a b`", true), ("`/c d`", true)]);
        let marked = format!("attach: {}.", to_copy("tmux -S `x` attach"));
        check(&marked, &[("attach: ", false), ("tmux -S `x` attach", true), (".", false)]);
        assert_eq!(unmarked(&marked), "attach: tmux -S `x` attach.");
        check("\u{fdd0}open", &[("open", false)]);
    }
}
