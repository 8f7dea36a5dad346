//! Git, by subcommand. Its own store in `.git` is its own affair; the rows are about the files of the work tree.

use super::row::{Does, FileRow, RowCondition, RowOperands, row};
use crate::effect::TouchAccess;
use crate::effect::flags::Flags;
use crate::shell::ShellWord;

/// Options before the subcommand that take a word.
const GLOBAL_VALUE: &[&str] = &[
    "-c",
    "--config-env",
    "--exec-path",
    "-C",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--attr-source",
];

/// They print information. Their own records in the store change nothing that others see.
const LOOKS: &[&str] = &[
    "annotate",
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "cherry",
    "column",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fmt-merge-msg",
    "for-each-ref",
    "fsck",
    "get-tar-commit-id",
    "grep",
    "help",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge-base",
    "name-rev",
    "patch-id",
    "pickaxe",
    "range-diff",
    "request-pull",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-index",
    "show-ref",
    "status",
    "stripspace",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
];
/// They change the store.
const STORE: &[&str] = &[
    "add",
    "commit",
    "commit-graph",
    "commit-tree",
    "credential",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "filter-repo",
    "gc",
    "maintenance",
    "merge-tree",
    "mktag",
    "mktree",
    "multi-pack-index",
    "pack-refs",
    "prune",
    "prune-packed",
    "repack",
    "rerere",
    "send-email",
    "stage",
    "unpack-objects",
    "update-index",
    "update-ref",
    "update-server-info",
    "write-tree",
    "daemon",
    "instaweb",
    "shell",
];
/// They change the store when they are given a name, and print information without one.
const LISTS: &[&str] =
    &["branch", "config", "hash-object", "notes", "reflog", "remote", "replace", "symbolic-ref", "tag"];
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
    "read-tree",
    "mergetool",
    "checkout",
    "reset",
    "subtree",
];

