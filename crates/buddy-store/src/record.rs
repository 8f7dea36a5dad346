//! The record: an event as a row of the log, with its version and its checksum.

use std::sync::Arc;

use buddy_protocol::{Event, Fact, SessionId, StoreError, UnixMillis, author_in_payload};
use crc32fast::Hasher;
use rusqlite::Row;
use serde_json::value::RawValue;

use crate::chain::{Hash, Stored, link};
use crate::error::from_sqlite;

/// The version of the record format that buddy writes: since 2, a record has the author of its event.
pub(crate) const VERSION: i64 = 2;

/// The first version. The author, if any, is in the payload.
const FIRST_VERSION: i64 = 1;

/// The maximum number of events in a log; the rest of a place's 63 bits is the log's number.
const EVENTS_A_LOG: i64 = 1 << 32;

/// The highest number of a log.
pub(crate) const MAX_LOG: i64 = (1 << 31) - 1;

/// The columns that [`decode`] reads, in order.
pub(crate) const COLUMNS: &str = "place, version, time, kind, data, private, crc, author";

/// The same columns in a database of a schema before authors.
pub(crate) const COLUMNS_BEFORE_AUTHORS: &str = "place, version, time, kind, data, private, crc, NULL";

/// The index of the link column when a query selects it after [`COLUMNS`].
pub(crate) const LINK: usize = 8;

/// An event ready to be written.
#[derive(Debug)]
pub(crate) struct EventRecord {
    pub(crate) event: Arc<Event>,
    pub(crate) seq: u64,
    pub(crate) time: i64,
    pub(crate) data: Box<RawValue>,
    pub(crate) private: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) crc: u32,
    /// The digest from which, with the previous link, its own link is computed.
    pub(crate) digest: Hash,
}

impl EventRecord {
    pub(crate) fn new(event: Arc<Event>) -> Result<Self, StoreError> {
        let Some(seq) = event.seq.filter(|_| event.fact.is_durable()) else {
            return Err(StoreError::Io(format!(
                "`{}` is a live event and cannot be stored",
                event.fact.kind()
            )));
        };
        if place(0, seq).is_none() {
            return Err(StoreError::Io(format!("a session cannot have an event {seq}")));
        }
        let time = i64::try_from(event.time.0)
            .map_err(|_| StoreError::Io(format!("{} is no time", event.time.0)))?;
        let json =
            |error: serde_json::Error| StoreError::Io(format!("cannot write an event as JSON: {error}"));
        let data = event.fact.data().map_err(json)?;
        let private = event.fact.item().and_then(|item| item.private.as_ref());
        let private = private.map(serde_json::to_string).transpose().map_err(json)?;
        let author = event.by.as_ref().map(serde_json::to_string).transpose().map_err(json)?;
        let texts = RecordTexts {
            kind: event.fact.kind(),
            data: data.get(),
            private: private.as_deref(),
            author: author.as_deref(),
        };
        let crc = checksum(VERSION, seq, time, texts);
        let digest = texts.stored(VERSION, seq, time, i64::from(crc)).digest();
        Ok(Self { event, seq, time, data, private, author, crc, digest })
    }

    /// Its approximate size.
    pub(crate) fn bytes(&self) -> usize {
        const OVERHEAD: usize = 64;
        let optional = self.private.iter().chain(&self.author);
        OVERHEAD + self.data.get().len() + optional.map(String::len).sum::<usize>()
    }
}

/// The place of an event of a log; `None` if the number is out of range.
pub(crate) fn place(log: i64, seq: u64) -> Option<i64> {
    let seq = i64::try_from(seq).ok().filter(|seq| *seq < EVENTS_A_LOG)?;
    Some(log * EVENTS_A_LOG + seq)
}

/// The bounds of the places of the events after `after`, both exclusive.
pub(crate) fn range(log: i64, after: u64) -> (i64, i64) {
    let end = log * EVENTS_A_LOG + EVENTS_A_LOG;
    (place(log, after).unwrap_or(end - 1), end)
}

