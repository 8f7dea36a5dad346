//! Places that decide which programs run later or who may say yes, and places that hold secrets.
//!
//! Changing the first and reading the second always asks, one by one, and no grant covers it. Both come from
//! one table, from which the bounds of commands are made too.

mod page;
mod table;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use buddy_protocol::{NameSet, OpenedRoots, fold_name, fold_path};

pub use self::page::protected_places_page;
pub use self::table::{GIT_ORDERS, Keeps, PROTECTED, ProtectedRow};
use crate::Places;
use crate::path::{clean, is_beneath_any, touches_any};

/// Names that programs take orders from, in any directory.
pub fn order_names() -> &'static NameSet {
    static NAMES: LazyLock<NameSet> = LazyLock::new(|| {
        NameSet::trees(anywhere(|keeps| matches!(keeps, Keeps::Orders | Keeps::OrdersIn(_))))
            .with_files(anywhere(|keeps| keeps == Keeps::OrderFiles))
    });
    &NAMES
}

/// Names that the kernel and the file tools keep from being changed, in any directory: those that programs
/// take orders from. Of directories that commands write in all the time, only the parts that give orders.
pub fn guarded_names() -> &'static NameSet {
    static NAMES: LazyLock<NameSet> = LazyLock::new(|| {
        let whole = anywhere(|keeps| keeps == Keeps::Orders).map(str::to_owned);
        let parts = PROTECTED.iter().flat_map(|row| {
            let Keeps::OrdersIn(parts) = row.keeps else { return Vec::new() };
            parts.iter().map(|part| format!("{}/{part}", row.name)).collect()
        });
        let names: Vec<String> = whole.chain(parts).collect();
        NameSet::trees(names.iter().map(String::as_str))
            .with_files(anywhere(|keeps| keeps == Keeps::OrderFiles))
    });
    &NAMES
}

/// Places in a home that hold secrets, relative to it.
pub fn home_secrets() -> impl Iterator<Item = &'static Path> {
    anywhere(|keeps| keeps == Keeps::Secrets).filter(|name| !name.contains('*')).map(Path::new)
}

/// Places in a home that hold secrets which everyday tools need, relative to it.
pub fn tool_secrets() -> impl Iterator<Item = &'static Path> {
    anywhere(|keeps| keeps == Keeps::ToolSecrets).map(Path::new)
}

/// The names of these, in any directory.
pub fn tool_secret_names() -> &'static NameSet {
    static NAMES: LazyLock<NameSet> =
        LazyLock::new(|| NameSet::trees(anywhere(|keeps| keeps == Keeps::ToolSecrets)));
    &NAMES
}

/// Names that hold secrets, in any directory.
pub fn secret_names() -> &'static NameSet {
    static NAMES: LazyLock<NameSet> = LazyLock::new(|| {
        NameSet::trees(anywhere(|keeps| matches!(keeps, Keeps::Secrets | Keeps::ToolSecrets)))
            .with_files(anywhere(|keeps| keeps == Keeps::SecretFiles))
            .without(anywhere(|keeps| keeps == Keeps::NoSecrets))
            .with_copies()
    });
    &NAMES
}

/// Places of the system that hold secrets.
pub fn secret_places() -> impl Iterator<Item = &'static Path> {
    at_one_place(|keeps| keeps == Keeps::Secrets)
}

fn anywhere(is_wanted: impl Fn(Keeps) -> bool) -> impl Iterator<Item = &'static str> {
    let rows = PROTECTED.iter().filter(move |row| is_wanted(row.keeps));
    rows.map(|row| row.name).filter(|name| !name.starts_with('/'))
}

fn at_one_place(is_wanted: impl Fn(Keeps) -> bool) -> impl Iterator<Item = &'static Path> {
    let rows = PROTECTED.iter().filter(move |row| is_wanted(row.keeps));
    rows.map(|row| row.name).filter(|name| name.starts_with('/')).map(Path::new)
}

/// Whether changing this path always asks.
pub(crate) fn is_guarded(path: &Path, places: &Places) -> bool {
    let path = clean(path);
    is_own_to_change(&path, places)
        || at_one_place(|keeps| keeps == Keeps::Orders).any(|place| path.starts_with(place))
        || is_within(&path, &places.git_orders)
        || is_within(&path, &places.linked.orders)
        || makes_a_repository(&path)
        // In an opened `.git`, only the parts that give orders are guarded.
        || [order_names(), guarded_names(), &places.git_names].into_iter().any(|set| is_named(&path, set, places))
}

