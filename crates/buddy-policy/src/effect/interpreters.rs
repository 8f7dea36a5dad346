//! Programs that run programs given as text: shells, and the languages.

use crate::shell::Word;

/// Shells that read what `sh` reads, more or less.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash"];

/// Languages, by how their names begin, and the options after which a program stands.
const LANGUAGES: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nodejs", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval", "-p"]),
    ("deno", &["eval"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("Rscript", &["-e"]),
    ("osascript", &["-e"]),
    ("pwsh", &["-c", "-Command", "-EncodedCommand"]),
    ("fish", &["-c"]),
    ("tclsh", &[]),
    ("expect", &["-c"]),
    ("groovy", &["-e"]),
    ("julia", &["-e", "-E"]),
];
/// Small languages whose first operand is the program.
const FILTERS: &[&str] = &["awk", "gawk", "mawk", "nawk"];

/// What an interpreter is given to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// Text on its command line.
    Text(Word),
    /// A file.
    File(Word),
    /// What it reads from its standard input.
    Input,
    /// Code that is not shell.
    Code,
    /// Something installed, by its name.
    Module,
    /// It is not certain what.
    Unclear,
}

/// Whether a program is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Whether a program runs programs given as text.
pub(crate) fn is_interpreter(program: &str) -> bool {
    is_shell(program) || FILTERS.contains(&program) || program == "sed" || language(program).is_some()
}

fn language(program: &str) -> Option<&'static [&'static str]> {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    LANGUAGES.iter().find(|(name, _)| *name == stem).map(|(_, options)| *options)
}

/// What an interpreter with these words runs; none where the program is no interpreter.
pub(crate) fn given(program: &str, arguments: &[Word]) -> Option<Given> {
    if is_shell(program) {
        return Some(shell(arguments));
    }
    if FILTERS.contains(&program) {
        return Some(Given::Code);
    }
    language(program).map(|options| code(options, arguments))
}

fn shell(arguments: &[Word]) -> Given {
    let mut words = arguments.iter();
    let mut takes_text = false;
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { return if takes_text { Given::Unclear } else { file(word) } };
        match text {
            "--" => break,
            "-" => return Given::Input,
            "--version" | "--help" => return Given::Module,
            "--login" | "--posix" | "--norc" | "--noprofile" | "--restricted" | "--verbose" => {}
            "-o" | "+o" | "-O" | "+O" => drop(words.next()),
            _ if text.starts_with("--") => return Given::Unclear,
            _ if text.starts_with('-') || text.starts_with('+') => {
                let letters = text.chars().skip(1);
                if !letters.clone().all(|letter| "abcefhiklmnprstuvxBCEHPT".contains(letter)) {
                    return Given::Unclear;
                }
                takes_text |= text.starts_with('-') && letters.clone().any(|letter| letter == 'c');
                if !takes_text && letters.clone().any(|letter| letter == 's') {
                    return Given::Input;
                }
            }
            _ => return if takes_text { Given::Text(word.clone()) } else { file(word) },
        }
    }
    match words.next() {
        Some(word) if takes_text => Given::Text(word.clone()),
        Some(word) => file(word),
        None if takes_text => Given::Unclear,
        None => Given::Input,
    }
}

fn code(options: &[&str], arguments: &[Word]) -> Given {
    for word in arguments {
        let Some(text) = word.literal() else { return file(word) };
        let is_inline = options.iter().any(|option| {
            let is_letter = option.len() == 2;
            text == *option
                || (is_letter && text.starts_with(option))
                || text.starts_with(&format!("{option}="))
        });
        let is_cluster = |option: &&str| {
            option.len() == 2
                && text.starts_with('-')
                && !text.starts_with("--")
                && option.chars().nth(1).is_some_and(|letter| text.contains(letter))
        };
        match text {
            _ if is_inline => return Given::Code,
            "-m" | "--version" | "-V" | "--help" => return Given::Module,
            "-" => return Given::Input,
            _ if options.iter().any(is_cluster) => return Given::Code,
            _ if text.starts_with('-') => {}
            _ => return file(word),
        }
    }
    Given::Input
}

fn file(word: &Word) -> Given {
    match word {
        Word::Unknown(_) | Word::Glob(_) => Given::Unclear,
        Word::Literal(text) if text.starts_with("/dev/") || text.starts_with("/proc/") => Given::Unclear,
        _ => Given::File(word.clone()),
    }
}
