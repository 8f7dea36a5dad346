//! Cuts one tag at a time out of a page, as the HTML tokenizer does.

/// The maximum length of a tag's name. All longer ones are alike.
const MAX_NAME: usize = 24;

/// The token that a `<` begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    Open {
        name: String,
        is_self_closing: bool,
    },
    Close {
        name: String,
    },
    /// A comment, or a literal character.
    Nothing,
}

/// Reads the token after a `<`, and returns the text after it.
pub(super) fn read(text: &str) -> (Tag, &str) {
    if let Some(comment) = text.strip_prefix("!--") {
        return (Tag::Nothing, after_comment(comment));
    }
    let (is_closing, body) = text.strip_prefix('/').map_or((false, text), |body| (true, body));
    let name = tag_name(body);
    if name.is_empty() {
        let is_comment = is_closing || text.starts_with(['!', '?']);
        let rest = if is_comment { text.split_once('>').map_or("", |(_, rest)| rest) } else { text };
        return (Tag::Nothing, rest);
    }
    let (is_self_closing, rest) = after_attributes(body);
    (if is_closing { Tag::Close { name } } else { Tag::Open { name, is_self_closing } }, rest)
}

/// The tag name at the start of a text, in lower case; empty if no tag begins there.
pub(super) fn tag_name(text: &str) -> String {
    if !text.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return String::new();
    }
    let letters = text.chars().take_while(|&letter| letter != '>' && letter != '/' && !is_space(letter));
    letters.take(MAX_NAME).collect::<String>().to_ascii_lowercase()
}

/// Splits a text at the closing tag of this name: the text before it, and the rest from that tag's name on.
pub(super) fn split_at_end<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut ends = text.match_indices("</");
    ends.find_map(|(at, _)| {
        let after = text.get(at + 2..)?;
        let follows = after.get(name.len()..)?.chars().next()?;
        let is_end = after.get(..name.len())?.eq_ignore_ascii_case(name);
        (is_end && (follows == '>' || follows == '/' || is_space(follows)))
            .then_some((text.get(..at)?, after))
    })
}

fn after_comment(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix('>').or_else(|| text.strip_prefix("->")) {
        return rest;
    }
    let ends = ["-->", "--!>"].map(|end| text.find(end).map(|at| at + end.len()));
    ends.into_iter().flatten().min().and_then(|at| text.get(at..)).unwrap_or_default()
}

/// Whether the tag closes itself, and the text after it.
fn after_attributes(text: &str) -> (bool, &str) {
    let mut rest = text.trim_start_matches(|letter| letter != '>' && letter != '/' && !is_space(letter));
    loop {
        rest = rest.trim_start_matches(is_space);
        if let Some(after) = rest.strip_prefix("/>") {
            return (true, after);
        }
        let mut letters = rest.chars();
        match letters.next() {
            None => return (false, ""),
            Some('>') => return (false, letters.as_str()),
            Some('/') => rest = letters.as_str(),
            // The first letter of an attribute's name can be anything, even `=`.
            Some(_) => rest = after_attribute(letters.as_str()),
        }
    }
}

fn after_attribute(text: &str) -> &str {
    let rest = text.trim_start_matches(|letter| !matches!(letter, '>' | '/' | '=') && !is_space(letter));
    let Some(value) = rest.trim_start_matches(is_space).strip_prefix('=') else { return rest };
    let value = value.trim_start_matches(is_space);
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            return quoted.split_once(quote).map_or("", |(_, rest)| rest);
        }
    }
    value.trim_start_matches(|letter| letter != '>' && !is_space(letter))
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, tag: &str, rest: &str) {
        let (found, after) = read(text);
        let shown = match found {
            Tag::Open { name, is_self_closing: true } => format!("{name}/"),
            Tag::Open { name, .. } => name,
            Tag::Close { name } => format!("/{name}"),
            Tag::Nothing => String::new(),
        };
        assert_eq!((&*shown, after), (tag, rest), "{text}");
    }

    #[test]
    fn tags_inside_attributes_are_ignored() {
        check("B title=\"</b>\" x>y", "b", "y");
        check("g a=/>y", "g", "y");
        check("g a='/>' />y", "g/", "y");
        check("a =x>y", "a", "y");
        check("br/>y", "br/", "y");
        check("/div a='>'>y", "/div", "y");
        check("a b=\"never ends>", "a", "");
    }

    #[test]
    fn comments_end_where_a_parser_ends_them() {
        check("!-- </b> -->y", "", "y");
        check("!-->y-->", "", "y-->");
        check("!--->y", "", "y");
        check("!-- a --!>y", "", "y");
        check("!doctype html>y", "", "y");
        check("/ >y", "", "y");
        check(" 2", "", " 2");
    }

    #[test]
    fn the_end_of_a_raw_text_has_its_whole_name() {
        assert_eq!(split_at_end("a</scripty></SCRIPT >b", "script"), Some(("a</scripty>", "SCRIPT >b")));
        assert_eq!(split_at_end("a</script", "script"), None);
    }
}
