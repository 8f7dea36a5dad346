//! Grants beyond single sessions, in a file that agents cannot reach.
//!
//! A grant ends by the wall clock and, until the machine is started again, by the time since the start, so that setting
//! the clock back does not prolong it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, bail};
use buddy_policy::{GitTrip, Grant};
use buddy_protocol::{Clock, UnixMillis};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::config::{KeptRead, private_file};

/// The form of the file that this program writes.
const VERSION: u32 = 1;
/// Grants that are kept; more than a user can remember.
const MAX_GRANTS: usize = 500;

/// The grants of a user.
pub(crate) struct GrantBook {
    path: PathBuf,
    kept: KeptRead<Vec<KeptGrant>>,
    clock: Arc<dyn Clock>,
}

/// A grant that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptGrant {
    /// The allowed call.
    pub(crate) grant: Grant,
    /// The directory it holds in, with all below it; none means everywhere.
    pub(crate) project: Option<PathBuf>,
    /// When it was given.
    pub(crate) granted: UnixMillis,
    /// When it ends.
    pub(crate) expires: UnixMillis,
    /// The same by the time since the machine was started.
    pub(crate) uptime: Option<Uptime>,
}

/// A moment since a start of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uptime {
    pub(crate) boot: String,
    pub(crate) millis: u64,
}

#[derive(Serialize, Deserialize)]
struct GrantFile {
    version: u32,
    grants: Vec<KeptGrant>,
}

impl KeptGrant {
    fn holds(&self, UnixMillis(now): UnixMillis, uptime: Option<&Uptime>) -> bool {
        let by_wall = self.granted.0 <= now && now < self.expires.0;
        let by_uptime = match (&self.uptime, uptime) {
            (Some(until), Some(now)) if until.boot == now.boot => now.millis < until.millis,
            _ => true,
        };
        by_wall && by_uptime
    }

    fn is_for(&self, directory: &Path) -> bool {
        self.project.as_ref().is_none_or(|project| directory.starts_with(project))
    }
}

impl GrantBook {
    /// The grants in a data directory. Nothing is read yet.
    pub(crate) fn new(data: &Path, clock: Arc<dyn Clock>) -> Self {
        Self { path: data.join("grants.json"), kept: KeptRead::default(), clock }
    }

    /// The grants in force in a directory, by its name without links. A file that cannot be read grants nothing.
    pub(crate) fn holding(&self, directory: &Path) -> Vec<Grant> {
        let Ok(kept) = self.kept.get([self.path.as_path()], || self.read()) else { return Vec::new() };
        let (now, uptime) = (self.clock.now(), uptime());
        let holds = |kept: &&KeptGrant| kept.is_for(directory) && kept.holds(now, uptime.as_ref());
        kept.iter().filter(holds).map(|kept| kept.grant.clone()).collect()
    }

    /// All that hold now.
    pub(crate) fn list(&self) -> anyhow::Result<Vec<KeptGrant>> {
        let (now, uptime) = (self.clock.now(), uptime());
        let grants = self.read()?.into_iter();
        Ok(grants.filter(|kept| kept.holds(now, uptime.as_ref())).collect())
    }

    /// Keeps a grant, for a directory by its name without links.
    pub(crate) fn add(&self, grant: Grant, project: Option<&Path>, time: Duration) -> anyhow::Result<()> {
        let project = project.map(Path::to_owned);
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let granted = self.clock.now();
        let expires = UnixMillis(granted.0.saturating_add(millis));
        let uptime = uptime().map(|now| Uptime { millis: now.millis.saturating_add(millis), boot: now.boot });
        let new = KeptGrant { grant, project, granted, expires, uptime };
        self.change(|grants| {
            // A program that has changed since is replaced too. Other trips of git are allowed beside each other.
            let trips = |kept: &KeptGrant| -> Vec<GitTrip> {
                kept.grant.destinations.iter().map(|pinned| pinned.trip.clone()).collect()
            };
            let is_same = |kept: &KeptGrant| {
                (&kept.grant.target, &kept.grant.scope, &kept.project)
                    == (&new.grant.target, &new.grant.scope, &new.project)
                    && (kept.grant.destinations.is_empty() || trips(kept) == trips(&new))
            };
            grants.retain(|kept| !is_same(kept));
            grants.push(new);
        })
    }

    /// Takes back the grants of these places in the list, counted from 1; none means all. Tells how many.
    pub(crate) fn revoke(&self, places: Option<&[usize]>) -> anyhow::Result<usize> {
        let mut revoked = 0;
        self.change(|grants| {
            let before = grants.len();
            let mut place = 0;
            grants.retain(|_| {
                place += 1;
                places.is_some_and(|places| !places.contains(&place))
            });
            revoked = before - grants.len();
        })?;
        Ok(revoked)
    }

