//! Keeps the layers over package managers' caches under a total size. A jail that uses a layer
//! holds its lock.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::jail::CACHE_LOCK;
use crate::{FileLock, LockKind};

/// The most bytes that the layers of all workspaces may take together.
pub const LAYERS_CAP_BYTES: u64 = 20 * 1024 * 1024 * 1024;

/// The end of the name of the layers that approved commands of a workspace have. No command that nobody was asked about writes them.
pub const APPROVED_LAYERS: &str = "-approved";

/// The most files that are counted. More of them count as more than any cap.
const MAX_FILES: usize = 2_000_000;

/// The unit in which a file system says how much a file takes.
const BLOCK: u64 = 512;

/// One slot of a workspace.
#[derive(Debug)]
struct SlotSize {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

/// The bytes that all layers take, and the number of workspaces.
pub fn measure(directory: &Path) -> io::Result<(u64, usize)> {
    let slots = slots(directory)?;
    let names = slots.iter().filter_map(|slot| slot.path.parent()?.file_name()?.to_str());
    let workspaces: BTreeSet<&str> =
        names.map(|name| name.strip_suffix(APPROVED_LAYERS).unwrap_or(name)).collect();
    Ok((slots.iter().fold(0, |sum: u64, slot| sum.saturating_add(slot.bytes)), workspaces.len()))
}

/// Removes the least recently used layers until all together take at most `cap_bytes`. A layer in use stays.
/// This blocks on the file system.
pub fn evict(directory: &Path, cap_bytes: u64) -> io::Result<u64> {
    let mut slots = slots(directory)?;
    slots.sort_by_key(|slot| slot.used);
    let mut total = slots.iter().fold(0, |sum: u64, slot| sum.saturating_add(slot.bytes));
    let mut removed = 0_u64;
    for slot in slots {
        if total <= cap_bytes {
            break;
        }
        let lock = FileLock::try_take(&slot.path.join(CACHE_LOCK), LockKind::Exclusive);
        if matches!(lock, Ok(None)) {
            continue;
        }
        remove(&slot.path)?;
        if let Some(workspace) = slot.path.parent() {
            // Fails while other slots are left in it.
            let _ = fs::remove_dir(workspace);
        }
        total = total.saturating_sub(slot.bytes);
        removed = removed.saturating_add(slot.bytes);
    }
    Ok(removed)
}

fn slots(directory: &Path) -> io::Result<Vec<SlotSize>> {
    let workspaces = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    let mut slots = Vec::new();
    let mut left = MAX_FILES;
    for workspace in workspaces.flatten() {
        for slot in fs::read_dir(workspace.path()).into_iter().flatten().flatten() {
            let path = slot.path();
            let used = fs::metadata(path.join(CACHE_LOCK)).and_then(|found| found.modified());
            let used = used.unwrap_or(SystemTime::UNIX_EPOCH);
            slots.push(SlotSize { bytes: size(&path, &mut left), used, path });
        }
    }
    slots.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(slots)
}

fn size(path: &Path, left: &mut usize) -> u64 {
    let Some(fewer) = left.checked_sub(1) else { return u64::MAX };
    *left = fewer;
    let Ok(found) = fs::symlink_metadata(path) else { return 0 };
    let own = found.blocks().saturating_mul(BLOCK);
    if !found.is_dir() {
        return own;
    }
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    inside.fold(own, |sum, entry| sum.saturating_add(size(&entry.path(), left)))
}

/// Removes a directory with everything in it, also in directories without access rights: the kernel closes
/// those that it works in, and Go those of modules.
fn remove(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return fs::remove_file(path);
    }
    fs::set_permissions(path, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(path)? {
        remove(&entry?.path())?;
    }
    fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn slot(root: &Path, name: &str, bytes: usize) -> PathBuf {
        let path = root.join(name);
        let closed = path.join("go/upper/closed");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), vec![1; bytes]).unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o500)).unwrap();
        fs::write(path.join(CACHE_LOCK), "").unwrap();
        path
    }

    #[test]
    fn the_oldest_go_first_and_those_in_use_stay() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a/1", "b/1", "c/1"].map(|name| slot(folder.path(), name, 100_000));
        for (number, path) in paths.iter().enumerate() {
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64 + 1);
            File::options().write(true).open(path.join(CACHE_LOCK)).unwrap().set_modified(time).unwrap();
        }
        let (bytes, workspaces) = measure(folder.path()).unwrap();
        assert!(bytes > 300_000 && workspaces == 3, "{bytes} {workspaces}");
        let held = File::open(paths[0].join(CACHE_LOCK)).unwrap();
        held.lock().unwrap();
        assert!(evict(folder.path(), 250_000).unwrap() > 100_000);
        assert_eq!(paths.each_ref().map(|path| path.exists()), [true, false, true]);
        assert!(!folder.path().join("b").exists());
        assert_eq!(evict(folder.path(), 250_000).unwrap(), 0);
        assert_eq!(evict(&folder.path().join("missing"), 0).unwrap(), 0);
    }
}
