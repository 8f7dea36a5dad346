//! Programs that write or remove the files that their words name.

use super::Access;
use crate::shell::Word;

/// Which operands are written.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// All of them, in this way.
    All(Access),
    /// All but the first.
    AfterFirst,
    /// The last one; those before it are read.
    Copy,
    /// The last one; those before it go away.
    Move,
    /// Those that are said as `of=`.
    Assigned,
    /// Values of this option.
    Value(char, &'static str),
}

const WRITERS: &[(&[&str], Shape)] = &[
    (&["rm", "rmdir", "unlink", "shred", "srm"], Shape::All(Access::Delete)),
    (
        &["mkdir", "touch", "truncate", "tee", "mkfifo", "mknod", "sponge", "mktemp", "setfacl", "chattr"],
        Shape::All(Access::Write),
    ),
    (&["chmod", "chown", "chgrp"], Shape::AfterFirst),
    (&["cp", "install", "ln", "link"], Shape::Copy),
    (&["mv", "rename"], Shape::Move),
    (&["dd"], Shape::Assigned),
    (&["sort"], Shape::Value('o', "output")),
    (&["curl"], Shape::Value('o', "output")),
    (&["wget"], Shape::Value('O', "output-document")),
    (&["base64"], Shape::Value('o', "output")),
    (&["tree"], Shape::Value('o', "output")),
];

/// The files that a program with these words writes or removes; none where it is not one of these programs.
pub(crate) fn written<'a>(program: &str, arguments: &'a [Word]) -> Option<Vec<(Access, WordPart<'a>)>> {
    let (_, shape) = WRITERS.iter().find(|(names, _)| names.contains(&program))?;
    let operands = operands(arguments);
    let all =
        |access: Access, words: &[WordPart<'a>]| words.iter().cloned().map(|word| (access, word)).collect();
    let names_target = super::flags::might_give(arguments, Some('t'), "target-directory");
    Some(match shape {
        Shape::All(access) => all(*access, &operands),
        Shape::AfterFirst => all(Access::Write, operands.get(1..).unwrap_or_default()),
        Shape::Copy | Shape::Move if names_target => all(Access::Write, &operands),
        Shape::Copy | Shape::Move => {
            let before = if matches!(shape, Shape::Move) { Access::Delete } else { Access::Read };
            let Some((last, sources)) = operands.split_last() else { return Some(Vec::new()) };
            let mut touched: Vec<_> = all(before, sources);
            touched.push((Access::Write, last.clone()));
            touched
        }
        Shape::Assigned => {
            let of =
                |word: &'a Word| Some((Access::Write, WordPart::Text(word.literal()?.strip_prefix("of=")?)));
            let computed = arguments
                .iter()
                .filter(|word| word.is_unknown())
                .map(|word| (Access::Write, WordPart::Word(word)));
            arguments.iter().filter_map(of).chain(computed).collect()
        }
        Shape::Value(short, long) => values(arguments, *short, long),
    })
}

/// A word, or the part of it that names a file.
#[derive(Debug, Clone)]
pub(crate) enum WordPart<'a> {
    Word(&'a Word),
    Text(&'a str),
}

fn operands(arguments: &[Word]) -> Vec<WordPart<'_>> {
    let mut is_open = true;
    let mut operands = Vec::new();
    for word in arguments {
        match word.literal() {
            Some("--") if is_open => is_open = false,
            Some(text) if is_open && text.starts_with("--") => {
                operands.extend(text.split_once('=').map(|(_, value)| WordPart::Text(value)));
            }
            Some(text) if is_open && text.starts_with('-') && text.len() > 1 => {}
            _ => operands.push(WordPart::Word(word)),
        }
    }
    operands
}

fn values<'a>(arguments: &'a [Word], short: char, long: &str) -> Vec<(Access, WordPart<'a>)> {
    let mut written = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            continue;
        };
        let found = match text.strip_prefix("--") {
            Some(given) => {
                let (name, value) =
                    given.split_once('=').map_or((given, None), |(name, value)| (name, Some(value)));
                (!name.is_empty() && long.starts_with(name)).then(|| value.map(WordPart::Text))
            }
            None => text
                .strip_prefix('-')
                .and_then(|letters| letters.split_once(short))
                .map(|(_, joined)| (!joined.is_empty()).then_some(WordPart::Text(joined))),
        };
        if let Some(value) = found {
            written.extend(
                value.or_else(|| words.next().map(WordPart::Word)).map(|value| (Access::Write, value)),
            );
        }
    }
    written
}
