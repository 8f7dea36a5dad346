//! The panes that buddy made: a record on this machine, which counts more than the options of a pane, as any
//! program at its server can set those.
//!
//! A session is buddy's if its server is the one that the record names, by process and start, and its id is
//! that of the record. A pane is buddy's if its id is in the record too. A server never gives an id twice.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{FileMode, FileSync, TargetError, replace_file};

/// The longest record that is read: far more than all panes of a session need.
const MAX_BYTES: u64 = 64 * 1024;
/// The argument to a script for a pane that is not recorded.
pub(super) const NONE: &str = "none";

/// The panes of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// The process and the start of the server, with a dot between.
    pub(super) server: String,
    /// The session as the server numbers it, such as `$0`.
    pub(super) session: String,
    /// Ids by the names of panes.
    pub(super) panes: BTreeMap<String, String>,
}

impl Record {
    /// The server and the session, in the form that tmux is asked for. For an empty record it is one that
    /// tmux never gives.
    pub(super) fn identity(&self) -> String {
        format!("{}.{}", self.server, self.session)
    }

    /// The id of a pane, in a form that is never empty.
    pub(super) fn id(&self, pane: &str) -> &str {
        self.panes.get(pane).map_or(NONE, String::as_str)
    }

    fn read(text: &str) -> Self {
        let mut lines = text.lines();
        let (server, session) = lines.next().and_then(|line| line.split_once(' ')).unwrap_or_default();
        let (server, session) = (server.to_owned(), session.to_owned());
        let pane = |line: &str| line.split_once(' ').map(|(name, id)| (name.to_owned(), id.to_owned()));
        Self { server, session, panes: lines.filter_map(pane).collect() }
    }

    fn text(&self) -> String {
        let panes = self.panes.iter().map(|(name, id)| format!("{name} {id}\n"));
        std::iter::once(format!("{} {}\n", self.server, self.session)).chain(panes).collect()
    }
}

/// The record of a session; an empty one if there is none.
pub(super) fn load(directory: &Path, session: &str) -> Result<Record, TargetError> {
    let path = path(directory, session);
    let read = || {
        if fs::metadata(&path)?.len() > MAX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        fs::read_to_string(&path)
    };
    match read() {
        Ok(text) => Ok(Record::read(&text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Record::default()),
        Err(error) => Err(TargetError::from_io("read", &path, error)),
    }
}

/// Keeps the record of a session, in one step. The caller has the session's lock.
pub(super) fn keep(directory: &Path, session: &str, record: &Record) -> Result<(), TargetError> {
    let path = path(directory, session);
    let text = record.text();
    let written = replace_file(&path, text.as_bytes(), FileMode::PRIVATE, FileSync::Later);
    written.map_err(|error| TargetError::from_io("write", &path, error))
}

fn path(directory: &Path, session: &str) -> PathBuf {
    directory.join(format!("{session}.panes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_kept() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(load(directory.path(), "a").unwrap(), Record::default());
        let panes = [("shared", "%0"), ("build", "%4")].map(|(name, id)| (name.to_owned(), id.to_owned()));
        let (server, session) = ("12.1700000000".to_owned(), "$3".to_owned());
        let record = Record { server, session, panes: panes.into() };
        keep(directory.path(), "a", &record).unwrap();
        let read = load(directory.path(), "a").unwrap();
        assert_eq!(read, record);
        assert_eq!((read.id("build"), read.id("other")), ("%4", NONE));
        assert_eq!(read.identity(), "12.1700000000.$3");
    }
}
