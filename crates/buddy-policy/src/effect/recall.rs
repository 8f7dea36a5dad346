//! Contents that git takes out of its store: `git show HEAD:.env` reads a secret although no file is opened.
//!
//! A word that names a file reads that file. A command that prints or copies a whole tree or history reads
//! every file that the repository tracks, or those that its paths limit it to. So does one that takes an object by
//! its number, which can be any file, one whose words the shell computes, and one that no table knows.

use std::path::{Path, PathBuf};

use buddy_protocol::fold_path;

use super::flags::might_give;
use super::git_prints::{GitUse, blob, is_object, is_surely_path};
use crate::shell::ShellWord;

/// Subcommands whose words name files without their contents.
const NAMES_ONLY: &[&str] = &[
    "status",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "check-ignore",
    "check-attr",
    "rm",
    "rev-list",
    "rev-parse",
    "shortlog",
    "branch",
    "fetch",
    "push",
    "pull",
    "clone",
    "switch",
    "remote",
    "config",
    "describe",
    "merge",
];

/// Options of `git clone` and `git submodule add` that take the next word.
const CLONE_VALUES: &[&str] = &[
    "-b",
    "-c",
    "-j",
    "-o",
    "-u",
    "--branch",
    "--bundle-uri",
    "--config",
    "--depth",
    "--filter",
    "--jobs",
    "--name",
    "--origin",
    "--ref-format",
    "--reference",
    "--reference-if-able",
    "--revision",
    "--separate-git-dir",
    "--server-option",
    "--shallow-exclude",
    "--shallow-since",
    "--template",
    "--upload-pack",
];

/// The contents that a use of git takes out of the store, by its words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Recalled {
    /// Words that name files.
    pub(super) files: Vec<ShellWord>,
    /// Whether it prints or copies everything that is there.
    pub(super) is_wide: bool,
    /// Paths that it is limited to; everything if there are none.
    pub(super) limits: Vec<String>,
    /// The directory of the repository that it copies from, if that is another one.
    pub(super) source: Option<ShellWord>,
}

/// A use of git that reads tracked files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recall {
    /// The directories that it could work in; `None` if they are not known.
    pub(crate) directories: Option<Vec<PathBuf>>,
    limits: Vec<PathBuf>,
}

impl Recall {
    pub(super) fn new(directories: Option<Vec<PathBuf>>, limits: Vec<PathBuf>) -> Self {
        Self { directories, limits }
    }

    /// Whether it reads a file that is tracked.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        let (path, limits) = (fold_path(path), self.limits.iter().map(|limit| fold_path(limit)));
        self.limits.is_empty() || limits.into_iter().any(|limit| path.starts_with(&limit))
    }
}

/// The contents that these words, from the subcommand on, take out of the store.
pub(super) fn recalled(words: &[ShellWord]) -> Recalled {
    let Some((subcommand, rest)) = words.split_first() else { return Recalled::default() };
    let Some(subcommand) = subcommand.literal() else {
        return Recalled { is_wide: true, ..Recalled::default() };
    };
    let split = rest.iter().position(|word| word.literal() == Some("--"));
    let (before, paths) = match split {
        Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default()),
        None => (rest, &[][..]),
    };
    let mut operands: Vec<&ShellWord> =
        before.iter().filter(|word| !word.unexpanded().starts_with('-')).collect();
    if subcommand == "grep" && !might_give(before, Some('e'), "") && !operands.is_empty() {
        operands.remove(0);
    }
    let used = GitUse { subcommand, before, operands: &operands, paths };
    let only_names = NAMES_ONLY.contains(&subcommand) || (subcommand == "log" && !used.is_wide());
    let named =
        before.iter().filter(|_| !only_names).filter(|word| subcommand != "grep" || operands.contains(word));
    let mut files: Vec<ShellWord> = named.flat_map(file_words).collect();
    files.extend(paths.iter().filter(|_| !only_names).flat_map(file_words));
    let source = source(subcommand, rest);
    let is_wide = if COPIES.contains(&subcommand) { source.is_some() } else { used.is_wide() };
    let is_own = |word: &&ShellWord| is_plain_path(word) && is_surely_path(word);
    let paths: Vec<&ShellWord> = match split {
        None if subcommand == "grep" && operands.iter().all(is_own) => operands.clone(),
        _ => paths.iter().collect(),
    };
    // A path limits no object that is a file itself, and computed words can bring a `--` and paths of their own.
    let may_be_file =
        matches!(subcommand, "show" | "diff" | "cat-file") && operands.iter().any(|word| is_object(word));
    let is_limit = !may_be_file
        && before.iter().all(|word| !word.is_unknown())
        && before.last().is_none_or(leaves_dashes)
        && paths.iter().all(|word| is_plain_path(word));
    let limits = if is_limit { paths.iter().map(|word| word.unexpanded()).collect() } else { Vec::new() };
    Recalled { files, is_wide, limits, source }
}

