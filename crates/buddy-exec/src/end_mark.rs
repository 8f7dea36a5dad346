//! The mark of a command's end: a file that its supervisor holds locked while a process of the command lives, and
//! completes when the last one is gone.
//!
//! It outlasts the process that asked for the command. So it is known afterwards when a command that was cut short
//! could change its last file. A mark that is neither held nor complete says that the supervisor itself was killed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The content of a complete mark.
const COMPLETE: &[u8] = b"ended\n";
/// The longest wait for a supervisor that ends its command: more than the grace of a command.
const PATIENCE: Duration = Duration::from_secs(10);
/// The pause between two looks: the kernel has no lock with a timeout.
const PAUSE: Duration = Duration::from_millis(10);

/// A mark that is not complete yet.
#[derive(Debug)]
pub(crate) struct EndMark(File);

impl EndMark {
    /// Makes the mark, or makes an older one incomplete.
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.lock()?;
        Ok(Self(file))
    }

    /// Completes the mark. Its time stamp is that of the kernel, as those of the files are that the command changed.
    pub(crate) fn complete(mut self) -> io::Result<()> {
        self.0.write_all(COMPLETE)
    }
}

/// When the last process of the command was gone, in nanoseconds since 1970; `None` if nobody knows.
pub(crate) fn read_end(path: &Path) -> Option<i128> {
    let file = File::open(path).ok()?;
    let until = Instant::now() + PATIENCE;
    while file.try_lock_shared().is_err() {
        if Instant::now() >= until {
            return None;
        }
        thread::sleep(PAUSE);
    }
    (fs::read(path).ok()? == COMPLETE).then(|| file.metadata().ok())?.map(|metadata| changed_at(&metadata))
}

/// When a file, or its place, was last changed, in nanoseconds since 1970.
pub(crate) fn changed_at(metadata: &fs::Metadata) -> i128 {
    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_mark_tells_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mark");
        assert_eq!(read_end(&path), None);
        drop(EndMark::begin(&path).unwrap());
        assert_eq!(read_end(&path), None, "the supervisor was killed");
        EndMark::begin(&path).unwrap().complete().unwrap();
        assert_eq!(read_end(&path), Some(changed_at(&path.metadata().unwrap())));
        drop(EndMark::begin(&path).unwrap());
        assert_eq!(read_end(&path), None, "the next command of the call runs");
    }

    #[test]
    fn an_end_that_comes_soon_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mark");
        let mark = EndMark::begin(&path).unwrap();
        let reader = thread::spawn({
            let path = path.clone();
            move || read_end(&path)
        });
        mark.complete().unwrap();
        assert!(reader.join().unwrap().is_some());
    }
}
