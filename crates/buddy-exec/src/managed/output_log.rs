//! The output of a managed process on disk: `output.log` and, once that is full, the `output.log.1` before
//! it. `stdout.log` and `stderr.log` have the streams apart, in the same way.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Stream;
use crate::logs::create_private;

/// The size at which the file is rotated. Two of them are kept, so a process has at most twice this on disk.
pub const FILE_CAP_BYTES: u64 = 8 * 1024 * 1024;

/// The most bytes that are read from the end at once.
const MAX_TAIL_BYTES: u64 = 1024 * 1024;

/// The size at which the file of one stream is rotated.
pub(super) const STREAM_CAP_BYTES: u64 = 4 * 1024 * 1024;

/// The name of the file with both streams.
const BOTH: &str = "output.log";

/// The name of the file with one stream.
fn apart(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout.log",
        Stream::Stderr => "stderr.log",
    }
}

/// The path of the link to the log of a command that has one already.
pub(super) fn log_link(directory: &Path) -> PathBuf {
    directory.join(BOTH)
}

/// The file that is being written.
fn newest(directory: &Path, name: &str) -> PathBuf {
    directory.join(name)
}

fn older(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.1"))
}

/// A name that a file has only while files are rotated.
fn next(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.next"))
}

/// The writers of a process: both streams together, and each apart.
#[derive(Debug)]
pub(super) struct OutputLogs {
    both: OutputLog,
    stdout: OutputLog,
    stderr: OutputLog,
}

impl OutputLogs {
    pub(super) fn create(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            both: OutputLog::create(directory, BOTH, FILE_CAP_BYTES)?,
            stdout: OutputLog::create(directory, apart(Stream::Stdout), STREAM_CAP_BYTES)?,
            stderr: OutputLog::create(directory, apart(Stream::Stderr), STREAM_CAP_BYTES)?,
        })
    }

    /// Takes output of a stream.
    pub(super) fn write(&mut self, stream: Stream, bytes: &[u8]) {
        self.both.write(bytes);
        match stream {
            Stream::Stdout => self.stdout.write(bytes),
            Stream::Stderr => self.stderr.write(bytes),
        }
    }

    /// Writes a note of the keeper's own.
    pub(super) fn note(&mut self, text: &str) {
        self.both.write(text.as_bytes());
    }
}

/// The writer, in the keeper. A failed write loses output and never the process.
#[derive(Debug)]
struct OutputLog {
    directory: PathBuf,
    name: &'static str,
    file: Option<File>,
    size: u64,
    cap: u64,
}

impl OutputLog {
    fn create(directory: &Path, name: &'static str, cap: u64) -> io::Result<Self> {
        let file = create_private(&newest(directory, name))?;
        Ok(Self { directory: directory.to_owned(), name, file: Some(file), size: 0, cap })
    }

    fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.size >= self.cap && self.rotate().is_err() {
                return;
            }
            let room = usize::try_from(self.cap - self.size).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(bytes.len().min(room));
            let Some(file) = &mut self.file else { return };
            if file.write_all(now).is_err() {
                return;
            }
            self.size += now.len() as u64;
            bytes = later;
        }
    }

    /// Rotates the file. A reader finds both names at any moment: the full file has its second name before it
    /// loses the first.
    fn rotate(&mut self) -> io::Result<()> {
        let [newest, older, next] = [newest, older, next].map(|place| place(&self.directory, self.name));
        // A failed attempt may have left it.
        let _ = fs::remove_file(&next);
        if self.file.is_some() {
            fs::hard_link(&newest, &next).and_then(|()| fs::rename(&next, &older))?;
            self.file = None;
        }
        self.file = Some(create_private(&next)?);
        fs::rename(&next, &newest)?;
        self.size = 0;
        Ok(())
    }
}

/// The last lines, at most this many and at most a megabyte, and a reader that continues right behind them.
pub(super) fn tail(directory: &Path, lines: usize) -> io::Result<(Vec<u8>, Follow)> {
    tail_named(directory, BOTH, lines)
}

