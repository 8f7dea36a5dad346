//! Uses of git that print or copy contents of its store: by the subcommand, its options, and words that could be either.
//!
//! A word that the shell computes can be any option and any revision, so it counts as one that prints.

use super::flags::might_give;
use super::git::looks_like_a_file;
use crate::shell::ShellWord;

/// Subcommands that take no contents out of the store but to the place in the work tree that they have there, which is sealed.
const NO_CONTENTS: &str = "\
    apply check-attr check-ignore check-mailmap check-ref-format cherry cherry-pick clean column commit-graph \
    commit-tree contacts count-objects credential credential-cache credential-store describe fmt-merge-msg gc \
    get-tar-commit-id hash-object help index-pack init init-db interpret-trailers last-modified ls-files \
    ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base multi-pack-index mv name-rev pack-redundant \
    pack-refs patch-id pickaxe prune prune-packed push refs remote repack replay rev-list rev-parse revert rm \
    shortlog show-branch show-index show-ref sparse-checkout stripspace survey switch symbolic-ref \
    unpack-objects update-ref update-server-info var verify-commit verify-pack verify-tag version write-tree \
";

/// The digits of the shortest number that git takes for an object.
const OBJECT_DIGITS: usize = 4;

/// Options of `git show` that add revisions to those that its words name.
const MORE_REVISIONS: &[&str] = &["all", "tags", "glob", "stdin", "walk-reflogs", "alternate-refs"];

/// Options of `git show` that leave a file that is named by its path the only thing shown.
const BESIDE_BLOBS: &[&str] = &["--textconv", "--no-textconv", "--color", "--no-color"];

/// The words of a use of git.
pub(super) struct GitUse<'a> {
    pub(super) subcommand: &'a str,
    /// Those before `--`.
    pub(super) before: &'a [ShellWord],
    /// Those among them that are no options.
    pub(super) operands: &'a [&'a ShellWord],
    /// Those after `--`.
    pub(super) paths: &'a [ShellWord],
}

