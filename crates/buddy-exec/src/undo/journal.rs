//! The journal of an entry: a file of records, one a line, each durable before the change that it announces.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use buddy_protocol::{PathText, Principal, SessionTarget};
use serde::{Deserialize, Serialize};

use super::blobs::{create_private, entries, make_private, sync_folder};
use super::state::State;

/// Retries for the next free number when other processes take it first.
const TRIES: u64 = 1_000;
/// The largest journal that is read. A record has a few hundred bytes.
const MAX_JOURNAL: u64 = 256 * 1024 * 1024;

/// The properties of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Its name, by which it is undone: that of the call.
    pub id: String,
    /// The call, in one line.
    pub label: String,
    /// The session that it was in.
    pub session: String,
    /// The directory on this machine that the session works in; absent in entries of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathText>,
    /// The time, in milliseconds since 1970.
    pub unix_ms: u64,
    /// The entry that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// The target that it is about; absent for this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<SessionTarget>,
    /// The user or the client that asked for it; absent for the agent's own calls and in entries of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Principal>,
}

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub(super) enum Record {
    /// The first line.
    Begin {
        /// The properties of the entry.
        header: Box<Header>,
    },
    /// A path is about to change, or was changed by a command.
    Change {
        /// The path, without links.
        path: PathText,
        before: State,
        after: State,
    },
    /// A command is about to run; the snapshot beside the journal has the state before.
    Command { roots: Vec<PathText> },
    /// Other commands ran while the state before was kept. They may have planted files in it.
    Beside {
        roots: Vec<PathText>,
        /// Files that the call was allowed to change although programs take orders from them.
        opened: Vec<PathText>,
    },
    /// The command can change this place, of which nothing is kept.
    Place {
        path: PathText,
        why: String,
        digest: String,
        /// Whether the place counts as changed even if its fingerprint is the same, as there is too much in it.
        #[serde(default)]
        is_unsure: bool,
        #[serde(default)]
        is_store: bool,
        /// Paths in it that the fingerprint leaves out.
        #[serde(default)]
        skipped: Vec<PathText>,
    },
    /// The command may send work to others, who keep it.
    Sending { to: String, why: String },
    /// The command ended and its changes are recorded.
    CommandEnded,
    /// Changes of this path, or below it, cannot be undone.
    NotCovered {
        path: PathText,
        why: String,
        /// Whether a command is known to have changed it.
        #[serde(default)]
        is_changed: bool,
    },
    /// The call came to its end.
    Ended,
    /// An undo came to its end.
    Undone,
}

/// The extent of a call beside which other commands ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Beside {
    pub(super) roots: Vec<PathBuf>,
    /// Files that the call was allowed to change although programs take orders from them.
    pub(super) opened: Vec<PathBuf>,
}

/// A journal that is being written.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl Journal {
    /// A new journal, after all existing ones.
    pub(super) fn create(folder: &Path, header: &Header) -> io::Result<Self> {
        make_private(folder)?;
        let last = numbers(folder)?.into_iter().max().unwrap_or(0);
        for number in last + 1..=last + TRIES {
            let path = folder.join(format!("{number:012}.jsonl"));
            match create_private(&path) {
                Ok(file) => {
                    // While it is held the call is under way.
                    file.lock()?;
                    let mut journal = Self { file, path, bytes: 0 };
                    journal.append(&[Record::Begin { header: Box::new(header.clone()) }])?;
                    sync_folder(folder)?;
                    return Ok(journal);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Adds records and makes them durable.
    pub(super) fn append(&mut self, records: &[Record]) -> io::Result<()> {
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, record)?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines)?;
        self.bytes += lines.len() as u64;
        self.file.sync_all()
    }

    /// The length so far, to which it can be cut.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes back the records beyond this length.
    pub(super) fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.file.seek(SeekFrom::Start(bytes))?;
        self.bytes = bytes;
        self.file.sync_all()
    }

    /// Removes the journal, as the call changed nothing.
    pub(super) fn remove(&self) {
        // An empty entry that stays does no harm.
        let _ = fs::remove_file(&self.path);
    }

    /// The path of the mark of the end of a command that runs in this entry.
    pub(super) fn end_mark_path(&self) -> PathBuf {
        end_mark_of(&self.path)
    }

    /// The path of the snapshot of a command that runs in this entry.
    pub(super) fn snapshot_path(&self) -> PathBuf {
        snapshot_of(&self.path)
    }
}

/// The file of the snapshot beside a journal.
pub(super) fn snapshot_of(journal: &Path) -> PathBuf {
    journal.with_extension("snapshot")
}

/// The file beside a journal that tells when the last process of a command was gone.
pub(super) fn end_mark_of(journal: &Path) -> PathBuf {
    journal.with_extension("ended")
}

/// A journal that was read.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) path: PathBuf,
    pub(super) header: Header,
    pub(super) records: Vec<Record>,
}

/// All journals in the order in which they were begun. One that cannot be read is left out.
pub(super) fn read_all(folder: &Path) -> io::Result<Vec<Read>> {
    let mut found = numbers(folder)?;
    found.sort_unstable();
    let paths = found.into_iter().map(|number| folder.join(format!("{number:012}.jsonl")));
    Ok(paths.filter_map(|path| read(&path).ok().flatten()).collect())
}

/// Reads one journal. A last line that was cut by a crash announces nothing that happened, and is left out.
fn read(path: &Path) -> io::Result<Option<Read>> {
    if path.metadata()?.len() > MAX_JOURNAL {
        return Ok(None);
    }
    let text = fs::read_to_string(path)?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let mut records = Vec::new();
    for line in whole.lines() {
        let Ok(record) = serde_json::from_str(line) else { break };
        records.push(record);
    }
    let Some(Record::Begin { header }) = records.first().cloned() else { return Ok(None) };
    Ok(Some(Read { path: path.to_owned(), header: *header, records }))
}

fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let number = |path: PathBuf| {
        let is_journal = path.extension().is_some_and(|extension| extension == "jsonl");
        path.file_stem().filter(|_| is_journal)?.to_str()?.parse().ok()
    };
    Ok(entries(folder)?.into_iter().filter_map(number).collect())
}
