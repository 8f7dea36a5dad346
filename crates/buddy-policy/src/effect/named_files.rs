//! Programs that use no file but those that their words name. A yes to such a line needs to open no secret that it does not name.
//!
//! Left out are programs that run code of the project, and those that take a login from a file by themselves, such as git and wget.

use super::files::git_words;
use super::{CommandEffect, CommandLeaf};
use crate::shell::ShellWord;

/// Programs that change the files of their words, and nothing else.
const PLAIN: &[&str] = &[
    "cp", "chgrp", "chmod", "chown", "curl", "echo", "false", "kill", "ln", "mkdir", "mv", "printf", "rm",
    "rmdir", "sleep", "tee", "touch", "true", "truncate", "unlink",
];

/// Programs that with `-r`, or a pattern, use files that no word names.
const DEEP: &[&str] = &["cp", "chgrp", "chmod", "chown"];

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
    let (words, _) = git_words(leaf.words.get(1..).unwrap_or_default());
    let subcommand = words.first().and_then(ShellWord::literal);
    let is_connecting = matches!(subcommand, Some("push" | "fetch" | "pull" | "ls-remote"));
    leaf.program == "git" && !leaf.is_foreign && !leaf.has_assignments && is_connecting
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
