//! Reads objects in packs: files of many objects, most of them as differences to others, and each with a table of places.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::object_files::{MAX_OBJECT, ObjectKind, inflate, open_object_file};

/// The most packs in one directory.
const MAX_PACKS: usize = 5_000;
/// The longest chain of differences, and the most bytes of one. git makes chains of 50, and at most of 4,095.
const MAX_CHAIN: usize = 4_095;
const MAX_HELD: usize = 64 * 1024 * 1024;

/// The first bytes of the table of a pack, with its version.
const PACK_TABLE: &[u8] = b"\xfftOc\0\0\0\x02";
/// Where the names in it begin: behind 256 counts of four bytes.
const NAMES_AT: u64 = 8 + 256 * 4;
/// A place of four bytes with this bit is the number of one of eight bytes.
const LARGE: u32 = 0x8000_0000;

/// The numbers of differences: to an object at another place of the pack, and to one with a name.
const PLACED_DELTA: u8 = 6;
const NAMED_DELTA: u8 = 7;

/// A pack. Its files are open only while an object is read, since there can be many.
#[derive(Debug)]
pub(super) struct ObjectPack {
    table: PathBuf,
    name_length: usize,
}

/// The packs in a directory.
pub(super) fn packs_in(directory: &Path, name_length: usize) -> Vec<ObjectPack> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let tables = entries.filter(|path| path.extension().is_some_and(|extension| extension == "idx"));
    tables.take(MAX_PACKS).map(|table| ObjectPack { table, name_length }).collect()
}

impl ObjectPack {
    /// The content of an object: that of the last object of a chain, with all differences applied.
    pub(super) fn read(&self, kind: ObjectKind, name: &[u8]) -> Option<Vec<u8>> {
        let table = PackTable { file: open_object_file(&self.table).ok()?, name_length: self.name_length };
        let mut at = table.place_of(name).ok()??;
        let file = open_object_file(&self.table.with_extension("pack")).ok()?;
        let (mut deltas, mut held) = (Vec::new(), 0);
        let mut content = loop {
            let entry = entry_at(&file, at, self.name_length).ok()?;
            match entry.base {
                None if entry.number == kind.number() => break entry.content,
                None => return None,
                Some(DeltaBase::Before(distance)) => at = at.checked_sub(distance)?,
                Some(DeltaBase::Named(name)) => at = table.place_of(&name).ok()??,
            }
            held += entry.content.len();
            deltas.push(entry.content);
            if deltas.len() > MAX_CHAIN || held > MAX_HELD {
                return None;
            }
        };
        while let Some(delta) = deltas.pop() {
            content = apply_delta(&content, &delta)?;
        }
        Some(content)
    }
}

/// The table of a pack: names in their order, and places.
struct PackTable {
    file: File,
    name_length: usize,
}

impl PackTable {
    /// The place of an object.
    fn place_of(&self, name: &[u8]) -> io::Result<Option<u64>> {
        let first = u64::from(*name.first().ok_or(io::ErrorKind::InvalidInput)?);
        let mut head = [0; PACK_TABLE.len()];
        self.file.read_exact_at(&mut head, 0)?;
        if head != PACK_TABLE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let count = |at: u64| self.number(8 + at * 4).map(u64::from);
        let (mut low, mut high) = (if first == 0 { 0 } else { count(first - 1)? }, count(first)?);
        let all = count(255)?;
        let length = u64::try_from(self.name_length).unwrap_or_default();
        let mut found = vec![0; self.name_length];
        while low < high {
            let middle = low.midpoint(high);
            self.file.read_exact_at(&mut found, NAMES_AT + middle * length)?;
            match found.as_slice().cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                // Names, and checksums of four bytes, come before the places.
                std::cmp::Ordering::Equal => {
                    return self.place(NAMES_AT + all * (length + 4), middle, all).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn place(&self, places: u64, number: u64, all: u64) -> io::Result<u64> {
        let place = self.number(places + number * 4)?;
        if place & LARGE == 0 {
            return Ok(u64::from(place));
        }
        let mut large = [0; 8];
        self.file.read_exact_at(&mut large, places + all * 4 + u64::from(place & !LARGE) * 8)?;
        Ok(u64::from_be_bytes(large))
    }

    fn number(&self, at: u64) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(u32::from_be_bytes(bytes))
    }
}

/// An object of a pack.
struct PackEntry {
    number: u8,
    base: Option<DeltaBase>,
    content: Vec<u8>,
}

/// The object that a difference is about.
enum DeltaBase {
    Before(u64),
    Named(Vec<u8>),
}

fn entry_at(file: &File, at: u64, name_length: usize) -> io::Result<PackEntry> {
    let mut reader = BufReader::new(FileTail { file, at });
    let first = byte(&mut reader)?;
    let (number, mut size, mut shift) = ((first >> 4) & 7, u64::from(first & 15), 4);
    let mut is_longer = first & 128 != 0;
    while is_longer {
        let next = byte(&mut reader)?;
        size |= u64::from(next & 127).checked_shl(shift).ok_or(io::ErrorKind::InvalidData)?;
        shift += 7;
        is_longer = next & 128 != 0;
    }
    if size > MAX_OBJECT {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let base = match number {
        PLACED_DELTA => Some(DeltaBase::Before(distance(&mut reader)?)),
        NAMED_DELTA => {
            let mut name = vec![0; name_length];
            reader.read_exact(&mut name)?;
            Some(DeltaBase::Named(name))
        }
        _ => None,
    };
    Ok(PackEntry { number, base, content: inflate(reader, size)? })
}

/// How far before a difference its base is: each byte but the last adds one.
fn distance(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut next = byte(reader)?;
    let mut distance = u64::from(next & 127);
    while next & 128 != 0 {
        next = byte(reader)?;
        let further = distance.checked_add(1).and_then(|distance| distance.checked_mul(128));
        distance = further.ok_or(io::ErrorKind::InvalidData)? | u64::from(next & 127);
    }
    Ok(distance)
}

/// A file from a place on.
struct FileTail<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FileTail<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.at)?;
        self.at = self.at.saturating_add(u64::try_from(length).unwrap_or_default());
        Ok(length)
    }
}

