//! The score of a name for typed text.

/// The score of a name that begins with the whole wish: more than scattered letters can reach.
const WHOLE: i64 = 1_000_000;

/// The better a name fits, the more. None if it has not all letters of the wish in their order.
///
/// Letters beside each other, at the start of a word and at the start of the name count more; a shorter name is better. A name
/// that begins with all of the wish comes before all others.
pub(crate) fn score(name: &str, wish: &str) -> Option<i64> {
    let letters: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let mut total = 0;
    let mut from = 0;
    let mut last = None;
    for wanted in wish.chars().flat_map(char::to_lowercase) {
        let rest = letters.get(from..)?;
        // The start of a word is worth a longer way, so it is looked for first.
        let is_start =
            |at: usize| at == 0 || letters.get(at - 1).is_some_and(|before| !before.is_alphanumeric());
        let next = rest.iter().position(|letter| *letter == wanted).map(|at| from + at)?;
        let start = (from..letters.len()).find(|&at| letters.get(at) == Some(&wanted) && is_start(at));
        let follows = last.is_some_and(|last: usize| last + 1 == next);
        let at = if follows { next } else { start.unwrap_or(next) };
        total += match (last.is_some_and(|last| last + 1 == at), is_start(at)) {
            (true, _) => 8,
            (false, true) => 6,
            (false, false) => 1,
        };
        total += i64::from(at == 0) * 4;
        last = Some(at);
        from = at + 1;
    }
    let wanted: Vec<char> = wish.chars().flat_map(char::to_lowercase).collect();
    if letters.starts_with(&wanted) {
        total += WHOLE;
    }
    let length = i64::try_from(letters.len()).unwrap_or(i64::MAX / 2);
    Some(total * 100 - length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(names: &[&'a str], wish: &str) -> Option<&'a str> {
        let scored = names.iter().filter_map(|name| Some((score(name, wish)?, *name)));
        scored.max_by_key(|(score, _)| *score).map(|(_, name)| name)
    }

    #[test]
    fn the_expected_name_comes_first() {
        let names = ["src/main.rs", "src/editor/draft.rs", "README.md", "src/markdown/table.rs"];
        assert_eq!(best(&names, "main"), Some("src/main.rs"));
        assert_eq!(best(&names, "draft"), Some("src/editor/draft.rs"));
        assert_eq!(best(&names, "read"), Some("README.md"));
        assert_eq!(best(&names, "mt"), Some("src/markdown/table.rs"));
        assert_eq!(best(&["session", "status", "compact"], "s"), Some("status"));
        assert_eq!(best(&["a-b-c", "abacus"], "abac"), Some("abacus"));
        assert_eq!(best(&["export", "exit", "next"], "ex"), Some("exit"));
        assert_eq!(best(&names, "xyz"), None);
        assert!(score("anything", "").is_some());
    }
}