/// The last lines of one stream; `None` if the streams were not kept apart.
pub(super) fn tail_of(directory: &Path, stream: Stream, lines: usize) -> io::Result<Option<Vec<u8>>> {
    let name = apart(stream);
    if !newest(directory, name).exists() {
        return Ok(None);
    }
    Ok(Some(tail_named(directory, name, lines)?.0))
}

fn tail_named(directory: &Path, name: &'static str, lines: usize) -> io::Result<(Vec<u8>, Follow)> {
    let follow = |file| Follow { directory: directory.to_owned(), name, file };
    let mut file = match File::open(newest(directory, name)) {
        // The log of a command begins with its first output.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), follow(None))),
        file => file?,
    };
    let mut end = last_bytes(&mut file, MAX_TAIL_BYTES)?;
    let room = MAX_TAIL_BYTES.saturating_sub(end.len() as u64);
    if room > 0
        && count_lines(&end) <= lines
        && let Ok(mut older) = File::open(older(directory, name))
    {
        let mut before = last_bytes(&mut older, room)?;
        before.append(&mut end);
        end = before;
    }
    let keep_from = start_of_last(&end, lines);
    Ok((end.split_off(keep_from), follow(Some(file))))
}

fn count_lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// The offset of the last so many lines. An unfinished line counts as one.
fn start_of_last(bytes: &[u8], lines: usize) -> usize {
    if lines == 0 {
        return bytes.len();
    }
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    memchr::memrchr_iter(b'\n', body).nth(lines - 1).map_or(0, |at| at + 1)
}

/// The last bytes of a file, which is left at their end.
fn last_bytes(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let start = size.saturating_sub(most);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    Read::by_ref(file).take(size - start).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Continues where the last reading ended, also if the file was rotated since.
#[derive(Debug)]
pub struct Follow {
    directory: PathBuf,
    name: &'static str,
    file: Option<File>,
}

impl Follow {
    /// The output since the last reading; empty if there is none. At most a megabyte at once.
    pub fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(file) = &mut self.file {
            Read::by_ref(file).take(MAX_TAIL_BYTES).read_to_end(&mut bytes)?;
        }
        if bytes.is_empty() && self.is_put_aside() {
            self.file = File::open(newest(&self.directory, self.name)).ok();
            if let Some(file) = &mut self.file {
                Read::by_ref(file).take(MAX_TAIL_BYTES).read_to_end(&mut bytes)?;
            }
        }
        Ok(bytes)
    }

    fn is_put_aside(&self) -> bool {
        let inode = |found: io::Result<fs::Metadata>| found.map(|found| found.ino()).ok();
        let open = self.file.as_ref().and_then(|file| inode(file.metadata()));
        let named = inode(fs::metadata(newest(&self.directory, self.name)));
        named.is_some() && open != named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_output_is_kept_within_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = OutputLog::create(folder.path(), BOTH, 100).unwrap();
        let (_, mut follow) = tail(folder.path(), 0).unwrap();
        let mut followed = Vec::new();
        for number in 0..200 {
            log.write(format!("{number}\n").as_bytes());
            // A reading ends where a file was rotated.
            followed.extend(follow.read().unwrap());
            followed.extend(follow.read().unwrap());
        }
        let sizes = [newest(folder.path(), BOTH), older(folder.path(), BOTH)]
            .map(|path| fs::metadata(path).unwrap().len());
        assert!(sizes.iter().all(|size| *size <= 100), "{sizes:?}");
        assert_eq!(tail(folder.path(), 3).unwrap().0, b"197\n198\n199\n");
        assert_eq!(tail(folder.path(), 0).unwrap().0, b"");
        let all = tail(folder.path(), 1000).unwrap().0;
        assert!((100..=200).contains(&all.len()) && all.ends_with(b"198\n199\n"));
        let expected: Vec<u8> = (0..200).flat_map(|number| format!("{number}\n").into_bytes()).collect();
        assert_eq!(followed, expected);
    }

    #[test]
    fn an_unfinished_line_is_a_line() {
        for (text, lines, expected) in
            [("a\nb", 1, "b"), ("a\nb\n", 1, "b\n"), ("a\nb", 2, "a\nb"), ("", 5, "")]
        {
            let start = start_of_last(text.as_bytes(), lines);
            assert_eq!(text.get(start..), Some(expected), "{text:?} {lines}");
        }
    }
}
