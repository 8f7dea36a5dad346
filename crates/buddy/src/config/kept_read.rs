//! Files that seldom change, kept as they were read and understood until one of them changes.
//!
//! Whether a file changed is found with one stat of it ([`stamp_file`]), so that writes of other processes take effect with the next
//! look-up. A file that changed a moment ago is read once more: the next write could have the same time.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use buddy_protocol::Clock;

use crate::system::SystemClock;

/// The age at which a change is told from the next by its time. A kernel stamps files by its tick, which takes 10 ms at most.
const SETTLED_MS: i128 = 20;

/// The content of some files, as long as none of them changes.
#[derive(Debug)]
pub(crate) struct KeptRead<T> {
    /// Held for a look, or to read the files.
    known: Mutex<Option<KnownContent<T>>>,
}

#[derive(Debug)]
struct KnownContent<T> {
    stamps: Vec<Option<FileStamp>>,
    is_settled: bool,
    content: Arc<T>,
}

/// A state of a file, as far as one stat tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    /// Whether any later change has another time.
    fn is_settled(&self, now_ms: i128) -> bool {
        let (seconds, nanos) = self.changed;
        let changed_ms = i128::from(seconds) * 1_000 + i128::from(nanos) / 1_000_000;
        now_ms - changed_ms > SETTLED_MS
    }
}

/// The state of a file now; none where there is no file, or none that this account sees.
fn stamp_file(path: &Path) -> Option<FileStamp> {
    let found = std::fs::metadata(path).ok()?;
    Some(FileStamp {
        device: found.dev(),
        inode: found.ino(),
        size: found.size(),
        modified: (found.mtime(), found.mtime_nsec()),
        changed: (found.ctime(), found.ctime_nsec()),
    })
}

impl<T> Default for KeptRead<T> {
    fn default() -> Self {
        Self { known: Mutex::default() }
    }
}

impl<T> KeptRead<T> {
    /// The content of these files, read if one of them changed since the last time.
    pub(crate) fn get<'p, E>(
        &self,
        paths: impl IntoIterator<Item = &'p Path>,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        // The stamps come first: a change in between then counts as one that is still to be read.
        let now_ms = i128::from(SystemClock.now().0);
        let stamps: Vec<Option<FileStamp>> = paths.into_iter().map(stamp_file).collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known
            && known.is_settled
            && known.stamps == stamps
        {
            return Ok(known.content.clone());
        }
        let content = Arc::new(read()?);
        let is_settled = stamps.iter().flatten().all(|stamp| stamp.is_settled(now_ms));
        *known = Some(KnownContent { stamps, is_settled, content: content.clone() });
        Ok(content)
    }

    /// The content that was understood last, whatever the files have now.
    pub(crate) fn last(&self) -> Option<Arc<T>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|known| known.content.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    struct Stage {
        home: tempfile::TempDir,
        kept: KeptRead<String>,
        reads: u32,
    }

    impl Stage {
        fn new() -> Self {
            Self { home: tempfile::tempdir().unwrap(), kept: KeptRead::default(), reads: 0 }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.home.path().join(name)
        }

        fn get(&mut self) -> String {
            let path = self.path("f");
            let read = || {
                self.reads += 1;
                Ok::<_, Infallible>(std::fs::read_to_string(&path).unwrap_or_default())
            };
            (*self.kept.get([path.as_path()], read).unwrap()).clone()
        }

        /// Reads until the file is read no more: then its last change is told from the next one.
        fn settle(&mut self) {
            loop {
                let before = self.reads;
                self.get();
                if self.reads == before {
                    return;
                }
            }
        }
    }

    #[test]
    fn a_file_is_read_once_and_again_after_each_change() {
        let mut stage = Stage::new();
        assert_eq!(stage.get(), "");
        for text in ["one", "two", "six"] {
            std::fs::write(stage.path("f"), text).unwrap();
            assert_eq!(stage.get(), text);
            stage.settle();
            let reads = stage.reads;
            for _ in 0..50 {
                assert_eq!(stage.get(), text);
            }
            assert_eq!(stage.reads, reads, "nothing changed");
        }
        std::fs::remove_file(stage.path("f")).unwrap();
        assert_eq!(stage.get(), "");
    }

    #[test]
    fn writes_of_the_same_size_at_the_same_moment_are_seen() {
        let mut stage = Stage::new();
        for number in 100..900 {
            std::fs::write(stage.path("f"), number.to_string()).unwrap();
            assert_eq!(stage.get(), number.to_string());
        }
    }

    #[test]
    fn a_change_that_puts_the_time_back_is_seen() {
        let mut stage = Stage::new();
        std::fs::write(stage.path("f"), "one").unwrap();
        stage.settle();
        let time = std::fs::metadata(stage.path("f")).unwrap().modified().unwrap();
        std::fs::write(stage.path("f"), "two").unwrap();
        std::fs::File::options().write(true).open(stage.path("f")).unwrap().set_modified(time).unwrap();
        assert_eq!(stage.get(), "two");
    }

    #[test]
    fn another_file_behind_a_link_is_seen() {
        let mut stage = Stage::new();
        for name in ["one", "two"] {
            std::fs::write(stage.path(name), name).unwrap();
        }
        symlink("one", stage.path("f")).unwrap();
        stage.settle();
        assert_eq!(stage.get(), "one");
        std::fs::remove_file(stage.path("f")).unwrap();
        symlink("two", stage.path("f")).unwrap();
        assert_eq!(stage.get(), "two");
    }

    #[test]
    fn a_file_from_the_future_is_read_each_time() {
        let now_ms = i128::from(SystemClock.now().0);
        let seconds = i64::try_from(now_ms / 1_000).unwrap();
        let at = |seconds: i64| FileStamp {
            device: 1,
            inode: 1,
            size: 1,
            modified: (0, 0),
            changed: (seconds, 0),
        };
        assert!(at(seconds - 1).is_settled(now_ms));
        assert!(!at(seconds + 1).is_settled(now_ms));
    }
}
