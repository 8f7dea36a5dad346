//! A thread that waits for an answer, looked at from outside.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;

/// The most words of a command line that are looked at.
const MAX_WORDS: usize = 64;

/// The longest path that the kernel takes.
const MAX_PATH: usize = 4096;

/// The view of one thread. It is read by the number of the thread, so the reader has to ask afterwards whether the thread still waits.
pub(super) struct Caller {
    thread: i32,
    root: OwnedFd,
}

impl Caller {
    pub(super) fn of(thread: i32) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { thread, root: open(format!("/proc/{thread}/root"), flags, Mode::empty())? })
    }

    fn place(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.thread.to_string()).join(name)
    }

    /// The directory that its names begin at.
    pub(super) fn directory(&self) -> Result<PathBuf, Errno> {
        fs::read_link(self.place("cwd")).map_err(|_| Errno::ACCESS)
    }

    /// The same where a call names a directory by its descriptor.
    pub(super) fn directory_at(&self, descriptor: u64) -> Result<PathBuf, Errno> {
        match i32::try_from(descriptor & u64::from(u32::MAX)) {
            Ok(number) => fs::read_link(self.place(&format!("fd/{number}"))).map_err(|_| Errno::BADF),
            // The only number below zero that means something is the one for the current directory.
            Err(_) => self.directory(),
        }
    }

    /// The words that its program was started with. The program may have changed them since, so they decide nothing that matters.
    pub(super) fn words(&self) -> Vec<String> {
        let line = fs::read(self.place("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .take(MAX_WORDS)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect()
    }

    /// Its mounts, as the kernel lists them.
    pub(super) fn mounts(&self) -> Result<String, Errno> {
        fs::read_to_string(self.place("mountinfo")).map_err(|_| Errno::ACCESS)
    }

    /// A copy of its memory, as far as that goes.
    pub(super) fn copy(&self, at: u64, length: usize) -> Result<Vec<u8>, Errno> {
        let memory = File::open(self.place("mem")).map_err(|_| Errno::ACCESS)?;
        let mut copied = vec![0; length];
        let mut done = 0;
        while let Some(rest) = copied.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match memory.read_at(rest, at.saturating_add(done as u64)) {
                Ok(0) | Err(_) => break,
                Ok(read) => done += read,
            }
        }
        copied.truncate(done);
        Ok(copied)
    }

    /// A path in its memory.
    pub(super) fn path(&self, at: u64) -> Result<PathBuf, Errno> {
        let copied = self.copy(at, MAX_PATH)?;
        let end = copied.iter().position(|byte| *byte == 0).ok_or(Errno::FAULT)?;
        let path = copied.get(..end).unwrap_or_default().to_vec();
        Ok(PathBuf::from(std::ffi::OsString::from_vec(path)))
    }

    /// Opens a path as the thread itself would find it.
    pub(super) fn open(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let below = path.strip_prefix("/").unwrap_or(path);
        let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.root, below, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
    }
}
