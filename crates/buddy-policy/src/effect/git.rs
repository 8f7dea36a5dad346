//! Git: uses that are dangerous by their words alone. None is known to only read, because a repository's own
//! configuration names programs that it runs.

use buddy_protocol::{PlainIn, is_plain_git_value, plain_git_setting};

use super::flags::might_give;
use crate::shell::ShellWord;

/// The reason to ask before commits that no branch holds are removed.
const LOSES: &str = "it removes commits or changes that nothing else may hold";

/// The reason to ask about programs that git is told to run.
const RUNS: &str = "git is told to run programs";
/// Options that name the programs which git uses anyway.
const USUAL_PROGRAMS: [&str; 2] = ["--receive-pack=git-receive-pack", "--upload-pack=git-upload-pack"];

/// Subcommands that publish the work here.
const PUBLISHES: &[&str] = &["push", "send-pack", "http-push", "send-email", "imap-send"];
/// Subcommands that have such subcommands of their own.
const PUBLISHES_IN: &[(&str, &[&str])] =
    &[("subtree", &["push"]), ("lfs", &["push"]), ("svn", &["dcommit"]), ("p4", &["submit"])];

/// Whether these words after `git` publish the work here.
pub(crate) fn publishes(arguments: &[ShellWord]) -> bool {
    let (_, subcommand, rest) = parts(arguments);
    let Some(subcommand) = subcommand else { return false };
    let is_inner = |(outer, inner): &(&str, &[&str])| {
        *outer == subcommand && rest.iter().any(|word| inner.contains(&word.unexpanded().as_str()))
    };
    PUBLISHES.contains(&subcommand.as_str()) || PUBLISHES_IN.iter().any(is_inner)
}

/// Commands of git itself. Any other word is an alias or a program that somebody installed.
const COMMANDS: &str = "\
    add am annotate apply archimport archive backfill bisect blame branch bugreport bundle cat-file \
    check-attr check-ignore check-mailmap check-ref-format checkout checkout--worker checkout-index \
    cherry cherry-pick citool clean clone column commit commit-graph commit-tree config contacts \
    count-objects credential credential-cache credential-cache--daemon credential-store cvsexportcommit \
    cvsimport cvsserver daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree \
    difftool difftool--helper fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg \
    for-each-ref for-each-repo format-patch fsck fsck-objects fsmonitor--daemon gc get-tar-commit-id \
    grep gui hash-object help hook http-backend http-fetch http-push imap-send index-pack init init-db \
    instaweb interpret-trailers last-modified lfs log ls-files ls-remote ls-tree mailinfo mailsplit \
    maintenance merge merge-base merge-file merge-index merge-octopus merge-one-file merge-ours \
    merge-recursive merge-recursive-ours merge-recursive-theirs merge-resolve merge-subtree merge-tree \
    mergetool mktag mktree multi-pack-index mv name-rev notes p4 pack-objects pack-redundant pack-refs \
    patch-id pickaxe prune prune-packed pull push quiltimport range-diff read-tree rebase receive-pack \
    reflog refs remote remote-ext remote-fd remote-ftp remote-ftps remote-http remote-https repack \
    replace replay repo request-pull rerere reset restore rev-list rev-parse revert rm scalar send-email \
    send-pack sh-i18n--envsubst shell shortlog show show-branch show-index show-ref sparse-checkout \
    stage stash status stripspace submodule submodule--helper subtree survey svn switch symbolic-ref tag \
    unpack-file unpack-objects update-index update-ref update-server-info upload-archive \
    upload-archive--writer upload-pack var verify-commit verify-pack verify-tag version web--browse \
    whatchanged worktree write-tree \
";

/// The command that these words after `git` call and that git itself does not have: an alias can stand for anything.
pub(crate) fn alias(arguments: &[ShellWord]) -> Option<String> {
    let subcommand = parts(arguments).1?;
    let is_own = COMMANDS.split_whitespace().any(|known| known == subcommand);
    (!is_own).then_some(subcommand)
}

/// Whether these words after `git` are about settings of the account or of the machine.
pub(crate) fn changes_own_settings(arguments: &[ShellWord]) -> bool {
    let (_, subcommand, rest) = parts(arguments);
    let is_wide = |word: &ShellWord| matches!(word.literal(), Some("--global" | "--system"));
    subcommand.as_deref() == Some("config") && rest.iter().any(is_wide)
}

