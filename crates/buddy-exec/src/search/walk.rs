//! Walking a tree on several threads, by directories that are opened beneath the first one.

use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};

use crate::files::{Ignored, Opened, View};

/// Threads of one walk at most: more of them only wait for the disk.
const MAX_THREADS: usize = 8;
/// The most names that one walk looks at. Beyond it the result is marked as incomplete.
const MAX_NAMES: u64 = 2_000_000;

/// Set when a search is to stop. Dropping the holder of the guard sets it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A walk below a directory.
pub(super) struct Walk<'a> {
    pub(super) view: &'a View,
    pub(super) top: &'a Opened,
    pub(super) with_ignored: bool,
    pub(super) stop: &'a Stop,
}

/// The directories that a walk missed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Missed {
    /// Directories that could not be read.
    pub(super) unreadable: u64,
    /// Whether the walk ended early.
    pub(super) is_cut: bool,
}

/// An entry that a walk came by.
pub(super) struct WalkEntry<'d> {
    /// Its directory.
    pub(super) directory: &'d OwnedFd,
    /// Its name there.
    pub(super) name: &'d CString,
    /// Its path below the walk's beginning.
    pub(super) path: &'d Path,
    pub(super) kind: FileType,
}

struct WalkJob {
    below: PathBuf,
    /// `None` when everything is visited.
    ignored: Option<Arc<Ignored>>,
}

/// Directories to come, and the number of threads that may still add some.
struct Queue {
    jobs: Vec<WalkJob>,
    busy: usize,
}

struct WalkState {
    queue: Mutex<Queue>,
    /// Notified when there is a job, or when the last one was done.
    changed: Condvar,
    names: AtomicU64,
    unreadable: AtomicU64,
    is_cut: AtomicBool,
}

impl Walk<'_> {
    /// Walks, with a visitor for each thread.
    pub(super) fn run<V: FnMut(&WalkEntry<'_>) + Send>(&self, visitor: impl Fn() -> V + Sync) -> Missed {
        let ignored = (!self.with_ignored).then(|| Ignored::above(self.view, self.top));
        let shared = WalkState {
            queue: Mutex::new(Queue { jobs: vec![WalkJob { below: PathBuf::new(), ignored }], busy: 0 }),
            changed: Condvar::new(),
            names: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
            is_cut: AtomicBool::new(false),
        };
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.work(&shared, visitor()));
            }
            self.work(&shared, visitor());
        });
        Missed {
            unreadable: shared.unreadable.into_inner(),
            is_cut: shared.is_cut.into_inner() || self.stop.is_set(),
        }
    }

    fn work(&self, shared: &WalkState, mut visitor: impl FnMut(&WalkEntry<'_>)) {
        while let Some(job) = self.next(shared) {
            let found = self.directory(shared, job, &mut visitor);
            let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.jobs.extend(found);
            queue.busy -= 1;
            shared.changed.notify_all();
        }
    }

    fn next(&self, shared: &WalkState) -> Option<WalkJob> {
        let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.stop.is_set() {
                return None;
            }
            if let Some(job) = queue.jobs.pop() {
                queue.busy += 1;
                return Some(job);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Visits the entries of a directory and returns the directories in it.
    fn directory(
        &self,
        shared: &WalkState,
        job: WalkJob,
        visitor: &mut impl FnMut(&WalkEntry<'_>),
    ) -> Vec<WalkJob> {
        let Some((directory, mut names)) = self.read(&job.below) else {
            shared.unreadable.fetch_add(1, Ordering::Relaxed);
            return Vec::new();
        };
        names.sort_unstable_by(|first, second| first.0.cmp(&second.0));
        let ignored = job.ignored.map(|above| {
            let has = |name: &str| {
                names.binary_search_by(|(other, _)| other.as_bytes().cmp(name.as_bytes())).is_ok()
            };
            above.enter(&directory, &job.below, has)
        });
        let real = self.top.real.join(&job.below);
        let may_hide = self.view.may_hide_below(&real);
        let mut jobs = Vec::new();
        for (name, kind) in &names {
            if self.stop.is_set() {
                break;
            }
            if shared.names.fetch_add(1, Ordering::Relaxed) >= MAX_NAMES {
                shared.is_cut.store(true, Ordering::Relaxed);
                break;
            }
            let path = job.below.join(OsStr::from_bytes(name.as_bytes()));
            let is_directory = *kind == FileType::Directory;
            if ignored.as_ref().is_some_and(|ignored| ignored.covers(&path, is_directory))
                || (may_hide && self.view.hides(&self.top.real.join(&path)))
            {
                continue;
            }
            visitor(&WalkEntry { directory: &directory, name, path: &path, kind: *kind });
            if is_directory {
                jobs.push(WalkJob { below: path, ignored: ignored.clone() });
            }
        }
        jobs
    }

    /// Opens a directory beneath the first one and reads its names. One that is hidden under another name is
    /// not opened.
    fn read(&self, below: &Path) -> Option<(OwnedFd, Vec<(CString, FileType)>)> {
        let directory = self.top.open_below(below, OFlags::RDONLY | OFlags::DIRECTORY).ok()?;
        let stat = fstat(&directory).ok()?;
        if self.view.hides_object((stat.st_dev, stat.st_ino)) {
            return None;
        }
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory).ok()? {
            let entry = entry.ok()?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let Ok(stat) = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
                    FileType::from_raw_mode(stat.st_mode)
                }
                kind => kind,
            };
            names.push((name.to_owned(), kind));
        }
        Some((directory, names))
    }
}
