//! Sessions of older programs: files below a project, each with the messages of one conversation.
//!
//! [`read`](read::read) takes a file apart and says what it did not understand; [`events`](events::events) makes a log of
//! it. A file has one session, whose id comes from what it is and not from when it is imported, so that a second import
//! finds the first.

mod events;
mod read;

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

pub(crate) use events::{LegacyPlace, events, session_id};
pub(crate) use read::{Legacy, read};

/// Where older programs keep their sessions, below a project.
const FOLDERS: [&str; 2] = [".buddyx/sessions", ".agentx/sessions"];

/// How many files are looked at.
const MAX_FILES: usize = 10_000;

/// How large a file may be. What it makes must fit into one append.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The files of older sessions of a directory, in the order of their names.
pub(crate) fn files(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in FOLDERS.map(|folder| directory.join(folder)) {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", folder.display())),
        };
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read `{}`", folder.display()))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
            if files.len() > MAX_FILES {
                bail!("there are more than {MAX_FILES} files in `{}`", folder.display());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file of an older session.
pub(crate) fn open(path: &Path) -> anyhow::Result<Legacy> {
    // A pipe would keep the import waiting for its writer.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path);
    let file = file.context("cannot open it")?;
    if !file.metadata().context("cannot look at it")?.is_file() {
        bail!("it is not a file");
    }
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).context("cannot read it")?;
    if text.len() as u64 > MAX_FILE_BYTES {
        bail!("it has more than {MAX_FILE_BYTES} bytes");
    }
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    read(&name, &text)
}
