//! Landings on this machine: what is at a path outside the workspace that a call would change.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use buddy_policy::{Found, Landing};
use rustix::fs::{Access, AtFlags, CWD, accessat};

/// Looks at a path. Nothing is opened, so nothing can wait.
pub(super) fn landing(path: &Path) -> Landing {
    let directory = path.ancestors().skip(1).find(|above| above.is_dir()).map(Path::to_path_buf);
    let found = match directory.as_deref().filter(|above| !is_in_place(above)) {
        Some(above) => Found::Closed(format!("a link is on the way to `{}`", above.display())),
        None => found(path),
    };
    let directory = directory.filter(|above| is_in_place(above) && is_changeable(above));
    Landing { path: path.to_owned(), found, directory }
}

fn found(path: &Path) -> Found {
    let closed = |why: &str| Found::Closed(why.to_owned());
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && found.nlink() > 1 => closed("the file has several names"),
        Ok(found) if found.is_file() && is_allowed(path, Access::WRITE_OK) => Found::File,
        Ok(found) if found.is_dir() && is_changeable(path) => Found::Directory,
        Ok(found) if found.is_file() || found.is_dir() => closed("your account may not write it"),
        Ok(_) => closed("it is neither a file nor a directory"),
        Err(error) if error.kind() == ErrorKind::NotFound => match path.parent() {
            Some(parent) if parent.is_dir() && is_changeable(parent) => Found::Missing,
            Some(parent) if parent.is_dir() => closed("your account may not write in its directory"),
            _ => closed("its directory does not exist"),
        },
        Err(_) => closed("your account does not get there"),
    }
}

fn is_changeable(directory: &Path) -> bool {
    is_allowed(directory, Access::WRITE_OK | Access::EXEC_OK)
}

/// A jail leaves root no more rights than those of an owner, so what root may do by its rank does not count.
fn is_allowed(path: &Path, access: Access) -> bool {
    let has_bits = |found: fs::Metadata| {
        let bits = if access.contains(Access::EXEC_OK) { 0o3 } else { 0o2 };
        let bits = if found.uid() == 0 { bits << 6 } else { bits };
        found.mode() & bits == bits
    };
    let is_root = rustix::process::geteuid().is_root();
    (!is_root || fs::metadata(path).is_ok_and(has_bits))
        && accessat(CWD, path, access, AtFlags::EACCESS).is_ok()
}

/// Whether no link is on the way.
fn is_in_place(directory: &Path) -> bool {
    directory.canonicalize().is_ok_and(|real: PathBuf| real == directory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("file"), "").unwrap();
        fs::write(root.join("double"), "").unwrap();
        fs::hard_link(root.join("double"), root.join("second")).unwrap();
        fs::create_dir(root.join("dir")).unwrap();
        symlink("dir", root.join("link")).unwrap();
        let at = |name: &str| landing(&root.join(name));
        assert_eq!(at("file").found, Found::File);
        assert_eq!(at("dir").found, Found::Directory);
        assert_eq!(at("new").found, Found::Missing);
        for closed in ["double", "link", "link/new", "missing/new"] {
            assert!(matches!(at(closed).found, Found::Closed(_)), "{closed}");
        }
        assert_eq!(at("missing/new").directory, Some(root.clone()));
        assert_eq!(at("link/new").directory, None);
        assert!(matches!(landing(Path::new("/proc/version")).found, Found::Closed(_)));
    }
}
