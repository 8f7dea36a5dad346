//! Git: what of it is dangerous by its words alone. None of it is known to only read, because a repository's own
//! configuration names programs that it runs.

use super::flags::might_give;
use crate::shell::Word;

/// Why what no branch holds is not removed unseen.
const LOSES: &str = "it removes commits or changes that nothing else may hold";

/// Why changes that no commit holds are not thrown away unseen.
const DISCARDS: &str = "it throws away changes that are not committed";

/// What is dangerous about these words after `git`.
pub(crate) fn dangers(arguments: &[Word]) -> Vec<String> {
    let mut dangers = Vec::new();
    let mut words = arguments.iter();
    let mut subcommand = None;
    while let Some(word) = words.next() {
        let text = word.unexpanded();
        match text.as_str() {
            "-c" | "--config-env" | "--exec-path" => {
                dangers.push("git is told to run programs by its options".to_owned());
                words.next();
            }
            "-C" | "--git-dir" | "--work-tree" | "--namespace" => drop(words.next()),
            _ if text.starts_with("-c")
                || text.starts_with("--config-env=")
                || text.starts_with("--exec-path=") =>
            {
                dangers.push("git is told to run programs by its options".to_owned());
            }
            _ if text.starts_with('-') => {}
            _ => {
                subcommand = Some(text);
                break;
            }
        }
    }
    let rest: Vec<Word> = words.cloned().collect();
    dangers.extend(subcommand.and_then(|subcommand| of_subcommand(&subcommand, &rest)));
    dangers
}

fn of_subcommand(subcommand: &str, rest: &[Word]) -> Option<String> {
    let has =
        |wanted: &[&str]| rest.iter().any(|word| word.literal().is_some_and(|text| wanted.contains(&text)));
    let first = rest.first().map(Word::unexpanded).unwrap_or_default();
    let is_forced = |word: &Word| {
        let text = word.unexpanded();
        text.starts_with('+') || text.starts_with(':')
    };
    let danger = match subcommand {
        "push"
            if might_give(rest, Some('f'), "force")
                || might_give(rest, None, "force-with-lease")
                || might_give(rest, None, "force-if-includes") =>
        {
            "it overwrites what others may have"
        }
        "push"
            if might_give(rest, Some('d'), "delete")
                || might_give(rest, None, "mirror")
                || might_give(rest, None, "prune") =>
        {
            "it removes what others may have"
        }
        "push" if rest.iter().any(is_forced) => "it overwrites or removes what others may have",
        "config" if !has(&["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"]) => {
            "it changes git's configuration, which names programs that git runs"
        }
        "filter-branch" | "filter-repo" => "it rewrites the whole history",
        "branch"
            if might_give(rest, Some('D'), "")
                || (might_give(rest, Some('d'), "delete") && might_give(rest, Some('f'), "force")) =>
        {
            LOSES
        }
        "branch" if might_give(rest, Some('f'), "force") || has(&["-M", "-C"]) => LOSES,
        "checkout" if has(&["-B"]) || might_give(rest, Some('f'), "force") => LOSES,
        "switch"
            if has(&["-C"])
                || might_give(rest, Some('f'), "force")
                || might_give(rest, None, "discard-changes") =>
        {
            LOSES
        }
        "checkout" if names_files(rest) => DISCARDS,
        "restore" if !only_index(rest) => DISCARDS,
        "rm" if might_give(rest, Some('f'), "force") && !might_give(rest, None, "cached") => LOSES,
        "clean"
            if (might_give(rest, Some('f'), "force") || might_give(rest, Some('i'), "interactive"))
                && !has(&["-n", "--dry-run"]) =>
        {
            LOSES
        }
        "reset" if might_give(rest, None, "hard") || might_give(rest, None, "merge") => DISCARDS,
        "tag" | "replace"
            if might_give(rest, Some('d'), "delete") || might_give(rest, Some('f'), "force") =>
        {
            LOSES
        }
        "notes" if matches!(first.as_str(), "remove" | "prune") => LOSES,
        "symbolic-ref" if might_give(rest, Some('d'), "delete") => LOSES,
        "repack" if might_give(rest, Some('d'), "") && might_give(rest, Some('a'), "") => LOSES,
        "fetch" | "pull" if might_give(rest, Some('f'), "force") || rest.iter().any(is_forced) => LOSES,
        "submodule" if has(&["deinit", "update"]) && might_give(rest, Some('f'), "force") => LOSES,
        "checkout-index" if might_give(rest, Some('f'), "force") => DISCARDS,
        "lfs" if first == "prune" => LOSES,
        "fast-import" | "read-tree" => LOSES,
        "init" | "init-db" | "clone" if might_give(rest, None, "template") => "git is told to run programs",
        "clone" if might_give(rest, Some('c'), "config") => "git is told to run programs",
        "credential" | "credential-store" | "credential-cache" => "it hands out passwords that are kept",
        "clone" if might_give(rest, Some('u'), "upload-pack") => "git is told to run programs",
        "archive" if might_give(rest, None, "exec") || might_give(rest, None, "remote") => {
            "git is told to run programs"
        }
        "stash" if matches!(first.as_str(), "drop" | "clear") => LOSES,
        "reflog" if matches!(first.as_str(), "expire" | "delete") => LOSES,
        "prune" => LOSES,
        "maintenance" if matches!(first.as_str(), "start" | "register") => {
            "it makes something run later, when nobody watches"
        }
        "gc" if might_give(rest, None, "prune") => LOSES,
        "update-ref" if !rest.is_empty() => LOSES,
        "worktree" if first == "remove" && might_give(rest, Some('f'), "force") => LOSES,
        "submodule" if has(&["foreach"]) => "git is told to run programs",
        "bisect" if first == "run" => "git is told to run programs",
        "rebase" if might_give(rest, Some('x'), "exec") => "git is told to run programs",
        "difftool" | "mergetool" | "daemon" | "shell" | "send-email" | "instaweb" | "hook"
        | "merge-index" | "for-each-repo" | "upload-pack" | "receive-pack" | "upload-archive"
        | "http-backend" | "remote-ext" | "remote-fd" | "p4" | "svn" | "gui" | "citool" | "gitk" => {
            "git is told to run programs"
        }
        "grep" if might_give(rest, Some('O'), "open-files-in-pager") => "git is told to run programs",
        _ if might_give(rest, None, "upload-pack") || might_give(rest, None, "receive-pack") => {
            "git is told to run programs"
        }
        _ if rest.iter().any(|word| word.unexpanded().contains("ext::")) => "git is told to run programs",
        _ => return None,
    };
    Some(danger.to_owned())
}

