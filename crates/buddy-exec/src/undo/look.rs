//! The state of a path on another host, as its script reports it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::state::State;
use buddy_protocol::PathText;

/// The reason why the state of a directory that was made on the way is not compared.
const MADE_ON_THE_WAY: &str = "it was made for what is in it";

/// A look at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// Its real path.
    pub(crate) path: PathBuf,
    /// The number of directories above it that are missing.
    pub(crate) missing: usize,
    pub(crate) seen: Seen,
}

/// The object at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Nothing; a new file would have this mode.
    Absent { new_mode: u32 },
    /// A file.
    File { mode: u32, content: Vec<u8> },
    /// A file that is too large to be kept.
    Large { size: u64 },
    /// A link.
    Link { target: PathBuf },
    /// A directory.
    Directory { mode: u32 },
    /// Anything else.
    Other,
}

impl Seen {
    /// The mode that a file there has, or would have.
    pub(crate) fn file_mode(&self) -> Option<u32> {
        match self {
            Self::Absent { new_mode: mode } | Self::File { mode, .. } => Some(*mode),
            _ => None,
        }
    }

    /// The state that undo compares.
    pub(crate) fn state(&self) -> State {
        let not_kept = |why: String| State::NotKept { why };
        match self {
            Self::Absent { .. } => State::Absent,
            Self::File { mode, content } => State::file(content, *mode),
            Self::Large { size } => {
                not_kept(format!("its {size} bytes are more than undo keeps of one file"))
            }
            Self::Link { target } => State::Link { target: PathText(target.clone()) },
            Self::Directory { mode } => State::Directory { mode: *mode },
            Self::Other => not_kept("it is neither a file nor a directory".to_owned()),
        }
    }
}

impl Look {
    /// Parses the output of the script; `None` when it is not understood.
    pub(crate) fn read(said: &[u8]) -> Option<Self> {
        let end = memchr::memchr(b'\n', said)?;
        let (header, rest) = said.split_at_checked(end)?;
        let rest = rest.get(1..)?;
        let header = std::str::from_utf8(header).ok()?;
        let words: Vec<&str> = header.split(' ').collect();
        let [kind, figure, missing, length] = words.as_slice() else { return None };
        let (path, content) = rest.split_at_checked(length.parse().ok()?)?;
        let mode = || u32::from_str_radix(figure, 8).ok();
        let seen = match *kind {
            "absent" => Seen::Absent { new_mode: mode()? },
            "file" => Seen::File { mode: mode()?, content: content.to_vec() },
            "large" => Seen::Large { size: figure.parse().ok()? },
            "link" => Seen::Link { target: PathBuf::from(OsString::from_vec(content.to_vec())) },
            "directory" => Seen::Directory { mode: mode()? },
            "other" => Seen::Other,
            _ => return None,
        };
        let path = PathBuf::from(OsString::from_vec(path.to_vec()));
        Some(Self { path, missing: missing.parse().ok()?, seen })
    }

    /// The directories that are made on the way to this path, outer before inner, each with its future state.
    pub(crate) fn ancestors_made(&self) -> Vec<Upcoming> {
        let missing: Vec<&Path> = self.path.ancestors().skip(1).take(self.missing).collect();
        missing.into_iter().rev().map(|path| Upcoming::made(path.to_owned())).collect()
    }
}

/// A path that is about to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upcoming {
    pub(crate) path: PathBuf,
    pub(crate) before: Seen,
    pub(crate) after: State,
}

impl Upcoming {
    /// A directory that is made. Its mode is the host's business, so it is not compared.
    pub(crate) fn made(path: PathBuf) -> Self {
        let after = State::NotKept { why: MADE_ON_THE_WAY.to_owned() };
        Self { path, before: Seen::Absent { new_mode: 0 }, after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_line_break_is_read_by_its_length() {
        let look = Look::read(b"file 644 0 7\n/w/a\nb!content\n").unwrap();
        assert_eq!(look.path, Path::new("/w/a\nb!"));
        assert_eq!(look.seen, Seen::File { mode: 0o644, content: b"content\n".to_vec() });
    }

    #[test]
    fn directories_made_on_the_way_are_named_from_the_outside_in() {
        let look = Look::read(b"absent 600 2 8\n/w/a/b/c").unwrap();
        let made: Vec<PathBuf> = look.ancestors_made().into_iter().map(|made| made.path).collect();
        assert_eq!(made, [PathBuf::from("/w/a"), PathBuf::from("/w/a/b")]);
        assert_eq!(look.seen.file_mode(), Some(0o600));
    }

    #[test]
    fn malformed_answers_are_refused() {
        for said in [&b""[..], b"file 644 0 9\n/w", b"song 644 0 2\n/w", b"file 9 0 2\n/w", b"file 644\n/w"] {
            assert_eq!(Look::read(said), None, "{}", String::from_utf8_lossy(said));
        }
    }
}
