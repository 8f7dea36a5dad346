//! Whether a simple command is known to only read, and the files that it reads.

use super::find;
use super::flags::{FlagOrder, split};
use super::readers::{ReaderOperands, reader_of};
use super::sed;
use crate::shell::ShellWord;

/// Programs that, when told to be recursive, read everything beneath the directories that they are given, or here.
const DEEP: &[&str] = &["grep", "egrep", "fgrep", "diff"];

/// Programs that describe files without their contents.
const LOOKING: &[&str] =
    &["ls", "dir", "vdir", "stat", "du", "df", "tree", "realpath", "readlink", "cd", "find"];

/// Whether a program describes files without their contents.
pub(crate) fn only_looks(program: &str) -> bool {
    LOOKING.contains(&program)
}

/// The files that a command reads when it only reads.
#[derive(Debug, Default)]
pub(crate) struct CommandReading<'a> {
    pub(crate) paths: Vec<&'a ShellWord>,
    /// Whether everything beneath the paths is read too.
    pub(crate) is_deep: bool,
}

/// The files that a program with these words reads; `None` if it is not known to only read.
pub(crate) fn reading<'a>(program: &str, arguments: &'a [ShellWord]) -> Option<CommandReading<'a>> {
    match program {
        "find" => return of_find(arguments),
        "sed" => {
            let sed = sed::sed(arguments).filter(|sed| sed.only_prints && !sed.is_in_place)?;
            return Some(CommandReading { paths: sed.files, is_deep: false });
        }
        _ => {}
    }
    let reader = reader_of(program)?;
    match reader.operands {
        ReaderOperands::Anything => {
            let evaluates = |word: &ShellWord| matches!(word.literal(), Some("-v" | "-R"));
            let is_plain =
                !arguments.iter().any(|word| word.is_unknown() || (program == "test" && evaluates(word)));
            return is_plain.then(CommandReading::default);
        }
        ReaderOperands::AnythingAfterFormat => {
            let is_option = |word: &ShellWord| word.literal().is_none_or(|text| text.starts_with('-'));
            let is_plain =
                !arguments.first().is_some_and(is_option) && !arguments.iter().any(ShellWord::is_unknown);
            return is_plain.then(CommandReading::default);
        }
        _ => {}
    }
    let split = split(arguments, &reader.flags, FlagOrder::Mixed)?;
    let has_pattern = ["e", "regexp", "files", "type-list"].iter().any(|name| split.has(name));
    let is_recursive = ["r", "R", "recursive", "dereference-recursive"].iter().any(|name| split.has(name));
    let is_deep = program == "rg" || (is_recursive && DEEP.contains(&program));
    let operands = split.operands;
    let paths = match reader.operands {
        ReaderOperands::Paths => operands,
        ReaderOperands::OnePath => (operands.len() <= 1).then_some(operands)?,
        ReaderOperands::TextThenPaths if has_pattern && program != "jq" => operands,
        ReaderOperands::TextThenPaths => {
            let (text, paths) = operands.split_first()?;
            text.literal()?;
            paths.to_vec()
        }
        ReaderOperands::Text => none_when(operands.iter().all(|word| word.literal().is_some()))?,
        ReaderOperands::Formats => {
            none_when(operands.iter().all(|word| word.literal().is_some_and(|text| text.starts_with('+'))))?
        }
        ReaderOperands::OneOf(words) => {
            none_when(operands.iter().all(|word| word.literal().is_some_and(|text| words.contains(&text))))?
        }
        ReaderOperands::Pause => none_when(matches!(operands[..], [pause] if is_short_pause(pause)))?,
        ReaderOperands::None | ReaderOperands::Anything | ReaderOperands::AnythingAfterFormat => {
            none_when(operands.is_empty())?
        }
    };
    Some(CommandReading { paths, is_deep })
}

/// The longest pause that counts as reading: a command that waits for longer is a process of its own.
const MAX_PAUSE_SECONDS: f64 = 300.0;

/// Whether a word is a pause of `sleep` within the limit: `60`, `0.5`, `90s` or `2m`.
fn is_short_pause(word: &ShellWord) -> bool {
    let Some(text) = word.literal() else { return false };
    let (number, seconds) = match text.strip_suffix('m') {
        Some(minutes) => (minutes, 60.0),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let is_plain = number.starts_with(|first: char| first.is_ascii_digit())
        && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    is_plain && number.parse::<f64>().is_ok_and(|number| number * seconds <= MAX_PAUSE_SECONDS)
}

/// Programs of which no option does more than read or print, so that a computed word cannot make them do it.
const HARMLESS: &[&str] = &[
    "ls",
    "dir",
    "vdir",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "stat",
    "du",
    "df",
    "cut",
    "tr",
    "cmp",
    "comm",
    "paste",
    "nl",
    "tac",
    "rev",
    "fold",
    "fmt",
    "od",
    "strings",
    "base64",
    "base32",
    "cksum",
    "sum",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "echo",
    "printf",
    "true",
    "false",
    ":",
    "test",
    "[",
    "seq",
    "cd",
    "which",
    "type",
];

/// Whether no option of a program does more than read or print.
pub(crate) fn never_writes(program: &str) -> bool {
    HARMLESS.contains(&program)
}

/// Stands for a computed word, if only its presence matters.
const SOME: &str = "x";

/// The words that name the files of a reading program, if some words are computed; `None` if it could do
/// more. The files are known when it runs.
pub(crate) fn loose_reading(program: &str, arguments: &[ShellWord]) -> Option<Vec<ShellWord>> {
    if let Some(files) = super::awk::NAMES.contains(&program).then(|| super::awk::files(arguments)) {
        return files;
    }
    let is_computed = |word: &&ShellWord| matches!(word, ShellWord::Unknown(_) | ShellWord::Glob(_));
    // The homes of people hold more than any table of secrets knows.
    let is_of_home = |word: &ShellWord| word.unexpanded().trim_start_matches('"').starts_with(['~', '/']);
    if arguments.iter().any(|word| is_computed(&word) && is_of_home(word)) {
        return None;
    }
    if !HARMLESS.contains(&program) || !arguments.iter().any(|word| is_computed(&word)) {
        return None;
    }
    let certain: Vec<ShellWord> = arguments
        .iter()
        .map(|word| if is_computed(&word) { ShellWord::Literal(SOME.to_owned()) } else { word.clone() })
        .collect();
    let reading = reading(program, &certain)?;
    let named = reading.paths.into_iter().filter(|word| word.literal() != Some(SOME)).cloned();
    Some(named.chain(arguments.iter().filter(is_computed).cloned()).collect())
}

fn none_when<T>(holds: bool) -> Option<Vec<T>> {
    holds.then(Vec::new)
}

fn of_find(arguments: &[ShellWord]) -> Option<CommandReading<'_>> {
    let found = find::find(arguments);
    let only_looks = !found.is_unclear && !found.deletes && found.outputs.is_empty();
    // The command that it runs is judged apart.
    only_looks.then(|| CommandReading {
        paths: arguments.iter().take(found.roots.len()).filter(|word| found.roots.contains(word)).collect(),
        is_deep: false,
    })
}
