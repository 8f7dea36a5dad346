//! Builtins that evaluate a word again: a name with a subscript is computed, and the computation can run
//! commands.
//!
//! `read 'x[$(touch y)]'` runs `touch y`, though the word is quoted. So a word that a builtin takes as a name
//! has to be a plain name, and a computed word may not stand where an option could say that a name follows.

mod forms;

pub use forms::{EVALUATED_FORMS, EvaluatedForms, ZSH_FORMS};

use crate::shell::{ShellWord, is_counted};

/// The words of a builtin that are names.
#[derive(Debug, Clone, Copy)]
enum EvaluatedNames {
    /// All operands; these letters take a value that is no name.
    Operands(&'static str),
    /// The word after one of these options, or joined to it.
    After(&'static [&'static str]),
}

const BUILTINS: &[(&[&str], EvaluatedNames)] = &[
    (&["read"], EvaluatedNames::Operands("pdnNtui")),
    (&["getopts"], EvaluatedNames::Operands("")),
    (&["printf"], EvaluatedNames::After(&["-v"])),
    (&["wait"], EvaluatedNames::After(&["-p"])),
    (&["test", "["], EvaluatedNames::After(&["-v", "-R"])),
    (&["mapfile", "readarray"], EvaluatedNames::Operands("dnOsuCc")),
];

/// The words that the shell takes as names of variables.
pub(crate) fn names(program: &str, arguments: &[ShellWord]) -> Vec<ShellWord> {
    match BUILTINS.iter().find(|(programs, _)| programs.contains(&program)) {
        Some((_, EvaluatedNames::Operands(valued))) => operands(arguments, valued),
        Some((_, EvaluatedNames::After(options))) => after(arguments, options),
        None => Vec::new(),
    }
}

/// Whether a word is certain to be a name and nothing else. A computed word is none: it can hold a subscript.
pub(crate) fn is_plain_name(word: &ShellWord) -> bool {
    word.literal().is_some_and(crate::shell::is_plain_name)
}

/// Operators between two operands of a test, and those that end one.
const BETWEEN: &[&str] = &[
    "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "-a", "-o", ")",
];

/// A computed word that the shell could take for the option before a name, such as `-v` of `test` and `printf`. The names are variables that are
/// certain to be plain words.
pub(crate) fn possible_option<'a>(
    program: &str,
    arguments: &'a [ShellWord],
    tame: &[String],
) -> Option<&'a ShellWord> {
    let is_wild = |word: &&ShellWord| {
        matches!(word, ShellWord::Unknown(_) | ShellWord::Glob(_)) && !is_tame(word, tame)
    };
    match program {
        "test" | "[" => arguments.iter().enumerate().find_map(|(at, word)| {
            let next = arguments.get(at + 1);
            let is_operand =
                next.is_none_or(|next| next.literal().is_some_and(|text| BETWEEN.contains(&text)));
            (is_wild(&word) && !(is_operand && is_one_word(word))).then_some(word)
        }),
        // Without words after it, even `-v` sets nothing.
        "printf" => arguments.first().filter(is_wild).filter(|word| {
            let text = word.unexpanded();
            let inner = text.trim_matches('"');
            !is_one_word(word)
                || (inner.starts_with(['$', '-', '`']) && ends_expansion(inner) && arguments.len() > 1)
        }),
        "wait" => arguments.iter().find(is_wild),
        _ => None,
    }
}

/// Whether a text ends with an expansion, or with the end of a subscript.
fn ends_expansion(text: &str) -> bool {
    let before_name = text.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
    let is_name = before_name.len() < text.len();
    if is_name {
        before_name.ends_with('$')
    } else {
        text.ends_with(['}', ')', ']', '`', '@', '*', '#', '?', '$', '!', '-'])
    }
}

/// Whether a computed word stays one word: it is in double quotes, and is no list.
fn is_one_word(word: &ShellWord) -> bool {
    let text = word.unexpanded();
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    quoted.is_some_and(|inner| !inner.contains(['"', '@']))
}

/// Whether a computed word is a number that bash counts, or one variable that is only set to plain words.
fn is_tame(word: &ShellWord, tame: &[String]) -> bool {
    let text = word.unexpanded();
    let inner = text.trim_matches('"');
    let name =
        inner.strip_prefix("${").and_then(|text| text.strip_suffix('}')).or_else(|| inner.strip_prefix('$'));
    is_counted(&text) || name.is_some_and(|name| tame.iter().any(|known| known == name))
}

fn operands(arguments: &[ShellWord], valued: &str) -> Vec<ShellWord> {
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

fn after(arguments: &[ShellWord], options: &[&str]) -> Vec<ShellWord> {
    let mut names = Vec::new();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.unexpanded();
        for option in options {
            match text.strip_prefix(option) {
                Some("") => names.extend(words.peek().copied().cloned()),
                Some(joined) => names.push(match word {
                    ShellWord::Literal(_) => ShellWord::Literal(joined.to_owned()),
                    _ => ShellWord::Unknown(text.clone()),
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

    #[test]
    fn a_computed_word_in_the_place_of_an_option_is_found() {
        let found = |line: &str| {
            let words: Vec<ShellWord> = line.split(' ').map(ShellWord::decode).collect();
            let (program, arguments) = words.split_first().unwrap();
            possible_option(program.literal().unwrap(), arguments, &["n".to_owned()]).is_some()
        };
        for line in [
            "test $x y",
            "test \"$x\" \"$y\"",
            "test $x = y",
            "test \"$@\"",
            "test -n $x",
            "printf \"$x\" y",
            "printf $x",
            "wait $x",
            "wait \"$x\"",
            "test a = a -a \"$x\" y",
            "test -f *",
        ] {
            assert!(found(line), "{line}");
        }
        for line in [
            "test \"$x\" = y",
            "test -n \"$x\"",
            "test \"$x\"",
            "test $n = y",
            "test $? -eq 0",
            "wait $!",
            "wait $n",
            "wait ${n}",
            "printf \"$x\\n\" y",
            "printf \"$x\"",
            "printf %s $x",
            "wait",
        ] {
            assert!(!found(line), "{line}");
        }
    }

    fn check(line: &str, expected: &[&str]) {
        let words: Vec<ShellWord> = line.split(' ').map(ShellWord::decode).collect();
        let (program, arguments) = words.split_first().unwrap();
        let found = names(program.literal().unwrap(), arguments);
        let found: Vec<String> = found.iter().map(ShellWord::unexpanded).collect();
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