pub(super) const ROWS: &[FileRow] = &[
    row(&["git"], RowOperands::Text)
        .when(RowCondition::Word(LOOKS))
        .lenient()
        .with(&[(&["output"], Does::Writes)])
        .changes(&["cd repo && git diff --output=out.diff", "cd repo && git log --output log.txt"])
        .reads(&[
            "cd repo && git status",
            "cd repo && git log --oneline",
            "cd repo && git diff",
            "cd repo && git grep -n changed",
            "cd repo && git cat-file -p HEAD",
        ]),
    row(&["git"], RowOperands::Store).when(RowCondition::Word(STORE)).lenient().reads(&[
        "cd repo && git add two.txt",
        "cd repo && git fetch -q ../bare.git",
        "cd repo && git commit -qam x",
    ]),
    row(&["git"], RowOperands::StoreAndFirst)
        .when(RowCondition::Word(&["push", "send-pack"]))
        .lenient()
        .changes(&["cd repo && git push -q ../bare.git other:refs/heads/new"])
        .untried(&["git push", "git push origin main"]),
    row(&["git"], RowOperands::StoreOf)
        .when(RowCondition::Word(LISTS))
        .lenient()
        .with(&[(
            &[
                "l",
                "list",
                "get",
                "get-all",
                "get-regexp",
                "get-urlmatch",
                "contains",
                "merged",
                "no-merged",
                "points-at",
                "show-current",
                "verify",
            ],
            Does::OnlyReads,
        )])
        .reads(&["cd repo && git branch -a", "cd repo && git tag", "cd repo && git tag v1"]),
    row(&["git"], RowOperands::Text)
        .when(RowCondition::Pair("stash", &["list", "show"]))
        .lenient()
        .reads(&["cd repo && git stash list"]),
    row(&["git"], RowOperands::Text)
        .when(RowCondition::Pair("submodule", &["status", "summary"]))
        .lenient()
        .reads(&["cd repo && git submodule status"]),
    row(&["git"], RowOperands::CloneTo)
        .when(RowCondition::Pair("submodule", &["add"]))
        .flags(Flags::of("fq", "b").long(
            &["force", "quiet", "progress", "dissociate"],
            &["branch", "name", "reference", "depth", "ref-format"],
        ))
        .lenient()
        .brings_links()
        .changes(&[
            "cd repo && git -c protocol.file.allow=always submodule add -q -b other ./. lib",
            "cd repo && git -c protocol.file.allow=always submodule add -q {here}/repo/.git",
        ]),
    row(&["git"], RowOperands::Here)
        .when(RowCondition::Word(TREE))
        .lenient()
        .with(&[
            (&["hard", "f", "force", "discard-changes"], Does::Here),
            (&["index-output"], Does::AlsoWrites),
        ])
        .discards(discards_all)
        .brings_links()
        .changes(&[
            "cd repo && git checkout -- one.txt",
            "cd repo && git checkout other",
            "cd repo && git reset --hard",
            "cd repo && git stash",
            "git -C repo checkout one.txt",
            "git --git-dir repo/.git --work-tree repo checkout one.txt",
            "cd repo && git switch -f other",
        ]),
    row(&["git"], RowOperands::Each(TouchAccess::Write))
        .when(RowCondition::Word(&["checkout-index"]))
        .lenient()
        .with(&[
            (&["prefix"], Does::WritesBeside),
            (&["a", "all", "temp"], Does::Here),
            (&["stdin"], Does::Anywhere),
        ])
        .brings_links()
        .changes(&[
            "cd repo && git checkout-index --prefix=../empty/ -a",
            "cd repo && git checkout-index -f one.txt",
            "cd repo && git checkout-index --prefix ../x- two.txt",
        ]),
    row(&["git"], RowOperands::Text)
        .when(RowCondition::Word(&["fast-export"]))
        .lenient()
        .with(&[(&["export-marks"], Does::Writes)])
        .changes(&["cd repo && git fast-export --export-marks=marks HEAD"])
        .reads(&["cd repo && git fast-export HEAD"]),
    row(&["git"], RowOperands::Store)
        .when(RowCondition::Word(&["fast-import"]))
        .lenient()
        .with(&[(&["export-marks", "export-pack-edges"], Does::Writes)])
        .changes(&["cd repo && git fast-export HEAD | git fast-import --quiet --force --export-marks=marks"]),
    row(&["git"], RowOperands::Here)
        .when(RowCondition::Word(&["bugreport", "diagnose", "mailsplit", "unpack-file"]))
        .lenient()
        .leaves_store()
        .with(&[(&["o", "output-directory"], Does::WritesWithin)])
        .changes(&["cd repo && git unpack-file HEAD:one.txt"]),
    row(&["git"], RowOperands::Each(TouchAccess::Write))
        .when(RowCondition::Word(&["mailinfo"]))
        .lenient()
        .leaves_store()
        .changes(&["cd repo && git format-patch --stdout -1 | git mailinfo message diff"]),
    row(&["git"], RowOperands::Beside)
        .when(RowCondition::Word(&["pack-objects", "index-pack"]))
        .lenient()
        .leaves_store()
        .with(&[(&["stdout", "stdin"], Does::Here), (&["o"], Does::Writes)])
        .changes(&["cd repo && git rev-list --objects HEAD | git pack-objects -q ../empty/p"]),
    row(&["git"], RowOperands::First(TouchAccess::Write))
        .when(RowCondition::Word(&["merge-file"]))
        .lenient()
        .leaves_store()
        .with(&[(&["p", "stdout"], Does::OnlyReads)])
        .changes(&["cd repo && git merge-file one.txt two.txt new.txt"])
        .reads(&["cd repo && git merge-file -p one.txt two.txt one.txt"]),
    row(&["git"], RowOperands::Each(TouchAccess::Read))
        .when(RowCondition::Word(&["interpret-trailers"]))
        .lenient()
        .leaves_store()
        .with(&[(&["in-place"], Does::InPlace)])
        .changes(&["cd repo && git interpret-trailers --in-place --trailer a:b new.txt"]),
    row(&["git"], RowOperands::Each(TouchAccess::Write))
        .when(RowCondition::Word(&["restore"]))
        .flags(
            Flags::of("SWqp2", "s")
                .long(&["staged", "worktree", "quiet", "patch", "ours", "theirs"], &["source"]),
        )
        .discards(restores_all)
        .brings_links()
        .changes(&["cd repo && git restore one.txt", "cd repo && git restore -s HEAD one.txt"])
        .reads(&["cd repo && git restore --staged one.txt"]),
    row(&["git"], RowOperands::Text)
        .when(RowCondition::Word(&["clean"]))
        .flags(Flags::of("qdxX", "e").long(&["quiet"], &["exclude"]))
        .with(&[(&["n", "dry-run"], Does::Keeps), (&["f", "force", "i", "interactive"], Does::Discards)])
        .changes(&[
            "cd repo && git clean -f",
            "cd repo && git clean -fdx",
            "cd repo && git clean -qf new.txt",
            "git -C repo clean -f",
        ])
        .reads(&["cd repo && git clean -n"]),
    row(&["git"], RowOperands::Each(TouchAccess::Delete))
        .when(RowCondition::Word(&["rm"]))
        .keeps_targets()
        .flags(Flags::of("rfqn", "").long(&["force", "quiet", "ignore-unmatch", "dry-run"], &[]))
        .with(&[(&["cached"], Does::OnlyReads)])
        .changes(&["cd repo && git rm -f one.txt"])
        .reads(&["cd repo && git rm --cached one.txt"]),
    row(&["git"], RowOperands::MoveTo)
        .when(RowCondition::Word(&["mv"]))
        .keeps_targets()
        .flags(Flags::of("fkvn", "").long(&["force", "verbose", "dry-run"], &[]))
        .changes(&["cd repo && git mv one.txt moved.txt"]),
    row(&["git"], RowOperands::Here)
        .when(RowCondition::Word(&["apply"]))
        .lenient()
        .leaves_store()
        .with(&[
            (&["directory"], Does::WritesWithin),
            (&["unsafe-paths"], Does::Anywhere),
            (&["build-fake-ancestor"], Does::Writes),
            (&["check", "stat", "numstat", "summary"], Does::OnlyReads),
        ])
        .brings_links()
        .changes(&["cd repo && git apply two.diff"])
        .reads(&["cd repo && git apply --check two.diff"]),
    row(&["git"], RowOperands::First(TouchAccess::Write))
        .when(RowCondition::Word(&["init", "init-db"]))
        .flags(
            Flags::of("q", "b")
                .long(&["quiet", "bare", "shared"], &["initial-branch", "object-format", "ref-format"]),
        )
        .lenient()
        .leaves_store()
        .with(&[(&["separate-git-dir"], Does::WritesWithin), (&["template"], Does::Runs)])
        .changes(&[
            "git init -q made",
            "git --git-dir=empty/store init -q",
            "git init -q -b main made",
            "git -C empty init -q --initial-branch main made",
        ]),
    row(&["git"], RowOperands::CloneTo)
        .when(RowCondition::Word(&["clone"]))
        .flags(Flags::of("lsnqv46", "obucj").long(
            &["quiet", "verbose", "local", "shared", "no-checkout", "bare", "mirror"],
            &[
                "origin",
                "branch",
                "revision",
                "upload-pack",
                "reference",
                "reference-if-able",
                "depth",
                "config",
                "jobs",
                "filter",
                "server-option",
                "shallow-since",
                "shallow-exclude",
                "bundle-uri",
                "ref-format",
            ],
        ))
        .lenient()
        .leaves_store()
        .with(&[(&["separate-git-dir"], Does::WritesWithin)])
        .brings_links()
        .changes(&[
            "git clone -q repo copy",
            "git clone -q --depth 1 -b other repo copy",
            "git clone -q --separate-git-dir empty/store repo copy",
            "cd empty && git clone -q ../repo/.git",
            "git -C empty clone -q ../repo",
            "git -C empty clone -q --bare ../repo",
        ]),
    row(&["git"], RowOperands::First(TouchAccess::Write))
        .when(RowCondition::Pair("worktree", &["add"]))
        .flags(Flags::of("fdq", "bB").long(
            &[
                "force",
                "detach",
                "quiet",
                "checkout",
                "no-checkout",
                "lock",
                "orphan",
                "track",
                "guess-remote",
            ],
            &["reason"],
        ))
        .lenient()
        .brings_links()
        .changes(&[
            "cd repo && git worktree add -q wt",
            "cd repo && git worktree add -q -b side ../wt other",
            "git -C repo worktree add -q ../wt",
        ]),
    row(&["git"], RowOperands::Each(TouchAccess::Delete))
        .when(RowCondition::Pair("worktree", &["remove"]))
        .lenient()
        .changes(&["cd repo && git worktree add -q ../wt && touch ../b.txt && git worktree remove ../wt"]),
    row(&["git"], RowOperands::MoveTo)
        .when(RowCondition::Pair("worktree", &["move"]))
        .lenient()
        .changes(&["cd repo && git worktree add -q ../wt && git worktree move ../wt ../empty/wt"]),
    row(&["git"], RowOperands::Each(TouchAccess::Write))
        .when(RowCondition::Pair("worktree", &["repair"]))
        .lenient()
        .reads(&["cd repo && git worktree repair"]),
    row(&["git"], RowOperands::Text)
        .when(RowCondition::Pair("worktree", &["list"]))
        .lenient()
        .reads(&["cd repo && git worktree list"]),
    row(&["git"], RowOperands::Store)
        .when(RowCondition::Word(&["worktree"]))
        .lenient()
        .reads(&["cd repo && git worktree prune"]),
    row(&["git"], RowOperands::First(TouchAccess::Write))
        .when(RowCondition::Pair("bundle", &["create"]))
        .lenient()
        .leaves_store()
        .changes(&[
            "cd repo && git bundle create -q ../new HEAD",
            "git -C repo bundle create -q ../new HEAD",
        ]),
    row(&["git"], RowOperands::Each(TouchAccess::Read))
        .when(RowCondition::Pair("bundle", &["verify", "list-heads"]))
        .lenient()
        .leaves_store()
        .reads(&["cd repo && git bundle create -q .git/x.bundle HEAD && git bundle verify -q .git/x.bundle"]),
    row(&["git"], RowOperands::Store)
        .when(RowCondition::Word(&["bundle"]))
        .lenient()
        .reads(&["cd repo && git bundle create -q .git/x.bundle HEAD && git bundle unbundle .git/x.bundle"]),
    row(&["git"], RowOperands::Text)
        .when(RowCondition::Word(&["archive"]))
        .lenient()
        .with(&[(&["o", "output"], Does::Writes)])
        .changes(&["cd repo && git archive -o ../new.tar HEAD"])
        .reads(&["cd repo && git archive HEAD"]),
    row(&["git"], RowOperands::Members)
        .when(RowCondition::Word(&["format-patch"]))
        .lenient()
        .with(&[(&["o", "output-directory"], Does::WritesWithin), (&["stdout"], Does::OnlyReads)])
        .changes(&["cd repo && git format-patch -1", "cd repo && git format-patch -o ../empty -1"])
        .reads(&["cd repo && git format-patch --stdout -1"]),
];

