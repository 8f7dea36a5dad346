//! `-o`: the file that gets the last message.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{Access, OFlags, access, fcntl_getfl, fcntl_setfl};

use crate::config::private_file;
use crate::start_error::UsageError;
use buddy_tui::Printer;

/// Names of the standard output, which already is open and may be a file that others write on in.
const OUTPUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
/// Links that lead on to links, at most; as many as the kernel follows.
const MAX_LINKS: usize = 40;

/// A file that can be written.
#[derive(Debug)]
pub(super) struct LastMessage {
    /// Where links lead to; what is no ordinary file is kept by the name that was given.
    path: PathBuf,
}

impl LastMessage {
    /// Looks whether the file can be written, before anything is done for what it is to hold.
    pub(super) fn at(path: &Path) -> Result<Self, UsageError> {
        let refused = |why: String| UsageError::new(format!("-o `{}`: {why}", path.display()));
        if path.is_dir() || path.file_name().is_none() {
            return Err(refused("it is a directory".to_owned()));
        }
        if is_special(path) {
            access(path, Access::WRITE_OK).map_err(|error| refused(error.to_string()))?;
            return Ok(Self { path: path.to_owned() });
        }
        if is_output(path) {
            return Ok(Self { path: path.to_owned() });
        }
        // A link is written through, so what counts is where it leads to.
        let path = resolved(path).map_err(|error| refused(error.to_string()))?;
        let directory = parent(&path);
        if !directory.is_dir() {
            return Err(refused(format!("there is no directory `{}`", directory.display())));
        }
        access(directory, Access::WRITE_OK).map_err(|error| refused(error.to_string()))?;
        Ok(Self { path })
    }

    /// Writes it, in one step where it is an ordinary file.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        if is_output(&self.path) {
            return Ok(Printer::standard().answer(text)?);
        }
        let written = if is_special(&self.path) {
            open_special(&self.path).and_then(|mut file| file.write_all(text.as_bytes()))
        } else {
            private_file::replace_usual(&self.path, text)
        };
        written.with_context(|| format!("cannot write the last message to `{}`", self.path.display()))
    }
}

/// Whether it is the standard output by name.
fn is_output(path: &Path) -> bool {
    OUTPUT.iter().any(|name| path == Path::new(name))
}

/// Where a path leads to, also when nothing is there yet.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&path) {
            Ok(target) => path.set_file_name(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("there are too many links"))
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
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
