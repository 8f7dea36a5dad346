//! The index of a repository, as far as it steers git: the paths of its entries, and the objects that files at some of them get.
//!
//! git checks the paths of an index when it adds an entry, and not when it reads the file. An index that a program wrote by itself can
//! therefore lead the next `git restore` or `git commit -a` into the own directory of the repository or out of the work tree.

/// The lengths of names of objects: SHA-1 and SHA-256.
const OBJECT_LENGTHS: [usize; 2] = [20, 32];
/// Times, numbers, mode, owner and size, which come before the name of the object.
const FIXED: usize = 40;
/// A flag of an entry: two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;
/// The extension of an index that changes entries of another file without naming them.
const SPLIT: &[u8] = b"link";
/// The bits of the flags that hold the length of a path.
const LENGTH: u16 = 0x0fff;

/// An entry: a path below the top of the work tree, and the name of its object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexEntry {
    /// The path. It is empty for a change of an entry in another file.
    pub path: Vec<u8>,
    /// The name of the object, as bytes.
    pub object: Vec<u8>,
}

/// The index of a repository.
#[derive(Debug)]
pub struct GitIndex {
    /// The entries, in their order.
    pub entries: Vec<IndexEntry>,
    /// Whether further entries are in another file.
    is_split: bool,
}

impl GitIndex {
    /// Reads the bytes of an index whose names of objects have this length. None if they are not one.
    pub fn read(bytes: &[u8], object_length: usize) -> Option<Self> {
        IndexReader::new(bytes, object_length)?.read()
    }
}

/// The entries of an index; none if it is not one, if git would leave the work tree through one of them, or if further entries are in
/// another file.
pub(crate) fn sound_entries(bytes: &[u8]) -> Option<Vec<IndexEntry>> {
    // The length of names is a setting of the repository, so each one that fits the file must be sound.
    let read: Vec<GitIndex> =
        OBJECT_LENGTHS.into_iter().filter_map(|length| GitIndex::read(bytes, length)).collect();
    let is_sound =
        |index: &GitIndex| !index.is_split && index.entries.iter().all(|entry| is_sound_path(&entry.path));
    let is_sound = read.iter().all(is_sound);
    read.into_iter().next().filter(|_| is_sound).map(|index| index.entries)
}

struct IndexReader<'a> {
    rest: &'a [u8],
    version: u32,
    count: u32,
    object_length: usize,
}

impl<'a> IndexReader<'a> {
    fn new(bytes: &'a [u8], object_length: usize) -> Option<Self> {
        // The file ends with a hash of the rest, which git does not always check.
        let content = bytes.get(..bytes.len().checked_sub(object_length)?)?;
        let (head, rest) = content.split_at_checked(12)?;
        let (signature, numbers) = head.split_at_checked(4)?;
        let (version, count) = numbers.split_at_checked(4)?;
        let (version, count) = (number(version)?, number(count)?);
        let is_known = signature == b"DIRC" && (2..=4).contains(&version);
        is_known.then_some(Self { rest, version, count, object_length })
    }

