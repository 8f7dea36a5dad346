//! Reading files.

use std::path::Path;

use super::super::fence::Access;
use super::Files;
use crate::{FileContent, LineRange, Lines, TargetError};

const READ: &str = include_str!("../scripts/read.sh");
const READ_LINES: &str = include_str!("../scripts/read_lines.sh");
/// The most bytes of the line before the content.
const HEADER_BYTES: usize = 128;
/// The highest number that the tools on the host count to.
const MAX_COUNT: u64 = 2_000_000_000;

impl Files<'_> {
    pub(in super::super) async fn read(&self, path: &Path, limit: u64) -> Result<FileContent, TargetError> {
        let spot = self.spot(path, Access::Content).await?;
        let most = limit.saturating_add(1).min(i64::MAX as u64);
        let keep = usize::try_from(most).unwrap_or(usize::MAX).saturating_add(HEADER_BYTES);
        let exit = self.run(READ, &spot, &[&spot.path, &most.to_string()], b"", keep).await?;
        let (header, mut bytes) = split(&exit.stdout.head);
        let size: u64 = header.trim().parse().unwrap_or(0);
        let length = bytes.len() as u64;
        let truncated = length > limit;
        if truncated {
            bytes.pop();
        }
        Ok(FileContent { size: size.max(length.min(limit)), bytes, truncated })
    }

    pub(in super::super) async fn read_lines(
        &self,
        path: &Path,
        range: LineRange,
    ) -> Result<Lines, TargetError> {
        let spot = self.spot(path, Access::Content).await?;
        let count = |number: u64| number.min(MAX_COUNT).to_string();
        let (first, lines) = (count(range.first.max(1)), count(range.count));
        let most = (range.max_bytes as u64).saturating_add(1).to_string();
        let keep = range.max_bytes.saturating_add(HEADER_BYTES);
        let exit = self.run(READ_LINES, &spot, &[&spot.path, &first, &lines, &most], b"", keep).await?;
        let (header, mut bytes) = split(&exit.stdout.head);
        let words: Vec<&str> = header.split_whitespace().collect();
        let size: u64 = words.first().and_then(|word| word.parse().ok()).unwrap_or(0);
        if words.get(1) == Some(&"binary") {
            return Ok(Lines { size, is_binary: true, ..Lines::default() });
        }
        let truncated = bytes.len() > range.max_bytes;
        bytes.truncate(range.max_bytes);
        let ends = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let lines = ends + u64::from(bytes.last().is_some_and(|&byte| byte != b'\n'));
        let total = words.get(2).and_then(|word| word.parse().ok());
        Ok(Lines { size: size.max(bytes.len() as u64), bytes, lines, total, truncated, is_binary: false })
    }
}

/// The first line, and the rest.
pub(super) fn split(bytes: &[u8]) -> (String, Vec<u8>) {
    let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
    let (header, rest) = bytes.split_at(end);
    (String::from_utf8_lossy(header).into_owned(), rest.to_vec())
}
