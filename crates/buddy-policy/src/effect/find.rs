//! `find`: the directories that it searches, and its actions on the files it finds.

use crate::shell::ShellWord;

/// Tests and options of `find` that take no word.
const ALONE: &[&str] = &[
    "-print",
    "-print0",
    "-prune",
    "-ls",
    "-depth",
    "-empty",
    "-true",
    "-false",
    "-readable",
    "-writable",
    "-executable",
    "-mount",
    "-xdev",
    "-follow",
    "-daystart",
    "-not",
    "-o",
    "-or",
    "-a",
    "-and",
    "!",
    "(",
    ")",
    ",",
    "-nouser",
    "-nogroup",
    "-quit",
    "-noleaf",
    "-warn",
    "-nowarn",
    "-d",
];
/// Tests and options of `find` that take one word.
const WITH_WORD: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-size",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-newermt",
    "-newerct",
    "-perm",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-links",
    "-inum",
    "-lname",
    "-ilname",
    "-fstype",
    "-samefile",
    "-printf",
];

/// A call of `find`, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Find {
    /// The directories that it searches; empty means here.
    pub(crate) roots: Vec<ShellWord>,
    /// The commands that it runs, with the places of names filled in.
    pub(crate) commands: Vec<Vec<ShellWord>>,
    /// Whether it removes the files it finds.
    pub(crate) deletes: bool,
    /// Files that it writes its findings to.
    pub(crate) outputs: Vec<ShellWord>,
    /// Whether a part of it is not understood.
    pub(crate) is_unclear: bool,
}

/// Takes the words after `find` apart.
pub(crate) fn find(arguments: &[ShellWord]) -> Find {
    let mut found = Find::default();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next_if(|word| !is_expression(word)) {
        match word.literal() {
            Some("-L" | "-H" | "-P") => {}
            _ if word.is_unknown() => found.is_unclear = true,
            _ => found.roots.push(word.clone()),
        }
    }
    while let Some(word) = words.next() {
        match word.literal() {
            Some(text) if ALONE.contains(&text) => {}
            Some(text) if WITH_WORD.contains(&text) => {
                found.is_unclear |= words.next().is_none_or(ShellWord::is_unknown);
            }
            Some("-delete") => found.deletes = true,
            Some("-fprint" | "-fprint0" | "-fls") => found.outputs.extend(words.next().cloned()),
            Some("-fprintf") => {
                found.outputs.extend(words.next().cloned());
                words.next();
            }
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let name = found.name();
                let is_end = |word: &&ShellWord| matches!(word.literal(), Some(";" | "+"));
                let command: Vec<ShellWord> =
                    words.by_ref().take_while(|word| !is_end(word)).map(|word| name.put(word)).collect();
                found.commands.push(command);
            }
            _ => found.is_unclear = true,
        }
    }
    found
}

fn is_expression(word: &ShellWord) -> bool {
    match word.literal() {
        Some("-L" | "-H" | "-P") | None => false,
        Some(text) => text.starts_with('-') || matches!(text, "!" | "(" | ")" | ","),
    }
}

/// A placeholder for the name of a found file.
struct Name(ShellWord);

impl Find {
    fn name(&self) -> Name {
        let beneath = |root: &ShellWord| match root {
            ShellWord::Literal(root) if !root.starts_with('-') => ShellWord::Glob(format!("{root}/*")),
            other => ShellWord::Unknown(other.unexpanded()),
        };
        Name(match self.roots.as_slice() {
            [] => ShellWord::Glob("./*".to_owned()),
            [root] => beneath(root),
            [..] => ShellWord::Unknown("{}".to_owned()),
        })
    }
}

impl Name {
    fn put(&self, word: &ShellWord) -> ShellWord {
        match word.literal() {
            Some("{}") => self.0.clone(),
            Some(text) if text.contains("{}") => ShellWord::Unknown(text.to_owned()),
            _ => word.clone(),
        }
    }
}