    fn read(mut self) -> Option<GitIndex> {
        let mut entries: Vec<IndexEntry> = Vec::new();
        for _ in 0..self.count {
            let entry = self.entry(entries.last().map_or(&[], |last| last.path.as_slice()))?;
            entries.push(entry);
        }
        let is_split = self.extensions()?.contains(&SPLIT);
        Some(GitIndex { entries, is_split })
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn entry(&mut self, before: &[u8]) -> Option<IndexEntry> {
        let began = self.rest.len();
        self.take(FIXED)?;
        let object = self.take(self.object_length)?.to_vec();
        let flags = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        if flags & EXTENDED != 0 {
            self.take(2)?;
        }
        let path = if self.version == 4 {
            let dropped = self.varint()?;
            let kept = before.get(..before.len().checked_sub(dropped)?)?;
            let end = self.rest.iter().position(|byte| *byte == 0)?;
            let path = [kept, self.take(end)?].concat();
            self.take(1)?;
            path
        } else {
            let end = match usize::from(flags & LENGTH) {
                length if length < usize::from(LENGTH) => length,
                _ => self.rest.iter().position(|byte| *byte == 0)?,
            };
            let path = self.take(end)?.to_vec();
            // At least one zero, up to a multiple of eight bytes of the entry.
            let padding = 8 - (began - self.rest.len()) % 8;
            self.take(padding)?;
            path
        };
        Some(IndexEntry { path, object })
    }

    /// A number of several bytes, as version 4 and packs have it: each byte but the last adds one.
    fn varint(&mut self) -> Option<usize> {
        let mut value = 0_usize;
        loop {
            let byte = *self.take(1)?.first()?;
            value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
            if byte & 128 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?;
        }
    }

    /// The names of the extensions behind the entries.
    fn extensions(&mut self) -> Option<Vec<&'a [u8]>> {
        let mut names = Vec::new();
        while !self.rest.is_empty() {
            let (name, length) = self.take(8)?.split_at_checked(4)?;
            self.take(usize::try_from(number(length)?).ok()?)?;
            names.push(name);
        }
        Some(names)
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// Whether git would itself put an entry with this path into an index, on any file system.
fn is_sound_path(path: &[u8]) -> bool {
    // The entry of a directory of a sparse index ends with a slash.
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let is_sound = |name: &[u8]| {
        let text = String::from_utf8_lossy(name);
        // Letters that a file system may pass over, and what Windows passes over at the end.
        let seen: String =
            text.chars().filter(|letter| !is_passed_over(*letter)).collect::<String>().to_lowercase();
        let seen = seen.split([':', '\\']).next().unwrap_or_default().trim_end_matches([' ', '.']);
        !matches!(name, b"" | b"." | b"..") && !matches!(seen, ".git" | "git~1")
    };
    path.split(|byte| *byte == b'/').all(is_sound)
}

/// Letters that the file system of macOS ignores in a name.
fn is_passed_over(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of version 2 with these paths.
    fn index(paths: &[&str]) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02".to_vec();
        bytes.extend(u32::try_from(paths.len()).unwrap().to_be_bytes());
        for path in paths {
            let mut entry = vec![0; FIXED + 20];
            entry.extend(u16::try_from(path.len()).unwrap().to_be_bytes());
            entry.extend(path.as_bytes());
            entry.resize(entry.len() + 8 - entry.len() % 8, 0);
            bytes.extend(entry);
        }
        bytes.extend([0; 20]);
        bytes
    }

    #[test]
    fn paths_that_lead_away_are_found() {
        let found = sound_entries(&index(&["a.txt", "src/git.rs", ".gitignore", "x.git/y", "a..b/..c"]));
        assert_eq!(found.map(|entries| entries.len()), Some(5));
        for path in [
            ".git/hooks/post-checkout",
            "sub/.GIT/config",
            "../.ssh/id_rsa",
            "a/../../b",
            "a/./b",
            "/etc/x",
            "a//b",
            ".git",
            "git~1/config",
            ".git./config",
            ".git:x/config",
            ".g\u{200c}it/config",
            "",
        ] {
            assert_eq!(sound_entries(&index(&["a.txt", path])), None, "{path:?}");
        }
    }

    #[test]
    fn a_file_that_is_no_index_is_none() {
        for bytes in [&b""[..], b"DIRC", &index(&["a"])[..40], &[0; 100]] {
            assert_eq!(sound_entries(bytes), None);
        }
        let mut longer = index(&["a"]);
        longer.extend([1; 9]);
        assert_eq!(sound_entries(&longer), None);
    }

    #[expect(clippy::disallowed_methods, reason = "the test holds the reader against the real program")]
    #[test]
    fn an_index_of_git_is_read_in_each_version() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let run =
                std::process::Command::new("git").args(arguments).current_dir(&folder).output().unwrap();
            assert!(run.status.success(), "{arguments:?}: {run:?}");
        };
        for hash in ["sha1", "sha256"] {
            let _ = std::fs::remove_dir_all(folder.path().join(".git"));
            git(&["init", "-q", &format!("--object-format={hash}"), "."]);
            for name in ["a.txt", "deep/er/b.txt", "deep/er/c.txt", &"long/".repeat(60)] {
                let path = folder.path().join(name).join("x");
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, name).unwrap();
            }
            git(&["add", "."]);
            for version in ["2", "3", "4"] {
                git(&["update-index", "--index-version", version]);
                let bytes = std::fs::read(folder.path().join(".git/index")).unwrap();
                let entries = sound_entries(&bytes).unwrap_or_else(|| panic!("{hash} {version}"));
                let paths: Vec<String> =
                    entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect();
                assert_eq!(paths[..3], ["a.txt/x", "deep/er/b.txt/x", "deep/er/c.txt/x"], "{hash} {version}");
                assert_eq!(entries.len(), 4);
            }
        }
    }
}
