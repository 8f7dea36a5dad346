//! Links of this machine: for [`buddy_protocol::climb`], and along a whole path.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use buddy_protocol::{LinkLook, LinkLookup};

/// The number of links that one path may go through, as for the kernel.
const MAX_LINKS: usize = 40;

/// The way to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedPath {
    /// Every path on the way, links included.
    pub steps: Vec<PathBuf>,
    /// The path without links, also where its end does not exist.
    pub real: PathBuf,
}

/// Follows the links of an absolute path.
pub fn follow_links(path: &Path) -> FollowedPath {
    let mut real = PathBuf::from("/");
    let mut left = names(path);
    let (mut steps, mut followed) = (Vec::new(), 0);
    while let Some(name) = left.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        steps.push(next.clone());
        match std::fs::read_link(&next) {
            Ok(target) if followed < MAX_LINKS => {
                followed += 1;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for name in names(&target).into_iter().rev() {
                    left.push_front(name);
                }
            }
            _ => real = next,
        }
    }
    FollowedPath { steps, real }
}

fn names(path: &Path) -> VecDeque<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.collect()
}

/// Looks up links in the file system of this machine.
pub fn link_lookup() -> LinkLookup {
    LinkLookup::new(look_at_link)
}

/// Whether a name is a link.
pub(crate) fn look_at_link(name: &Path) -> LinkLook {
    match std::fs::read_link(name) {
        Ok(target) => LinkLook::Link(target),
        Err(error) => match error.kind() {
            // The kernel's answer for something that is no link, and for nothing at all.
            io::ErrorKind::InvalidInput | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                LinkLook::Plain
            }
            _ => LinkLook::Unknown,
        },
    }
}
