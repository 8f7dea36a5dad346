//! A place for sessions of which nothing stays.
//!
//! It lies in the data directory and not among the temporary files of the machine, which agents may write, and is removed
//! when it is dropped. Its lock dies with the process, so what a process left that was killed is removed by the next one.

mod ledger;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use crate::config::private_file;
use crate::environment::Environment;
pub(crate) use ledger::DayLedger;

/// In the data directory, where such places are.
const PLACES: &str = "ephemeral";
/// In a place, and beside all of them, what is locked.
const LOCK: &str = "lock";
/// How often a place is removed again into which something was written meanwhile, and how long to wait before.
const REMOVALS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(25);

/// The place of one run.
pub(crate) struct EphemeralPlace {
    path: PathBuf,
    _lock: File,
}

impl EphemeralPlace {
    /// The place that sessions of this run get. It is not made yet.
    pub(crate) fn choose(environment: &Environment) -> PathBuf {
        environment.data.join(PLACES).join(uuid::Uuid::now_v7().simple().to_string())
    }

    /// Makes it.
    pub(crate) fn make(path: PathBuf) -> anyhow::Result<Self> {
        let made = || -> io::Result<File> {
            let places = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
            private_file::make_directory(places)?;
            // Nobody takes it for one that was left before it is locked.
            let _making = locked(&places.join(LOCK))?;
            private_file::make_directory(&path)?;
            locked(&path.join(LOCK))
        };
        let lock = made().with_context(|| format!("cannot make `{}`", path.display()))?;
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for EphemeralPlace {
    fn drop(&mut self) {
        for _ in 0..REMOVALS {
            match std::fs::remove_dir_all(&self.path) {
                Ok(()) => return,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return,
                // A thread that is being ended may still have written something.
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
        tracing::error!(path = %self.path.display(), "what was to be kept of nothing could not be removed");
    }
}

/// Removes what processes left that were killed. That it fails is no reason not to go on.
pub(crate) fn sweep(data: &Path) {
    let places = data.join(PLACES);
    if !places.exists() {
        return;
    }
    let swept = || -> io::Result<()> {
        let _making = locked(&places.join(LOCK))?;
        for entry in std::fs::read_dir(&places)? {
            let place = entry?.path();
            if place.is_dir() && !place.is_symlink() && is_left(&place) {
                std::fs::remove_dir_all(&place)?;
            }
        }
        Ok(())
    };
    if let Err(error) = swept() {
        tracing::warn!(%error, "what an ephemeral run left cannot be removed");
    }
}

fn is_left(place: &Path) -> bool {
    match open(&place.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(_) => false,
    }
}

/// Held for a few steps, except by the run that owns a place, so waiting for it is short.
fn locked(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    file.lock()?;
    Ok(file)
}

fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_goes_and_what_is_used_stays() {
        let data = tempfile::tempdir().unwrap();
        let places = data.path().join(PLACES);
        let used = EphemeralPlace::make(places.join("used")).unwrap();
        std::fs::create_dir_all(places.join("left/logs")).unwrap();
        std::fs::write(places.join("left/buddy.db"), "x").unwrap();
        sweep(data.path());
        assert!(places.join("used").is_dir() && !places.join("left").exists());
        drop(used);
        assert!(!places.join("used").exists());
    }
}