/// Whether an option does not take the `--` behind it for its value. Of the options that take none these are the usual ones.
fn leaves_dashes(word: &ShellWord) -> bool {
    const ALONE: &[&str] = &[
        "-p",
        "-u",
        "-w",
        "-b",
        "-z",
        "-i",
        "-m",
        "-c",
        "-W",
        "--patch",
        "--stat",
        "--oneline",
        "--cached",
        "--staged",
        "--follow",
        "--graph",
        "--all",
        "--cc",
        "--reverse",
        "--name-only",
        "--name-status",
        "--numstat",
        "--shortstat",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-merges",
        "--first-parent",
        "--word-diff",
        "--color-words",
        "--minimal",
        "--raw",
        "--stdout",
        "--full-index",
    ];
    let Some(text) = word.literal() else { return false };
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit());
    !text.starts_with('-')
        || ALONE.contains(&text)
        || (text.starts_with("--") && text.contains('='))
        || is_number(text.trim_start_matches('-').trim_start_matches(['U', 'n']))
}

/// Subcommands that copy a repository which they are told.
const COPIES: &[&str] = &["clone", "fetch", "pull", "submodule"];

/// The repository of this machine that is copied, as far as the words tell. A word that is not known may be one.
fn source(subcommand: &str, rest: &[ShellWord]) -> Option<ShellWord> {
    let mut words = rest.iter();
    if subcommand == "submodule" {
        words.find(|word| word.literal() == Some("add"))?;
    }
    let first = loop {
        let word = words.next()?;
        let text = word.unexpanded();
        if CLONE_VALUES.contains(&text.as_str()) {
            words.next();
        } else if !text.starts_with('-') {
            break word;
        }
    };
    let text = first.unexpanded();
    let path = text.strip_prefix("file://").unwrap_or(&text);
    let names_server =
        path.contains("://") || path.split('/').next().is_some_and(|start| start.contains(':'));
    // Elsewhere a plain word is the name of a remote, and a dot is the repository itself.
    let is_path = path.starts_with(['.', '/', '~']) && path != ".";
    let is_local = match subcommand {
        "clone" => !names_server,
        "fetch" | "pull" | "submodule" => is_path && !names_server,
        _ => false,
    };
    is_local
        .then(|| if path.len() == text.len() { first.clone() } else { ShellWord::Literal(path.to_owned()) })
}

/// Words for the files that a word can name: itself, and the part after a colon, an equals sign or magic.
fn file_words(word: &ShellWord) -> Vec<ShellWord> {
    let text = word.unexpanded();
    let text = text.trim_matches('"');
    let after = |mark: char| text.split_once(mark).map(|(_, rest)| rest);
    let magic = text.strip_prefix(":(").and_then(|rest| rest.split_once(')')).map(|(_, path)| path);
    let parts = [
        Some(text),
        blob(text),
        after('='),
        magic,
        text.strip_prefix(":/"),
        text.rsplit_once(':').map(|(_, rest)| rest),
    ];
    let own = |text: &&str| !text.is_empty() && !text.starts_with('-');
    parts.into_iter().flatten().filter(own).map(|text| ShellWord::Literal(text.to_owned())).collect()
}

