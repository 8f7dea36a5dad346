//! Settings of repositories that a command changes by git.
//!
//! The kernel keeps the settings of every repository that was there from being written. git writes a new file beside them and gives it their
//! name, which a mount prevents. So the supervisor is asked about every `rename`. It lets all of them go on, as the kernel holds whatever
//! they are, but that one: it reads the new settings, judges the change, and if that is harmless writes it to the file by itself. At no moment does
//! the file have settings that were not judged.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use buddy_notify::{Listener, Question, Verdict};
use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use super::caller::Caller;
use super::closed::open_bare;
use super::git_config::{ConfigPlace, MAX_CONFIG, judge_change};
use super::quarantine::SweepNote;
use super::write_places::WritePlaces;

/// The settings of a repository, and what git writes first.
pub(super) const CONFIG: &str = "config";
const DRAFT: &str = "config.lock";

/// A call that gives a file another name: where its directories and names stand among the arguments.
pub(super) struct Rename {
    pub(super) call: i64,
    from_directory: Option<usize>,
    from: usize,
    to_directory: Option<usize>,
    to: usize,
}

const fn rename_at(call: i64) -> Rename {
    Rename { call, from_directory: Some(0), from: 1, to_directory: Some(2), to: 3 }
}

#[cfg(target_arch = "x86_64")]
pub(super) const RENAMES: &[Rename] = &[
    Rename { call: libc::SYS_rename, from_directory: None, from: 0, to_directory: None, to: 1 },
    rename_at(libc::SYS_renameat),
    rename_at(libc::SYS_renameat2),
];
#[cfg(not(target_arch = "x86_64"))]
pub(super) const RENAMES: &[Rename] = &[rename_at(libc::SYS_renameat), rename_at(libc::SYS_renameat2)];

/// Writes settings.
#[derive(Debug, Default)]
pub(super) struct ConfigWrites {
    /// The settings that the kernel guards.
    guarded: BTreeSet<PathBuf>,
    /// Of these, the ones that a user opened to the command.
    opened: BTreeSet<PathBuf>,
    /// The places that the command writes.
    places: WritePlaces,
    /// Changes that were refused, with the reason.
    kept: Mutex<Vec<SweepNote>>,
}

/// The most refused changes that are told.
const MAX_TOLD: usize = 10;

impl ConfigWrites {
    pub(super) fn new(guarded: BTreeSet<PathBuf>, opened: &BTreeSet<PathBuf>, places: WritePlaces) -> Self {
        let opened = guarded.intersection(opened).cloned().collect();
        Self { opened, guarded, places, kept: Mutex::default() }
    }

    /// The refused changes that were not told yet.
    pub(super) fn take_notes(&self) -> Vec<SweepNote> {
        std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn settle(&self, listener: &Listener, question: &Question) -> Verdict {
        match self.write(listener, question) {
            Ok(Some(Ok(()))) => Verdict::Returns(0),
            Ok(Some(Err(error))) => Verdict::Fails(error.raw_os_error()),
            // Whatever it is, the kernel judges it.
            Ok(None) | Err(_) => Verdict::GoesOn,
        }
    }

    /// Says what became of settings; nothing where these were none.
    fn write(&self, listener: &Listener, question: &Question) -> Result<Option<Result<(), Errno>>, Errno> {
        let Some(rename) = RENAMES.iter().find(|rename| rename.call == question.call) else {
            return Ok(None);
        };
        if self.guarded.is_empty() {
            return Ok(None);
        }
        let caller = Caller::of(question.thread)?;
        let argument = |at: usize| question.arguments.get(at).copied().unwrap_or_default();
        let to = caller.path(argument(rename.to))?;
        if to.file_name().is_none_or(|name| name != CONFIG) {
            return Ok(None);
        }
        let whole = |path: PathBuf, directory: Option<usize>| {
            let base = match directory {
                Some(at) => caller.directory_at(argument(at))?,
                None => caller.directory()?,
            };
            Ok::<PathBuf, Errno>(base.join(path))
        };
        let to = whole(to, rename.to_directory)?;
        let from = whole(caller.path(argument(rename.from))?, rename.from_directory)?;
        if from.file_name().is_none_or(|name| name != DRAFT) || from.parent() != to.parent() {
            return Ok(None);
        }
        let directory =
            caller.open(to.parent().unwrap_or(Path::new("/")), OFlags::PATH | OFlags::DIRECTORY)?;
        let place = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()))
            .map_err(|_| Errno::ACCESS)?;
        let config = place.join(CONFIG);
        if !self.guarded.contains(&config) || !listener.is_waiting(question) {
            return Ok(None);
        }
        if removes_remote(&caller.words()) && !self.opened.contains(&config) {
            self.keep(&config, "`git remote remove` says where git reads from and writes to");
            return Ok(Some(Err(Errno::PERM)));
        }
        Ok(Some(self.exchange(&place, &config)))
    }

    /// Takes the draft in a directory over into the settings.
    fn exchange(&self, place: &Path, config: &Path) -> Result<(), Errno> {
        let directory = open_bare(place).map_err(|_| Errno::ACCESS)?;
        let open = |name: &str, how: OFlags| {
            let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            openat(&directory, name, flags, Mode::empty()).map(File::from)
        };
        let new = read(&open(DRAFT, OFlags::RDONLY)?).map_err(|_| Errno::PERM)?;
        let file = open(CONFIG, OFlags::RDWR)?;
        let old = read(&file).map_err(|_| Errno::PERM)?;
        let at = ConfigPlace { git: place, places: &self.places };
        if !self.opened.contains(config)
            && let Err(why) = judge_change(&at, &old, &new)
        {
            self.keep(config, &why);
            return Err(Errno::PERM);
        }
        // In its place: another file at the name would take the mount away that guards it.
        overwrite(&file, &new).map_err(|_| Errno::IO)?;
        unlinkat(&directory, DRAFT, AtFlags::empty())
    }

    fn keep(&self, path: &Path, why: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let note = SweepNote::Kept { path: path.to_owned(), why: why.to_owned() };
        if kept.len() < MAX_TOLD && !kept.contains(&note) {
            kept.push(note);
        }
    }
}

/// Whether these words remove a remote. git takes the branches of it out of the settings first, one by one, which is harmless, and at last the
/// remote itself, which is refused. So it is refused at once, and the branches stay.
fn removes_remote(words: &[String]) -> bool {
    let mut words = words.iter().skip_while(|word| *word != "remote").skip(1);
    words.find(|word| !word.starts_with('-')).is_some_and(|word| matches!(word.as_str(), "remove" | "rm"))
}

/// The content of a regular file with a single name.
fn read(file: &File) -> io::Result<Vec<u8>> {
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() > 1 || found.len() > MAX_CONFIG {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut content = Vec::new();
    file.take(MAX_CONFIG).read_to_end(&mut content)?;
    Ok(content)
}

fn overwrite(file: &File, content: &[u8]) -> io::Result<()> {
    file.write_all_at(content, 0)?;
    file.set_len(content.len() as u64)?;
    file.sync_data()
}