fn byte(reader: &mut impl Read) -> io::Result<u8> {
    let mut byte = [0];
    reader.read_exact(&mut byte)?;
    Ok(byte[0])
}

/// Applies a difference: parts of the base, and new bytes, one after the other.
fn apply_delta(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    let (from, to) = (size(&mut rest)?, size(&mut rest)?);
    if from != base.len() || u64::try_from(to).ok()? > MAX_OBJECT {
        return None;
    }
    let mut made = Vec::with_capacity(to);
    while let Some((order, after)) = rest.split_first() {
        rest = after;
        if order & 128 == 0 {
            let (new, after) = rest.split_at_checked(usize::from(*order)).filter(|_| *order != 0)?;
            made.extend_from_slice(new);
            rest = after;
        } else {
            let (at, length) = (number(&mut rest, *order, 0..4)?, number(&mut rest, *order, 4..7)?);
            let length = if length == 0 { 0x1_0000 } else { length };
            made.extend_from_slice(base.get(at..at.checked_add(length)?)?);
        }
        if made.len() > to {
            return None;
        }
    }
    (made.len() == to).then_some(made)
}

/// A number of which only those bytes are there that have a bit in the order.
fn number(rest: &mut &[u8], order: u8, bits: std::ops::Range<u32>) -> Option<usize> {
    let mut number = 0;
    for (place, _) in bits.enumerate().filter(|(_, bit)| order & (1 << bit) != 0) {
        let (byte, after) = rest.split_first()?;
        number |= usize::from(*byte) << (place * 8);
        *rest = after;
    }
    Some(number)
}

/// A size at the beginning of a difference: seven bits of each byte, the lowest first.
fn size(rest: &mut &[u8]) -> Option<usize> {
    let (mut size, mut shift) = (0_usize, 0);
    loop {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        size |= usize::from(byte & 127).checked_shl(shift)?;
        shift += 7;
        if byte & 128 == 0 {
            return Some(size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_stays_within_its_base() {
        let base = b"0123456789";
        assert_eq!(apply_delta(base, &[10, 5, 0x91, 2, 3, 2, b'x', b'y']), Some(b"234xy".to_vec()));
        for delta in [
            &[10, 5, 0x91, 8, 3][..],
            &[9, 3, 0x91, 2, 3],
            &[10, 5, 0x91, 2, 3],
            &[10, 2, 0x91, 2, 3],
            &[10, 5, 0],
            &[10, 5, 9, 1],
            &[0x80],
            &[],
        ] {
            assert_eq!(apply_delta(base, delta), None, "{delta:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_pack_are_none() {
        let folder = tempfile::tempdir().unwrap();
        for (table, pack) in [(&b""[..], &b""[..]), (PACK_TABLE, b"PACK"), (&[255; 4096], &[255; 4096])] {
            fs::write(folder.path().join("a.idx"), table).unwrap();
            fs::write(folder.path().join("a.pack"), pack).unwrap();
            let packs = packs_in(folder.path(), 20);
            assert_eq!(packs.len(), 1);
            assert_eq!(packs[0].read(ObjectKind::Tree, &[0; 20]), None);
        }
        // A place that its own bytes lead on from without an end.
        fs::write(folder.path().join("a.pack"), [0xff; 64]).unwrap();
        let file = File::open(folder.path().join("a.pack")).unwrap();
        assert!(entry_at(&file, 0, 20).is_err() && entry_at(&file, u64::MAX, 20).is_err());
    }
}
