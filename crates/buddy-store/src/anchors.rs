//! Anchors: the length and the last link of each log, kept outside the database.
//!
//! A chain alone does not show that its end was cut off, nor that all of it was forged. So the file `anchors`
//! has a slot for each log, at the log's number. The writer announces there where the log is about to end and
//! confirms it after the commit. A log ends at one of the two. Slots are not synced: after a power cut they
//! may be behind the database, never ahead of it. The next process that opens the store first brings them up
//! to date. Logs are numbered from 1, so the first slot belongs to none: it says when the file was made from a
//! database that had logs already.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use buddy_protocol::{SessionId, StoreError, UnixMillis};

use crate::chain::Hash;
use crate::directory::{StoreDirectory, open_private};
use crate::error::from_io;

/// The size of a slot. It divides a page, so that a slot is written in one piece.
const SLOT: usize = 128;

/// The number of attempts to read a slot whose checksum is wrong, because another process may be writing it.
const ATTEMPTS: usize = 5;

/// The length of the longest session id that fits in a slot.
const MAX_ID: usize = SLOT - 2 * END - 5;

/// The slot that belongs to no log.
const MADE_ANEW: i64 = 0;

/// The encoded size of a [`LogEnd`].
const END: usize = 8 + 32;

/// The end of a log: the number of its events and the link of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogEnd {
    pub(crate) count: u64,
    pub(crate) link: Hash,
}

/// The record of a log outside the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) session: String,
    /// The end after the last confirmed commit.
    pub(crate) settled: LogEnd,
    /// The announced end. It may have been committed: the writer died before it could confirm.
    pub(crate) intended: LogEnd,
}

/// The way in which a log differs from its anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drift {
    /// The last events are missing, from the first number to the second.
    Cut(u64, u64),
    /// The log has the right length but does not end with the event that buddy wrote.
    Rewritten(u64),
    /// buddy did not write the events from this number on.
    Foreign(u64),
    /// The anchor itself cannot be read.
    Unknown,
}

impl Drift {
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Cut(from, to) if from == to => format!("event {from}, the last one, is missing"),
            Self::Cut(from, to) => format!("the last events are missing, from {from} to {to}"),
            Self::Rewritten(last) => {
                format!("event {last}, the last one, is not the one that was written: the log was made anew")
            }
            Self::Foreign(from) => format!("event {from} and those after it were not written by buddy"),
            Self::Unknown => "its anchor cannot be read, so missing events would not be noticed".to_owned(),
        }
    }

    pub(crate) fn into_error(self, session: &SessionId) -> StoreError {
        StoreError::Corrupt(format!("session `{session}`: {}", self.describe()))
    }
}

/// The result of reading a slot: `None` if it was never written, an anchor, or unreadable bytes.
pub(crate) type AnchorReading = Result<Option<Anchor>, UnreadableAnchor>;

/// A slot that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnreadableAnchor;

/// The file of anchors.
#[derive(Debug)]
pub(crate) struct Anchors {
    path: PathBuf,
    /// `None` if the file does not exist and may not be created.
    file: Option<File>,
}

impl Anchors {
    /// Opens the file or creates it. Returns whether it was created.
    pub(crate) fn open(directory: &StoreDirectory) -> Result<(Self, bool), StoreError> {
        let path = directory.anchors();
        let is_new = !path.exists();
        let file = open_private(&path).map_err(|error| from_io("open", &path, &error))?;
        Ok((Self { path, file: Some(file) }, is_new))
    }

    /// Opens the file for reading, if it exists.
    pub(crate) fn existing(directory: &StoreDirectory) -> Self {
        let path = directory.anchors();
        let file = File::open(&path).ok();
        Self { path, file }
    }

    /// The anchor of a log.
    pub(crate) fn read(&self, log: i64) -> AnchorReading {
        let (Some(file), Ok(number)) = (&self.file, u64::try_from(log)) else { return Err(UnreadableAnchor) };
        for _ in 0..ATTEMPTS {
            let mut slot = [0; SLOT];
            match file.read_exact_at(&mut slot, number * SLOT as u64) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(_) => return Err(UnreadableAnchor),
            }
            if slot == [0; SLOT] {
                return Ok(None);
            }
            if let Some(anchor) = decode(&slot) {
                return Ok(Some(anchor));
            }
        }
        Err(UnreadableAnchor)
    }

    /// The number of slots.
    pub(crate) fn len(&self) -> i64 {
        let size = self.file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |found| found.len());
        i64::try_from(size.div_ceil(SLOT as u64)).unwrap_or(i64::MAX)
    }

    /// Whether there is a file to compare logs with.
    pub(crate) fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// When the file was made from a database that had logs already, if it was: nothing shows then that they were whole.
    pub(crate) fn made_anew(&self) -> Option<UnixMillis> {
        self.is_kept()
            .then(|| self.read(MADE_ANEW).ok().flatten())
            .flatten()
            .map(|mark| UnixMillis(mark.intended.count))
    }

    /// Notes that the file was made from a database that had logs already.
    pub(crate) fn note_made_anew(&self, now: UnixMillis) -> Result<(), StoreError> {
        let end = |count| LogEnd { count, link: [0; 32] };
        self.write(MADE_ANEW, &Anchor { session: String::new(), settled: end(0), intended: end(now.0) })
    }

    pub(crate) fn write(&self, log: i64, anchor: &Anchor) -> Result<(), StoreError> {
        let failed = |error: &io::Error| from_io("write", &self.path, error);
        let unfit = || failed(&io::Error::other("a session has no room in it"));
        let (Some(file), Ok(number)) = (&self.file, u64::try_from(log)) else { return Err(unfit()) };
        let slot = encode(anchor).ok_or_else(unfit)?;
        file.write_all_at(&slot, number * SLOT as u64).map_err(|error| failed(&error))
    }
}

