//! The folder of the undo store, which recorders and the store share.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use buddy_protocol::Clock;

use super::blobs::{Blobs, make_private};
use super::cache::Cache;
use super::journal::{Read, read_all};
use super::settings::UndoSettings;
use super::snapshot::Taking;
use crate::OrderGuard;
use crate::jail::RunningCommands;

/// State that recorders and the store share.
pub(super) struct Shared {
    pub(super) folder: PathBuf,
    pub(super) settings: UndoSettings,
    pub(super) blobs: Blobs,
    clock: Arc<dyn Clock>,
    /// Absent where no command runs in a jail.
    guard: Option<OrderGuard>,
    /// The cache that was used last, with its root: sessions mostly work in one place.
    cache: Mutex<Option<(PathBuf, Cache)>>,
}

impl Shared {
    pub(super) fn new(
        folder: PathBuf,
        settings: UndoSettings,
        clock: Arc<dyn Clock>,
        guard: Option<OrderGuard>,
    ) -> Self {
        // Paths in snapshots are without links, so the folder must be too.
        let folder = folder.canonicalize().unwrap_or(folder);
        let blobs = Blobs::new(folder.join("blobs"), settings.max_file_bytes);
        Self { folder, settings, blobs, clock, guard, cache: Mutex::new(None) }
    }

    pub(super) fn entries(&self) -> PathBuf {
        self.folder.join("entries")
    }

    pub(super) fn guard(&self) -> Option<&OrderGuard> {
        self.guard.as_ref()
    }

    /// The commands in a jail that run now.
    pub(super) fn running(&self) -> Option<RunningCommands> {
        self.guard.as_ref().map(OrderGuard::running)
    }

    /// Whether a command in a jail was running at any moment since.
    pub(super) fn has_any_run(&self, since: Option<&RunningCommands>) -> bool {
        self.guard.as_ref().zip(since).is_some_and(|(guard, since)| guard.has_any_run(since))
    }

    pub(super) fn caches(&self) -> PathBuf {
        self.folder.join("cache")
    }

    pub(super) fn read(&self) -> io::Result<Vec<Read>> {
        read_all(&self.entries())
    }

    /// The file whose lock keeps contents in use from being evicted.
    pub(super) fn lock_file(&self) -> io::Result<PathBuf> {
        make_private(&self.folder)?;
        Ok(self.folder.join("lock"))
    }

    pub(super) fn now_nanos(&self) -> i64 {
        i64::try_from(self.clock.nanos()).unwrap_or(i64::MAX)
    }

    pub(super) fn taking(&self, now_nanos: i64) -> Taking<'_> {
        Taking { limits: self.settings.limits(), blobs: &self.blobs, store: &self.folder, now_nanos }
    }

    /// Works with the cache of a root and saves it.
    pub(super) fn with_cache<T>(
        &self,
        root: &Path,
        work: impl FnOnce(&mut Cache) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut kept = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cache = match kept.take() {
            Some((path, cache)) if path == root => cache,
            _ => Cache::load(&self.caches(), root),
        };
        let done = work(&mut cache)?;
        if cache.is_changed {
            cache.save(&self.caches(), root)?;
            cache.is_changed = false;
        }
        *kept = Some((root.to_owned(), cache));
        Ok(done)
    }

    pub(super) fn forget_caches(&self) {
        *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = None;
        for path in super::blobs::entries(&self.caches()).unwrap_or_default() {
            // A cache that stays is checked against the blobs when it is used.
            let _ = std::fs::remove_file(path);
        }
    }
}
