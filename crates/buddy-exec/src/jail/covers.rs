//! Mounts that the process inside makes by itself, where bubblewrap cannot: a namespace of mounts with covers
//! over hidden paths.
//!
//! The covers are the same as those of bubblewrap (see `mounts.rs`). Afterwards the process gives up the
//! rights it would take to remove one.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use rustix::fs::{FileType, Mode, OFlags, StatVfsMountFlags, fstat, open, statvfs};
use rustix::process::{Signal, getgid, getuid, set_parent_process_death_signal};

use super::mounts::{Cover, blank_content};
use super::refusal::{Refusal, USER_NAMESPACES};
use super::words::Covered;

/// Flags of every cover: no setuid programs, no devices, no execution.
const HARMLESS: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV).union(MsFlags::MS_NOEXEC);

/// Directories that every system has. Files are made in one while nothing else runs in the namespace.
const WORKSHOPS: &[&str] = &["/sys", "/mnt", "/srv", "/opt", "/tmp"];

/// The directory with the names of terminals.
const TERMINALS: &str = "/dev/pts";

/// Leaves the mounts of the machine for a copy of them, and its network if there is to be none, and puts
/// covers over the copy. Must be called before there is a second thread.
pub(super) fn put(covers: &[Covered], network: bool) -> Result<(), Refusal> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| failed("end with the supervisor".to_owned())(error.into()))?;
    separate(network).map_err(failed("make a namespace for the command's mounts".to_owned()))?;
    cover_all(covers)
}

/// Puts covers over places in a namespace of this process's own.
pub(super) fn cover_all(covers: &[Covered]) -> Result<(), Refusal> {
    let covers: Vec<(PathBuf, Cover)> =
        covers.iter().map(|covered| (covered.at.to_path(), covered.cover)).collect();
    let empty: Vec<&Path> = covers
        .iter()
        .filter(|(_, cover)| *cover == Cover::EmptyDirectory)
        .map(|(at, _)| at.as_path())
        .collect();
    // Paths shown inside an empty directory cannot be found by their names any more once that is mounted.
    let mut held: Vec<Option<OwnedFd>> = Vec::new();
    for (at, _) in &covers {
        let is_inside = empty.iter().any(|empty| at != empty && at.starts_with(empty));
        let place = || open(at, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from);
        held.push(is_inside.then(place).transpose().map_err(failed(format!("look at `{}`", at.display())))?);
    }
    let workshop = Workshop::open(&covers).map_err(failed("make files for covers".to_owned()))?;
    for ((at, cover), held) in covers.iter().zip(&held) {
        cover_one(at, *cover, held.as_ref(), workshop.as_ref())
            .map_err(failed(format!("cover `{}`", at.display())))?;
    }
    for at in empty {
        remount_read_only(at, HARMLESS).map_err(failed(format!("close `{}`", at.display())))?;
    }
    workshop.map_or(Ok(()), Workshop::close).map_err(failed("put the workshop away".to_owned()))
}

fn failed(action: String) -> impl Fn(io::Error) -> Refusal {
    move |error| Refusal::new(USER_NAMESPACES, format!("cannot {action}: {error}; install bubblewrap"))
}

/// Mounts terminals of the command's own in the place of those of the machine. The command's own terminal is
/// found by `/dev/tty` and by open descriptors; others, such as the one that the user sits at, have no name
/// any more. `/dev/ptmx` makes new ones among these.
pub(super) fn put_terminals() -> Result<(), Refusal> {
    if !Path::new(TERMINALS).is_dir() {
        return Ok(());
    }
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(Some("devpts"), TERMINALS, Some("devpts"), flags, Some("newinstance,ptmxmode=0666,mode=620"))
        .map_err(|error| Refusal::new(USER_NAMESPACES, format!("cannot make terminals of its own: {error}")))
}

/// A namespace of mounts of its own, from which nothing comes back to the machine. Accounts without the right get it together with a
/// namespace of users in which they have their own number.
pub(super) fn separate(network: bool) -> io::Result<()> {
    let net = if network { CloneFlags::empty() } else { CloneFlags::CLONE_NEWNET };
    if unshare(CloneFlags::CLONE_NEWNS | net).is_err() {
        let (user, group) = (getuid().as_raw(), getgid().as_raw());
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | net)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    Ok(mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)?)
}

