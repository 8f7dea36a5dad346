//! Waits until files were opened: a script that was started has been read by then.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// Room for the events that are read at once.
const BUFFER_BYTES: usize = 4096;

/// Files that are watched for being opened.
#[derive(Debug)]
pub struct FileOpens {
    events: OwnedFd,
    /// The watches of files that nobody has opened yet.
    waiting: Vec<i32>,
}

impl FileOpens {
    /// Watches those of these files that exist.
    pub fn watch(files: &[PathBuf]) -> io::Result<Self> {
        let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut waiting = Vec::new();
        for file in files.iter().filter(|file| file.is_file()) {
            let watch = inotify::add_watch(&events, file, WatchFlags::OPEN)?;
            if !waiting.contains(&watch) {
                waiting.push(watch);
            }
        }
        Ok(Self { events, waiting })
    }

    /// Waits until each was opened, at most this long. Returns whether each was.
    pub fn wait(mut self, limit: Duration) -> io::Result<bool> {
        let until = Instant::now() + limit;
        while !self.waiting.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            match poll(&mut [PollFd::new(&self.events, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => return Ok(false),
                Ok(_) => self.read()?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.events, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => self.waiting.retain(|watch| *watch != event.wd()),
                Err(Errno::WOULDBLOCK) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_waits_for_every_file_that_exists() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, none] = ["one", "two", "none"].map(|name| folder.path().join(name));
        fs::write(&one, "1").unwrap();
        fs::write(&two, "2").unwrap();
        let files = [one.clone(), two.clone(), none];
        let opens = FileOpens::watch(&files).unwrap();
        fs::read(&one).unwrap();
        assert!(!opens.wait(Duration::ZERO).unwrap());
        let opens = FileOpens::watch(&files).unwrap();
        fs::read(&one).unwrap();
        fs::read(&two).unwrap();
        assert!(opens.wait(Duration::from_mins(1)).unwrap());
    }
}
