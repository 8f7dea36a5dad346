//! Paths with `..`, resolved as the kernel does: `LINK/..` is the directory above the link's target, not the
//! directory that the link is in.
//!
//! One function for policy, tools, bounds and the file layer. It does no I/O: the caller says how links are
//! looked up. Names that no `..` follows stay as they are, links included.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The most links that one path may go through, as for the kernel.
const MAX_LINKS: usize = 40;

/// Places where a link leads elsewhere for each process that follows it.
const MAGIC: &[&str] = &["/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// The findings of a look at one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkLook {
    /// A link, with the text of its target.
    Link(PathBuf),
    /// No link: something else, or nothing.
    Plain,
    /// It cannot be told.
    Unknown,
}

/// Looks up whether a name is a link.
type Look = dyn Fn(&Path) -> LinkLook + Send + Sync;

/// The way to look up links on a host. By default the host cannot be asked.
#[derive(Clone, Default)]
pub struct LinkLookup(Option<Arc<Look>>);

impl LinkLookup {
    /// Looks up links with a function.
    pub fn new(look: impl Fn(&Path) -> LinkLook + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(look)))
    }

    /// Resolves the `..` of an absolute path. Where the host cannot be asked, only `known` directories and
    /// those above them are taken to be no links.
    pub fn climb<'a>(&self, path: &Path, known: impl IntoIterator<Item = &'a Path>) -> Climbed {
        if let Some(look) = &self.0 {
            return climb(path, &**look);
        }
        let known: Vec<&Path> = known.into_iter().collect();
        let is_known = |name: &Path| known.iter().any(|root| root.starts_with(name));
        climb(path, &|name| if is_known(name) { LinkLook::Plain } else { LinkLook::Unknown })
    }
}

impl fmt::Debug for LinkLookup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "LinkLookup(host)" } else { "LinkLookup(none)" })
    }
}

impl PartialEq for LinkLookup {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Eq for LinkLookup {}

/// A path without `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Climbed {
    /// The path. If a look failed, `..` took away the name before it.
    pub path: PathBuf,
    /// The path before its `..`.
    pub by: ClimbedBy,
}

/// The path before the `..` of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClimbedBy {
    /// Names that are no links, or nothing.
    Text,
    /// At least one link, which was followed.
    Link,
    /// A name that could not be looked up.
    Unknown,
}

/// Resolves the `..` of an absolute path with one look at each name that a `..` follows.
pub fn climb(path: &Path, look: &dyn Fn(&Path) -> LinkLook) -> Climbed {
    let mut climb = Climb { look, links: 0, by: ClimbedBy::Text };
    let path = climb.walk(PathBuf::new(), path);
    Climbed { path, by: climb.by }
}

struct Climb<'a> {
    look: &'a dyn Fn(&Path) -> LinkLook,
    links: usize,
    by: ClimbedBy,
}

impl Climb<'_> {
    /// Goes on from a directory along a path.
    fn walk(&mut self, from: PathBuf, path: &Path) -> PathBuf {
        let mut at = from;
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => at = self.above(at),
                Component::RootDir | Component::Prefix(_) => at = PathBuf::from(component.as_os_str()),
                Component::Normal(name) => at.push(name),
            }
        }
        at
    }

    /// The directory above what a name leads to.
    fn above(&mut self, mut at: PathBuf) -> PathBuf {
        while at.file_name().is_some() {
            match self.look_at(&at) {
                LinkLook::Plain => break,
                LinkLook::Unknown => {
                    self.by = ClimbedBy::Unknown;
                    break;
                }
                LinkLook::Link(target) => {
                    self.links += 1;
                    self.by = self.by.max(ClimbedBy::Link);
                    at.pop();
                    at = self.walk(at, &target);
                }
            }
        }
        at.pop();
        at
    }

    fn look_at(&self, name: &Path) -> LinkLook {
        if self.links >= MAX_LINKS || MAGIC.iter().any(|place| name.starts_with(place)) {
            return LinkLook::Unknown;
        }
        (self.look)(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: &[(&str, &str)] = &[
        ("/w/lnk", "../h/sub"),
        ("/w/up", "/h"),
        ("/w/near", "a/b"),
        ("/w/twice", "lnk"),
        ("/w/loop", "loop"),
        ("/w/own", "/proc/self/cwd"),
        ("/named", "/data/w"),
        ("/data/w/lnk", "sub"),
        ("/data/w/out", "../x/y"),
    ];

    fn look(name: &Path) -> LinkLook {
        let found = LINKS.iter().find(|(link, _)| Path::new(link) == name);
        found.map_or(LinkLook::Plain, |(_, target)| LinkLook::Link(target.into()))
    }

    #[track_caller]
    fn check(path: &str, expected: &str, by: ClimbedBy) {
        let found = climb(Path::new(path), &look);
        assert_eq!((found.path.to_str().unwrap(), found.by), (expected, by), "{path}");
    }

    #[test]
    fn names_that_are_no_links_are_taken_away_by_text() {
        check("/w/a/../b", "/w/b", ClimbedBy::Text);
        check("/w/./a/b/../../c", "/w/c", ClimbedBy::Text);
        check("/../..//etc", "/etc", ClimbedBy::Text);
        check("/w/lnk/f", "/w/lnk/f", ClimbedBy::Text);
        check("/w/lnk/deep/../f", "/w/lnk/f", ClimbedBy::Text);
    }

    #[test]
    fn links_are_followed_before_a_climb() {
        check("/w/lnk/../f", "/h/f", ClimbedBy::Link);
        check("/w/lnk/..", "/h", ClimbedBy::Link);
        check("/w/up/../.ssh/id", "/.ssh/id", ClimbedBy::Link);
        check("/w/near/../f", "/w/a/f", ClimbedBy::Link);
        check("/w/twice/../../w/lnk/../f", "/h/f", ClimbedBy::Link);
        check("/w/lnk/deep/../../f", "/h/f", ClimbedBy::Link);
    }

    #[test]
    fn a_directory_that_is_named_by_a_link_keeps_its_name_until_the_path_leaves_it() {
        check("/named/a/../f", "/named/f", ClimbedBy::Text);
        check("/named/../x", "/data/x", ClimbedBy::Link);
    }

    #[test]
    fn loops_and_links_of_each_process_are_unknown() {
        check("/w/loop/../f", "/w/f", ClimbedBy::Unknown);
        check("/w/own/../f", "/proc/self/f", ClimbedBy::Unknown);
        check("/proc/self/cwd/../f", "/proc/self/f", ClimbedBy::Unknown);
    }

    #[test]
    fn where_nothing_can_be_asked_only_known_directories_are_climbed() {
        let (lookup, root) = (LinkLookup::default(), Path::new("/home/u/w"));
        let by = |path: &str| lookup.climb(Path::new(path), [root]).by;
        assert_eq!(by("/home/u/w/../x"), ClimbedBy::Text);
        assert_eq!(by("/home/u/w/../../v/x"), ClimbedBy::Text);
        assert_eq!(by("/home/u/w/a/../x"), ClimbedBy::Unknown);
        assert_eq!(by("/home/u/w/a/x"), ClimbedBy::Text);
    }
}