fn cover_one(at: &Path, cover: Cover, held: Option<&OwnedFd>, workshop: Option<&Workshop>) -> io::Result<()> {
    let source = held.map_or_else(
        || at.to_owned(),
        |descriptor| PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd())),
    );
    match cover {
        Cover::Writable | Cover::ReadOnly => {
            if let Some(held) = held {
                make_place(at, held)?;
            }
            bind(&source, at, MsFlags::MS_REC)?;
            if cover == Cover::ReadOnly {
                remount_read_only(at, flags_of(at)?)?;
            }
            Ok(())
        }
        Cover::EmptyDirectory => {
            Ok(mount(Some("tmpfs"), at, Some("tmpfs"), HARMLESS, Some("mode=0755,size=64k"))?)
        }
        Cover::Blank => {
            let workshop = workshop.ok_or_else(|| io::Error::other("there is no empty file"))?;
            bind(&workshop.file(blank_content(at))?, at, MsFlags::empty())?;
            remount_read_only(at, HARMLESS)
        }
        // Without devices this cannot be opened at all.
        Cover::NoFile | Cover::SealedFile => {
            bind(Path::new("/dev/null"), at, MsFlags::empty())?;
            remount_read_only(at, HARMLESS)
        }
    }
}

/// Makes a file or directory in an empty directory that this can be mounted on.
fn make_place(at: &Path, held: &OwnedFd) -> io::Result<()> {
    if FileType::from_raw_mode(fstat(held)?.st_mode) == FileType::Directory {
        return fs::create_dir_all(at);
    }
    at.parent().map_or(Ok(()), fs::create_dir_all)?;
    File::create(at).map(drop)
}

pub(super) fn bind(from: &Path, at: &Path, how: MsFlags) -> io::Result<()> {
    Ok(mount(Some(from), at, None::<&str>, MsFlags::MS_BIND | how, None::<&str>)?)
}

pub(super) fn remount_read_only(at: &Path, flags: MsFlags) -> io::Result<()> {
    let flags = flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    Ok(mount(None::<&str>, at, None::<&str>, flags, None::<&str>)?)
}

/// The flags of a mount that an account without rights may not take away.
pub(super) fn flags_of(at: &Path) -> io::Result<MsFlags> {
    let found = statvfs(at)?.f_flag;
    let pairs = [
        (StatVfsMountFlags::NOSUID, MsFlags::MS_NOSUID),
        (StatVfsMountFlags::NODEV, MsFlags::MS_NODEV),
        (StatVfsMountFlags::NOEXEC, MsFlags::MS_NOEXEC),
    ];
    let has = |(flag, same): (StatVfsMountFlags, MsFlags)| found.contains(flag).then_some(same);
    Ok(pairs.into_iter().filter_map(has).fold(MsFlags::empty(), MsFlags::union))
}

/// A file system in memory for the files that stand in for others. The mounts of its files outlive it.
struct Workshop(PathBuf);

impl Workshop {
    /// `None` if no file is needed.
    fn open(covers: &[(PathBuf, Cover)]) -> io::Result<Option<Self>> {
        if covers.iter().all(|(_, cover)| *cover != Cover::Blank) {
            return Ok(None);
        }
        let is_free = |place: &&&str| {
            Path::new(**place).is_dir() && !covers.iter().any(|(at, _)| at.starts_with(**place))
        };
        let place = WORKSHOPS.iter().find(is_free).ok_or(io::ErrorKind::NotFound)?;
        mount(Some("tmpfs"), *place, Some("tmpfs"), HARMLESS, Some("mode=0755,size=64k"))?;
        Ok(Some(Self(place.into())))
    }

    /// Makes a file with this content.
    fn file(&self, content: &str) -> io::Result<PathBuf> {
        let path = self.0.join(format!("blank-{:x?}", content.as_bytes()));
        fs::write(&path, content)?;
        Ok(path)
    }

    fn close(self) -> io::Result<()> {
        Ok(umount2(&self.0, MntFlags::MNT_DETACH)?)
    }
}
