//! The baselines of commands that run at the same time.
//!
//! A command that starts while another one runs may find files that the other one has planted. It must not take
//! them for files that were there before: the sweep of one command would then put back the plants of the other.
//! So each command publishes its baseline, and a command that starts later is bound by it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::look::Sights;
use super::quarantine::{Content, is_since};
use super::raw_path::RawPath;
use crate::{FileLock, LockKind};

/// The directory of the baselines, in that of the quarantine, which no command sees.
const RUNNING: &str = "running";

/// The file that is locked while a command looks around and publishes its baseline.
const TURN: &str = "turn";

/// The letter that a name gets at its end if it is taken.
const TAKEN: char = 'x';

/// How long a command waits for its turn, at most: a look takes a few milliseconds, and 3 seconds at most.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// What was there before a command started.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    /// Places that were searched whole.
    pub(super) roots: Vec<PathBuf>,
    /// Whether the search was not cut short.
    pub(super) is_whole: bool,
    /// When it was searched.
    pub(super) began: (i64, i64),
    /// Names that programs take orders from, and repositories.
    pub(super) names: BTreeSet<PathBuf>,
    /// Names that the kernel guards from the command.
    pub(super) covered: BTreeSet<PathBuf>,
    /// Exact places where nothing was.
    pub(super) missing: BTreeSet<PathBuf>,
    /// The files among the names that the kernel does not guard, with their contents as far as they were kept.
    pub(super) files: BTreeMap<PathBuf, Option<Content>>,
    /// Lines of packed references that replace objects.
    pub(super) replacements: BTreeMap<PathBuf, BTreeSet<Vec<u8>>>,
}

#[derive(Serialize, Deserialize)]
struct Published {
    roots: Vec<RawPath>,
    is_whole: bool,
    began: (i64, i64),
    names: Vec<RawPath>,
    covered: Vec<RawPath>,
    missing: Vec<RawPath>,
    files: Vec<(RawPath, Option<Content>)>,
    replacements: Vec<(RawPath, BTreeSet<Vec<u8>>)>,
}

impl Baseline {
    /// Takes names out of the sights that were not there when the command of this baseline started.
    pub(super) fn restrict(&self, sights: &mut Sights) {
        let Sights { orders, git_files, git, git_links, half_git, order_links, git_state, .. } = sights;
        for names in [orders, git_files, git, git_links, half_git, order_links] {
            names.retain(|path| !self.is_newer(path));
        }
        git_state.retain(|path, _| !self.is_newer(path));
    }

    fn is_newer(&self, path: &Path) -> bool {
        let is_searched = self.is_whole && self.roots.iter().any(|root| path.starts_with(root));
        !self.names.contains(path) && (is_searched || is_since(path, self.began))
    }

    /// Whether nothing was at a place.
    pub(super) fn misses(&self, path: &Path) -> bool {
        self.missing.contains(path)
    }

    /// Whether a file was not there although its place was searched.
    pub(super) fn lacks_file(&self, file: &Path) -> bool {
        let known = file.ancestors().find(|above| self.names.contains(*above));
        !self.files.contains_key(file)
            && known.is_some()
            && !file.ancestors().any(|above| self.covered.contains(above))
    }
}

/// The place of a running command among the others.
#[derive(Debug)]
pub(super) struct Register {
    directory: PathBuf,
    own: PathBuf,
    /// Locked as long as the command runs.
    file: File,
}

impl Register {
    /// Takes a place. To be called in turn.
    pub(super) fn join(_turn: &Turn, quarantine: &Path) -> io::Result<Self> {
        let directory = quarantine.join(RUNNING);
        let mut name = std::process::id().to_string();
        let (own, file) = loop {
            let own = directory.join(&name);
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&own) {
                Ok(file) => break (own, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => name.push(TAKEN),
                Err(error) => return Err(error),
            }
        };
        file.lock()?;
        Ok(Self { directory, own, file })
    }

    /// The baselines of the other commands that run. To be called in turn. Removes those of commands that are gone.
    pub(super) fn others(&self, _turn: &Turn) -> Vec<Baseline> {
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        let others =
            paths.filter(|path| *path != self.own && path.file_name().is_some_and(|name| name != TURN));
        others.filter_map(|path| read(&path)).collect()
    }

    /// Publishes the baseline of this command. To be called in turn.
    pub(super) fn publish(&mut self, _turn: &Turn, baseline: Baseline) -> io::Result<()> {
        let raw = |paths: BTreeSet<PathBuf>| paths.into_iter().map(RawPath::from).collect();
        let published = Published {
            roots: baseline.roots.into_iter().map(RawPath::from).collect(),
            is_whole: baseline.is_whole,
            began: baseline.began,
            names: raw(baseline.names),
            covered: raw(baseline.covered),
            missing: raw(baseline.missing),
            files: baseline.files.into_iter().map(|(path, content)| (RawPath::from(path), content)).collect(),
            replacements: baseline
                .replacements
                .into_iter()
                .map(|(path, lines)| (path.into(), lines))
                .collect(),
        };
        self.file.set_len(0)?;
        io::Seek::rewind(&mut self.file)?;
        self.file.write_all(&serde_json::to_vec(&published)?)
    }

    /// The quarantine that this is in.
    pub(super) fn quarantine(&self) -> &Path {
        self.directory.parent().unwrap_or(&self.directory)
    }
}

impl Drop for Register {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.own);
    }
}

fn read(path: &Path) -> Option<Baseline> {
    let file = File::open(path).ok()?;
    if file.try_lock_shared().is_ok() {
        // Its command is gone.
        let _ = fs::remove_file(path);
        return None;
    }
    let published: Published = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let paths = |raw: Vec<RawPath>| raw.iter().map(RawPath::to_path).collect();
    Some(Baseline {
        roots: published.roots.iter().map(RawPath::to_path).collect(),
        is_whole: published.is_whole,
        began: published.began,
        names: paths(published.names),
        covered: paths(published.covered),
        missing: paths(published.missing),
        files: published.files.into_iter().map(|(path, content)| (path.to_path(), content)).collect(),
        replacements: published
            .replacements
            .into_iter()
            .map(|(path, lines)| (path.to_path(), lines))
            .collect(),
    })
}

/// The supervisors of the commands that hold a place.
pub(crate) fn running_supervisors(quarantine: &Path) -> Vec<i32> {
    let entries = fs::read_dir(quarantine.join(RUNNING)).into_iter().flatten().flatten();
    let is_held = |place: &Path| File::open(place).is_ok_and(|file| file.try_lock_shared().is_err());
    let held = entries.filter(|entry| entry.file_name() != TURN && is_held(&entry.path()));
    // A name is the id of a process, and letters if it is taken.
    let id = |name: &str| name.trim_end_matches(TAKEN).parse().unwrap_or_default();
    held.map(|entry| id(&entry.file_name().to_string_lossy())).collect()
}

/// When a place was last taken or left.
pub(super) fn register_changed_at(quarantine: &Path) -> Option<SystemTime> {
    fs::metadata(quarantine.join(RUNNING)).and_then(|found| found.modified()).ok()
}

/// The right to look around: no other command starts meanwhile.
#[derive(Debug)]
pub(super) struct Turn(#[expect(dead_code, reason = "held for its lock")] FileLock);

impl Turn {
    /// Waits for it, within bounds.
    pub(super) fn take(quarantine: &Path) -> io::Result<Self> {
        let directory = quarantine.join(RUNNING);
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        let lock = FileLock::take_within(&directory.join(TURN), LockKind::Exclusive, MAX_WAIT)?;
        lock.map(Self).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }
}