impl GitUse<'_> {
    /// Whether it prints or copies files that no word of it names.
    pub(super) fn is_wide(&self) -> bool {
        let options = self.before;
        let has = |long: &str| might_give(options, None, long);
        let gives = |short: char, long: &str| might_give(options, Some(short), long);
        let first = self.operands.first().and_then(|word| word.literal()).unwrap_or_default();
        let is_computed = options.iter().any(could_be_option);
        let prints = prints_patch(options) || is_computed;
        let names_object = || self.operands.iter().any(|word| is_object(word));
        match self.subcommand {
            "show" => self.shows(prints),
            "diff" => self.compares(prints),
            // It takes one file, which is no pattern.
            "blame" | "annotate" => options.iter().chain(self.paths).any(|word| !is_certain(word)),
            "log" | "whatchanged" | "reflog" | "diff-tree" | "diff-index" | "diff-files" | "request-pull" => {
                prints
            }
            "stash" => match first {
                // Any other option for a diff makes it print one.
                "show" => prints || (gives_options(options) && !only_sums_up(options)),
                "list" => prints,
                _ => gives('p', "patch") || is_computed,
            },
            "cat-file" => {
                let is_answer =
                    matches!(options.first().and_then(ShellWord::literal), Some("-t" | "-s" | "-e"));
                !is_answer && !self.names_only_blobs()
            }
            "checkout-index" => {
                ["all", "stdin", "prefix", "temp"].iter().any(|long| has(long))
                    || gives('a', "")
                    || is_computed
            }
            "update-index" => has("cacheinfo") || has("index-info") || is_computed,
            "bundle" => !matches!(first, "verify" | "list-heads" | "unbundle"),
            "fsck" | "fsck-objects" => has("lost-found") || is_computed,
            "checkout" | "reset" | "restore" => gives('p', "patch") || is_computed,
            "add" | "stage" => gives('i', "interactive") || is_computed,
            "status" => gives('v', "verbose") || is_computed,
            "commit" => commits_aloud(options),
            "am" | "rebase" => has("show-current-patch") || is_computed,
            "rerere" => first == "diff" || is_computed,
            "bisect" => matches!(first, "visualize" | "view") || is_computed,
            "worktree" => first == "add" || is_computed,
            "bugreport" => has("diagnose") || is_computed,
            "merge-file" => has("object-id") || is_computed,
            "config" => has("blob") || computes_place(options),
            "for-each-ref" => prints_objects(options) || is_computed,
            "branch" => prints_objects(options),
            // A name of its own for a file.
            "tag" => self.operands.iter().skip(1).any(|word| is_object(word)) || prints_objects(options),
            "notes" => matches!(first, "add" | "append") && (gives('C', "reuse-message") || names_object()),
            "lfs" => first == "smudge" || is_computed,
            other => !NO_CONTENTS.split_whitespace().any(|known| known == other),
        }
    }

    fn shows(&self, prints: bool) -> bool {
        if prints || !only_sums_up(self.before) {
            return !self.names_only_blobs();
        }
        // Options that only sum up commits print a file as a whole.
        let has_more = MORE_REVISIONS.iter().any(|long| might_give(self.before, None, long));
        has_more || !self.operands.iter().all(|word| is_commit(word))
    }

    /// Whether nothing but files that are named by their paths is shown. Of a directory git prints the names in it.
    fn names_only_blobs(&self) -> bool {
        let is_blob = |word: &&ShellWord| word.literal().and_then(blob).is_some();
        let is_show = self.subcommand == "show";
        let are_harmless = self
            .before
            .iter()
            .all(|word| is_blob(&word) || word.literal().is_some_and(|text| BESIDE_BLOBS.contains(&text)));
        !self.operands.is_empty()
            && self.operands.iter().copied().all(|word| is_blob(&word))
            && (!is_show || are_harmless)
    }

    /// Whether a `git diff` compares more than the index with the work tree, whose secrets are sealed.
    fn compares(&self, prints: bool) -> bool {
        if self.before.first().and_then(ShellWord::literal) == Some("--no-index") {
            return false;
        }
        let has = |long: &str| might_give(self.before, None, long);
        // A branch can have a name like a file, but then a second word names the other side.
        let is_file = |word: &&ShellWord| {
            let text = word.unexpanded();
            is_certain(word) && looks_like_a_file(&text) && blob(&text).is_none() && !text.contains("..")
        };
        let is_plain = match self.operands {
            [] => true,
            [one] => is_file(one) || (starts_in_directory(one) && self.paths.is_empty()),
            _ => self.operands.iter().all(|word| is_surely_path(word)),
        };
        let is_staged = has("cached") || has("staged");
        (is_staged || !is_plain || self.before.iter().any(could_be_option))
            && (prints || !only_sums_up(self.before))
    }
}

/// Whether git takes a word for a path, whatever branches are called.
pub(super) fn is_surely_path(word: &ShellWord) -> bool {
    word.literal().is_some_and(|text| {
        let is_climb = text.starts_with("../") || text == "..";
        (text.starts_with(['.', '/']) || text.ends_with('/')) && (is_climb || !text.contains(".."))
    })
}

/// Whether a pattern stays in a directory that it names, so that git refuses it as a revision beside files.
fn starts_in_directory(word: &ShellWord) -> bool {
    matches!(word, ShellWord::Glob(text) if text.starts_with(|first| !"-*?[:".contains(first)) && text.contains('/'))
}

/// Whether the shell passes on a word as it stands.
pub(super) fn is_certain(word: &ShellWord) -> bool {
    matches!(word, ShellWord::Literal(_) | ShellWord::Home { .. })
}

