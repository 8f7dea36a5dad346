//! A workspace, files outside of it, and a supervisor with some of the layers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

use buddy_exec::{Bounds, Exec, Exit, Reach, SupervisorCommand};
use tempfile::TempDir;

use crate::stage::{Stage, sh};

const SUPERVISE: &str = env!("CARGO_BIN_EXE_buddy-supervise");
const GRACE: Duration = Duration::from_millis(300);

/// An account that owns nothing.
pub(crate) const NOBODY: u32 = 65534;

/// The layers of a jail, and its account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Bubblewrap, Landlock and seccomp.
    Full,
    /// As if bubblewrap were not installed.
    Bare,
    /// The full one of an account without rights. Run by such an account, the same as `Full`.
    Ordinary,
    /// Without bubblewrap, of an account without rights.
    OrdinaryBare,
    /// Without bubblewrap, where no namespace for mounts can be made.
    NoMounts,
}

pub(crate) const ALL: [Kind; 4] = [Kind::Full, Kind::Bare, Kind::Ordinary, Kind::OrdinaryBare];
pub(crate) const WITH_MOUNTS: [Kind; 2] = [Kind::Full, Kind::Ordinary];

/// A jail to try commands in, and the places to try them on.
pub(crate) struct Cell {
    pub(crate) kind: Kind,
    pub(crate) stage: Stage,
    outside: TempDir,
    /// The directory of a supervisor that other accounts can execute.
    _programs: TempDir,
}

impl Cell {
    pub(crate) fn new(kind: Kind) -> Self {
        let programs = tempfile::tempdir().unwrap();
        fs::set_permissions(programs.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let supervise = programs.path().join("supervise");
        fs::copy(SUPERVISE, &supervise).unwrap();
        let stage = Stage::with(supervisor(kind, &supervise), GRACE);
        let outside = tempfile::tempdir().unwrap();
        let cell = Self { kind, stage, outside, _programs: programs };
        for name in ["sentinel", "secret"] {
            fs::write(cell.out(name), format!("{name}\n")).unwrap();
        }
        // The account of the command owns the files outside too: the jail keeps it away, and not the owner.
        for path in [cell.ws(""), cell.out(""), cell.out("sentinel"), cell.out("secret")] {
            cell.give(&path);
        }
        cell
    }

    /// Gives a path to the account of the command.
    pub(crate) fn give(&self, path: &Path) {
        if rustix::process::geteuid().is_root() && is_ordinary(self.kind) {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    /// A path in the workspace.
    pub(crate) fn ws(&self, name: &str) -> PathBuf {
        self.stage.path(name)
    }

    /// A path outside of the workspace.
    pub(crate) fn out(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    /// Makes a file with its directories in the workspace.
    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.ws(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        for path in path.ancestors().take_while(|path| **path != *self.ws("")) {
            self.give(path);
        }
    }

    /// All may be read, the workspace may be written, and there is no network.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { write: Reach::Beneath(vec![self.ws("")]), network: false, ..Bounds::open() }
    }

    /// Runs a script with `$OUT` and `$WS` set.
    pub(crate) async fn run(&self, script: &str) -> Exit {
        self.run_in(self.bounds(), script).await
    }

    pub(crate) async fn run_in(&self, bounds: Bounds, script: &str) -> Exit {
        self.stage.run(self.exec(bounds, script)).await
    }

    pub(crate) fn exec(&self, bounds: Bounds, script: &str) -> Exec {
        let mut exec = sh(script);
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        exec.env.push(("WS".into(), text(self.ws("")).trim_end_matches('/').into()));
        exec.env.push(("OUT".into(), text(self.out("")).trim_end_matches('/').into()));
        exec.bounds = bounds;
        exec
    }

    /// Asserts that everything outside is as it was made.
    pub(crate) fn assert_outside_untouched(&self, tried: &str) {
        let mut names: Vec<_> =
            fs::read_dir(self.outside.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["secret", "sentinel"], "{:?}: {tried}", self.kind);
        for name in ["sentinel", "secret"] {
            let text = fs::read_to_string(self.out(name)).unwrap();
            assert_eq!(text, format!("{name}\n"), "{:?}: {tried}", self.kind);
        }
    }
}

pub(crate) fn is_ordinary(kind: Kind) -> bool {
    matches!(kind, Kind::Ordinary | Kind::OrdinaryBare)
}

/// The supervisor, behind a program that takes layers or rights away.
pub(crate) fn supervisor(kind: Kind, supervise: &Path) -> SupervisorCommand {
    let is_root = rustix::process::geteuid().is_root();
    let mut words: Vec<String> = Vec::new();
    if matches!(kind, Kind::Bare | Kind::OrdinaryBare) {
        // A device is no program, so this is as good as no program.
        words.extend(behind_mount("/dev/null"));
    }
    if kind == Kind::NoMounts {
        // The limit is that of a namespace of users, so no other process is affected.
        let script = "mount --bind /dev/null /usr/bin/bwrap && echo 0 > /proc/sys/user/max_mnt_namespaces && exec \"$@\"";
        let namespaces = ["/usr/bin/unshare", "--map-root-user", "--mount", "/bin/sh", "-c", script, "sh"];
        words.extend(namespaces.map(Into::into));
    }
    if is_root && is_ordinary(kind) {
        let id = NOBODY.to_string();
        words.extend(["/usr/bin/setpriv", "--reuid", &id, "--regid", &id, "--clear-groups"].map(Into::into));
    }
    words.push(supervise.to_str().unwrap().into());
    SupervisorCommand { program: words[0].clone().into(), args: words.split_off(1) }
}

/// A program and arguments that run the rest of them with another file in the place of bubblewrap.
pub(crate) fn behind_mount(instead: &str) -> Vec<String> {
    let is_root = rustix::process::geteuid().is_root();
    let namespaces: &[&str] = if is_root { &["--mount"] } else { &["--map-root-user", "--mount"] };
    let script = format!("mount --bind '{instead}' /usr/bin/bwrap && exec \"$@\"");
    let words = [&["/usr/bin/unshare"], namespaces, &["/bin/sh", "-c", &script, "sh"]].concat();
    words.into_iter().map(str::to_owned).collect()
}