/// Whether changing or reading this path asks by itself, so that the removal of a directory above it does too.
pub fn is_protected(path: &Path, places: &Places) -> bool {
    is_guarded(path, places) || is_secret(path, places)
}

/// Whether a file of this name can make git take its directory for a repository under any name. A command may
/// make one: its settings are checked when it ends.
fn makes_a_repository(path: &Path) -> bool {
    path.file_name().is_some_and(|name| fold_name(&name.to_string_lossy()) == "head")
}

/// Whether a path is one of these or in one, in any spelling: a file system may not tell them apart.
fn is_within(path: &Path, places: &[PathBuf]) -> bool {
    if places.is_empty() {
        return false;
    }
    let names = fold_path(path);
    places.iter().any(|place| names.starts_with(&fold_path(place)))
}

/// Whether a path belongs to buddy itself and is not meant to be read. A log is for the agent that was told
/// its name: a search through all of them would find secrets that other sessions were allowed to read.
pub(crate) fn is_own(path: &Path, places: &Places) -> bool {
    let is_readable = |place: &PathBuf| {
        let top = clean(place);
        path.starts_with(&top) && (path != top || places.scratch.contains(place))
    };
    is_beneath_any(path, &places.own) && !places.own_readable.iter().any(is_readable)
}

/// Whether a change of this path would change a file of buddy's own. A directory that is shared with people
/// is none.
fn is_own_to_change(path: &Path, places: &Places) -> bool {
    let mut shared = places.own_readable.iter().filter(|place| places.scratch.contains(place));
    touches_any(path, &places.own)
        && !shared.any(|place| path.starts_with(clean(place)) && path != clean(place))
}

/// Whether reading this path asks.
pub(crate) fn is_secret(path: &Path, places: &Places) -> bool {
    let path = clean(path);
    is_own(&path, places)
        || secret_places().any(|place| path.starts_with(place))
        || (path.starts_with("/dev")
            && !["/dev/null", "/dev/zero"].iter().any(|plain| path == Path::new(plain)))
        || is_of_a_process(&path)
        || is_named(&path, secret_names(), places)
        || [&places.linked.keys, &places.linked.logins, &places.linked.secrets]
            .into_iter()
            .any(|linked| is_within(&path, linked))
}

/// Whether a path belongs to buddy, holds keys of the account or of the system, or is where programs keep passwords: a yes opens no such
/// place. A file of a project that holds secrets by convention is none.
pub(crate) fn is_sensitive(path: &Path, places: &Places) -> bool {
    let path = clean(path);
    if !is_secret(&path, places) {
        return false;
    }
    let is_opened = is_beneath_any(&path, &places.workspace) || is_beneath_any(&path, &places.scratch);
    is_own(&path, places)
        || secret_places().any(|place| path.starts_with(place))
        || is_home_secret(&path, places)
        || (!is_opened && (sensitive_names().covers(&path) || is_within(&path, &places.linked.keys)))
}

/// Whether a path is at one of the places of the home that hold secrets, also where the home itself is worked on.
fn is_home_secret(path: &Path, places: &Places) -> bool {
    let below = places.home.as_deref().and_then(|home| path.strip_prefix(clean(home)).ok()).map(fold_path);
    below.is_some_and(|below| folded_home_secrets().iter().any(|place| below.starts_with(place)))
}

/// The places of the home that hold secrets, folded once: there are hundreds, and each touched file is compared with all.
fn folded_home_secrets() -> &'static [Vec<String>] {
    static PLACES: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| home_secrets().map(fold_path).collect());
    &PLACES
}

/// Names of directories and files that hold keys and passwords, wherever they stand.
fn sensitive_names() -> &'static NameSet {
    static NAMES: LazyLock<NameSet> =
        LazyLock::new(|| NameSet::trees(anywhere(|keeps| keeps == Keeps::Secrets)));
    &NAMES
}

/// Whether the path is a part of a repository's own directory that git takes orders from, which the jail covers as a whole.
pub(crate) fn is_git_order(path: &Path, places: &Places) -> bool {
    static NAMES: LazyLock<NameSet> = LazyLock::new(|| {
        let names: Vec<String> = GIT_ORDERS.iter().map(|part| format!(".git/{part}")).collect();
        NameSet::trees(names.iter().map(String::as_str))
    });
    is_named(&clean(path), &NAMES, places)
}

