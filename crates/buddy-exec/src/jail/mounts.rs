//! The mounts of a jail with bubblewrap.
//!
//! The whole system is there and cannot be written. Over it come the directories that may be, and over these
//! the covers of protected paths. A directory on the way from a writable one down to a mount becomes a mount
//! of its own: otherwise it could be renamed, and the name that was protected would be free.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::ground::{Ground, beneath_any};
use super::look::INSTALLED;
use super::names::GIT;
use super::refusal::{BUBBLEWRAP, Refusal};
use super::resolve::{Resolved, What};

/// Far more than any bounds need, and still quickly mounted.
const MAX_MOUNTS: usize = 1000;

/// A directory of every jail that is its own, in place of the sockets of services.
const RUN: &str = "/run";

/// The settings of the name resolver. Often a link into a directory that the jail has of its own.
const RESOLVER: &str = "/etc/resolv.conf";

/// The path at which the shell of a pane finds the files written for it.
pub(super) const PANE_PLACE: &str = "/run/buddy";

/// All mounts of a jail, outer ones first.
#[derive(Debug)]
pub(super) struct Mounts {
    pub(super) is_all_writable: bool,
    pub(super) list: Vec<Mount>,
    /// A directory that is shown at [`PANE_PLACE`], even if it is hidden.
    pub(super) shown: Option<PathBuf>,
}

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) at: PathBuf,
    pub(super) cover: Cover,
}

/// The object at a mount. The later ones win where two want the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Cover {
    /// The existing object, to be written.
    Writable,
    /// The existing object, not to be written.
    ReadOnly,
    /// An empty directory.
    EmptyDirectory,
    /// An empty file, to be read: some programs fail when they cannot read their settings.
    Blank,
    /// A device that cannot be opened.
    NoFile,
    /// The same, but with the kind, size and time of the sealed file. Only for commands without the rights of
    /// root, which would read it all the same.
    SealedFile,
}

/// The contents of blank files, by the end of their name. All others are empty.
const BLANKS: &[(&str, &str)] = &[
    (".json", "{}\n"),
    ("settings.xml", "<settings/>\n"),
    ("settings-security.xml", "<settingsSecurity/>\n"),
    ("nuget.config", "<configuration/>\n"),
];

/// The content of a blank file in the place of this one.
pub(super) fn blank_content(at: &Path) -> &'static str {
    let name = at.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    BLANKS.iter().find(|(end, _)| name.ends_with(end)).map_or("", |(_, content)| content)
}

impl Mounts {
    pub(super) fn of(ground: &Ground, cwd: &Path, network: bool) -> Result<Self, Refusal> {
        let mut plan = Plan { covers: BTreeMap::new(), ground };
        for root in ground.write.iter().chain(&ground.write_files) {
            plan.put(root, Cover::Writable);
        }
        plan.show_again(cwd, network);
        plan.protect();
        plan.pin();
        plan.show();
        plan.seal();
        let is_all_writable = plan.covers.remove(Path::new("/")) == Some(Cover::Writable);
        let mut list: Vec<Mount> = plan.covers.into_iter().map(|(at, cover)| Mount { at, cover }).collect();
        list.sort_by_key(|mount| mount.at.components().count());
        if list.len() > MAX_MOUNTS {
            let reason = format!("the bounds need {} mounts, the limit is {MAX_MOUNTS}", list.len());
            return Err(Refusal::new(BUBBLEWRAP, reason));
        }
        Ok(Self { is_all_writable, list, shown: None })
    }

    /// Covers sealed files so that they look unchanged.
    pub(super) fn seal_as_files(&mut self, sealed: &[PathBuf]) {
        let is_file = |at: &Path| at.symlink_metadata().is_ok_and(|found| found.is_file());
        for mount in self.list.iter_mut().filter(|mount| mount.cover == Cover::NoFile) {
            if sealed.contains(&mount.at) && is_file(&mount.at) {
                mount.cover = Cover::SealedFile;
            }
        }
    }

    pub(super) fn has_sealed_files(&self) -> bool {
        self.list.iter().any(|mount| mount.cover == Cover::SealedFile)
    }
}

/// Mounts being put together.
struct Plan<'a> {
    covers: BTreeMap<PathBuf, Cover>,
    ground: &'a Ground,
}

