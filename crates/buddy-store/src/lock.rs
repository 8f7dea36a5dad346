//! File locks, which the kernel frees when their process dies, with a note that names the holder.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use buddy_protocol::{Clock, StoreError};

use crate::directory::open_private;
use crate::error::from_io;

/// The number of bytes of a lock file that are read to learn its holder.
const HOLDER_BYTES: u64 = 200;

/// The interval between attempts: long enough to cost nothing, short enough to go unnoticed.
const POLL: Duration = Duration::from_millis(2);

/// The result of an attempt to take a lock.
pub(crate) enum LockAttempt {
    /// This process has the lock while the file is open.
    Locked(File),
    /// Another process has it.
    Held {
        /// The holder, for users.
        holder: String,
    },
}

/// Opens a lock file and takes its lock exclusively, if it is free.
pub(crate) fn try_exclusive(path: &Path) -> Result<LockAttempt, StoreError> {
    let mut file = open_private(path).map_err(|error| from_io("open the lock", path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(LockAttempt::Locked(file)),
        Err(TryLockError::WouldBlock) => Ok(LockAttempt::Held { holder: read_holder(&mut file) }),
        Err(TryLockError::Error(error)) => Err(from_io("lock", path, &error)),
    }
}

/// Takes a lock exclusively and waits for it up to `patience`.
pub(crate) fn wait_exclusive(path: &Path, patience: Duration) -> Result<LockAttempt, StoreError> {
    let start = Instant::now();
    loop {
        match try_exclusive(path)? {
            LockAttempt::Held { .. } if start.elapsed() < patience => thread::sleep(POLL),
            outcome => return Ok(outcome),
        }
    }
}

/// Notes in a lock file that this process holds it from now on.
pub(crate) fn write_holder(file: &mut File, clock: &dyn Clock) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{} {}", std::process::id(), clock.now().0)
}

fn read_holder(file: &mut File) -> String {
    let mut text = String::new();
    // The holder may be about to write its note; a missing process id is not an error.
    let _ = file.take(HOLDER_BYTES).read_to_string(&mut text);
    match text.split_whitespace().next().and_then(|pid| pid.parse::<u32>().ok()) {
        Some(pid) => format!("process {pid}"),
        None => "another process".to_owned(),
    }
}
