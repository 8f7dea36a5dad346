//! The sign of a reader to the thread that drains a run: there is room for output again.
//!
//! The thread waits in `poll` for output, reports and deadlines alike, so the sign is a descriptor too.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// A counter of the kernel: readable once it was given, until it is taken.
#[derive(Debug, Clone)]
pub(crate) struct RoomSign(Arc<OwnedFd>);

impl RoomSign {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Wakes the thread if it waits for room. Never waits.
    pub(crate) fn give(&self) {
        // Fails only where the counter is full, and then it is readable anyway.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }

    /// Takes all signs so far. The room has to be looked at after this, so that none is missed.
    pub(crate) fn take(&self) {
        let _ = rustix::io::read(&*self.0, &mut [0; size_of::<u64>()]);
    }
}

impl AsFd for RoomSign {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
