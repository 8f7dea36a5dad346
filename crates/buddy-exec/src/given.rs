//! The descriptors that a command is given.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;

/// Descriptors that a command is given.
pub(crate) struct Given {
    pub(crate) stdin: OwnedFd,
    /// The socket that takes the listener for the network, if the command has no network of its own.
    pub(crate) way_out: Option<OwnedFd>,
}

impl Given {
    /// A stdin and no way out.
    pub(crate) fn stdin(stdin: OwnedFd) -> Self {
        Self { stdin, way_out: None }
    }

    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        let way_out = self.way_out.as_ref().map(OwnedFd::try_clone).transpose()?;
        Ok(Self { stdin: self.stdin.try_clone()?, way_out })
    }
}

pub(crate) fn null() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/null")
}
