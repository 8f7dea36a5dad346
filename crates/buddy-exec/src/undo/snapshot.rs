//! A snapshot of a workspace: the object at every path, taken before a command whose changes are not known in
//! advance.
//!
//! Directories that `.gitignore` names, files over the cap and paths beyond the caps on number and size are
//! not covered, and the snapshot says so. A repository's own `.git` comes last, so that the caps cut it
//! before the work.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use buddy_protocol::PathText;
use rustix::fs::{Dir, FileType};

use super::blobs::Blobs;
use super::cache::{Cache, Known, Meta};
use super::rebuilt::is_rebuilt;
use super::settings::SnapshotLimits;
use super::state::State;
use crate::FileSync;
use crate::files::{Ignored, Spot, open_tree};
use crate::jail::is_stand_in;

/// The most paths that are listed as not covered; further ones are counted.
const MAX_NOT_COVERED: usize = 100;

/// Why an ignored directory is left out.
const IGNORED: &str = "the directory is ignored by git";

/// The objects that were found.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub(super) seen: BTreeMap<PathBuf, Seen>,
    pub(super) not_covered: Vec<(PathBuf, String)>,
    /// Where the cap on the number of paths ended the snapshot: a path that is missing here may exist.
    pub(super) cut_at: Option<PathBuf>,
    /// Directories that git ignores and that no build makes again.
    ignored: BTreeSet<PathBuf>,
    bytes: u64,
}

/// The object at one path.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    meta: Option<Meta>,
    pub(super) state: State,
    /// Whether git ignores it, as far as it matters: only of a file that is not kept.
    pub(super) is_ignored: bool,
}

/// The parameters of a snapshot.
pub(super) struct Taking<'a> {
    pub(super) limits: SnapshotLimits,
    pub(super) blobs: &'a Blobs,
    /// The undo store itself, which is never part of a snapshot.
    pub(super) store: &'a Path,
    pub(super) now_nanos: i64,
}

/// One directory to read.
struct SnapshotJob {
    path: PathBuf,
    ignored: Arc<Ignored>,
}

impl Taking<'_> {
    /// The objects below `root` now, with every content kept.
    pub(super) fn before(&self, root: &Path, cache: &mut Cache) -> io::Result<Snapshot> {
        let snapshot = self.walk(root, |spot, path, meta| {
            if let Some(digest) = cache.digest(path, meta).filter(|digest| self.blobs.has(digest)) {
                let mode = spot.stat()?.map_or(0, |stat| stat.st_mode) & 0o7777;
                return Ok(State::File { digest: digest.to_owned(), size: meta.size, mode });
            }
            let state = State::keep(spot, self.blobs, FileSync::Later)?;
            if let State::File { digest, .. } = &state {
                let known = Known { meta, digest: digest.clone(), read_at_nanos: self.now_nanos };
                cache.files.insert(path.to_owned(), known);
                cache.is_changed = true;
            }
            Ok(state)
        })?;
        cache.files.retain(|path, _| snapshot.seen.contains_key(path));
        Ok(snapshot)
    }

    /// The objects below `root` now, with nothing kept. Unchanged files are not read again.
    pub(super) fn after(&self, root: &Path, before: &Snapshot, before_nanos: i64) -> io::Result<Snapshot> {
        self.walk(root, |spot, path, meta| match before.seen.get(path) {
            Some(seen) if seen.meta == Some(meta) && meta.is_settled(before_nanos) => Ok(seen.state.clone()),
            _ => State::at(spot),
        })
    }

    /// Calls a function for each covered path below `root`.
    pub(super) fn walk(
        &self,
        root: &Path,
        mut look: impl FnMut(&Spot, &Path, Meta) -> io::Result<State>,
    ) -> io::Result<Snapshot> {
        let top = open_tree(root)?;
        let mut snapshot = Snapshot::default();
        let mut jobs = VecDeque::from([SnapshotJob { path: PathBuf::new(), ignored: Arc::default() }]);
        let mut repositories = VecDeque::new();
        while let Some(job) = jobs.pop_front().or_else(|| repositories.pop_front()) {
            let Ok(directory) = top.directory(&job.path) else {
                snapshot
                    .leave_out(root.join(&job.path), "it cannot be read, or something else is mounted there");
                continue;
            };
            let directory = Arc::new(directory);
            let names = names_in(&directory)?;
            let has =
                |name: &str| names.binary_search_by(|other| other.as_slice().cmp(name.as_bytes())).is_ok();
            let ignored = job.ignored.enter(&directory, &job.path, has);
            for name in &names {
                let name = OsStr::from_bytes(name);
                let below = job.path.join(name);
                let path = root.join(&below);
                if path == self.store {
                    continue;
                }
                let spot = Spot::inside(&directory, &root.join(&job.path), name);
                let is_directory = self.one(&mut snapshot, &spot, &path, &below, &ignored, &mut look);
                match is_directory {
                    KeptEntry::Directory if name == ".git" => {
                        repositories.push_back(SnapshotJob { path: below, ignored: Arc::default() });
                    }
                    KeptEntry::Directory => {
                        jobs.push_back(SnapshotJob { path: below, ignored: ignored.clone() });
                    }
                    KeptEntry::Other => {}
                    KeptEntry::Full => return Ok(snapshot),
                }
            }
        }
        Ok(snapshot)
    }

    fn one(
        &self,
        snapshot: &mut Snapshot,
        spot: &Spot,
        path: &Path,
        below: &Path,
        ignored: &Ignored,
        look: &mut impl FnMut(&Spot, &Path, Meta) -> io::Result<State>,
    ) -> KeptEntry {
        let Ok(Some(stat)) = spot.stat() else { return KeptEntry::Other };
        let meta = Meta::from(&stat);
        let kind = FileType::from_raw_mode(stat.st_mode);
        // It comes and goes with the jail of a pane, and is no change of the command.
        if is_stand_in(path) {
            return KeptEntry::Other;
        }
        let is_repository = spot.real().file_name().is_some_and(|name| name == ".git");
        if kind == FileType::Directory && !is_repository && ignored.covers(below, true) {
            snapshot.leave_out(path.to_owned(), IGNORED);
            if !is_rebuilt(path) {
                snapshot.ignored.insert(path.to_owned());
            }
            return KeptEntry::Other;
        }
        if snapshot.seen.len() >= self.limits.files {
            snapshot.cut_at = Some(path.to_owned());
            snapshot
                .leave_out(path.to_owned(), "the workspace has more files than are covered, from here on");
            return KeptEntry::Full;
        }
        let state = match kind {
            FileType::RegularFile if meta.size > self.limits.file_bytes => {
                snapshot.leave_out(path.to_owned(), "the file is larger than undo keeps of one file");
                State::NotKept { why: "the file is larger than undo keeps of one file".to_owned() }
            }
            FileType::RegularFile if snapshot.bytes + meta.size > self.limits.bytes => {
                snapshot.leave_out(path.to_owned(), "the workspace is larger than what is covered");
                State::NotKept { why: "the workspace is larger than what is covered".to_owned() }
            }
            _ => look(spot, path, meta).unwrap_or_else(|error| {
                snapshot.leave_out(path.to_owned(), "it cannot be read");
                State::NotKept { why: error.to_string() }
            }),
        };
        if matches!(state, State::File { .. }) {
            snapshot.bytes += meta.size;
        }
        // The time stamps of a directory say nothing that the paths in it do not say.
        let meta = (kind == FileType::RegularFile).then_some(meta);
        let is_ignored = matches!(state, State::NotKept { .. }) && ignored.covers(below, false);
        snapshot.seen.insert(path.to_owned(), Seen { meta, state, is_ignored });
        if kind == FileType::Directory { KeptEntry::Directory } else { KeptEntry::Other }
    }
}

