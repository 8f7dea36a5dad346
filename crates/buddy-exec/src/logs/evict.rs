//! Keeps the directory of logs under a total size by deleting the oldest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The default for the most bytes that all logs may take together.
pub const TOTAL_CAP_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// The result of an eviction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Number of files.
    pub files: u32,
    /// Their total size.
    pub bytes: u64,
}

/// Deletes the oldest `exec-*.log` in `dir` until all of them together take at most `cap_total_bytes`.
///
/// Files in `keep` count but stay: those are the ones being written now. Other names, directories and symbolic links
/// are never touched. This blocks on the file system.
pub fn evict(dir: &Path, cap_total_bytes: u64, keep: &[PathBuf]) -> io::Result<Evicted> {
    let mut logs = match find_logs(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Evicted::default()),
        found => found?,
    };
    logs.sort_by(|a, b| (a.modified, &a.path).cmp(&(b.modified, &b.path)));
    let mut total: u64 = logs.iter().map(|log| log.bytes).sum();
    let mut evicted = Evicted::default();
    for log in logs {
        if total <= cap_total_bytes {
            break;
        }
        if keep.contains(&log.path) {
            continue;
        }
        match fs::remove_file(&log.path) {
            Ok(()) => {
                evicted.files += 1;
                evicted.bytes += log.bytes;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        total -= log.bytes;
    }
    Ok(evicted)
}

struct Log {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

fn find_logs(dir: &Path) -> io::Result<Vec<Log>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_log =
            name.to_str().and_then(|name| name.strip_prefix("exec-")?.strip_suffix(".log")).is_some();
        if !is_log {
            continue;
        }
        // `DirEntry::metadata` does not follow links, so a link counts as no log. A file that is gone is no
        // log either.
        if let Ok(metadata) = entry.metadata()
            && metadata.is_file()
        {
            logs.push(Log { path: entry.path(), bytes: metadata.len(), modified: metadata.modified()? });
        }
    }
    Ok(logs)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn make(dir: &Path, name: &str, age: u64) -> PathBuf {
        let path = dir.join(name);
        fs::write(&path, [0; 100]).unwrap();
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age);
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        path
    }

    #[test]
    fn the_oldest_go_until_the_rest_fits() {
        let dir = tempfile::tempdir().unwrap();
        let [old, middle, new] = [("exec-c.log", 30), ("exec-a.log", 20), ("exec-b.log", 10)]
            .map(|(name, age)| make(dir.path(), name, age));
        assert_eq!(evict(dir.path(), 300, &[]).unwrap(), Evicted::default());
        assert_eq!(evict(dir.path(), 299, &[]).unwrap(), Evicted { files: 1, bytes: 100 });
        assert_eq!([old, middle, new].map(|path| path.exists()), [false, true, true]);
    }

    #[test]
    fn kept_files_and_strangers_stay() {
        let dir = tempfile::tempdir().unwrap();
        let running = make(dir.path(), "exec-a.log", 30);
        let other = make(dir.path(), "notes.log", 30);
        let ended = make(dir.path(), "exec-b.log", 10);
        let link = dir.path().join("exec-link.log");
        std::os::unix::fs::symlink(&other, &link).unwrap();
        evict(dir.path(), 0, std::slice::from_ref(&running)).unwrap();
        assert_eq!([&running, &other, &ended, &link].map(|path| path.exists()), [true, true, false, true]);
    }

    #[test]
    fn a_missing_directory_has_nothing_to_delete() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(evict(&dir.path().join("none"), 0, &[]).unwrap(), Evicted::default());
    }
}
