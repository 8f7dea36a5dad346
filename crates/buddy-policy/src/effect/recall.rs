//! Contents that git takes out of its store: `git show HEAD:.env` reads a secret although no file is opened.
//!
//! A word that names a file reads that file. A command that prints or copies a whole tree or history reads
//! every file that the repository tracks, or those that its paths limit it to. So does one that takes an object by
//! its number, which can be any file, and one that no table knows.

use std::path::{Path, PathBuf};

use super::flags::might_give;
use super::git::looks_like_a_file;
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

/// Subcommands that take no contents out of the store but to the place in the work tree that they have there, which is sealed.
const NO_CONTENTS: &str = "\
    add annotate apply blame branch check-attr check-ignore check-mailmap check-ref-format cherry cherry-pick \
    clean column commit commit-graph commit-tree config contacts count-objects credential credential-cache \
    credential-store describe fmt-merge-msg for-each-ref gc get-tar-commit-id hash-object help index-pack init \
    init-db interpret-trailers last-modified ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge \
    merge-base multi-pack-index mv name-rev pack-redundant pack-refs patch-id pickaxe prune prune-packed push \
    refs remote repack replay rev-list rev-parse revert rm shortlog show-branch show-index show-ref \
    sparse-checkout stage status stripspace survey switch symbolic-ref unpack-objects update-ref \
    update-server-info var verify-commit verify-pack verify-tag version write-tree \
";

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

/// The digits of the shortest number that git takes for an object.
const OBJECT_DIGITS: usize = 4;

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
        self.limits.is_empty() || self.limits.iter().any(|limit| path.starts_with(limit))
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
    let prints = prints_patch(before);
    let only_names = NAMES_ONLY.contains(&subcommand) || (subcommand == "log" && !prints);
    let named =
        before.iter().filter(|_| !only_names).filter(|word| subcommand != "grep" || operands.contains(word));
    let mut files: Vec<ShellWord> = named.flat_map(file_words).collect();
    files.extend(paths.iter().filter(|_| !only_names).flat_map(file_words));
    // A blob that is named by its path is that file alone. Of a directory, some print only the names in it.
    let lists = matches!(subcommand, "show" | "cat-file");
    let is_blob = |word: &&ShellWord| {
        let path = word.literal().and_then(blob);
        path.is_some_and(|path| lists || path.rsplit('/').next().is_some_and(|name| name.contains('.')))
    };
    let is_all_blobs = !operands.is_empty() && operands.iter().all(is_blob);
    let source = source(subcommand, rest);
    let is_copy = COPIES.contains(&subcommand);
    let is_wide = if is_copy {
        source.is_some()
    } else {
        is_wide(subcommand, before, &operands, prints) && !is_all_blobs
    };
    let own_paths =
        operands.iter().copied().filter(|word| is_plain_path(word) && looks_like_a_file(&word.unexpanded()));
    let paths: Vec<&ShellWord> = if subcommand == "grep" && split.is_none() {
        let own: Vec<&ShellWord> = own_paths.collect();
        if own.len() == operands.len() { own } else { Vec::new() }
    } else {
        paths.iter().collect()
    };
    // A path limits no object that is a file itself.
    let may_be_file =
        matches!(subcommand, "show" | "diff" | "cat-file") && operands.iter().any(|word| is_object(word));
    let limits = if !may_be_file && paths.iter().all(|word| is_plain_path(word)) {
        paths.iter().map(|word| word.unexpanded()).collect()
    } else {
        Vec::new()
    };
    Recalled { files, is_wide, limits, source }
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

/// Whether a word can be the number of an object.
fn is_object(word: &ShellWord) -> bool {
    let is_number = |text: &str| {
        let digits = text.split(['^', '~', '@']).next().unwrap_or_default();
        digits.len() >= OBJECT_DIGITS && digits.chars().all(|digit| digit.is_ascii_hexdigit())
    };
    word.literal().is_none_or(is_number)
}

