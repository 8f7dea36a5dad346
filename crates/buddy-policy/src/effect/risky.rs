//! The words of a simple command that its risk comes from: the program, what it is told to do, and the options right behind that. A face marks
//! them in the command.

use crate::shell::ShellWord;

/// The most words that are marked together.
const MAX_WORDS: usize = 6;

/// These words as they stand side by side; `None` if the program is computed.
pub(crate) fn risky_words(words: &[ShellWord]) -> Option<String> {
    let literals = words.iter().map_while(ShellWord::literal).take(MAX_WORDS);
    let is_order =
        |place: usize, word: &str| place == 1 && word.chars().all(|letter| letter.is_ascii_lowercase());
    let is_risky = |place: usize, word: &str| {
        let is_plain = !word.is_empty() && !word.contains(char::is_whitespace);
        is_plain && (place == 0 || word.starts_with('-') || is_order(place, word))
    };
    let risky = literals.enumerate().take_while(|(place, word)| is_risky(*place, word)).map(|(_, word)| word);
    let risky: Vec<&str> = risky.collect();
    (!risky.is_empty()).then(|| risky.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_its_order_and_its_options_are_risky() {
        let check = |command: &str, expected: &str| {
            let words: Vec<ShellWord> =
                command.split(' ').map(|word| ShellWord::Literal(word.to_owned())).collect();
            assert_eq!(risky_words(&words).as_deref(), Some(expected), "{command}");
        };
        check("rm -rf build", "rm -rf");
        check("git push --force origin main", "git push --force");
        check("git reset --hard HEAD~1", "git reset --hard");
        check("dd if=/dev/zero of=/dev/sda", "dd");
        check("kill -9 1", "kill -9");
        assert_eq!(risky_words(&[ShellWord::Unknown("$X".to_owned())]), None);
    }
}