/// The dangers of these words after `git`.
pub(crate) fn dangers(arguments: &[ShellWord]) -> Vec<String> {
    let (mut dangers, subcommand, rest) = parts(arguments);
    dangers.extend(subcommand.and_then(|subcommand| of_subcommand(&subcommand, &rest)));
    dangers
}

/// Whether a setting of one run, `key=value`, makes git run nothing: who commits, and colours.
fn is_plain_setting(setting: &str) -> bool {
    const PLAIN: &[&str] = &[
        "user.name",
        "user.email",
        "color.ui",
        "advice.detachedhead",
        "init.defaultbranch",
        "core.quotepath",
        "commit.gpgsign",
        "pull.rebase",
        "diff.renames",
    ];
    let key = setting.split('=').next().unwrap_or_default().to_ascii_lowercase();
    (PLAIN.contains(&key.as_str()) && is_plain_git_value(setting))
        || matches!(setting, "core.pager=cat" | "core.pager=")
}

/// The dangers of the options before the subcommand, the subcommand, and the words after it.
fn parts(arguments: &[ShellWord]) -> (Vec<String>, Option<String>, Vec<ShellWord>) {
    let mut dangers = Vec::new();
    let mut words = arguments.iter();
    let mut subcommand = None;
    while let Some(word) = words.next() {
        let text = word.unexpanded();
        match text.as_str() {
            "-c" => {
                let setting = words.next().and_then(ShellWord::literal);
                if !setting.is_some_and(is_plain_setting) {
                    dangers.push("git is told to run programs by its options".to_owned());
                }
            }
            "--config-env" | "--exec-path" => {
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
    (dangers, subcommand, words.cloned().collect())
}

fn of_subcommand(subcommand: &str, rest: &[ShellWord]) -> Option<String> {
    let danger = pushes(subcommand, rest)
        .or_else(|| loses(subcommand, rest).then_some(LOSES))
        .or_else(|| runs_programs(subcommand, rest).then_some(RUNS))
        .or_else(|| match subcommand {
            "config" if !only_reads_settings(rest) && !has_plain_key(rest) => {
                Some("it changes git's configuration, which names programs that git runs")
            }
            "remote" if redirects(rest) => Some("it changes where git reads from and writes to"),
            "filter-branch" | "filter-repo" => Some("it rewrites the whole history"),
            "maintenance" if matches!(first(rest).as_str(), "start" | "register") => {
                Some("it makes something run later, when nobody watches")
            }
            "credential" | "credential-store" | "credential-cache" => {
                Some("it hands out passwords that are kept")
            }
            _ => None,
        });
    danger.map(str::to_owned)
}

/// Whether these words after `git` change settings of a repository in a way that the jail lets nobody change unasked.
pub(crate) fn changes_settings(arguments: &[ShellWord]) -> bool {
    let (_, subcommand, rest) = parts(arguments);
    match subcommand.as_deref() {
        Some("config") => !only_reads_settings(&rest) && !has_plain_key(&rest),
        Some("remote") => redirects(&rest),
        _ => false,
    }
}

/// Whether these words after `git` give an address a name, and reach nothing.
pub(crate) fn only_adds_remote(arguments: &[ShellWord]) -> bool {
    let (dangers, subcommand, rest) = parts(arguments);
    dangers.is_empty()
        && subcommand.as_deref() == Some("remote")
        && first(&rest) == "add"
        && !might_give(&rest, Some('f'), "fetch")
}

fn only_reads_settings(rest: &[ShellWord]) -> bool {
    has(rest, &["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"])
}

/// Whether a remote that is there is changed or removed.
fn redirects(rest: &[ShellWord]) -> bool {
    let is_option = |word: &&ShellWord| word.unexpanded().starts_with('-');
    let first = rest.iter().find(|word| !is_option(word)).map(ShellWord::unexpanded).unwrap_or_default();
    matches!(first.as_str(), "set-url" | "remove" | "rm" | "rename")
}

/// Options and words of `git config` that say how one setting of this repository is changed, and nothing else.
const CHANGES_ONE: &[&str] =
    &["--local", "--add", "--unset", "--replace-all", "--bool", "--int", "set", "unset"];

/// Whether one setting is changed that neither runs a program nor leads git elsewhere.
fn has_plain_key(rest: &[ShellWord]) -> bool {
    let Some(words) = rest.iter().map(ShellWord::literal).collect::<Option<Vec<_>>>() else { return false };
    let mut words = words.into_iter().skip_while(|word| CHANGES_ONE.contains(word));
    let key = words.next().unwrap_or_default().to_lowercase();
    let (Some((section, _)), Some((_, name))) = (key.split_once('.'), key.rsplit_once('.')) else {
        return false;
    };
    let key = format!("{section}.{name}");
    // Where git goes depends on what is there; the jail judges that.
    let leads = matches!(section, "remote" | "submodule") || key == "branch.remote";
    words.all(|word| !word.starts_with("--") && is_plain_git_value(word))
        && !leads
        && plain_git_setting(&key) == Some(PlainIn::EveryRepository)
}

fn first(rest: &[ShellWord]) -> String {
    rest.first().map(ShellWord::unexpanded).unwrap_or_default()
}

fn has(rest: &[ShellWord], wanted: &[&str]) -> bool {
    rest.iter().any(|word| word.literal().is_some_and(|text| wanted.contains(&text)))
}

/// Whether a word is a reference that is overwritten or removed.
fn is_forced(word: &ShellWord) -> bool {
    word.unexpanded().starts_with(['+', ':'])
}

/// The effect of a push on commits that others may have.
fn pushes(subcommand: &str, rest: &[ShellWord]) -> Option<&'static str> {
    let gives = |long: &str| might_give(rest, None, long);
    match subcommand {
        "push"
            if might_give(rest, Some('f'), "force")
                || gives("force-with-lease")
                || gives("force-if-includes") =>
        {
            Some("it overwrites what others may have")
        }
        "push" if might_give(rest, Some('d'), "delete") || gives("mirror") || gives("prune") => {
            Some("it removes what others may have")
        }
        "push" if rest.iter().any(is_forced) => Some("it overwrites or removes what others may have"),
        _ => None,
    }
}

/// Whether commits or changes are lost that nothing else may hold.
fn loses(subcommand: &str, rest: &[ShellWord]) -> bool {
    let first = first(rest);
    let is_forcing = might_give(rest, Some('f'), "force");
    let deletes = might_give(rest, Some('d'), "delete");
    match subcommand {
        "branch" => might_give(rest, Some('D'), "") || is_forcing || has(rest, &["-M", "-C"]),
        "tag" | "replace" => deletes || is_forcing,
        "notes" => matches!(first.as_str(), "remove" | "prune"),
        "symbolic-ref" => deletes,
        "repack" => might_give(rest, Some('d'), "") && might_give(rest, Some('a'), ""),
        "fetch" | "pull" => is_forcing || rest.iter().any(is_forced),
        "stash" => matches!(first.as_str(), "drop" | "clear"),
        "reflog" => matches!(first.as_str(), "expire" | "delete"),
        "gc" => might_give(rest, None, "prune"),
        "lfs" => first == "prune",
        "update-ref" => !rest.is_empty(),
        "fast-import" | "read-tree" | "prune" => true,
        _ => false,
    }
}

/// Changes of the work tree that git throws away.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum GitDiscard {
    /// Those of these files.
    Files(Vec<ShellWord>),
    /// Any in the whole work tree.
    Tree,
}

/// The changes of the work tree that these words, from the subcommand on, throw away and that no commit holds.
/// Commits that they leave are in the log of the branch or of `HEAD`.
pub(super) fn discarded(words: &[ShellWord]) -> Option<GitDiscard> {
    let (subcommand, rest) = words.split_first()?;
    let is_forcing = might_give(rest, Some('f'), "force");
    let is_first = |wanted: &str| first(rest) == wanted;
    match subcommand.literal()? {
        "checkout" if has(rest, &["-B"]) || is_forcing => Some(GitDiscard::Tree),
        "checkout" if names_files(rest) => Some(files(rest)),
        "switch" if has(rest, &["-C"]) || is_forcing || might_give(rest, None, "discard-changes") => {
            Some(GitDiscard::Tree)
        }
        "restore" if !only_index(rest) => Some(files(rest)),
        "reset" if might_give(rest, None, "hard") || might_give(rest, None, "merge") => {
            Some(GitDiscard::Tree)
        }
        "checkout-index" if is_forcing => Some(GitDiscard::Tree),
        "rm" if is_forcing && !might_give(rest, None, "cached") => Some(files(rest)),
        "clean" if might_remove(rest) => Some(files(rest)),
        "submodule" if has(rest, &["deinit", "update"]) && is_forcing => Some(GitDiscard::Tree),
        "worktree" if is_first("remove") && is_forcing => Some(files(rest.get(1..).unwrap_or_default())),
        _ => None,
    }
}

/// Whether a `clean` removes files.
fn might_remove(rest: &[ShellWord]) -> bool {
    let is_forcing = might_give(rest, Some('f'), "force");
    (is_forcing || might_give(rest, Some('i'), "interactive")) && !has(rest, &["-n", "--dry-run"])
}

/// The files that words name, if they name some and nothing but paths.
fn files(rest: &[ShellWord]) -> GitDiscard {
    let at = rest.iter().position(|word| word.literal() == Some("--"));
    let operands: Vec<ShellWord> = match at {
        Some(at) => rest.get(at + 1..).unwrap_or_default().to_vec(),
        None => rest.iter().filter(|word| !word.unexpanded().starts_with('-')).cloned().collect(),
    };
    // Words with a colon are git's own patterns.
    let is_path = |word: &ShellWord| word.literal().is_some_and(|text| !text.starts_with(':'));
    if operands.is_empty() || !operands.iter().all(is_path) || might_give(rest, None, "pathspec-from-file") {
        return GitDiscard::Tree;
    }
    GitDiscard::Files(operands)
}

/// Whether the words make git run other programs.
fn runs_programs(subcommand: &str, rest: &[ShellWord]) -> bool {
    let gives = |long: &str| might_give(rest, None, long);
    let by_subcommand = match subcommand {
        "init" | "init-db" => gives("template"),
        "clone" => {
            gives("template") || might_give(rest, Some('c'), "config") || might_give(rest, Some('u'), "")
        }
        "archive" => gives("exec") || gives("remote"),
        "fetch-pack" | "send-pack" | "http-push" => gives("exec"),
        "submodule" => has(rest, &["foreach"]),
        "bisect" => first(rest) == "run",
        "rebase" => might_give(rest, Some('x'), "exec"),
        "grep" => might_give(rest, Some('O'), "open-files-in-pager"),
        "difftool" | "mergetool" | "daemon" | "shell" | "send-email" | "instaweb" | "hook"
        | "merge-index" | "for-each-repo" | "upload-pack" | "receive-pack" | "upload-archive"
        | "http-backend" | "remote-ext" | "remote-fd" | "p4" | "svn" | "gui" | "citool" | "gitk" => true,
        _ => false,
    };
    by_subcommand || names_program(rest) || rest.iter().any(|word| word.unexpanded().contains("ext::"))
}

/// Whether an option names a program for the other side, other than the one that git uses anyway.
fn names_program(rest: &[ShellWord]) -> bool {
    let is_usual = |word: &&ShellWord| word.literal().is_some_and(|text| USUAL_PROGRAMS.contains(&text));
    let others: Vec<ShellWord> = rest.iter().filter(|word| !is_usual(word)).cloned().collect();
    might_give(&others, None, "upload-pack") || might_give(&others, None, "receive-pack")
}

/// Whether a `checkout` is about files, whose changes it throws away, and not about a branch.
fn names_files(rest: &[ShellWord]) -> bool {
    let makes_branch = ["-b", "-B", "--orphan", "--track", "-t", "--detach", "-d"];
    if rest.iter().any(|word| word.literal().is_some_and(|text| makes_branch.contains(&text))) {
        return false;
    }
    let at = rest.iter().position(|word| word.literal() == Some("--"));
    if let Some(at) = at {
        return at + 1 < rest.len();
    }
    let operands: Vec<String> =
        rest.iter().map(ShellWord::unexpanded).filter(|text| text == "-" || !text.starts_with('-')).collect();
    let is_given = |long: &str| might_give(rest, None, long);
    match operands.as_slice() {
        [] => is_given("pathspec-from-file"),
        [one] => looks_like_a_file(one) || is_given("ours") || is_given("theirs"),
        _ => true,
    }
}

/// Whether a word is a path rather than a name of a branch or a version: it begins like one or ends like the name of a file.
pub(super) fn looks_like_a_file(text: &str) -> bool {
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
fn only_index(rest: &[ShellWord]) -> bool {
    might_give(rest, Some('S'), "staged") && !might_give(rest, Some('W'), "worktree")
}
