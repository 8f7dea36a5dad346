//! A place for sessions of which nothing stays.
//!
//! It lies in the data directory, where agents see nothing of it, and not among the temporary files of the machine, which they
//! may write. The output of commands is beside that of others, as agents are told where it is. Both are removed when the
//! place is dropped. Its lock dies with the process, so what a process left that was killed is removed by the next one.

mod ledger;

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use buddy_exec::{FileLock, LockKind};

use crate::config::private_file;
use crate::environment::Environment;
pub(crate) use ledger::DayLedger;

/// In a place, and beside all of them, what is locked.
const LOCK: &str = "lock";
/// How often something is removed again into which a thread that is being ended has written meanwhile, and how long to wait
/// before.
const REMOVALS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(25);
/// How long a lock is waited for that others hold for a few steps, or while they remove what was left.
const LOCKING: Duration = Duration::from_secs(10);

/// The place of one run.
pub(crate) struct EphemeralPlace {
    path: PathBuf,
    logs: PathBuf,
    _lock: FileLock,
}

impl EphemeralPlace {
    /// Chooses a place for the sessions of a run. It is not made yet.
    pub(crate) fn choose(environment: &mut Environment) {
        let name = uuid::Uuid::now_v7().simple().to_string();
        environment.session_logs = logs(&environment.data, &name);
        environment.session_data = places(&environment.data).join(name);
    }

    /// Makes it.
    pub(crate) fn make(environment: &Environment) -> anyhow::Result<Self> {
        let (path, logs) = (environment.session_data.clone(), environment.session_logs.clone());
        let made = || -> io::Result<FileLock> {
            let places = places(&environment.data);
            private_file::make_directory(&places)?;
            // Nobody takes it for one that was left before it is locked.
            let _making = locked(&places.join(LOCK))?;
            private_file::make_directory(&path)?;
            locked(&path.join(LOCK))
        };
        let lock = made().with_context(|| format!("cannot create `{}`", path.display()))?;
        Ok(Self { path, logs, _lock: lock })
    }
}

impl Drop for EphemeralPlace {
    fn drop(&mut self) {
        for path in [&self.logs, &self.path] {
            if let Err(error) = remove_at_last(path) {
                tracing::error!(%error, path = %path.display(), "what was not to stay cannot be removed");
            }
        }
    }
}

/// Where such places are.
fn places(data: &Path) -> PathBuf {
    data.join("run").join("ephemeral")
}

/// Where the output of commands is that belongs to a place.
fn logs(data: &Path, name: &str) -> PathBuf {
    data.join("logs").join(format!("ephemeral-{name}"))
}

/// Removes what processes left that were killed. That it fails is no reason not to go on, and who holds the lock is making a place
/// or does the same: that is not waited for.
pub(crate) fn sweep(data: &Path) {
    let places = places(data);
    if !places.exists() {
        return;
    }
    let swept = || -> io::Result<()> {
        let Some(_sweeping) = FileLock::try_take(&places.join(LOCK), LockKind::Exclusive)? else {
            return Ok(());
        };
        for entry in std::fs::read_dir(&places)?.flatten() {
            if let Err(error) = sweep_one(data, &entry) {
                tracing::warn!(%error, path = %entry.path().display(), "what an ephemeral run left cannot be removed");
            }
        }
        Ok(())
    };
    if let Err(error) = swept() {
        tracing::warn!(%error, "what ephemeral runs left cannot be looked for");
    }
}

fn sweep_one(data: &Path, entry: &DirEntry) -> io::Result<()> {
    if !entry.file_type()?.is_dir() || !is_left(&entry.path()) {
        return Ok(());
    }
    // The place last: as long as it is there, the next sweep finds what is left of either.
    remove(&logs(data, &entry.file_name().to_string_lossy()))?;
    remove(&entry.path())
}

fn remove_at_last(path: &Path) -> io::Result<()> {
    for _ in 1..REMOVALS {
        if remove(path).is_ok() {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    remove(path)
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn is_left(place: &Path) -> bool {
    FileLock::try_take(&place.join(LOCK), LockKind::Exclusive).is_ok_and(|lock| lock.is_some())
}

/// Held for a few steps, except by the run that owns a place. It is waited for, but not for ever.
fn locked(path: &Path) -> io::Result<FileLock> {
    let lock = FileLock::take_within(path, LockKind::Exclusive, LOCKING)?;
    lock.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(data: &Path) -> Environment {
        let variable = ("BUDDY_HOME".to_owned(), data.display().to_string());
        let mut environment = Environment::of([variable].into()).unwrap();
        EphemeralPlace::choose(&mut environment);
        environment
    }

    #[test]
    fn what_was_left_goes_and_what_is_used_stays() {
        let data = tempfile::tempdir().unwrap();
        let (used, left) = (environment(data.path()), environment(data.path()));
        let place = EphemeralPlace::make(&used).unwrap();
        for environment in [&used, &left] {
            for directory in [&environment.session_data, &environment.session_logs] {
                std::fs::create_dir_all(directory).unwrap();
                std::fs::write(directory.join("file"), "x").unwrap();
            }
        }
        sweep(data.path());
        assert!(used.session_data.is_dir() && used.session_logs.is_dir());
        assert!(!left.session_data.exists() && !left.session_logs.exists());
        drop(place);
        assert!(!used.session_data.exists() && !used.session_logs.exists());
    }

    #[test]
    fn a_place_that_cannot_be_removed_keeps_no_other_one() {
        let data = tempfile::tempdir().unwrap();
        let left = [environment(data.path()), environment(data.path()), environment(data.path())];
        for environment in &left {
            std::fs::create_dir_all(&environment.session_data).unwrap();
        }
        // An entry that cannot be removed as a directory: a file in the place of one.
        std::fs::create_dir_all(data.path().join("logs")).unwrap();
        for environment in &left[..2] {
            std::fs::write(&environment.session_logs, "x").unwrap();
        }
        sweep(data.path());
        assert!(left[0].session_data.exists() && left[1].session_data.exists());
        assert!(!left[2].session_data.exists());
    }

    #[test]
    fn a_sweep_waits_for_nobody() {
        let data = tempfile::tempdir().unwrap();
        let left = environment(data.path());
        std::fs::create_dir_all(&left.session_data).unwrap();
        let held = locked(&places(data.path()).join(LOCK)).unwrap();
        sweep(data.path());
        assert!(left.session_data.exists(), "it is left to whoever holds the lock");
        drop(held);
        sweep(data.path());
        assert!(!left.session_data.exists());
    }
}
