//! The real path of a protected path, and how much of it exists.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::refusal::{BOUNDS, Refusal};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// A path without links, and the kind of object at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    /// The path itself, or the first part of it that is missing or is no directory.
    pub(super) path: PathBuf,
    pub(super) what: What,
}

/// The kind of object at a resolved path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Directory,
    /// Anything but a directory.
    File,
    /// A file stands where a directory of the path would be.
    InTheWay,
    /// Nothing exists.
    Missing,
}

/// Follows a path as the kernel would. `None` when this account cannot get there: then no command of it can either.
///
/// A link that `is_writable` is refused: a command could replace it, and no mount can stand on a link.
pub(super) fn resolve(path: &Path, is_writable: impl Fn(&Path) -> bool) -> Result<Option<Resolved>, Refusal> {
    if !path.is_absolute() {
        return Err(Refusal::new(BOUNDS, format!("`{}` is not an absolute path", path.display())));
    }
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    let mut left = parts(path);
    while let Some(part) = left.pop_front() {
        if part == ".." {
            at.pop();
            continue;
        }
        at.push(&part);
        let found = match fs::symlink_metadata(&at) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(Resolved { path: at, what: What::Missing }));
            }
            Err(_) => return Ok(None),
        };
        if found.is_symlink() {
            links += 1;
            if is_writable(&at) || links > MAX_LINKS {
                let reason = format!("`{}` is a link that a command could replace", at.display());
                return Err(Refusal::new(BOUNDS, reason));
            }
            let Ok(to) = fs::read_link(&at) else { return Ok(None) };
            at.pop();
            if to.is_absolute() {
                at = PathBuf::from("/");
            }
            for part in parts(&to).into_iter().rev() {
                left.push_front(part);
            }
        } else if !found.is_dir() {
            let what = if left.is_empty() { What::File } else { What::InTheWay };
            return Ok(Some(Resolved { path: at, what }));
        }
    }
    Ok(Some(Resolved { path: at, what: What::Directory }))
}

/// The names of a path, with `..` kept as one.
fn parts(path: &Path) -> VecDeque<OsString> {
    let name = |component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn check(path: &Path, expected: (&Path, What)) {
        let resolved = resolve(path, |_| false).unwrap().unwrap();
        assert_eq!((resolved.path.as_path(), resolved.what), expected);
    }

    #[test]
    fn links_are_followed_and_what_is_missing_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/inner")).unwrap();
        fs::write(root.join("real/file"), "").unwrap();
        symlink("real/../real", root.join("link")).unwrap();
        symlink(root.join("nowhere/deep"), root.join("dangling")).unwrap();
        check(&root.join("link/inner"), (&root.join("real/inner"), What::Directory));
        check(&root.join("link/file"), (&root.join("real/file"), What::File));
        check(&root.join("link/file/below"), (&root.join("real/file"), What::InTheWay));
        check(&root.join("link/new/deep"), (&root.join("real/new"), What::Missing));
        check(&root.join("dangling"), (&root.join("nowhere"), What::Missing));
        check(&root.join("real/inner/../file"), (&root.join("real/file"), What::File));
    }

    #[test]
    fn links_that_a_command_could_replace_and_loops_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        symlink("elsewhere", root.join("link")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let refused = resolve(&root.join("link"), |path| path.starts_with(&root)).unwrap_err();
        assert_eq!(refused.layer, BOUNDS);
        assert!(resolve(&root.join("loop"), |_| false).is_err());
        assert!(resolve(Path::new("relative"), |_| false).is_err());
    }
}
