//! Programs of `awk` that only print: they run nothing, write no file and read none but their operands.

use super::flags::{FlagOrder, Flags, split};
use crate::shell::ShellWord;

/// The names that it goes by.
pub(crate) const NAMES: &[&str] = &["awk", "gawk", "mawk", "nawk", "original-awk"];

const FLAGS: Flags = Flags::of("", "Fv").long(&["posix", "re-interval"], &["field-separator", "assign"]);

/// Words of the language that run a program, or read files that no operand names.
const REACHING: &[&str] = &["system", "getline", "close", "fflush", "ENVIRON", "PROCINFO"];

/// Stands for a computed word, if only its presence matters.
const SOME: &str = "x";

/// The files that these words after `awk` read; `None` if they could do more than print.
pub(super) fn files(arguments: &[ShellWord]) -> Option<Vec<ShellWord>> {
    let certain: Vec<ShellWord> = arguments
        .iter()
        .map(|word| match word {
            ShellWord::Unknown(_) | ShellWord::Glob(_) => ShellWord::Literal(SOME.to_owned()),
            word => word.clone(),
        })
        .collect();
    let split = split(&certain, &FLAGS, FlagOrder::First)?;
    let program = arguments.get(split.before)?.literal()?;
    let operands = arguments.get(split.before + 1..)?;
    // After its program, awk takes no options; a word such as `n=1` sets a variable.
    let is_file = |word: &&ShellWord| word.literal().is_none_or(|text| !text.contains('='));
    only_prints(program).then(|| operands.iter().filter(is_file).cloned().collect())
}

fn only_prints(program: &str) -> bool {
    let Some(bare) = bare(program) else { return false };
    let words = bare.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let is_reaching = words.into_iter().any(|word| REACHING.contains(&word));
    let pipes = bare.replace("||", " ").contains('|');
    !is_reaching && !pipes && !bare.contains('@') && !bare.split([';', '{', '}', '\n']).any(redirects)
}

/// Whether a statement prints into a file: after `print`, a `>` outside parentheses is no comparison.
fn redirects(statement: &str) -> bool {
    let Some((_, printed)) = statement.split_once("print") else { return false };
    let mut depth = 0_usize;
    printed.chars().any(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == '>' && depth == 0
    })
}

/// The program without comments and without the contents of strings and patterns; `None` if one has no end.
fn bare(program: &str) -> Option<String> {
    let mut bare = String::new();
    let mut letters = program.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => skip(&mut letters, '"')?,
            '/' if begins_pattern(&bare) => skip(&mut letters, '/')?,
            '#' => {
                letters.by_ref().find(|letter| *letter == '\n');
                bare.push('\n');
                continue;
            }
            _ => {
                bare.push(letter);
                continue;
            }
        }
        // A value stands where the string or the pattern was.
        bare.push('0');
    }
    Some(bare)
}

fn skip(letters: &mut std::str::Chars<'_>, end: char) -> Option<()> {
    loop {
        match letters.next()? {
            '\\' => drop(letters.next()),
            letter if letter == end => return Some(()),
            _ => {}
        }
    }
}

/// Whether a slash after this begins a pattern and does not divide.
fn begins_pattern(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    let is_divided =
        before.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | ')' | ']' | '$'));
    !is_divided || before.ends_with("print") || before.ends_with("return")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_print_are_told_from_those_that_do_more() {
        for program in [
            "{print}",
            "{print $1}",
            "NR==1, NR==20",
            "/a|b/ {n++} END {print n}",
            "$3 > 100 {print $1}",
            "{ if ($1 > 5) print $2 }",
            "BEGIN {FS=\",\"} {printf \"%s > %s\\n\", $1, $2}",
            "{s += $1 / $2} END {print s}",
            "{print ($1 > 2)}",
            "length($0) > 120 {print FILENAME\":\"NR}",
            "!seen[$0]++",
            "{gsub(/x|y/, \"\"); print} # system(\"x\")",
            "/a/ || /b/",
        ] {
            assert!(only_prints(program), "{program}");
        }
        for program in [
            "{system(\"rm x\")}",
            "{print > \"out\"}",
            "{print $1 >> $2}",
            "{print | \"sh\"}",
            "\"date\" | getline d",
            "{getline x < \"/etc/passwd\"}",
            "{printf(\"%s\", $1) > \"x\"}",
            "@load \"filefuncs\"",
            "{f = \"system\"; @f(\"x\")}",
            "BEGIN{print 1 >\"x\"}",
            "{print \"unfinished}",
            "{print |& \"cmd\"}",
            "BEGIN {print ENVIRON[\"KEY\"]}",
        ] {
            assert!(!only_prints(program), "{program}");
        }
    }

    #[test]
    fn options_and_operands_are_told_apart() {
        let files = |line: &str| {
            let words: Vec<ShellWord> = line.split(' ').map(ShellWord::decode).collect();
            files(&words).map(|files| files.iter().map(ShellWord::unexpanded).collect::<Vec<_>>())
        };
        assert_eq!(files("-F: '{print}' a n=1 b").unwrap(), ["a", "b"]);
        assert_eq!(files("-F , -v n=3 '{print}' *.csv $x").unwrap(), ["*.csv", "$x"]);
        for line in
            ["-f prog a", "-i inplace '{print}' a", "$prog a", "-v", "--exec p", "-E p", "-W dump '{print}'"]
        {
            assert_eq!(files(line), None, "{line}");
        }
    }
}