/// The numbers of the log and of the event at a place.
pub(crate) fn at(place: i64) -> (i64, u64) {
    (place.div_euclid(EVENTS_A_LOG), place.rem_euclid(EVENTS_A_LOG).cast_unsigned())
}

/// A flaw of a row.
#[derive(Debug)]
pub(crate) enum Flaw {
    /// `SQLite` could not read it.
    Unreadable(rusqlite::Error),
    /// Its format is newer than this version supports.
    Newer(i64),
    /// Its checksum is wrong.
    Checksum,
    /// It does not follow the event before it.
    Chain,
    /// The event of this number is missing.
    Missing(u64),
    /// Its checksum is right, but its payload is invalid.
    Payload { kind: String, reason: String },
}

impl Flaw {
    pub(crate) fn into_error(self, session: &SessionId, seq: u64) -> StoreError {
        match self {
            Self::Unreadable(error) => from_sqlite(&error),
            Self::Newer(version) => StoreError::Corrupt(format!(
                "event {seq} of session `{session}` has the form {version}, which a newer buddy wrote"
            )),
            Self::Checksum => {
                StoreError::Corrupt(format!("event {seq} of session `{session}` does not match its checksum"))
            }
            Self::Missing(seq) => {
                StoreError::Corrupt(format!("event {seq} of session `{session}` is missing"))
            }
            Self::Chain => StoreError::Corrupt(format!(
                "event {seq} of session `{session}` does not follow on the one before it: one of the two was changed"
            )),
            Self::Payload { kind, reason } => {
                StoreError::Corrupt(format!("event {seq} of session `{session}` is not a `{kind}`: {reason}"))
            }
        }
    }
}

impl From<rusqlite::Error> for Flaw {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// A row of [`COLUMNS`] with a valid checksum.
pub(crate) struct Raw<'row> {
    pub(crate) seq: u64,
    version: i64,
    crc: i64,
    time: i64,
    texts: RecordTexts<'row>,
}

/// The texts of a record.
#[derive(Debug, Clone, Copy)]
struct RecordTexts<'a> {
    kind: &'a str,
    data: &'a str,
    private: Option<&'a str>,
    author: Option<&'a str>,
}

impl<'a> RecordTexts<'a> {
    fn stored(self, version: i64, seq: u64, time: i64, crc: i64) -> Stored<'a> {
        let (kind, data) = (self.kind.as_bytes(), self.data.as_bytes());
        let (private, author) = (self.private.map(str::as_bytes), self.author.map(str::as_bytes));
        Stored { version, seq, time, crc, kind, data, private, author }
    }
}

/// Reads a row and verifies its checksum.
pub(crate) fn raw<'row>(row: &'row Row<'_>) -> Result<Raw<'row>, Flaw> {
    let text = |index| row.get_ref(index).and_then(|value| value.as_str().map_err(rusqlite::Error::from));
    let (_, seq) = at(row.get(0)?);
    let version: i64 = row.get(1)?;
    let time: i64 = row.get(2)?;
    let optional =
        |index| row.get_ref(index).and_then(|value| value.as_str_or_null().map_err(rusqlite::Error::from));
    let texts = RecordTexts { kind: text(3)?, data: text(4)?, private: optional(5)?, author: optional(7)? };
    let crc: i64 = row.get(6)?;
    if !(FIRST_VERSION..=VERSION).contains(&version) {
        return Err(Flaw::Newer(version));
    }
    if crc != i64::from(checksum(version, seq, time, texts)) {
        return Err(Flaw::Checksum);
    }
    Ok(Raw { seq, version, crc, time, texts })
}