/// Whether reading everything in this directory could read secrets that no jail seals: it is in the home or
/// holds it, or holds places with secrets, and is no place that the user opened.
pub(crate) fn holds_secrets(path: &Path, places: &Places) -> bool {
    let path = clean(path);
    let holds = |place: &Path| clean(place).starts_with(&path);
    if secret_places().any(holds) || places.own.iter().chain(&places.home).any(|place| holds(place)) {
        return true;
    }
    let opened = places.workspace.iter().chain(&places.scratch).chain(&places.untrusted);
    let is_opened = opened.into_iter().any(|root| path.starts_with(clean(root)));
    let homes = places.home.iter().map(PathBuf::as_path).chain(["/home", "/root"].map(Path::new));
    !is_opened && homes.into_iter().any(|home| path.starts_with(clean(home)))
}

/// Whether a directory holds a place of the home or of the system that is protected, or of buddy itself.
pub(crate) fn holds_protected(path: &Path, places: &Places) -> bool {
    static NAMES: LazyLock<Vec<Vec<String>>> = LazyLock::new(|| {
        let names = PROTECTED.iter().map(|row| Path::new(row.name)).filter(|name| name.is_relative());
        names.map(fold_path).collect()
    });
    let path = clean(path);
    let holds = |place: &Path| clean(place).starts_with(&path);
    // A file system may not tell spellings apart.
    let below = |home: &PathBuf| path.strip_prefix(clean(home)).map(fold_path).ok();
    let in_home = |below: Vec<String>| NAMES.iter().any(|name| name.starts_with(&below));
    places.own.iter().any(|place| holds(place))
        || PROTECTED.iter().any(|row| row.name.starts_with('/') && holds(Path::new(row.name)))
        || places.home.iter().filter_map(below).any(in_home)
}

/// Files and directories of a process in `/proc` that hold numbers and names of the kernel: no memory, no environment, no arguments and
/// no way round to another file.
const HARMLESS_OF_A_PROCESS: &[&str] = &[
    "cgroup",
    "comm",
    "io",
    "limits",
    "loginuid",
    "mountinfo",
    "mounts",
    "net",
    "oom_score",
    "oom_score_adj",
    "schedstat",
    "stat",
    "statm",
    "status",
    "wchan",
];

/// `/proc/self/…` and `/proc/<number>/…`: memory, environment, and other ways round to any file. `/proc/net` is a link to there, of
/// which nothing is secret.
fn is_of_a_process(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else { return false };
    let mut names = rest.components().map(|name| name.as_os_str().to_string_lossy().into_owned());
    let is_process = names.next().is_some_and(|first| {
        first.contains("self") || first.starts_with(|digit: char| digit.is_ascii_digit())
    });
    let is_harmless = names.next().is_some_and(|name| HARMLESS_OF_A_PROCESS.contains(&name.as_str()));
    is_process && !is_harmless
}

