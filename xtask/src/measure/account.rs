//! An ordinary account for measurements. As root, a jail would be tested with rights that users do not have.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::place;
use crate::run::{program, run};

/// The account that is created if the chore runs as root. It is removed afterwards.
const NAME: &str = "buddy-measure";
/// The directory for that account's files: root's own cache is closed to others.
const SYSTEM_CACHE: &str = "/var/cache/buddy-measure";

/// The timeout for processes to end after a signal.
const PATIENCE: Duration = Duration::from_secs(5);

/// An account. Dropping it removes it if it was created here.
pub(crate) struct Account {
    /// User and group, if this is not the current account.
    other: Option<Identity>,
    was_made: bool,
    base: PathBuf,
}

struct Identity {
    user: String,
    group: String,
}

impl Account {
    /// The current account, or an unprivileged one if the chore runs as root.
    pub(crate) fn ordinary() -> Result<Self> {
        if !rustix::process::geteuid().is_root() {
            let base = place::cache()?.join("measure");
            fs::create_dir_all(&base)?;
            return Ok(Self { other: None, was_made: false, base });
        }
        fs::create_dir_all(SYSTEM_CACHE)?;
        let was_made = id("-u").is_none();
        if was_made {
            let options = ["--system", "--user-group", "--no-create-home", "--shell", "/bin/bash", NAME];
            run(program("useradd").args(options)).context("cannot make an ordinary account")?;
        }
        let user = id("-u").context("the ordinary account has no number")?;
        let group = id("-g").context("the ordinary account has no group")?;
        Ok(Self { other: Some(Identity { user, group }), was_made, base: SYSTEM_CACHE.into() })
    }

    /// The directory for files of this account.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// A program that runs as this account with a timeout and a clean environment.
    pub(crate) fn command(&self, executable: &str, seconds: u32, home: &Path) -> Command {
        let mut command = program("timeout");
        command.args(["--kill-after=5", &seconds.to_string()]);
        if let Some(Identity { user, group }) = &self.other {
            command.arg("setpriv").args([&format!("--reuid={user}"), &format!("--regid={group}")]);
            command.args(["--clear-groups", "--"]);
        }
        let name =
            if self.other.is_some() { NAME.to_owned() } else { std::env::var("USER").unwrap_or_default() };
        command.arg(executable).env_clear().env("HOME", home).env("USER", name).env("LANG", "C.UTF-8");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Gives a folder and everything in it to this account.
    pub(crate) fn give(&self, path: &Path) -> Result<()> {
        let Some(Identity { user, group }) = &self.other else { return Ok(()) };
        run(program("chown").args(["-R", "-h", &format!("{user}:{group}")]).arg(path))
    }

    /// The processes of a created account that still run.
    pub(crate) fn leftovers(&self) -> Vec<u32> {
        let Some(Identity { user, .. }) = &self.other else { return Vec::new() };
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let is_theirs = |process: &u32| {
            let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
            line.and_then(|line| line.split_whitespace().next()).is_some_and(|owner| owner == user)
        };
        let processes = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        processes.filter(is_theirs).collect()
    }

    /// Fails if a process of the account is left after the timeout for its end.
    pub(crate) fn insist_on_quiet(&self) -> Result<()> {
        let started = Instant::now();
        loop {
            let left = self.leftovers();
            if left.is_empty() {
                return Ok(());
            }
            ensure!(started.elapsed() < PATIENCE, "processes of the measured runs still live: {left:?}");
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        if self.was_made && self.leftovers().is_empty() {
            // If the account cannot be removed, it stays for the next run.
            let _ = program("userdel").arg(NAME).stderr(Stdio::null()).status();
        }
    }
}

fn id(option: &str) -> Option<String> {
    let output = program("id").args([option, NAME]).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