fn is_wide(subcommand: &str, options: &[ShellWord], operands: &[&ShellWord], prints: bool) -> bool {
    let has = |long: &str| might_give(options, None, long);
    let first = operands.first().and_then(|word| word.literal()).unwrap_or_default();
    match subcommand {
        "show" => prints || !only_sums_up(options) || operands.iter().any(|word| is_object(word)),
        "log" | "whatchanged" | "reflog" | "diff-tree" | "diff-index" | "diff-files" | "request-pull" => {
            prints
        }
        "stash" => matches!(first, "show" | "list") && prints,
        "diff" => {
            let is_range = |word: &&ShellWord| word.literal().is_none_or(|text| text.contains(".."));
            let is_file = |word: &&ShellWord| {
                looks_like_a_file(&word.unexpanded()) && word.literal().and_then(blob).is_none()
            };
            let revisions = operands.iter().filter(|word| !is_file(word)).count();
            let is_staged = has("cached") || has("staged");
            let are_two = revisions > 1 || (revisions > 0 && is_staged) || operands.iter().any(is_range);
            let may_be_file = operands.iter().any(|word| is_object(word));
            (are_two || may_be_file) && (prints || !only_sums_up(options)) && !has("no-index")
        }
        "cat-file" => !matches!(options.first().and_then(ShellWord::literal), Some("-t" | "-s" | "-e")),
        "checkout-index" => {
            ["all", "stdin", "prefix", "temp"].iter().any(|long| has(long))
                || might_give(options, Some('a'), "")
        }
        "update-index" => has("cacheinfo") || has("index-info"),
        "bundle" => !matches!(first, "verify" | "list-heads" | "unbundle"),
        "fsck" | "fsck-objects" => has("lost-found"),
        "checkout" | "reset" | "restore" => might_give(options, Some('p'), "patch"),
        "am" | "rebase" => has("show-current-patch"),
        "rerere" => first == "diff",
        "bisect" => matches!(first, "visualize" | "view"),
        "worktree" => first == "add",
        "bugreport" => has("diagnose"),
        "merge-file" => has("object-id"),
        // A name of its own for a file.
        "tag" => operands.iter().skip(1).any(|word| is_object(word)),
        "notes" => matches!(first, "add" | "append") && (might_give(options, Some('C'), "reuse-message")),
        "lfs" => first == "smudge",
        _ => !NO_CONTENTS.split_whitespace().any(|known| known == subcommand),
    }
}

/// Whether options make git print changes line by line, or reveal whether it holds a text.
fn prints_patch(options: &[ShellWord]) -> bool {
    const LONG: &[&str] = &[
        "patch",
        "patch-with-stat",
        "patch-with-raw",
        "unified",
        "word-diff",
        "color-words",
        "cc",
        "remerge-diff",
        "function-context",
        "binary",
        "inter-hunk-context",
        "ext-diff",
        "dd",
    ];
    options.iter().any(|word| {
        let text = word.unexpanded();
        match text.strip_prefix("--") {
            Some(long) => {
                let name = long.split('=').next().unwrap_or(long);
                LONG.iter().any(|known| name.len() > 1 && known.starts_with(name))
            }
            None => text.strip_prefix('-').is_some_and(|letters| {
                letters.starts_with(['p', 'u', 'U', 'L', 'S', 'G', 'W', 'c'])
                    || (letters.len() <= 3 && letters.contains(['p', 'u']))
            }),
        }
    })
}

/// Whether options leave only names and numbers of the changes.
fn only_sums_up(options: &[ShellWord]) -> bool {
    const SUMS: &[&str] = &[
        "stat",
        "shortstat",
        "numstat",
        "name-only",
        "name-status",
        "dirstat",
        "summary",
        "no-patch",
        "raw",
        "quiet",
        "compact-summary",
    ];
    options.iter().any(|word| {
        let text = word.unexpanded();
        let name = text.split('=').next().unwrap_or_default();
        text == "-s" || text == "-q" || name.strip_prefix("--").is_some_and(|name| SUMS.contains(&name))
    })
}

/// The path of `REV:path`, `:path` or `:0:path`. Magic such as `:/text` and `:(top)x` is none.
fn blob(text: &str) -> Option<&str> {
    let (revision, path) = text.split_once(':')?;
    let path = path
        .strip_prefix(|stage: char| stage.is_ascii_digit())
        .and_then(|rest| rest.strip_prefix(':'))
        .unwrap_or(path);
    let is_magic = revision.is_empty() && path.starts_with(['/', '(', '!', '^']);
    (!path.is_empty() && !is_magic).then_some(path)
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
    word.literal().is_some_and(|text| !text.starts_with(':') && !text.contains(['*', '?', '[']))
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

    #[test]
    fn printing_or_copying_everything_is_wide() {
        for line in [
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
        ] {
            check(line, true);
        }
    }

    #[test]
    fn listing_names_and_current_changes_is_not_wide() {
        for line in [
            "status",
            "diff",
            "diff --stat",
            "diff HEAD~1",
            "diff --cached",
            "diff src/a.rs",
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
        assert_eq!(limits("show 1a2b3c4d -- src"), [""; 0]);
        assert_eq!(limits("diff 1a2b3c4d -- src/a.rs"), [""; 0]);
    }
}
