//! Reading a regular file: its beginning, or a range of its lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::view::View;
use crate::TargetError;

/// A file up to this size has its lines counted to the end. A larger one is read as far as needed.
const COUNTED: u64 = 16 * 1024 * 1024;
/// Bytes per read.
const BUFFER: usize = 64 * 1024;
/// A NUL among so many bytes at the start makes a file binary.
const BINARY_PROBE: usize = 8 * 1024;

/// The beginning of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub size: u64,
    /// Whether there is more than `bytes`.
    pub truncated: bool,
}

/// The lines of a file to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line, counted from 1.
    pub first: u64,
    /// The number of lines.
    pub count: u64,
    /// The most bytes.
    pub max_bytes: usize,
}

/// Some lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The lines, with their line ends.
    pub bytes: Vec<u8>,
    /// The number of lines in `bytes`, the last perhaps only in part.
    pub lines: u64,
    /// The number of lines of the file; `None` for large files, whose lines are not counted to the
    /// end.
    pub total: Option<u64>,
    /// The size of the whole file.
    pub size: u64,
    /// Whether `max_bytes` cut anything off.
    pub truncated: bool,
    /// Whether the file is binary, in which case nothing else was read.
    pub is_binary: bool,
}

/// Reads the first `limit` bytes.
pub(crate) fn read(view: &View, path: &Path, limit: u64) -> Result<FileContent, TargetError> {
    let (file, opened) = view.open_file(path)?;
    let content = read_content(file, limit).map_err(|error| TargetError::from_io("read", path, error))?;
    let size = u64::try_from(opened.stat.st_size).unwrap_or(0).max(content.bytes.len() as u64);
    Ok(FileContent { size, ..content })
}

/// The first `limit` bytes of an open file.
pub(super) fn read_content(file: File, limit: u64) -> std::io::Result<FileContent> {
    let mut bytes = Vec::new();
    // One byte more, as the size of some files (in `/proc`) is not known before they are read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    let truncated = size > limit;
    if truncated {
        bytes.pop();
    }
    Ok(FileContent { bytes, size, truncated })
}

/// Reads some lines, holding no more of the file in memory than requested.
pub(crate) fn read_lines(view: &View, path: &Path, range: LineRange) -> Result<Lines, TargetError> {
    let (file, opened) = view.open_file(path)?;
    let size = u64::try_from(opened.stat.st_size).unwrap_or(0);
    let found = scan(&mut BufReader::with_capacity(BUFFER, file), range, size <= COUNTED);
    let found = found.map_err(|error| TargetError::from_io("read", path, error))?;
    Ok(Lines { size: size.max(found.bytes.len() as u64), ..found })
}

/// Some lines of an open file.
pub(crate) fn lines_of(file: File, range: LineRange) -> std::io::Result<Lines> {
    let size = file.metadata()?.len();
    let found = scan(&mut BufReader::with_capacity(BUFFER, file), range, size <= COUNTED)?;
    Ok(Lines { size: size.max(found.bytes.len() as u64), ..found })
}

fn scan(reader: &mut impl BufRead, range: LineRange, is_counted: bool) -> std::io::Result<Lines> {
    let mut lines = Lines::default();
    if reader.fill_buf()?.iter().take(BINARY_PROBE).any(|&byte| byte == 0) {
        return Ok(Lines { is_binary: true, ..lines });
    }
    let last = range.first.saturating_add(range.count);
    let mut line = 1_u64;
    let mut is_at_start = true;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            lines.total = Some(if is_at_start { line - 1 } else { line });
            return Ok(lines);
        }
        if line >= last && !is_counted {
            return Ok(lines);
        }
        let end = memchr::memchr(b'\n', buffer).map_or(buffer.len(), |at| at + 1);
        let (piece, _) = buffer.split_at(end);
        if line >= range.first && line < last {
            let room = range.max_bytes - lines.bytes.len();
            lines.truncated |= piece.len() > room;
            let (kept, _) = piece.split_at(piece.len().min(room));
            lines.lines += u64::from(is_at_start && !kept.is_empty());
            lines.bytes.extend_from_slice(kept);
        }
        let is_whole = piece.ends_with(b"\n");
        line += u64::from(is_whole);
        is_at_start = is_whole;
        reader.consume(end);
        if lines.truncated && !is_counted {
            return Ok(lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, first: u64, count: u64, max_bytes: usize) -> (String, u64, Option<u64>, bool) {
        let range = LineRange { first, count, max_bytes };
        let mut reader = BufReader::with_capacity(3, text.as_bytes());
        let lines = scan(&mut reader, range, true).unwrap();
        (String::from_utf8(lines.bytes).unwrap(), lines.lines, lines.total, lines.truncated)
    }

    #[test]
    fn gives_the_lines_that_were_asked_for() {
        let text = "one\r\ntwo\nthree is longer\nfour";
        assert_eq!(check(text, 1, u64::MAX, 100), (text.to_owned(), 4, Some(4), false));
        assert_eq!(check(text, 2, 2, 100), ("two\nthree is longer\n".to_owned(), 2, Some(4), false));
        assert_eq!(check(text, 4, 9, 100), ("four".to_owned(), 1, Some(4), false));
        assert_eq!(check(text, 9, 9, 100), (String::new(), 0, Some(4), false));
        assert_eq!(check("", 1, 9, 100), (String::new(), 0, Some(0), false));
        assert_eq!(check("a\n", 1, 9, 100), ("a\n".to_owned(), 1, Some(1), false));
    }

    #[test]
    fn stops_at_the_most_bytes_and_says_so() {
        assert_eq!(check("one\ntwo\nthree\n", 1, 9, 6), ("one\ntw".to_owned(), 2, Some(3), true));
        assert_eq!(check("one\ntwo\nthree\n", 1, 2, 8), ("one\ntwo\n".to_owned(), 2, Some(3), false));
    }

    #[test]
    fn does_not_read_a_large_file_to_its_end() {
        let range = LineRange { first: 1, count: 1, max_bytes: 100 };
        let mut reader = BufReader::with_capacity(4, "one\ntwo\n".as_bytes());
        let lines = scan(&mut reader, range, false).unwrap();
        assert_eq!((lines.bytes, lines.total), (b"one\n".to_vec(), None));
    }
}
