//! Uses of git that only print information. A repository's settings can name programs that even these run, so
//! they count as reading only if the kernel holds all processes of a command to reading.

use super::TouchAccess;
use super::files::{git_words, outcome};
use super::flags::{FlagOrder, Flags, split};
use crate::shell::ShellWord;

/// A subcommand, and its uses that only print information.
pub(crate) struct GitReader {
    pub(crate) names: &'static [&'static str],
    uses: Uses,
    /// Lines that a test runs in a repository: nothing may change.
    pub(crate) tried: &'static [&'static str],
}

enum Uses {
    /// With all options that write no file.
    All,
    /// With these options and no operand; with operands only if one of these selects the listed entries.
    Lists { flags: Flags, selectors: &'static [&'static str] },
    /// With one of these words first.
    First(&'static [&'static str]),
    /// With one of these options.
    With(&'static [&'static str]),
}

const fn reads(names: &'static [&'static str], tried: &'static [&'static str]) -> GitReader {
    GitReader { names, uses: Uses::All, tried }
}

const LISTING: &[&str] = &["l", "list", "contains", "no-contains", "merged", "no-merged", "points-at"];
const SELECTING: &[&str] = &[
    "contains",
    "no-contains",
    "merged",
    "no-merged",
    "points-at",
    "sort",
    "format",
    "color",
    "column",
    "abbrev",
];

/// The table.
pub(crate) const GIT_READERS: &[GitReader] = &[
    reads(&["status"], &["git status", "git status --short --branch", "git -C . status -s"]),
    reads(
        &["log", "whatchanged", "shortlog", "show", "show-branch"],
        &[
            "git log --oneline -5",
            "git log -p --stat",
            "git show HEAD",
            "git show --stat HEAD",
            "git shortlog -sn HEAD",
        ],
    ),
    reads(
        &["diff", "diff-files", "diff-index", "diff-tree", "range-diff"],
        &[
            "git diff",
            "git diff --stat",
            "git diff HEAD -- one.txt",
            "git diff --cached",
            "git diff-tree HEAD",
        ],
    ),
    reads(&["blame", "annotate"], &["git blame one.txt"]),
    reads(
        &["rev-parse", "rev-list", "merge-base", "name-rev", "describe", "cherry", "var"],
        &[
            "git rev-parse HEAD",
            "git rev-list --count HEAD",
            "git describe --always",
            "git rev-parse --show-toplevel",
        ],
    ),
    reads(
        &["ls-files", "ls-tree", "cat-file", "show-ref", "for-each-ref", "grep", "count-objects"],
        &[
            "git ls-files",
            "git ls-tree -r HEAD",
            "git grep -n changed",
            "git for-each-ref",
            "git cat-file -p HEAD",
        ],
    ),
    reads(
        &["check-attr", "check-ignore", "check-mailmap", "verify-commit", "verify-tag", "version"],
        &["git version", "git check-ignore -v one.txt"],
    ),
    GitReader {
        names: &["branch"],
        uses: Uses::Lists {
            flags: Flags::of("avrliq", "").long(
                &[
                    "list",
                    "all",
                    "remotes",
                    "verbose",
                    "show-current",
                    "color",
                    "column",
                    "ignore-case",
                    "merged",
                    "no-merged",
                ],
                SELECTING,
            ),
            selectors: LISTING,
        },
        tried: &[
            "git branch",
            "git branch -a",
            "git branch -vv",
            "git branch --show-current",
            "git branch --list main",
        ],
    },
    GitReader {
        names: &["tag"],
        uses: Uses::Lists {
            flags: Flags::of("liq0123456789n", "")
                .long(&["list", "color", "column", "ignore-case", "merged", "no-merged"], SELECTING),
            selectors: LISTING,
        },
        tried: &["git tag", "git tag -l", "git tag --sort=-creatordate", "git tag -n3"],
    },
    GitReader {
        names: &["remote"],
        uses: Uses::Lists { flags: Flags::of("v", "").long(&["verbose"], &[]), selectors: &[] },
        tried: &["git remote", "git remote -v"],
    },
    GitReader { names: &["remote"], uses: Uses::First(&["get-url"]), tried: &[] },
    GitReader {
        names: &["reflog"],
        uses: Uses::Lists {
            flags: Flags::of("", "n").long(&["all", "oneline"], &["date", "max-count"]),
            selectors: &[],
        },
        tried: &["git reflog", "git reflog -n 3"],
    },
    GitReader {
        names: &["reflog"],
        uses: Uses::First(&["show", "list", "exists"]),
        tried: &["git reflog show HEAD"],
    },
    GitReader { names: &["stash"], uses: Uses::First(&["list", "show"]), tried: &["git stash list"] },
    GitReader { names: &["worktree"], uses: Uses::First(&["list"]), tried: &["git worktree list"] },
    GitReader { names: &["notes"], uses: Uses::First(&["list", "show"]), tried: &["git notes list"] },
    GitReader { names: &["submodule"], uses: Uses::First(&["status", "summary"]), tried: &[] },
    GitReader { names: &["bisect"], uses: Uses::First(&["log"]), tried: &[] },
    GitReader {
        names: &["config"],
        uses: Uses::With(&["--get", "--get-all", "--get-regexp", "--list", "-l"]),
        tried: &["git config --list", "git config --get user.name"],
    },
    GitReader { names: &["config"], uses: Uses::First(&["get", "list"]), tried: &[] },
];

/// Whether these words after `git` only print information.
pub(super) fn only_tells(arguments: &[ShellWord]) -> bool {
    if !arguments.iter().all(is_certain) {
        return false;
    }
    let writes = |outcome: super::files::WeighOutcome| {
        outcome.touched.iter().any(|touched| !matches!(touched.access, TouchAccess::Look | TouchAccess::Read))
            || !outcome.dangers.is_empty()
    };
    let (words, _) = git_words(arguments);
    let Some((subcommand, rest)) = words.split_first() else {
        return arguments
            .iter()
            .all(|word| matches!(word.literal(), Some("--version" | "-v" | "--exec-path")));
    };
    let Some(name) = subcommand.literal() else { return false };
    GIT_READERS.iter().filter(|reader| reader.names.contains(&name)).any(|reader| match &reader.uses {
        // An option that no table of git knows could mean anything.
        Uses::All => outcome("git", arguments).is_some_and(|outcome| !writes(outcome)),
        Uses::Lists { flags, selectors } => split(rest, flags, FlagOrder::Mixed).is_some_and(|split| {
            split.operands.is_empty() || selectors.iter().any(|selector| split.has(selector))
        }),
        Uses::First(words) => {
            rest.first().and_then(ShellWord::literal).is_some_and(|first| words.contains(&first))
                && !rest.iter().any(|word| word.unexpanded().starts_with("--output"))
        }
        Uses::With(options) => {
            let text = |word: &ShellWord| word.unexpanded();
            let is_listed = |text: &String| {
                options.contains(&text.as_str()) || !text.starts_with('-') || text.starts_with("--show-")
            };
            rest.iter().any(|word| options.contains(&text(word).as_str()))
                && rest.iter().map(text).all(|text| is_listed(&text))
        }
    })
}

/// Whether a word cannot become an option.
fn is_certain(word: &ShellWord) -> bool {
    match word {
        ShellWord::Literal(_) | ShellWord::Home { .. } => true,
        ShellWord::Glob(text) => text.starts_with(|first| !"-*?[".contains(first)),
        ShellWord::Unknown(_) => false,
    }
}
