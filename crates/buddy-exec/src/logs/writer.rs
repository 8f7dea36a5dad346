//! Writes one log file that never exceeds its cap and always ends with the real end of the output.
//!
//! The first part of the cap is written as it comes. From then on the last bytes are held in memory, and at
//! the end they follow a line that gives the number of bytes left out. A failed write ends the writing, never
//! the command.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::captured::gap_line;
use crate::tail::{Tail, head_cut, tail_cut};
use crate::{LogFile, LogInfo};

/// The part of the cap that is held back for the end of the output: enough for any final summary or stack trace,
/// little enough to be held in memory for every running command.
const TAIL_BYTES: u64 = 1024 * 1024;

/// The writer of one log file.
#[derive(Debug)]
pub(crate) struct LogWriter {
    info: LogInfo,
    file: LogState,
    cap: u64,
    total: u64,
    /// `Some` once the first part is full.
    tail: Option<Tail>,
}

#[derive(Debug)]
enum LogState {
    Planned,
    Open(File),
    Failed,
}

impl LogWriter {
    /// A writer for this file. The file is created by the first output or at the end, so that a command which
    /// never starts leaves none behind. A file that cannot be created is noted in the [`LogInfo`].
    pub(crate) fn new(log: LogFile) -> Self {
        let info = LogInfo { path: log.path, bytes_written: 0, bytes_dropped: 0, error: None };
        Self { info, file: LogState::Planned, cap: log.cap_bytes, total: 0, tail: None }
    }