/// Whether a `checkout` is about files, whose changes it throws away, and not about a branch.
fn names_files(rest: &[Word]) -> bool {
    let makes_branch = ["-b", "-B", "--orphan", "--track", "-t", "--detach", "-d"];
    if rest.iter().any(|word| word.literal().is_some_and(|text| makes_branch.contains(&text))) {
        return false;
    }
    let at = rest.iter().position(|word| word.literal() == Some("--"));
    if let Some(at) = at {
        return at + 1 < rest.len();
    }
    let operands: Vec<String> =
        rest.iter().map(Word::unexpanded).filter(|text| text == "-" || !text.starts_with('-')).collect();
    let is_given = |long: &str| might_give(rest, None, long);
    match operands.as_slice() {
        [] => is_given("pathspec-from-file"),
        [one] => looks_like_a_file(one) || is_given("ours") || is_given("theirs"),
        _ => true,
    }
}

/// Whether a word is a path rather than a name of a branch or a version: it begins like one or ends like the name of a file.
fn looks_like_a_file(text: &str) -> bool {
    let ending = text.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
    let is_file = |ending: &str| {
        ending.len() <= 5 && ending.len() > 1 && ending.chars().all(|letter| letter.is_ascii_lowercase())
    };
    text.starts_with(['/', '.', ':'])
        || text.ends_with('/')
        || text.contains('*')
        || ending.is_some_and(is_file)
}

/// Whether a `restore` changes the index alone.
fn only_index(rest: &[Word]) -> bool {
    might_give(rest, Some('S'), "staged") && !might_give(rest, Some('W'), "worktree")
}