impl Raw<'_> {
    /// The digest from which, with the previous link, its own link is computed.
    pub(crate) fn digest(&self) -> Hash {
        self.texts.stored(self.version, self.seq, self.time, self.crc).digest()
    }

    /// Verifies the event against the previous link and its own stored link. Returns the link.
    pub(crate) fn follow(&self, before: &Hash, stored: Option<Hash>) -> Result<Hash, Flaw> {
        let expected = link(before, &self.digest());
        if stored == Some(expected) { Ok(expected) } else { Err(Flaw::Chain) }
    }

    /// The event.
    pub(crate) fn event(&self, session: &SessionId) -> Result<Event, Flaw> {
        let RecordTexts { kind, data, private, author } = self.texts;
        let bad =
            |error: serde_json::Error| Flaw::Payload { kind: kind.to_owned(), reason: error.to_string() };
        let mut fact = Fact::from_json(kind, data).map_err(bad)?;
        if let (Some(item), Some(private)) = (fact.item_mut(), private) {
            item.private = Some(serde_json::from_str(private).map_err(bad)?);
        }
        let by = match author {
            Some(author) => Some(serde_json::from_str(author).map_err(bad)?),
            None if self.version == FIRST_VERSION => author_in_payload(kind, data).map_err(bad)?,
            None => None,
        };
        let time = UnixMillis(self.time.cast_unsigned());
        Ok(Event { session: session.clone(), seq: Some(self.seq), time, by, fact })
    }

    pub(crate) fn size(&self) -> usize {
        self.texts.data.len() + self.texts.private.map_or(0, str::len)
    }

    /// Whether this event carries the final value of an item.
    pub(crate) fn ends_item(&self) -> bool {
        self.texts.kind == "item.ended"
    }

    /// The item that the event carries, found without parsing the rest: buddy writes an item's id first.
    pub(crate) fn item(&self) -> Option<&str> {
        if !self.texts.kind.starts_with("item.") {
            return None;
        }
        let (id, _) = self.texts.data.strip_prefix("{\"item\":{\"id\":\"")?.split_once('"')?;
        Some(id)
    }
}

/// An event from a row of [`COLUMNS`], and its size.
pub(crate) fn decode(session: &SessionId, row: &Row<'_>) -> Result<(Event, usize), Flaw> {
    let raw = raw(row)?;
    Ok((raw.event(session)?, raw.size()))
}

fn checksum(version: i64, seq: u64, time: i64, texts: RecordTexts<'_>) -> u32 {
    /// Separates texts; no UTF-8 text contains it.
    const BOUNDARY: &[u8] = &[0xff];
    /// Comes before the author, so that it cannot pass for private data.
    const AUTHOR: &[u8] = &[0xfe];
    let RecordTexts { kind, data, private, author } = texts;
    let mut hasher = Hasher::new();
    hasher.update(&version.to_le_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(&time.to_le_bytes());
    hasher.update(kind.as_bytes());
    hasher.update(BOUNDARY);
    hasher.update(data.as_bytes());
    if let Some(private) = private {
        hasher.update(BOUNDARY);
        hasher.update(private.as_bytes());
    }
    // A record of the first version has no author; one that was put there breaks the checksum.
    if let Some(author) = author {
        hasher.update(AUTHOR);
        hasher.update(author.as_bytes());
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_tells_its_log_and_its_number() {
        for (log, seq) in [(0, 1), (7, 1), (MAX_LOG, u64::from(u32::MAX))] {
            assert_eq!(place(log, seq).map(at), Some((log, seq)));
        }
        assert_eq!(place(1, 1 << 32), None);
    }

    #[test]
    fn nothing_of_a_record_can_change_unseen() {
        let texts = RecordTexts { kind: "native", data: "{}", private: Some("{}"), author: Some("{}") };
        let whole = checksum(1, 2, 3, texts);
        let changed = [
            checksum(2, 2, 3, texts),
            checksum(1, 3, 3, texts),
            checksum(1, 2, 4, texts),
            checksum(1, 2, 3, RecordTexts { kind: "notice", ..texts }),
            checksum(1, 2, 3, RecordTexts { data: "{ }", ..texts }),
            checksum(1, 2, 3, RecordTexts { data: "{}{}", private: None, ..texts }),
            checksum(1, 2, 3, RecordTexts { private: None, ..texts }),
            checksum(1, 2, 3, RecordTexts { author: None, ..texts }),
            checksum(1, 2, 3, RecordTexts { private: Some("{}{}"), author: None, ..texts }),
            checksum(1, 2, 3, RecordTexts { author: Some("{ }"), ..texts }),
        ];
        assert!(!changed.contains(&whole));
    }
}