/// A place that options before the subcommand name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GitPlace {
    /// `-C`: git moves there first, from one to the next.
    Directory(ShellWord),
    /// `--work-tree`
    WorkTree(ShellWord),
    /// `--git-dir`
    Store(ShellWord),
}

/// The words from the subcommand on, and the places that the options before it name.
pub(crate) fn stripped(arguments: &[ShellWord]) -> (Vec<ShellWord>, Vec<GitPlace>) {
    let mut places = Vec::new();
    let mut rest = arguments;
    while let Some((first, after)) = rest.split_first() {
        let Some(text) = first.literal().filter(|text| text.starts_with('-')) else { break };
        let (name, joined) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        rest = after;
        let takes_next = joined.is_none() && GLOBAL_VALUE.contains(&name);
        let value = match joined {
            Some(value) => Some(ShellWord::Literal(value.to_owned())),
            None if takes_next => rest.first().cloned(),
            None => None,
        };
        if takes_next {
            rest = rest.get(1..).unwrap_or_default();
        }
        match name {
            "-C" => places.extend(value.map(GitPlace::Directory)),
            "--work-tree" => places.extend(value.map(GitPlace::WorkTree)),
            "--git-dir" => places.extend(value.map(GitPlace::Store)),
            _ => {}
        }
    }
    (rest.to_vec(), places)
}