/// Compares the end of a log with its anchor, read before and after that end. While another process writes,
/// the two readings differ, and only the end settled in the first one must be there.
pub(crate) fn hold(before: &AnchorReading, end: LogEnd, after: &AnchorReading) -> Result<(), Drift> {
    let (Ok(before), Ok(after)) = (before, after) else { return Err(Drift::Unknown) };
    let floor = before.as_ref().map_or(0, |anchor| anchor.settled.count);
    if end.count < floor {
        return Err(Drift::Cut(end.count + 1, floor));
    }
    if before != after {
        return Ok(());
    }
    match after {
        None if end.count == 0 => Ok(()),
        None => Err(Drift::Foreign(1)),
        Some(anchor) if end == anchor.settled || end == anchor.intended => Ok(()),
        Some(anchor) if end.count == anchor.settled.count => Err(Drift::Rewritten(end.count)),
        Some(anchor) => Err(Drift::Foreign(anchor.settled.count + 1)),
    }
}

fn encode(anchor: &Anchor) -> Option<[u8; SLOT]> {
    let id = anchor.session.as_bytes();
    let length = u8::try_from(id.len()).ok().filter(|length| usize::from(*length) <= MAX_ID)?;
    let mut bytes = Vec::with_capacity(SLOT);
    for end in [anchor.settled, anchor.intended] {
        bytes.extend_from_slice(&end.count.to_le_bytes());
        bytes.extend_from_slice(&end.link);
    }
    bytes.push(length);
    bytes.extend_from_slice(id);
    bytes.resize(SLOT - 4, 0);
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    bytes.try_into().ok()
}

fn decode(slot: &[u8; SLOT]) -> Option<Anchor> {
    let (body, crc) = slot.split_last_chunk::<4>()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*crc) {
        return None;
    }
    let (settled, rest) = end(body)?;
    let (intended, rest) = end(rest)?;
    let (length, rest) = rest.split_first()?;
    let session = str::from_utf8(rest.get(..usize::from(*length))?).ok()?.to_owned();
    Some(Anchor { session, settled, intended })
}

fn end(bytes: &[u8]) -> Option<(LogEnd, &[u8])> {
    let (count, rest) = bytes.split_first_chunk::<8>()?;
    let (link, rest) = rest.split_first_chunk::<32>()?;
    Some((LogEnd { count: u64::from_le_bytes(*count), link: *link }, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(count: u64, letter: u8) -> LogEnd {
        LogEnd { count, link: [letter; 32] }
    }

    fn anchor(settled: LogEnd, intended: LogEnd) -> Anchor {
        Anchor { session: "ses_1".to_owned(), settled, intended }
    }

    #[test]
    fn a_slot_reads_back_as_it_was_written() {
        let whole = anchor(at(7, 1), at(9, 2));
        let mut slot = encode(&whole).unwrap();
        assert_eq!(decode(&slot), Some(whole.clone()));
        slot[3] ^= 1;
        assert_eq!(decode(&slot), None);
        assert_eq!(encode(&Anchor { session: "x".repeat(MAX_ID + 1), ..whole }), None);
    }

    #[test]
    fn a_log_ends_at_its_settled_or_intended_end() {
        let quiet = Ok(Some(anchor(at(5, 1), at(7, 2))));
        let check = |end| hold(&quiet, end, &quiet);
        assert_eq!(check(at(5, 1)), Ok(()));
        assert_eq!(check(at(7, 2)), Ok(()));
        assert_eq!(check(at(4, 1)), Err(Drift::Cut(5, 5)));
        assert_eq!(check(at(5, 9)), Err(Drift::Rewritten(5)));
        assert_eq!(check(at(7, 9)), Err(Drift::Foreign(6)));
        assert_eq!(check(at(8, 2)), Err(Drift::Foreign(6)));
        assert_eq!(hold(&Ok(None), at(1, 1), &Ok(None)), Err(Drift::Foreign(1)));
        assert_eq!(hold(&Ok(None), at(0, 1), &Ok(None)), Ok(()));
        assert_eq!(hold(&Err(UnreadableAnchor), at(5, 1), &quiet), Err(Drift::Unknown));
    }

    #[test]
    fn a_log_that_is_being_written_must_keep_its_settled_events() {
        let [before, after] = [at(5, 1), at(9, 3)].map(|end| Ok(Some(anchor(end, end))));
        assert_eq!(hold(&before, at(7, 2), &after), Ok(()));
        assert_eq!(hold(&before, at(4, 2), &after), Err(Drift::Cut(5, 5)));
    }
}
