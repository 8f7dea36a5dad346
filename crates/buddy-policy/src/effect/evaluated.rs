//! Builtins that evaluate a word again: a name with a subscript is computed, and the computation can run
//! commands.
//!
//! `read 'x[$(touch y)]'` runs `touch y`, though the word is quoted. So a word that a builtin takes as a name
//! has to be a plain name.

use crate::shell::Word;

/// The words of a builtin that are names.
#[derive(Debug, Clone, Copy)]
enum Names {
    /// All operands; these letters take a value that is no name.
    Operands(&'static str),
    /// The word after one of these options, or joined to it.
    After(&'static [&'static str]),
}

const BUILTINS: &[(&[&str], Names)] = &[
    (&["read"], Names::Operands("pdnNtui")),
    (&["getopts"], Names::Operands("")),
    (&["printf"], Names::After(&["-v"])),
    (&["wait"], Names::After(&["-p"])),
    (&["test", "["], Names::After(&["-v", "-R"])),
    (&["mapfile", "readarray"], Names::Operands("dnOsuCc")),
];

/// The words that the shell takes as names of variables.
pub(crate) fn names(program: &str, arguments: &[Word]) -> Vec<Word> {
    match BUILTINS.iter().find(|(programs, _)| programs.contains(&program)) {
        Some((_, Names::Operands(valued))) => operands(arguments, valued),
        Some((_, Names::After(options))) => after(arguments, options),
        None => Vec::new(),
    }
}

/// Whether a word is certain to be a name and nothing else. A computed word is none: it can hold a subscript.
pub(crate) fn is_plain_name(word: &Word) -> bool {
    word.literal()
        .is_some_and(|text| text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'))
}

fn operands(arguments: &[Word], valued: &str) -> Vec<Word> {
    let mut names = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.literal().and_then(|text| text.strip_prefix('-')) {
            Some(letters) => {
                let at = letters.find(|letter| valued.contains(letter));
                if at.is_some_and(|at| at + 1 == letters.len()) {
                    words.next();
                }
            }
            None => names.push(word.clone()),
        }
    }
    names
}

fn after(arguments: &[Word], options: &[&str]) -> Vec<Word> {
    let mut names = Vec::new();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.unexpanded();
        for option in options {
            match text.strip_prefix(option) {
                Some("") => names.extend(words.peek().copied().cloned()),
                Some(joined) => names.push(match word {
                    Word::Literal(_) => Word::Literal(joined.to_owned()),
                    _ => Word::Unknown(text.clone()),
                }),
                None => {}
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let words: Vec<Word> = line.split(' ').map(Word::decode).collect();
        let (program, arguments) = words.split_first().unwrap();
        let found = names(program.literal().unwrap(), arguments);
        let found: Vec<String> = found.iter().map(Word::unexpanded).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn values_of_options_are_no_names() {
        check("read -rp [y/n] answer more", &["answer", "more"]);
        check("read -p $question -t 5 x", &["x"]);
        check("printf -v x y", &["x"]);
        check("printf -vx y", &["x"]);
        check("printf %s x", &[]);
        check("test ! -v x", &["x"]);
        check("test -f x", &[]);
        check("wait -n -p x 1", &["x"]);
        check("wait 1", &[]);
    }
}
