//! Programs that use no file but those that their words name. A yes to such a line needs to open no secret that it does not name.
//!
//! Left out are programs that run code of the project, and those that take a login from a file by themselves, such as wget. Of git, the
//! table has the subcommands that work on the repository of this machine or connect it, as its logins are in places of their own.

use std::path::PathBuf;

use super::files::git_words;
use super::trips::repositories;
use super::{CommandEffect, CommandLeaf};
use crate::shell::ShellWord;

/// Programs that change the files of their words, and nothing else.
const PLAIN: &[&str] = &[
    "cp", "chgrp", "chmod", "chown", "curl", "echo", "false", "kill", "ln", "mkdir", "mv", "printf", "rm",
    "rmdir", "sleep", "tee", "touch", "true", "truncate", "unlink",
];

/// Programs that with `-r`, or a pattern, use files that no word names.
const DEEP: &[&str] = &["cp", "chgrp", "chmod", "chown"];

/// Subcommands of git that need no secret: they work on the repository and its work tree. A secret that git tracks is an exception, and
/// the host says whether there is one.
const LOCAL_GIT: &[&str] = &[
    "add",
    "am",
    "apply",
    "branch",
    "checkout",
    "cherry-pick",
    "commit",
    "config",
    "gc",
    "init",
    "merge",
    "mv",
    "notes",
    "rebase",
    "remote",
    "reset",
    "restore",
    "revert",
    "rm",
    "stage",
    "stash",
    "switch",
    "tag",
    "worktree",
];

/// Long options of curl that take a login or other options from a file, and their letters.
const CURL_FILES: &[&str] = &["netrc", "config", "cert", "key"];
const CURL_LETTERS: &[char] = &['n', 'K', 'E'];

/// Whether a simple command uses only files that its words name.
pub(crate) fn uses_only_named_files(leaf: &CommandLeaf) -> bool {
    if leaf.is_foreign || leaf.has_assignments {
        return false;
    }
    let words = leaf.words.get(1..).unwrap_or_default();
    let program = leaf.program.as_str();
    match leaf.effect {
        CommandEffect::None | CommandEffect::Reads | CommandEffect::Held => true,
        CommandEffect::Unknown if !PLAIN.contains(&program) => false,
        CommandEffect::Unknown if program == "curl" => !words.iter().any(is_login_option),
        CommandEffect::Unknown => !DEEP.contains(&program) || words.iter().all(is_shallow),
    }
}

/// Whether a simple command is a push, a fetch or a pull of git by itself. Its logins are in places of their own, and it reads no file of
/// the work tree that could hold secrets.
pub(crate) fn connects_by_git(leaf: &CommandLeaf) -> bool {
    is_git(leaf, &["push", "fetch", "pull", "ls-remote"])
}

/// The directories in which a simple command of git works on the files of the work tree and needs no secret but one that is tracked
/// there. None if it does anything else, or if buddy cannot tell where.
pub(crate) fn works_by_git(leaf: &CommandLeaf) -> Option<Vec<PathBuf>> {
    if is_git(leaf, LOCAL_GIT) || is_git(leaf, &["pull"]) { repositories(leaf) } else { None }
}

fn is_git(leaf: &CommandLeaf, subcommands: &[&str]) -> bool {
    let (words, _) = git_words(leaf.words.get(1..).unwrap_or_default());
    let subcommand = words.first().and_then(ShellWord::literal);
    leaf.program == "git"
        && !leaf.is_foreign
        && !leaf.has_assignments
        && subcommand.is_some_and(|name| subcommands.contains(&name))
}

fn is_shallow(word: &ShellWord) -> bool {
    let Some(text) = word.literal() else { return false };
    match text.strip_prefix("--") {
        Some(long) => !"recursive".starts_with(long) && !"archive".starts_with(long),
        None => !(text.starts_with('-') && text.contains(['r', 'R', 'a'])),
    }
}

fn is_login_option(word: &ShellWord) -> bool {
    let text = word.unexpanded();
    match text.strip_prefix("--") {
        Some(long) => {
            let name = long.split('=').next().unwrap_or_default();
            CURL_FILES.iter().any(|option| option.starts_with(name) || name.starts_with(option))
        }
        None => text.starts_with('-') && text.contains(CURL_LETTERS),
    }
}
