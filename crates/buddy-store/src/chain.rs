//! The chain: ties each record to all records before it, so that nobody can change, remove, insert or move
//! one unnoticed.
//!
//! A record's digest covers all its stored columns. Its link is the SHA-256 of the previous link and this
//! digest. The chain of a session starts from a link derived from the session's id, so that a log cannot pass
//! for another session's. The two steps let records be hashed outside the writer, and let a log be checked
//! from either end.

use buddy_protocol::SessionId;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};

/// A digest or a link.
pub(crate) type Hash = [u8; 32];

/// Separates these hashes from all others.
const DOMAIN: &[u8] = b"buddy log 1\0";

/// The link before the first event of a session.
pub(crate) fn origin(session: &SessionId) -> Hash {
    Sha256::new().chain_update(DOMAIN).chain_update(session.as_str()).finalize().into()
}

/// The link of a record with this digest that comes after the record with link `before`.
pub(crate) fn link(before: &Hash, digest: &Hash) -> Hash {
    Sha256::new().chain_update(before).chain_update(digest).finalize().into()
}

/// All stored columns of a record except its link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) version: i64,
    pub(crate) seq: u64,
    pub(crate) time: i64,
    pub(crate) crc: i64,
    pub(crate) kind: &'a [u8],
    pub(crate) data: &'a [u8],
    pub(crate) private: Option<&'a [u8]>,
    pub(crate) author: Option<&'a [u8]>,
}

impl Stored<'_> {
    /// The record's digest. It includes the lengths of texts, so that no two records have the same bytes.
    pub(crate) fn digest(&self) -> Hash {
        let mut hasher = Sha256::new();
        hasher.update(self.version.to_le_bytes());
        hasher.update(self.seq.to_le_bytes());
        hasher.update(self.time.to_le_bytes());
        hasher.update(self.crc.to_le_bytes());
        // A record of the first version has no author, and its digest no place for one.
        let author = (self.version != 1 || self.author.is_some()).then_some(self.author);
        for text in [Some(self.kind), Some(self.data), self.private].into_iter().chain(author) {
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            hasher.update(length.to_le_bytes());
            hasher.update(text.unwrap_or_default());
        }
        hasher.finalize().into()
    }
}

/// The digest of a row of [`crate::record::COLUMNS`], also of an invalid one.
pub(crate) fn digest_of(row: &Row<'_>, seq: u64) -> rusqlite::Result<Hash> {
    let optional = |index| {
        row.get_ref(index).map(|value| match value {
            ValueRef::Null => None,
            value => Some(bytes(value)),
        })
    };
    let (private, author) = (optional(5)?, optional(7)?);
    let (kind, data) = (bytes(row.get_ref(3)?), bytes(row.get_ref(4)?));
    let (version, time, crc) = (row.get(1)?, row.get(2)?, row.get(6)?);
    Ok(Stored { version, seq, time, crc, kind, data, private, author }.digest())
}

/// The link in a column; `None` if the column holds nothing that could be one.
pub(crate) fn link_of(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Hash>> {
    Ok(bytes(row.get_ref(column)?).try_into().ok())
}

fn bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_record_can_change_unseen() {
        let stored = Stored {
            version: 2,
            seq: 2,
            time: 3,
            crc: 4,
            kind: b"native",
            data: b"{}",
            private: Some(b"{}"),
            author: Some(b"{}"),
        };
        let changed = [
            Stored { version: 1, ..stored },
            Stored { version: 3, ..stored },
            Stored { author: None, ..stored },
            Stored { author: Some(b""), ..stored },
            Stored { private: None, author: None, ..stored },
            Stored { seq: 3, ..stored },
            Stored { time: 4, ..stored },
            Stored { crc: 5, ..stored },
            Stored { kind: b"native{", data: b"}", ..stored },
            Stored { data: b"{ }", ..stored },
            Stored { private: None, ..stored },
            Stored { private: Some(b""), ..stored },
            Stored { data: b"{}{}", private: None, ..stored },
        ];
        for other in changed {
            assert_ne!(other.digest(), stored.digest(), "{other:?}");
        }
    }
}
