//! Programs of `sed` that only print: lines by number or pattern, and substitutions without side effects.

use super::flags::{FlagOrder, Flags, split};
use crate::shell::ShellWord;

const FLAGS: Flags = Flags::of("nErszi", "e")
    .long(&["quiet", "silent", "regexp-extended", "null-data", "sandbox", "in-place"], &["expression"]);

/// A call of `sed`, taken apart.
#[derive(Debug)]
pub(crate) struct Sed<'a> {
    pub(crate) files: Vec<&'a ShellWord>,
    /// Whether the files are changed.
    pub(crate) is_in_place: bool,
    /// Whether its program is known to only print.
    pub(crate) only_prints: bool,
}

/// Takes the words after `sed` apart; `None` if an option is not known.
pub(crate) fn sed(arguments: &[ShellWord]) -> Option<Sed<'_>> {
    let is_in_place = arguments.iter().any(is_in_place_option);
    let split = split(arguments, &FLAGS, FlagOrder::Mixed)?;
    let given = split.given.iter().filter(|(name, _)| name == "e" || name == "expression");
    let mut programs: Vec<&str> = given.filter_map(|(_, value)| value.as_deref()).collect();
    let mut operands = split.operands.into_iter();
    if programs.is_empty() {
        programs.push(operands.next()?.literal()?);
    }
    // Without a slash there is neither a pattern nor a file name, so each part stands for itself.
    let parts = |program: &&'_ str| -> Vec<String> {
        let is_simple = !program.contains(['/', '{', '}', '\\']);
        program.split([';', '\n']).filter(|_| is_simple).map(str::to_owned).collect()
    };
    let only_prints = programs.iter().all(|program| {
        let parts = parts(program);
        is_harmless(program) || (!parts.is_empty() && parts.iter().all(|part| is_harmless(part)))
    });
    Some(Sed { files: operands.collect(), is_in_place, only_prints })
}

fn is_in_place_option(word: &ShellWord) -> bool {
    word.literal().is_some_and(|text| {
        text == "--in-place"
            || text.strip_prefix('-').is_some_and(|letters| {
                letters.chars().all(|letter| "nErszi".contains(letter)) && letters.contains('i')
            })
    })
}

fn is_harmless(program: &str) -> bool {
    let program = skip_address(program.trim());
    let program = program.and_then(|rest| match rest.strip_prefix(',') {
        Some(rest) => skip_address(rest),
        None => Some(rest),
    });
    let Some(program) = program else { return false };
    let program = program.trim_start().strip_prefix('!').unwrap_or(program.trim_start());
    matches!(program, "p" | "d" | "q" | "=") || is_substitution(program)
}

/// The rest after a line number, `$`, `+number` or `/pattern/`.
fn skip_address(text: &str) -> Option<&str> {
    let digits =
        text.strip_prefix(['$', '+']).unwrap_or(text).trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() != text.len() {
        return Some(digits);
    }
    match text.strip_prefix('/') {
        Some(rest) => after_delimiter(rest, '/'),
        None => Some(text),
    }
}

/// The rest after the first delimiter that is not escaped.
fn after_delimiter(text: &str, delimiter: char) -> Option<&str> {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()?),
            '\n' | '[' => return None,
            _ if character == delimiter => return Some(characters.as_str()),
            _ => {}
        }
    }
    None
}

fn is_substitution(program: &str) -> bool {
    let Some(rest) = program.strip_prefix('s') else { return false };
    let mut characters = rest.chars();
    let Some(delimiter) = characters.next().filter(|first| "/|#,:@".contains(*first)) else { return false };
    let flags =
        after_delimiter(characters.as_str(), delimiter).and_then(|rest| after_delimiter(rest, delimiter));
    flags.is_some_and(|flags| flags.chars().all(|flag| "gpiI0123456789".contains(flag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_printing_is_harmless() {
        for program in
            ["1p", "1,5p", "$p", "10,+3p", "/x/p", "s/a/b/", "s/a/b/gp", "s|a|b|2", "/a/,/b/p", "5q", "1!d"]
        {
            assert!(is_harmless(program), "{program}");
        }
        for program in [
            "1e touch x",
            "e",
            "w out",
            "1w out",
            "s/a/b/e",
            "s/a/b/w out",
            "s/a/b/;e",
            "r /etc/shadow",
            "p;e x",
            "p\ne x",
            "s/a/b/\ne",
            "1,2{p}",
            "s/[/]e/b/",
            "",
        ] {
            assert!(!is_harmless(program), "{program}");
        }
    }
}