enum KeptEntry {
    Directory,
    Other,
    Full,
}

impl Snapshot {
    fn leave_out(&mut self, path: PathBuf, why: &str) {
        if self.not_covered.len() < MAX_NOT_COVERED {
            self.not_covered.push((path, why.to_owned()));
        }
    }

    /// The differences in `after`: path, state before, state after.
    pub(super) fn changes(&self, after: &Self) -> Vec<(PathText, State, State)> {
        let mut changes = Vec::new();
        for (path, seen) in &self.seen {
            let now = match after.seen.get(path) {
                Some(now) if now.meta == seen.meta && seen.meta.is_some() && !differ(seen, now) => continue,
                Some(now) => now.state.clone(),
                // The caps may have cut another path this time.
                None if after.cut_at.is_some() && path.symlink_metadata().is_ok() => continue,
                None => State::Absent,
            };
            let is_rewritten = after.seen.get(path).is_some_and(|now| is_rewritten(seen, now));
            if seen.state != now || is_rewritten {
                changes.push((PathText(path.clone()), seen.state.clone(), now));
            }
        }
        for path in self.ignored.iter().filter(|path| path.symlink_metadata().is_err()) {
            let before = State::NotKept { why: IGNORED.to_owned() };
            changes.push((PathText(path.clone()), before, State::Absent));
        }
        for (path, now) in &after.seen {
            if self.seen.contains_key(path) {
                continue;
            }
            let before = if self.cut_at.is_some() {
                State::NotKept { why: "the workspace has more files than are covered".to_owned() }
            } else {
                State::Absent
            };
            changes.push((PathText(path.clone()), before, now.state.clone()));
        }
        changes
    }
}

/// Whether a file changed of which nothing is kept. Ignored files are those of programs.
fn is_rewritten(before: &Seen, after: &Seen) -> bool {
    let is_unkept = |seen: &Seen| matches!(seen.state, State::NotKept { .. }) && !seen.is_ignored;
    is_unkept(before) && is_unkept(after) && before.meta != after.meta
}

/// Whether two looks at the same file found a difference.
fn differ(before: &Seen, after: &Seen) -> bool {
    before.state != after.state
}

fn names_in(directory: &Arc<OwnedFd>) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    names.sort();
    Ok(names)
}
