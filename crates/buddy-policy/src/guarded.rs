//! Places that decide what runs later, or who may say yes. Writing there always asks, one by one, and no grant covers it.
//!
//! Names are compared folded, so `.GIT/hooks` is `.git/hooks` whatever the file system makes of it.

use std::path::{Path, PathBuf};

use crate::Places;
use crate::path::{clean, folded_names, is_beneath_any, touches_any};

/// Names that are guarded wherever they stand, with all that is in them.
const NAMES: &[&[&str]] = &[
    &[".git"],
    &[".gitmodules"],
    &[".gitconfig"],
    &[".config", "git"],
    &[".husky"],
    &[".ssh"],
    &[".gnupg"],
    &[".buddy"],
    &["buddy.toml"],
    &[".config", "buddy"],
    &[".mcp.json"],
    &[".claude"],
    &[".codex"],
    &[".cursor"],
    &[".gemini"],
    &[".vscode", "settings.json"],
    &[".vscode", "tasks.json"],
    &[".vscode", "launch.json"],
    &[".idea", "workspace.xml"],
    &[".envrc"],
    &[".bashrc"],
    &[".bash_profile"],
    &[".bash_login"],
    &[".bash_logout"],
    &[".bash_aliases"],
    &[".profile"],
    &[".zshrc"],
    &[".zshenv"],
    &[".zprofile"],
    &[".zlogin"],
    &[".zlogout"],
    &[".kshrc"],
    &[".cshrc"],
    &[".tcshrc"],
    &[".inputrc"],
    &[".xinitrc"],
    &[".xprofile"],
    &[".tmux.conf"],
    &[".config", "tmux"],
    &[".config", "fish"],
    &[".config", "autostart"],
    &[".config", "systemd"],
    &[".config", "environment.d"],
    &[".local", "share", "systemd"],
    &[".cargo", "config.toml"],
    &[".cargo", "config"],
    &["library", "launchagents"],
];

/// Directories of the system that are guarded with all that is in them.
const SYSTEM: &[&str] =
    &["/etc", "/boot", "/var/spool/cron", "/var/spool/at", "/usr/lib/systemd", "/lib/systemd"];

/// Names that hold secrets. Reading them asks.
const SECRETS: &[&[&str]] = &[
    &[".ssh"],
    &[".gnupg"],
    &[".aws"],
    &[".azure"],
    &[".kube"],
    &[".docker", "config.json"],
    &[".config", "gcloud"],
    &[".config", "gh"],
    &[".netrc"],
    &[".npmrc"],
    &[".pypirc"],
    &[".git-credentials"],
    &[".password-store"],
];

/// Files of the system that hold secrets.
const SYSTEM_SECRETS: &[&str] =
    &["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private"];

/// Whether changing this path always asks.
pub(crate) fn is_guarded(path: &Path, places: &Places) -> bool {
    let path = clean(path);
    touches_any(&path, &places.own)
        || SYSTEM.iter().any(|place| path.starts_with(place))
        || holds(&below_root(&path, places), NAMES)
}

/// Whether reading this path asks.
pub(crate) fn is_secret(path: &Path, places: &Places) -> bool {
    let path = clean(path);
    is_beneath_any(&path, &places.own)
        || SYSTEM_SECRETS.iter().any(|place| path.starts_with(place))
        || (path.starts_with("/dev")
            && !["/dev/null", "/dev/zero"].iter().any(|plain| path == Path::new(plain)))
        || is_of_a_process(&path)
        || holds(&path, SECRETS)
}

/// `/proc/self/…` and `/proc/<number>/…`: memory, environment, and other ways round to any file.
fn is_of_a_process(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else { return false };
    let first = rest.components().next().map(|first| first.as_os_str().to_string_lossy().into_owned());
    first.is_some_and(|first| {
        first.contains("self") || first.starts_with(|digit: char| digit.is_ascii_digit())
    })
}

/// What is left of the path below the workspace or scratch place that holds it: a place that a person opened is not
/// guarded by its own name.
fn below_root(path: &Path, places: &Places) -> PathBuf {
    let roots = places.workspace.iter().chain(&places.scratch).map(|root| clean(root));
    let below = roots.filter_map(|root| path.strip_prefix(root).ok().map(Path::to_path_buf));
    below.min_by_key(|rest| rest.components().count()).unwrap_or_else(|| path.to_path_buf())
}

fn holds(path: &Path, names: &[&[&str]]) -> bool {
    let parts = folded_names(path);
    names
        .iter()
        .any(|name| parts.windows(name.len()).any(|window| window.iter().zip(*name).all(|(a, b)| a == b)))
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
        ] {
            check(path, true);
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        for path in ["/w/src/main.rs", "/w/AGENTS.md", "/w/.github/workflows/x.yml", "/w/git/hooks", "/tmp/x"]
        {
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
        for path in ["/home/u/.ssh/id", "/etc/shadow", "/proc/1/environ", "/proc/self/root/x", "/dev/sda"] {
            assert!(is_secret(Path::new(path), &places()), "{path}");
        }
        for path in ["/w/a", "/etc/hosts", "/proc/cpuinfo", "/dev/null", "/w/.git/config"] {
            assert!(!is_secret(Path::new(path), &places()), "{path}");
        }
    }
}
