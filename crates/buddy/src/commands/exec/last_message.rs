//! `-o`: the file that gets the last message.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{Access, OFlags, access, fcntl_getfl, fcntl_setfl};

use crate::commands::UsageError;
use crate::config::private_file;

/// A file that can be written.
#[derive(Debug)]
pub(super) struct LastMessage {
    path: PathBuf,
}

impl LastMessage {
    /// Looks whether the file can be written, before anything is done for what it is to hold.
    pub(super) fn at(path: &Path) -> Result<Self, UsageError> {
        let refused = |why: String| UsageError::new(format!("-o `{}`: {why}", path.display()));
        if path.is_dir() || path.file_name().is_none() {
            return Err(refused("it is a directory".to_owned()));
        }
        let directory = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        if !directory.is_dir() {
            return Err(refused(format!("there is no directory `{}`", directory.display())));
        }
        let place = if is_special(path) { path } else { directory };
        access(place, Access::WRITE_OK).map_err(|error| refused(error.to_string()))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Writes it, in one step where it is an ordinary file.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        let written = if is_special(&self.path) {
            open_special(&self.path).and_then(|mut file| file.write_all(text.as_bytes()))
        } else {
            private_file::replace_usual(&self.path, text)
        };
        written.with_context(|| format!("cannot write the last message to `{}`", self.path.display()))
    }
}

/// Whether it is something else than a file, such as a device, in whose place no file may be put.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file())
}

/// Opens such a thing. A pipe that nobody reads is an error and not waited for; one that somebody reads is written to at the
/// reader's pace, as the standard output is.
fn open_special(path: &Path) -> io::Result<File> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(nonblocking).open(path)?;
    fcntl_setfl(&file, fcntl_getfl(&file)?.difference(OFlags::NONBLOCK))?;
    Ok(file)
}