/// Whether a word can become an option.
fn could_be_option(word: &ShellWord) -> bool {
    match word {
        ShellWord::Literal(_) | ShellWord::Home { .. } => false,
        ShellWord::Glob(text) => text.starts_with(['-', '*', '?', '[']),
        ShellWord::Unknown(_) => true,
    }
}

fn gives_options(options: &[ShellWord]) -> bool {
    options.iter().any(|word| word.unexpanded().starts_with('-'))
}

/// Whether a `git commit` prints the changes that it has. Its message can be any text.
fn commits_aloud(options: &[ShellWord]) -> bool {
    let takes_message = |word: &ShellWord| {
        word.literal().is_some_and(|text| {
            text == "--message" || (text.starts_with('-') && !text.starts_with("--") && text.ends_with('m'))
        })
    };
    let mut others = Vec::new();
    let mut is_message = false;
    for word in options {
        let text = word.unexpanded();
        let is_own =
            is_message || text.starts_with("--message=") || (text.starts_with("-m") && text.len() > 2);
        is_message = !is_own && takes_message(word);
        if !is_own {
            others.push(word.clone());
        }
    }
    might_give(&others, Some('v'), "verbose")
        || might_give(&others, None, "interactive")
        || others.iter().any(could_be_option)
}

/// Whether a `git config` that reads settings could read them from an object.
fn computes_place(options: &[ShellWord]) -> bool {
    const READS: &[&str] =
        &["-l", "--list", "get", "list", "--get", "--get-all", "--get-regexp", "--get-urlmatch"];
    let reads = |word: &ShellWord| word.literal().is_some_and(|text| READS.contains(&text));
    options.first().is_some_and(could_be_option)
        || (options.iter().any(reads) && options.iter().any(could_be_option))
}

/// Whether a format prints the object that a name stands for.
fn prints_objects(options: &[ShellWord]) -> bool {
    options.iter().map(ShellWord::unexpanded).any(|text| text.contains("%(") && text.contains("raw"))
}

/// Whether a word can be the number of an object.
pub(super) fn is_object(word: &ShellWord) -> bool {
    let is_number = |text: &str| {
        let digits = text.split(['^', '~', '@']).next().unwrap_or_default();
        digits.len() >= OBJECT_DIGITS && digits.chars().all(|digit| digit.is_ascii_hexdigit())
    };
    word.literal().is_none_or(is_number)
}

/// Whether a word names a commit, and nothing else that git stores. A tag can be the name of a file.
fn is_commit(word: &ShellWord) -> bool {
    let Some(text) = word.literal().filter(|text| !text.contains([':', '{'])) else { return false };
    let is_head = text.strip_prefix("HEAD").or_else(|| text.strip_prefix('@'));
    let is_step = |rest: &str| rest.is_empty() || rest.starts_with(['~', '^', '.']);
    !is_object(word) && (is_head.is_some_and(is_step) || text.contains('~') || text.contains(".."))
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
        "diff-merges",
        "function-context",
        "binary",
        "inter-hunk-context",
        "ext-diff",
        "dd",
        "check",
    ];
    options.iter().any(|word| {
        let text = word.unexpanded();
        match text.strip_prefix("--") {
            Some("color") => false,
            Some(long) => {
                let name = long.split('=').next().unwrap_or(long);
                LONG.iter().any(|known| name.len() > 1 && known.starts_with(name))
            }
            None => text.strip_prefix('-').is_some_and(|letters| {
                letters.starts_with(['L', 'S', 'G', 'W']) || letters.contains(['p', 'u', 'U', 'c'])
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
pub(super) fn blob(text: &str) -> Option<&str> {
    let (revision, path) = text.split_once(':')?;
    let path = path
        .strip_prefix(|stage: char| stage.is_ascii_digit())
        .and_then(|rest| rest.strip_prefix(':'))
        .unwrap_or(path);
    let is_magic = revision.is_empty() && path.starts_with(['/', '(', '!', '^']);
    (!path.is_empty() && !is_magic).then_some(path)
}