/// Whether a path is in a set of names, by a match that ends below the place that the user opened.
fn is_named(path: &Path, set: &NameSet, places: &Places) -> bool {
    let roots = places.workspace.iter().chain(&places.scratch).map(|root| clean(root));
    OpenedRoots::new(roots).protects(set, &fold_path(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places {
            workspace: vec!["/w".into()],
            home: Some("/home/u".into()),
            own: vec!["/home/u/.config/buddy".into(), "/var/lib/buddy/run".into()],
            scratch: vec!["/tmp".into(), "/home/u/.buddy/shared".into()],
            git_orders: vec!["/w/scripts/hooks".into(), "/w/more.gitconfig".into()],
            ..Places::default()
        }
    }

    fn check(path: &str, guarded: bool) {
        assert_eq!(is_guarded(Path::new(path), &places()), guarded, "{path}");
    }

    #[test]
    fn places_that_decide_what_runs_are_guarded_in_every_spelling() {
        for path in [
            "/w/.git/hooks/pre-commit",
            "/w/.GIT/hooks/pre-commit",
            "/w/.Git/config",
            "/w/sub/.git/config",
            "/w/.g\u{200c}it/hooks/x",
            "/w/a/../.git/config",
            "/w/.mcp.json",
            "/w/buddy.toml",
            "/w/.buddy/x",
            "/w/.vscode/tasks.json",
            "/w/.envrc",
            "/home/u/.bashrc",
            "/home/u/.config/fish/config.fish",
            "/home/u/.ssh/authorized_keys",
            "/etc/cron.d/x",
            "/home/u/.config/autostart/x.desktop",
            "/w/scripts/hooks/pre-commit",
            "/w/src/../Scripts/hooks",
            "/w/more.gitconfig",
            "/w/hie.yaml",
            "/w/.hie-bios",
            "/w/.bsp/sbt.json",
            "/w/.RData",
            "/w/.Rprofile",
            "/w/.hg/hgrc",
            "/w/.hg/sharedpath",
            "/w/.hg/store/00changelog.i",
            "/w/.sl/sharedpath",
            "/w/.pi/extensions/x.ts",
            "/w/.tmuxinator.yml",
            "/home/u/.tmuxinator/work.yml",
            "/w/docs/demo/HEAD",
            "/w/Head",
        ] {
            check(path, true);
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        for path in [
            "/w/src/main.rs",
            "/w/AGENTS.md",
            "/w/.github/workflows/x.yml",
            "/w/git/hooks",
            "/tmp/x",
            "/w/scripts/run",
        ] {
            check(path, false);
        }
        check("/home/u/.buddy/shared/x.html", false);
    }

    #[test]
    fn own_places_are_guarded_with_what_holds_them() {
        check("/var/lib/buddy/run/x", true);
        check("/var/lib/buddy", true);
        check("/var/lib/buddy/running", false);
    }

    #[test]
    fn secrets_are_not_read_by_themselves() {
        for path in [
            "/home/u/.ssh/id",
            "/etc/shadow",
            "/proc/1/environ",
            "/proc/self/root/x",
            "/proc/self",
            "/proc/13/mem",
            "/proc/13/maps",
            "/proc/13/fd/3",
            "/proc/13/cmdline",
            "/proc/13/task/13/environ",
            "/dev/sda",
            "/w/.env",
            "/w/app/.env.production",
            "/w/config/secrets.yml",
            "/w/deploy/id_ed25519",
            "/home/u/.mozilla/firefox/x.default/logins.json",
            "/home/u/.cargo/credentials.toml",
            "/w/terraform.tfstate.backup",
            "/w/prod.auto.tfvars.json",
            "/w/server.pem.bak",
            "/w/.dev.vars",
            "/home/u/.aws.old/credentials",
        ] {
            assert!(is_secret(Path::new(path), &places()), "{path}");
        }
        for path in [
            "/w/a",
            "/etc/hosts",
            "/proc/cpuinfo",
            "/proc/net/dev",
            "/proc/13/net/dev",
            "/proc/self/status",
            "/dev/null",
            "/w/.git/config",
            "/w/.env.example",
            "/w/.env/bin/python",
            "/w/src/secrets.rs",
            "/w/src/secrets.rs.orig",
            "/w/.dev.vars.example",
            "/w/notes.bak",
            "/w/deploy/id_ed25519.pub",
            "/home/u/.cargo/registry/x",
        ] {
            assert!(!is_secret(Path::new(path), &places()), "{path}");
        }
    }

    /// A path in a directory that the user opened.
    fn check_opened(root: &str, path: &str, guarded: bool, secret: bool) {
        let places = Places { workspace: vec!["/w".into(), root.into()], ..places() };
        let path = Path::new(root).join(path);
        assert_eq!(is_guarded(&path, &places), guarded, "{}", path.display());
        assert_eq!(is_secret(&path, &places), secret, "{}", path.display());
    }

    #[test]
    fn names_that_begin_above_an_opened_directory_count_if_they_end_below_it() {
        for (root, path) in [
            ("/home/u/.config", "git/config"),
            ("/home/u/.config", "fish/config.fish"),
            ("/home/u/.CONFIG", "GIT/config"),
            ("/home/u/.cargo", "config.toml"),
            ("/home/u/.local/share", "systemd/user/x.service"),
            ("/w/x/.github", "hooks/x.json"),
            ("/w/x/.git", "hooks/pre-commit"),
            ("/w/x/.git", "config"),
            ("/w/x/.git/objects", "info/alternates"),
            ("/w/x/.hg", "hgrc"),
            ("/home/u/.config/nvim", ".config/git/config"),
            ("/home/u", ".bashrc"),
        ] {
            check_opened(root, path, true, false);
        }
        for (root, path) in [
            ("/w/x/.docker", "config.json"),
            ("/w/x/.config", "gh/hosts.yml"),
            ("/home/u/.cargo", "credentials.toml"),
        ] {
            check_opened(root, path, false, true);
        }
    }

    #[test]
    fn an_opened_directory_is_not_guarded_by_its_own_name() {
        for (root, path) in [
            ("/home/u/.config/nvim", "init.lua"),
            ("/home/u/.config/nvim/lua", "x.lua"),
            ("/home/u/.vscode/proj", "src/main.rs"),
            ("/home/u/.config", "foot/foot.ini"),
            ("/w/x/.git/wt/proj", "src/config"),
            ("/w/x/.ssh", "notes"),
        ] {
            check_opened(root, path, false, false);
        }
    }
}
