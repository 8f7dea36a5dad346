//! Git, by subcommand. Its own store in `.git` is its own affair; the rows are about the files of the work tree.

use super::{Access, Does, Flags, Operands, Row, When, row};
use crate::shell::Word;

/// Options before the subcommand that take a word.
const GLOBAL_VALUE: &[&str] =
    &["-c", "--config-env", "--exec-path", "-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix"];

const STORE: &[&str] = &[
    "add",
    "branch",
    "cat-file",
    "check-attr",
    "check-ignore",
    "cherry",
    "commit",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "describe",
    "fetch",
    "for-each-ref",
    "fsck",
    "gc",
    "hash-object",
    "help",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "maintenance",
    "merge-base",
    "mktree",
    "name-rev",
    "notes",
    "pack-refs",
    "prune",
    "push",
    "reflog",
    "remote",
    "replace",
    "rerere",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show-branch",
    "show-ref",
    "stage",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "verify-tag",
    "version",
    "write-tree",
    "blame",
    "annotate",
    "grep",
    "status",
    "log",
    "show",
    "diff",
    "diff-tree",
    "diff-index",
    "diff-files",
    "range-diff",
    "whatchanged",
    "filter-branch",
    "filter-repo",
    "send-email",
    "difftool",
    "daemon",
    "instaweb",
    "shell",
];
const TREE: &[&str] = &[
    "merge",
    "rebase",
    "cherry-pick",
    "revert",
    "pull",
    "am",
    "switch",
    "bisect",
    "submodule",
    "lfs",
    "sparse-checkout",
    "stash",
    "checkout-index",
    "read-tree",
    "mergetool",
    "checkout",
    "reset",
    "subtree",
];

pub(super) const ROWS: &[Row] = &[
    row(&["git"], Operands::Text)
        .when(When::Word(STORE))
        .lenient()
        .with(&[(&["output"], Does::Writes)])
        .changes(&["cd repo && git diff --output=out.diff", "cd repo && git log --output log.txt"])
        .reads(&[
            "cd repo && git status",
            "cd repo && git log --oneline",
            "cd repo && git diff",
            "cd repo && git add two.txt",
        ]),
    row(&["git"], Operands::Here)
        .when(When::Word(TREE))
        .lenient()
        .with(&[(&["hard", "f", "force", "discard-changes"], Does::Here)])
        .check(discards_all)
        .changes(&[
            "cd repo && git checkout -- one.txt",
            "cd repo && git checkout other",
            "cd repo && git reset --hard",
            "cd repo && git stash",
            "git -C repo checkout one.txt",
            "cd repo && git switch -f other",
        ]),
    row(&["git"], Operands::Each(Access::Write))
        .when(When::Word(&["restore"]))
        .flags(
            Flags::of("SWqp2", "s")
                .long(&["staged", "worktree", "quiet", "patch", "ours", "theirs"], &["source"]),
        )
        .check(restores_all)
        .changes(&["cd repo && git restore one.txt", "cd repo && git restore -s HEAD one.txt"])
        .reads(&["cd repo && git restore --staged one.txt"]),
    row(&["git"], Operands::Text)
        .when(When::Word(&["clean"]))
        .flags(Flags::of("qdxX", "e").long(&["quiet"], &["exclude"]))
        .with(&[(&["n", "dry-run"], Does::Keeps), (&["f", "force", "i", "interactive"], Does::Discards)])
        .changes(&[
            "cd repo && git clean -f",
            "cd repo && git clean -fdx",
            "cd repo && git clean -qf new.txt",
            "git -C repo clean -f",
        ])
        .reads(&["cd repo && git clean -n"]),
    row(&["git"], Operands::Each(Access::Delete))
        .when(When::Word(&["rm"]))
        .flags(Flags::of("rfqn", "").long(&["force", "quiet", "ignore-unmatch", "dry-run"], &[]))
        .with(&[(&["cached"], Does::OnlyReads)])
        .changes(&["cd repo && git rm -f one.txt"])
        .reads(&["cd repo && git rm --cached one.txt"]),
    row(&["git"], Operands::MoveTo)
        .when(When::Word(&["mv"]))
        .flags(Flags::of("fkvn", "").long(&["force", "verbose", "dry-run"], &[]))
        .changes(&["cd repo && git mv one.txt moved.txt"]),
    row(&["git"], Operands::Here)
        .when(When::Word(&["apply"]))
        .lenient()
        .with(&[
            (&["directory"], Does::WritesWithin),
            (&["unsafe-paths"], Does::Anywhere),
            (&["check", "stat", "numstat", "summary"], Does::OnlyReads),
        ])
        .changes(&["cd repo && git apply two.diff"])
        .reads(&["cd repo && git apply --check two.diff"]),
    row(&["git"], Operands::Each(Access::Write))
        .when(When::Word(&["init", "clone", "worktree"]))
        .lenient()
        .with(&[(&["separate-git-dir"], Does::WritesWithin), (&["q", "quiet"], Does::Here)])
        .changes(&["git init -q made", "git clone -q repo copy", "cd repo && git worktree add -q wt"]),
    row(&["git"], Operands::Each(Access::Write))
        .when(When::Word(&["bundle"]))
        .lenient()
        .changes(&["cd repo && git bundle create -q ../new HEAD"]),
    row(&["git"], Operands::Text)
        .when(When::Word(&["archive"]))
        .lenient()
        .with(&[(&["o", "output"], Does::Writes)])
        .changes(&["cd repo && git archive -o ../new.tar HEAD"])
        .reads(&["cd repo && git archive HEAD"]),
    row(&["git"], Operands::Members)
        .when(When::Word(&["format-patch"]))
        .lenient()
        .with(&[(&["o", "output-directory"], Does::WritesWithin), (&["stdout"], Does::OnlyReads)])
        .changes(&["cd repo && git format-patch -1", "cd repo && git format-patch -o ../empty -1"])
        .reads(&["cd repo && git format-patch --stdout -1"]),
];