    /// Takes output of either stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.open();
        if matches!(self.file, LogState::Failed) {
            return;
        }
        if let Some(tail) = &mut self.tail {
            tail.push(bytes);
            return;
        }
        let room = to_usize(self.first_part() - self.info.bytes_written);
        if bytes.len() <= room {
            self.write(bytes);
            return;
        }
        let (first, rest) = bytes.split_at(head_cut(bytes, room));
        self.write(first);
        let mut tail = Tail::new(to_usize(self.cap - self.info.bytes_written));
        tail.push(rest);
        self.tail = Some(tail);
    }

    /// Writes the end of the output and returns the state of the file.
    pub(crate) fn finish(mut self) -> LogInfo {
        self.open();
        let first_part = self.info.bytes_written;
        let mut kept = first_part;
        if let Some(tail) = self.tail.take() {
            let held = tail.into_vec();
            kept += held.len() as u64;
            if kept < self.total {
                let (gap, tail) = self.fit(first_part, &held);
                kept = first_part + tail.len() as u64;
                self.write(gap.as_bytes());
                self.write(tail);
            } else {
                self.write(&held);
            }
        }
        if matches!(self.file, LogState::Failed) {
            kept = kept.min(self.info.bytes_written);
        }
        LogInfo { bytes_dropped: self.total - kept, ..self.info }
    }

    /// The line about the gap and as much of the end as fits behind it.
    fn fit<'a>(&self, first_part: u64, held: &'a [u8]) -> (String, &'a [u8]) {
        let room = to_usize(self.cap - first_part);
        // The longest line that this output can need, so that the real one always fits.
        let longest = gap_line(self.total).len();
        if longest > room {
            return (String::new(), &[]);
        }
        let mut tail = &held[held.len().saturating_sub(room - longest)..];
        tail = &tail[tail_cut(tail)..];
        (gap_line(self.total - first_part - tail.len() as u64), tail)
    }

    fn first_part(&self) -> u64 {
        self.cap - TAIL_BYTES.min(self.cap / 2)
    }

    fn open(&mut self) {
        if matches!(self.file, LogState::Planned) {
            match create_private(&self.info.path) {
                Ok(file) => self.file = LogState::Open(file),
                Err(error) => self.fail(&error),
            }
        }
    }

    fn write(&mut self, mut bytes: &[u8]) {
        while let LogState::Open(file) = &mut self.file
            && !bytes.is_empty()
        {
            match file.write(bytes) {
                Ok(0) => self.fail(&io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.info.bytes_written += written as u64;
                    bytes = bytes.get(written..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.fail(&error),
            }
        }
    }

    fn fail(&mut self, error: &io::Error) {
        tracing::warn!(path = %self.info.path.display(), %error, "cannot write the log of a command");
        self.info.error = Some(error.to_string());
        self.file = LogState::Failed;
        self.tail = None;
    }
}

/// A new file that only its owner can read, regardless of the umask, in a directory of the same
/// kind.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent()
        && !dir.is_dir()
    {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        fs::set_permissions(dir, Permissions::from_mode(0o700))?;
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Only for sizes that are held in memory or compared with such sizes.
fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(cap_bytes: u64, pushes: &[&[u8]]) -> (Vec<u8>, LogInfo) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/exec-1.log");
        let mut writer = LogWriter::new(LogFile { path: path.clone(), cap_bytes });
        for push in pushes {
            writer.push(push);
        }
        let info = writer.finish();
        let content = fs::read(&path).unwrap();
        assert_eq!(info.bytes_written, content.len() as u64);
        assert_eq!(info.error, None);
        (content, info)
    }

    #[test]
    fn output_up_to_the_cap_is_whole() {
        for length in [0, 99, 100, 101, 199, 200] {
            let output = vec![b'x'; length];
            let (content, info) = log(200, &[&output[..length / 2], &output[length / 2..]]);
            assert_eq!((content, info.bytes_dropped), (output, 0), "{length}");
        }
    }

    #[test]
    fn longer_output_fills_the_cap_and_ends_with_the_end() {
        let output: Vec<u8> = (0..5000_u32).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        for step in [1, 7, 64, 4096, output.len()] {
            let pushes: Vec<&[u8]> = output.chunks(step).collect();
            let (content, info) = log(200, &pushes);
            let text = String::from_utf8(content).unwrap();
            assert_eq!(text.len(), 200, "{text}");
            assert!(text.starts_with("0\n1\n2\n"), "{text}");
            assert!(text.ends_with("4998\n4999\n"), "{text}");
            assert!(text.contains(&format!("\n… {} bytes left out …\n", info.bytes_dropped)), "{text}");
        }
    }

    #[test]
    fn no_character_is_split() {
        let output = "€".repeat(500);
        let (content, _) = log(200, &[output.as_bytes()]);
        let text = String::from_utf8(content).unwrap();
        assert!(text.len() <= 200 && text.ends_with("€€"), "{text}");
    }

    #[test]
    fn a_cap_too_small_for_the_line_about_the_gap_still_holds() {
        for cap in [0, 1, 10, 50] {
            let (content, info) = log(cap, &[&[b'x'; 500]]);
            assert!(content.len() as u64 <= cap);
            assert_eq!(info.bytes_dropped + info.bytes_written, 500, "{cap}");
        }
    }

    #[test]
    fn a_full_disk_is_noted_and_the_output_goes_on() {
        let mut writer = LogWriter::new(LogFile { path: "/dev/full".into(), cap_bytes: 100 });
        writer.file = LogState::Open(OpenOptions::new().write(true).open("/dev/full").unwrap());
        writer.push(b"lost");
        writer.push(&[b'x'; 500]);
        let info = writer.finish();
        assert!(info.error.is_some());
        assert_eq!((info.bytes_written, info.bytes_dropped), (0, 504));
    }

    #[test]
    fn an_existing_file_is_never_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("exec-1.log");
        fs::write(&path, "mine").unwrap();
        let mut writer = LogWriter::new(LogFile { path: path.clone(), cap_bytes: 100 });
        writer.push(b"yours");
        let info = writer.finish();
        assert!(info.error.is_some());
        assert_eq!((info.bytes_dropped, fs::read(&path).unwrap()), (5, b"mine".to_vec()));
    }
}
