//! Names of programs that only look like other names.
//!
//! A letter of another script, a wide form or an invisible character makes a name that reads like `git` and
//! is not. No program of a system has such a name, so the user has to see it, with its true spelling.

use buddy_protocol::is_hidden;

/// The name with everything but plain letters escaped, if it could be taken for another one.
pub(crate) fn lookalike(program: &str) -> Option<String> {
    let (folders, name) = program.rsplit_once('/').unwrap_or(("", program));
    let is_strange = !name.is_ascii() || folders.split('/').any(is_mixed);
    is_strange.then(|| escaped(program))
}

/// Whether a folder's name is deceptive: folders have names of any language, but not of two alphabets at
/// once.
fn is_mixed(folder: &str) -> bool {
    let has_latin = folder.chars().any(|letter| letter.is_ascii_alphabetic());
    // Letters with marks, as in `jörg`, are Latin too.
    let is_other = |letter: char| letter.is_alphabetic() && letter as u32 > 0x24F;
    folder.chars().any(is_hidden) || (has_latin && folder.chars().any(is_other))
}

fn escaped(text: &str) -> String {
    let escape = |letter: char| {
        if letter.is_ascii_graphic() { letter.to_string() } else { letter.escape_unicode().to_string() }
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_another_script_are_seen() {
        for name in
            ["сargo", "g\u{200b}it", "ｇit", "/usr/bin/lѕ", "ß", "sсr/x", "a\u{202e}b/x", "/w/x\u{301}"]
        {
            assert!(lookalike(name).is_some_and(|name| name.is_ascii()), "{name}");
        }
        for name in ["cargo", "./x-1.sh", "/home/jörg/x", "/home/юля/x", "g++", "["] {
            assert_eq!(lookalike(name), None, "{name}");
        }
    }
}