/// The words from the subcommand on, and the directories that it works in.
pub(super) fn stripped(arguments: &[Word]) -> (Vec<Word>, Vec<Word>) {
    let mut bases = Vec::new();
    let mut rest = arguments;
    while let Some((first, after)) = rest.split_first() {
        let Some(text) = first.literal().filter(|text| text.starts_with('-')) else { break };
        let (name, joined) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        rest = after;
        let takes_next = joined.is_none() && GLOBAL_VALUE.contains(&name);
        let value = match joined {
            Some(value) => Some(Word::Literal(value.to_owned())),
            None if takes_next => rest.first().cloned(),
            None => None,
        };
        if takes_next {
            rest = rest.get(1..).unwrap_or_default();
        }
        if matches!(name, "-C" | "--work-tree") {
            bases.extend(value);
        }
    }
    (rest.to_vec(), bases)
}

const DISCARDS: &str = "it throws away changes that are not committed";

fn names_all(operands: &[Word]) -> bool {
    operands
        .iter()
        .any(|word| word.literal().is_none_or(|text| matches!(text, "." | "./" | ":/" | ":" | "*" | "..")))
}

fn discards_all(operands: &[Word], names: &[String]) -> Option<&'static str> {
    let is_given = |wanted: &[&str]| {
        names.iter().any(|name| {
            wanted.iter().any(|whole| name == whole || (name.len() > 1 && whole.starts_with(name.as_str())))
        })
    };
    (is_given(&["hard", "f", "force", "discard-changes"]) || names_all(operands)).then_some(DISCARDS)
}

fn restores_all(operands: &[Word], names: &[String]) -> Option<&'static str> {
    let is_given = |short: &str, long: &str| {
        names.iter().any(|name| name == short || (name.len() > 1 && long.starts_with(name.as_str())))
    };
    let only_index = is_given("S", "staged") && !is_given("W", "worktree");
    (!only_index && names_all(operands)).then_some(DISCARDS)
}
