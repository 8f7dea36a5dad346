//! An ordinary account to measure as. Measured as root, a jail would be tested with rights that users do not have.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::place;
use crate::run::{program, run};

/// The account that is made where the chore runs as root. It is removed afterwards.
const NAME: &str = "buddy-measure";
/// Where that account's files are: root's own cache is closed to others.
const SYSTEM_CACHE: &str = "/var/cache/buddy-measure";

/// How long processes have to end that were told to.
const PATIENCE: Duration = Duration::from_secs(5);

/// An account. Dropping it removes it if it was made here.
pub(crate) struct Account {
    /// User and group, where another account than the own one is used.
    other: Option<Identity>,
    was_made: bool,
    base: PathBuf,
}

struct Identity {
    user: String,
    group: String,
}

impl Account {
    /// The own account, or as root one without rights.
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

    /// Where files for this account are kept.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// A program that runs as this account for at most so many seconds, with nothing of this environment but what is given.
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

    /// The processes of an account of its own that still run.
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

    /// Insists that no process of the account is left, once those that were told to end had their time.
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
            // The account is left for the next run where it cannot be removed.
            let _ = program("userdel").arg(NAME).stderr(Stdio::null()).status();
        }
    }
}

fn id(option: &str) -> Option<String> {
    let output = program("id").args([option, NAME]).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