/// Whether a word is a path and no pattern, and certain.
fn is_plain_path(word: &ShellWord) -> bool {
    word.literal().is_some_and(|text| !text.starts_with(':') && !text.contains(['*', '?', '[', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<ShellWord> {
        line.split(' ').map(ShellWord::decode).collect()
    }

    #[track_caller]
    fn check(line: &str, is_wide: bool) {
        assert_eq!(recalled(&words(line)).is_wide, is_wide, "{line}");
    }

    const WIDE: &[&str] = &[
        "show",
        "show HEAD~3",
        "show v1.0",
        "show $x",
        "show HEAD:$x",
        "show --stat -p HEAD",
        "show :/text",
        "log -p",
        "log --patch -3",
        "log -Skey",
        "log -G key",
        "log -L1,2:x",
        "log -U0",
        "log --pat",
        "whatchanged -p",
        "grep key",
        "grep key HEAD",
        "grep --cached key",
        "cat-file -p abc",
        "cat-file blob abc",
        "cat-file --batch-all-objects --batch",
        "archive HEAD",
        "archive -o x.tar HEAD",
        "format-patch -1",
        "fast-export HEAD",
        "diff main topic",
        "diff main..topic",
        "diff a...b",
        "diff --cached abc",
        "diff abc def -- x*",
        "diff-tree -p HEAD",
        "stash show -p",
        "stash list -p",
        "bundle create x HEAD",
        "checkout-index -a --prefix=x",
        "range-diff a b c",
        "update-index --add --cacheinfo 100644,abc,x",
        "fsck --lost-found",
        "diff HEAD:a.txt 1a2b3c4d",
        "diff 1a2b3c4d a.txt",
        "diff HEAD:a.txt s",
        "diff A:deploy B:deploy",
        "show --stat 1a2b3c4d",
        "show -s 1a2b3c4d",
        "merge-file -p --object-id 1a2b 1a2b 1a2b",
        "clone . /tmp/c",
        "clone -q --bare -b main . /tmp/c",
        "clone file:///w /tmp/c",
        "clone $x /tmp/c",
        "fetch ../other main",
        "submodule add ../other x",
        "worktree add x",
        "archive HEAD:deploy",
        "tag x 1a2b3c4d",
        "replace 1a2b3c4d 5e6f7a8b",
        "notes add -C 1a2b3c4d",
        "read-tree -u 1a2b3c4d",
        "checkout -p HEAD~3",
        "reset --patch HEAD~3",
        "rebase --show-current-patch",
        "log --dd",
        "unpack-file 1a2b3c4d",
        "merge-one-file a b c",
        "some-alias",
        "$x",
        "blame HEAD -- .en*",
        "blame $x",
        "annotate .e?v HEAD",
        "diff HEAD",
        "diff HEAD~1",
        "diff HEAD^!",
        "diff HEAD^-",
        "diff HEAD^-1",
        "diff @{0}^!",
        "diff HEAD^@",
        "diff stash^!",
        "diff $x",
        "diff *",
        "diff --cached",
        "diff --staged src/a.rs",
        "diff a.rs b.rs",
        "diff -O --no-index main topic",
        "diff HEAD:conf.d topic:conf.d",
        "diff --stat --check HEAD",
        "show --stat tag",
        "show -s --tags",
        "show HEAD:a.rs --all",
        "show --stdin HEAD:a.rs",
        "log $x",
        "log --since=$x",
        "log * -1",
        "log -wbRp",
        "log --diff-merges=on",
        "log --check",
        "stash show --text",
        "stash push -p",
        "grep key a.rs",
        "status -v",
        "status --verb",
        "commit --dry-run -v",
        "commit --interactive",
        "commit $x",
        "add -i",
        "config --blob=HEAD:.env -l",
        "config --blob s -l",
        "config -l $x",
        "for-each-ref --format=%(raw)",
        "tag -l --format=%(raw)",
        "branch --format=%(raw)",
        "reset $x",
        "checkout $x",
    ];

    #[test]
    fn printing_or_copying_everything_is_wide() {
        for line in WIDE {
            check(line, true);
        }
    }

    #[test]
    fn listing_names_and_current_changes_is_not_wide() {
        for line in [
            "status",
            "diff",
            "diff --stat",
            "diff --stat HEAD",
            "diff --cached --name-only",
            "diff src/a.rs",
            "diff src/*.rs",
            "diff ./a ../b",
            "diff -- a b",
            "diff --no-index a b",
            "blame src/a.rs",
            "blame -L1,9 HEAD -- src/a.rs",
            "status -sb",
            "commit -m $x",
            "commit -am $x",
            "commit -mverbose",
            "config user.name $x",
            "tag $x",
            "branch -D topic",
            "show --stat HEAD~2",
            "show --stat main..topic",
            "stash show --stat",
            "stash -u",
            "log --color",
            "diff --stat main topic",
            "diff --name-only a..b",
            "log",
            "log --oneline -5",
            "log --stat",
            "log --author=pete --since=yesterday",
            "show --stat HEAD",
            "show --name-only",
            "show -s --format=%H",
            "show HEAD:src/a.rs",
            "cat-file -t abc",
            "cat-file -p HEAD:src/a.rs",
            "stash show",
            "stash",
            "bundle verify x",
            "checkout-index x",
            "commit -p",
            "add -p",
            "clone https://example.org/x",
            "clone -b main git@example.org:x y",
            "clone --depth 1 ssh://example.org/x",
            "fetch origin",
            "fetch --all",
            "pull",
            "pull . topic",
            "submodule update --init",
            "submodule add https://example.org/x",
            "worktree list",
            "checkout -b topic",
            "switch main",
            "restore a.txt",
            "reset HEAD~1",
            "rebase main",
            "merge topic",
            "cherry-pick 1a2b3c4d",
            "revert HEAD",
            "tag v1.0",
            "tag -a v1.0 -m text",
            "gc",
            "init",
            "push origin main",
            "for-each-ref",
            "bisect start",
            "log --oneline 1a2b3c4d",
        ] {
            check(line, false);
        }
    }

    #[test]
    fn paths_limit_it_where_they_are_plain() {
        let limits = |line: &str| recalled(&words(line)).limits;
        assert_eq!(limits("log -p -- src"), ["src"]);
        assert_eq!(limits("log -p -- src *.env"), [""; 0]);
        assert_eq!(limits("log -p -- src :(top).env"), [""; 0]);
        assert_eq!(limits("grep key src/"), ["src/"]);
        assert_eq!(limits("grep key HEAD src/"), [""; 0]);
        assert_eq!(limits("grep key a.rs"), [""; 0]);
        assert_eq!(limits("log -p -3 -- src"), ["src"]);
        assert_eq!(limits("log -p --until -- topic"), [""; 0]);
        assert_eq!(limits("log -p -O -- topic"), [""; 0]);
        assert_eq!(limits("log $x -- src"), [""; 0]);
        assert_eq!(limits("log -p -- '.e\\nv'"), [""; 0]);
        assert_eq!(limits("show 1a2b3c4d -- src"), [""; 0]);
        assert_eq!(limits("diff 1a2b3c4d -- src/a.rs"), [""; 0]);
    }
}