/// The directory that `git clone` makes when nobody names one; `None` if the words do not tell.
pub(super) fn cloned_name(source: &ShellWord, is_bare: bool) -> Option<ShellWord> {
    let text = source.literal()?.trim_end_matches('/');
    let text = text.strip_suffix("/.git").unwrap_or(text).trim_end_matches('/');
    let name = text.rsplit(['/', ':']).next()?;
    let name = name.strip_suffix(".git").or_else(|| name.strip_suffix(".bundle")).unwrap_or(name);
    if name.is_empty() || matches!(name, "." | "..") {
        return None;
    }
    Some(ShellWord::Literal(if is_bare { format!("{name}.git") } else { name.to_owned() }))
}

/// Whether a word is the address of a repository elsewhere, and no path.
pub(super) fn is_address(word: &ShellWord) -> bool {
    let text = word.unexpanded();
    let before_slash = text.split('/').next().unwrap_or_default();
    text.contains("://") || (before_slash.contains(':') && !text.starts_with('.'))
}

fn names_all(operands: &[ShellWord]) -> bool {
    operands
        .iter()
        .any(|word| word.literal().is_none_or(|text| matches!(text, "." | "./" | ":/" | ":" | "*" | "..")))
}

fn discards_all(operands: &[ShellWord], names: &[String]) -> bool {
    let is_given = |wanted: &[&str]| {
        names.iter().any(|name| {
            wanted.iter().any(|whole| name == whole || (name.len() > 1 && whole.starts_with(name.as_str())))
        })
    };
    is_given(&["hard", "f", "force", "discard-changes"]) || names_all(operands)
}

fn restores_all(operands: &[ShellWord], names: &[String]) -> bool {
    let is_given = |short: &str, long: &str| {
        names.iter().any(|name| name == short || (name.len() > 1 && long.starts_with(name.as_str())))
    };
    let only_index = is_given("S", "staged") && !is_given("W", "worktree");
    !only_index && names_all(operands)
}
