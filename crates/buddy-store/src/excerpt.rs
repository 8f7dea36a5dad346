//! Excerpts: the part of a text around a word, on one line.

/// The length of an excerpt, in characters.
const SHOWN: usize = 160;

/// The length of the part before the word.
const BEFORE: usize = 40;

/// The text around the first of the words that occurs, or the beginning of the text.
pub(crate) fn excerpt(text: &str, words: &[&str]) -> String {
    let line: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let at = words.iter().filter_map(|word| find(&line, word)).min().unwrap_or(0);
    let start = at.saturating_sub(BEFORE);
    let shown: String = line.iter().skip(start).take(SHOWN).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if line.len() > start + SHOWN { "…" } else { "" };
    format!("{before}{shown}{after}")
}

/// The position of a word, ignoring case.
fn find(line: &[char], word: &str) -> Option<usize> {
    let word: Vec<char> = word.chars().map(lower).collect();
    line.windows(word.len())
        .position(|part| part.iter().zip(&word).all(|(mine, theirs)| lower(*mine) == *theirs))
}

fn lower(letter: char) -> char {
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        // If the lower-case form has two letters, positions would no longer match.
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_stands_in_its_surroundings() {
        let text = format!("{} Needle\n\n in  the hay {}", "x".repeat(500), "y".repeat(500));
        let shown = excerpt(&text, &["nothing", "needle"]);
        assert!(
            shown.starts_with("…xxx") && shown.contains("x Needle in the hay y") && shown.ends_with("y…"),
            "{shown}"
        );
        assert_eq!(shown.chars().count(), SHOWN + 2);
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        assert_eq!(excerpt("ÄRGER im Büro", &["ärger"]), "ÄRGER im Büro");
        assert_eq!(excerpt("", &["a"]), "");
    }
}
