//! A temporary home for one test: a data directory, a working directory, and nothing of the user's.
//!
//! Dropping it fails the test if a process that belongs to it is still alive, and kills that process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::processes;

/// The timeout for processes to end after a test, unless the test sets its own.
const GONE_WITHIN: Duration = Duration::from_secs(3);

/// The place for temporary files that agents may write, whatever else is set.
const SCRATCH: &str = "/tmp";

/// Where tests make things that must not be in there, when what they would use is.
const APART: &str = "/var/tmp";

/// A directory, or another one if that is in the place for temporary files, as all is that is built for an account with its home there.
pub fn apart_from_scratch(near: &Path) -> PathBuf {
    let real = near.canonicalize().unwrap_or_else(|_| near.to_owned());
    if real.starts_with(SCRATCH) { APART.into() } else { real }
}

/// A temporary home.
#[derive(Debug)]
pub struct Home {
    directory: TempDir,
    path: PathBuf,
}

impl Home {
    /// An empty home.
    pub fn new() -> Self {
        Self::beneath(&std::env::temp_dir())
    }

    /// An empty home in a directory, for tests of write permissions: agents may write to the default place
    /// for temporary files.
    pub fn beneath(directory: &Path) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("buddy-it-")
            .tempdir_in(directory)
            .expect("a temporary directory");
        let path = directory.path().canonicalize().expect("a directory that was just made");
        std::fs::create_dir(path.join("work")).expect("a new directory");
        Self { directory, path }
    }

    /// An empty home outside the place for temporary files, which agents may write.
    pub fn apart(near: &Path) -> Self {
        Self::beneath(&apart_from_scratch(near))
    }

    /// The home itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The data directory of the program under test. Not created yet.
    pub fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// The working directory.
    pub fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// The text of a file in the working directory; empty if there is none.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap_or_default()
    }
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let left = processes::wait_until_gone(self.directory.path(), GONE_WITHIN);
        for process in &left {
            process.kill();
        }
        assert!(left.is_empty() || std::thread::panicking(), "processes were left behind: {left:?}");
    }
}