impl Plan<'_> {
    fn put(&mut self, at: &Path, cover: Cover) {
        let there = self.covers.entry(at.to_owned()).or_insert(cover);
        *there = cover.max(*there);
    }

    /// Shows paths again that lie in a directory that the jail has of its own.
    fn show_again(&mut self, cwd: &Path, network: bool) {
        let resolver = network.then(|| Path::new(RESOLVER).canonicalize().ok()).flatten();
        let read = self.ground.read.clone().unwrap_or_default();
        let wanted = read.into_iter().chain([cwd.to_owned()]).filter(|path| self.ground.is_readable(path));
        for path in wanted.chain(resolver).collect::<Vec<_>>() {
            let is_covered = path.starts_with(RUN) && path != Path::new(RUN);
            if is_covered && !self.ground.is_writable(&path) {
                self.put(&path, Cover::ReadOnly);
            }
        }
    }

    fn protect(&mut self) {
        for hidden in &self.ground.hidden {
            match hidden.what {
                What::Directory => self.put(&hidden.path, Cover::EmptyDirectory),
                What::File => self.put(&hidden.path, self.file_cover(&hidden.path)),
                What::InTheWay => self.guard(&hidden.path),
                What::Missing => self.guard_beside(&hidden.path),
            }
        }
        for guarded in &self.ground.guarded {
            self.guard(&guarded.path);
        }
        // Nothing can be mounted below a directory that is hidden, and nothing need be.
        let hidden: Vec<PathBuf> = self.places(|cover| cover >= Cover::EmptyDirectory);
        self.covers.retain(|at, _| !hidden.iter().any(|hidden| at != hidden && at.starts_with(hidden)));
    }

    /// A directory with other hidden objects in it is one of buddy's own, so nothing is made there at all.
    fn guard_beside(&mut self, missing: &Path) {
        let Some(parent) = missing.parent() else { return };
        let is_beside = |hidden: &Resolved| hidden.exists() && hidden.path.parent() == Some(parent);
        let is_root = |root: &PathBuf| root == parent || root == Path::new("/");
        if !self.ground.write.iter().any(is_root) && self.ground.hidden.iter().any(is_beside) {
            self.guard(parent);
        }
    }

    /// Shows directories inside empty ones. These are not to be written, so nothing on the way needs to be
    /// pinned.
    fn show(&mut self) {
        for shown in &self.ground.shown {
            let cover = if shown.is_writable { Cover::Writable } else { Cover::ReadOnly };
            self.covers.insert(shown.path.clone(), cover);
        }
    }

    /// A mount on a file goes with it when its directories are moved. They are pinned all the same: a command that starts later, or at the same
    /// time, looks for the file by its name and might miss it elsewhere.
    fn seal(&mut self) {
        for sealed in &self.ground.sealed {
            if !self.ground.is_hidden(sealed) {
                for directory in self.directories_to_pin(sealed) {
                    self.put(&directory, Cover::Writable);
                }
                // An empty file could be committed in the place of the real one.
                let cover = if is_in_work_tree(sealed) { Cover::NoFile } else { self.file_cover(sealed) };
                self.put(sealed, cover);
            }
        }
    }

    /// The directories between a write root and a secret. Package managers move those that they installed, and nothing of yours is in them.
    fn directories_to_pin(&self, sealed: &Path) -> Vec<PathBuf> {
        let below = |root: &PathBuf| Some((root.clone(), sealed.strip_prefix(root).ok()?.parent()?));
        let Some((mut at, between)) = self.ground.write.iter().find_map(below) else { return Vec::new() };
        let is_installed = |name: &OsStr| INSTALLED.iter().any(|installed| name == *installed);
        let mine = between.iter().take_while(|name| !is_installed(name));
        mine.map(|name| {
            at.push(name);
            at.clone()
        })
        .collect()
    }

    fn file_cover(&self, path: &Path) -> Cover {
        if self.ground.blank.covers(path) { Cover::Blank } else { Cover::NoFile }
    }

    /// Makes a place read-only that could be written otherwise.
    fn guard(&mut self, path: &Path) {
        if self.ground.is_writable(path) {
            self.put(path, Cover::ReadOnly);
        }
    }

    fn pin(&mut self) {
        let solid = self.places(|cover| cover > Cover::Writable);
        let on_the_way = |at: &PathBuf| -> Vec<PathBuf> {
            let above = at.ancestors().skip(1).take_while(|above| self.ground.is_writable(above));
            above.filter(|above| can_be_renamed(above)).map(Path::to_owned).collect()
        };
        let pins: Vec<PathBuf> = self.covers.keys().flat_map(on_the_way).collect();
        for pin in pins {
            if !beneath_any(&pin, &solid) {
                self.covers.entry(pin).or_insert(Cover::Writable);
            }
        }
    }

    fn places(&self, is_wanted: impl Fn(Cover) -> bool) -> Vec<PathBuf> {
        self.covers.iter().filter(|(_, cover)| is_wanted(**cover)).map(|(at, _)| at.clone()).collect()
    }
}

/// Whether this account can give a directory another name. Each mount takes its time, so those on the way that nobody could rename
/// are none.
fn can_be_renamed(directory: &Path) -> bool {
    let Some(parent) = directory.parent() else { return false };
    let is_own = parent.metadata().is_ok_and(|found| found.uid() == geteuid().as_raw());
    is_own || accessat(CWD, parent, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// Whether git could take a file for one of a repository's.
fn is_in_work_tree(file: &Path) -> bool {
    file.ancestors().skip(1).any(|above| above.join(GIT).symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Bounds, Reach};

    fn check(bounds: &Bounds, expected: &[(&Path, Cover)]) {
        let mounts = Mounts::of(&Ground::of(bounds).unwrap(), Path::new("/"), false).unwrap();
        let found: Vec<_> = mounts.list.iter().map(|mount| (mount.at.as_path(), mount.cover)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn protected_names_are_covered_and_the_way_to_them_is_pinned() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b/hidden/deep")).unwrap();
        fs::write(root.join("a/guarded"), "").unwrap();
        let bounds = Bounds {
            write: Reach::Beneath(vec![root.clone()]),
            hidden: vec![root.join("a/b/hidden"), root.join("a/b/hidden/deep")],
            guarded: vec!["a/guarded".into(), "new/deep".into()],
            ..Bounds::open()
        };
        check(
            &bounds,
            &[
                (&root, Cover::Writable),
                (&root.join("a"), Cover::Writable),
                (&root.join("a/b"), Cover::Writable),
                (&root.join("a/guarded"), Cover::ReadOnly),
                (&root.join("a/b/hidden"), Cover::EmptyDirectory),
            ],
        );
        assert!(!root.join("new").exists(), "nothing is made for a missing name");
    }

    #[test]
    fn unwritable_paths_need_no_guard() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let guarded = vec![root.join("new")];
        check(&Bounds { write: Reach::Nothing, guarded, ..Bounds::open() }, &[]);
    }
}