    /// Changes the grants that hold; those that ended are dropped on the way.
    fn change(&self, change: impl FnOnce(&mut Vec<KeptGrant>)) -> anyhow::Result<()> {
        let _lock =
            private_file::lock(&self.path).with_context(|| format!("cannot lock {}", self.path.display()))?;
        let mut grants = self.list()?;
        change(&mut grants);
        if grants.len() > MAX_GRANTS {
            bail!(
                "there are already {MAX_GRANTS} saved permissions; revoke some with `buddy grants --revoke`"
            );
        }
        let text = serde_json::to_string_pretty(&GrantFile { version: VERSION, grants })?;
        private_file::replace(&self.path, &format!("{text}\n"))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }

    fn read(&self) -> anyhow::Result<Vec<KeptGrant>> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.path.display())),
        };
        let damaged =
            || format!("{} is damaged; no saved permission applies until you remove it", self.path.display());
        let file: GrantFile = serde_json::from_str(&text).with_context(damaged)?;
        if file.version != VERSION {
            bail!("{} was written by another version of buddy", self.path.display());
        }
        Ok(file.grants)
    }
}

fn uptime() -> Option<Uptime> {
    let boot = boot()?.to_owned();
    let since = clock_gettime(ClockId::Boottime);
    let millis = u64::try_from(since.tv_sec).ok()? * 1_000 + u64::try_from(since.tv_nsec).ok()? / 1_000_000;
    Some(Uptime { boot, millis })
}

/// The start of the machine that this process runs since.
fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    let read = || Some(std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned());
    BOOT.get_or_init(read).as_deref()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A clock that a test sets.
    struct Set(AtomicU64);

    impl Clock for Set {
        fn now(&self) -> UnixMillis {
            UnixMillis(self.0.load(Ordering::Relaxed))
        }
    }

    struct Stage {
        home: tempfile::TempDir,
        clock: Arc<Set>,
    }

    impl Stage {
        fn new() -> Self {
            Self { home: tempfile::tempdir().unwrap(), clock: Arc::new(Set(AtomicU64::new(1_000_000))) }
        }

        fn book(&self) -> GrantBook {
            GrantBook::new(&self.home.path().join("data"), self.clock.clone())
        }

        fn set(&self, millis: u64) {
            self.clock.0.store(millis, Ordering::Relaxed);
        }
    }

    fn cargo() -> Grant {
        Grant::command("cargo test *", "local").unwrap()
    }

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn a_grant_holds_in_its_place_until_its_end() {
        let stage = Stage::new();
        let (project, other) = (stage.home.path().join("project"), stage.home.path().join("other"));
        std::fs::create_dir_all(project.join("sub")).unwrap();
        std::fs::create_dir(&other).unwrap();
        stage.book().add(cargo(), Some(&project), MINUTE).unwrap();
        let book = stage.book();
        assert_eq!(book.holding(&project), [cargo()]);
        assert_eq!(book.holding(&project.join("sub")), [cargo()]);
        assert_eq!(book.holding(&other), []);
        stage.set(1_000_000 + 60_000);
        assert_eq!(book.holding(&project), []);
    }

    #[test]
    fn a_clock_set_back_ends_it_too() {
        let stage = Stage::new();
        stage.book().add(cargo(), None, MINUTE).unwrap();
        stage.set(999_999);
        assert_eq!(stage.book().holding(Path::new("/")), []);
        stage.set(1_000_000);
        let kept = stage.book().list().unwrap().remove(0);
        let ended = Uptime { millis: u64::MAX, ..kept.uptime.clone().unwrap() };
        assert!(!kept.holds(UnixMillis(1_000_001), Some(&ended)), "by the time since the start it is over");
    }

    #[test]
    fn grants_are_replaced_and_taken_back() {
        let stage = Stage::new();
        let book = stage.book();
        for _ in 0..2 {
            book.add(cargo(), None, MINUTE).unwrap();
        }
        book.add(Grant::command("npm run *", "local").unwrap(), None, MINUTE).unwrap();
        assert_eq!(book.list().unwrap().len(), 2);
        assert_eq!(book.revoke(Some(&[1])).unwrap(), 1);
        assert_ne!(book.holding(Path::new("/")), [cargo()]);
        assert_eq!(book.revoke(None).unwrap(), 1);
        assert_eq!(book.list().unwrap(), []);
    }

    #[test]
    fn a_damaged_file_grants_nothing_and_is_not_overwritten() {
        let stage = Stage::new();
        let book = stage.book();
        book.add(cargo(), None, MINUTE).unwrap();
        std::fs::write(stage.home.path().join("data/grants.json"), "{").unwrap();
        assert_eq!(book.holding(Path::new("/")), []);
        assert!(book.add(cargo(), None, MINUTE).is_err());
    }
}
