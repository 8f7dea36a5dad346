//! The index of a repository, as far as it steers git: the paths of its entries, the objects that files at some of them get, and what its
//! extensions claim about the entries.
//!
//! git checks the paths of an index when it adds an entry, and not when it reads the file. An index that a program wrote by itself can
//! therefore lead the next `git restore` or `git commit -a` into the own directory of the repository or out of the work tree.

use std::collections::BTreeSet;

use super::index_content::{EntryFacts, GitIndex, IndexEntry, IndexExtension, read_number};
use super::index_extensions::{are_true, resolved_entries, sealed_index};

/// The lengths of names of objects: SHA-1 and SHA-256.
const OBJECT_LENGTHS: [usize; 2] = [20, 32];
/// Times, numbers, mode, owner and size, which come before the name of the object.
const FIXED: usize = 40;
/// A flag of an entry: two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;
/// The extension of an index that changes entries of another file without naming them.
const SPLIT: &[u8] = b"link";
/// A flag in the further flags of an entry: only the path was added, without contents.
const INTENDED: u16 = 0x2000;
/// The bits of the flags that say which side of a conflict an entry is.
const STAGE: u16 = 0x3000;
/// The bits of the flags that hold the length of a path.
const LENGTH: u16 = 0x0fff;

/// An index that leads git nowhere by its paths.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SoundIndex {
    pub(super) index: GitIndex,
    /// The earlier sides of conflicts, which git can bring back.
    pub(super) resolved: Vec<IndexEntry>,
    /// The file without its extensions, if one of them claims something else than the entries say.
    pub(crate) corrected: Option<Vec<u8>>,
}

impl SoundIndex {
    /// The entries, and the earlier sides of conflicts.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &IndexEntry> {
        self.index.entries.iter().chain(&self.resolved)
    }

    /// The length of the names of objects.
    pub(crate) fn object_length(&self) -> usize {
        self.index.object_length
    }
}

impl GitIndex {
    /// Reads the bytes of an index whose names of objects have this length. None if they are not one.
    pub fn read(bytes: &[u8], object_length: usize) -> Option<Self> {
        IndexReader::new(bytes, object_length)?.read().map(|(index, _)| index)
    }
}

/// An index; none if it is not one, if git would leave the work tree through one of its entries, or if further entries are in another file.
pub(crate) fn sound_index(bytes: &[u8]) -> Option<SoundIndex> {
    // The length of names is a setting of the repository, so each one that fits the file must be sound.
    let mut read = OBJECT_LENGTHS.into_iter().filter_map(|length| IndexReader::new(bytes, length)?.read());
    let (index, extensions) = read.next()?;
    let first = judge_index(bytes, index, &extensions)?;
    let is_sound = |(index, extensions): (GitIndex, Vec<IndexExtension<'_>>)| {
        judge_index(bytes, index, &extensions).is_some_and(|other| other.corrected.is_none())
    };
    read.all(is_sound).then_some(first)
}

fn judge_index(bytes: &[u8], index: GitIndex, extensions: &[IndexExtension<'_>]) -> Option<SoundIndex> {
    let resolved = resolved_entries(extensions, index.object_length)?;
    let is_true = are_true(extensions, &index);
    let corrected = if is_true { None } else { Some(sealed_index(bytes, &index, extensions)?) };
    let sound = SoundIndex { index, resolved, corrected };
    let is_sound = !sound.index.is_split && sound.entries().all(|entry| is_sound_path(&entry.path));
    is_sound.then_some(sound)
}

/// The index without entries of these paths, and without extensions that claim anything about them. `None` if not each of the paths is an
/// entry, and for version 4, in which entries have parts of those before.
pub(crate) fn without_paths(bytes: &[u8], object_length: usize, paths: &BTreeSet<&[u8]>) -> Option<Vec<u8>> {
    let reader = IndexReader::new(bytes, object_length)?;
    let is_by_itself = reader.version < 4;
    let (index, extensions) = reader.read()?;
    let begins = index.facts.iter().map(|facts| facts.offset);
    let ends = begins.clone().skip(1).chain([index.end]);
    let places = index.entries.iter().zip(begins.zip(ends));
    let kept: Vec<&[u8]> = places
        .filter(|(entry, _)| !paths.contains(&*entry.path))
        .map(|(_, (begin, end))| bytes.get(begin..end))
        .collect::<Option<_>>()?;
    let is_whole = paths.iter().all(|path| index.entries.iter().any(|entry| entry.path == *path));
    let count = u32::try_from(kept.len()).ok().filter(|_| is_by_itself && is_whole)?.to_be_bytes();
    let head = [bytes.get(..8)?, &count].concat();
    let rest = [head, kept.concat()].concat();
    let index = GitIndex { end: rest.len(), ..index };
    sealed_index(&rest, &index, &extensions)
}

struct IndexReader<'a> {
    rest: &'a [u8],
    /// The length of the file without its checksum.
    length: usize,
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
        let (version, count) = (read_number(version)?, read_number(count)?);
        let is_known = signature == b"DIRC" && (2..=4).contains(&version);
        is_known.then_some(Self { rest, length: content.len(), version, count, object_length })
    }

    fn read(mut self) -> Option<(GitIndex, Vec<IndexExtension<'a>>)> {
        let (mut entries, mut facts): (Vec<IndexEntry>, Vec<EntryFacts>) = (Vec::new(), Vec::new());
        for _ in 0..self.count {
            let before = entries.last().map_or(&[][..], |last| last.path.as_slice());
            let (entry, of_entry) = self.entry(before)?;
            entries.push(entry);
            facts.push(of_entry);
        }
        let end = self.offset();
        let extensions = self.extensions()?;
        let is_split = extensions.iter().any(|extension| extension.name == SPLIT);
        Some((GitIndex { entries, facts, end, object_length: self.object_length, is_split }, extensions))
    }

    /// The place in the file that is read next.
    fn offset(&self) -> usize {
        self.length - self.rest.len()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn entry(&mut self, before: &[u8]) -> Option<(IndexEntry, EntryFacts)> {
        let (began, offset) = (self.rest.len(), self.offset());
        // Two times of eight bytes, device and inode come before the mode.
        let mode = read_number(self.take(FIXED)?.get(24..28)?)?;
        let object = self.take(self.object_length)?.to_vec();
        let flags = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        let further =
            if flags & EXTENDED == 0 { 0 } else { u16::from_be_bytes(self.take(2)?.try_into().ok()?) };
        let mut shared = 0;
        let path = if self.version == 4 {
            let dropped = self.varint()?;
            let kept = before.get(..before.len().checked_sub(dropped)?)?;
            shared = kept.len();
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
        let is_committed = flags & STAGE == 0 && further & INTENDED == 0;
        Some((IndexEntry { path, mode, object }, EntryFacts { is_committed, offset, shared }))
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

    /// The extensions behind the entries.
    fn extensions(&mut self) -> Option<Vec<IndexExtension<'a>>> {
        let mut extensions = Vec::new();
        while !self.rest.is_empty() {
            let (name, length) = self.take(8)?.split_at_checked(4)?;
            let payload = self.take(usize::try_from(read_number(length)?).ok()?)?;
            extensions.push(IndexExtension { name, payload });
        }
        Some(extensions)
    }
}

/// Whether git would itself put an entry with this path into an index, on any file system.
pub(super) fn is_sound_path(path: &[u8]) -> bool {
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
        let found = sound_index(&index(&["a.txt", "src/git.rs", ".gitignore", "x.git/y", "a..b/..c"]));
        assert_eq!(found.map(|index| index.entries().count()), Some(5));
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
            assert_eq!(sound_index(&index(&["a.txt", path])), None, "{path:?}");
        }
    }

    #[test]
    fn a_file_that_is_no_index_is_none() {
        for bytes in [&b""[..], b"DIRC", &index(&["a"])[..40], &[0; 100]] {
            assert_eq!(sound_index(bytes), None);
        }
        let mut longer = index(&["a"]);
        longer.extend([1; 9]);
        assert_eq!(sound_index(&longer), None);
    }

    /// A repository with some files, made by the real git with these names of objects.
    struct Repository {
        folder: tempfile::TempDir,
    }

    impl Repository {
        fn new(hash: &str) -> Self {
            let repository = Self { folder: tempfile::tempdir().unwrap() };
            repository.git(&["init", "-q", &format!("--object-format={hash}"), "."]);
            for name in ["a.txt", "deep/er/b.txt", "deep/er/c.txt", &"long/".repeat(60)] {
                let path = repository.folder.path().join(name).join("x");
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, name).unwrap();
            }
            repository.git(&["add", "."]);
            repository
        }

        #[expect(clippy::disallowed_methods, reason = "the test holds the reader against the real program")]
        fn git(&self, arguments: &[&str]) -> String {
            let mut git = std::process::Command::new("git");
            git.args(["-c", "user.name=n", "-c", "user.email=e"]).args(arguments).current_dir(&self.folder);
            let run = git.output().unwrap();
            assert!(run.status.success(), "{arguments:?}: {run:?}");
            String::from_utf8(run.stdout).unwrap()
        }

        fn index(&self) -> Vec<u8> {
            std::fs::read(self.folder.path().join(".git/index")).unwrap()
        }
    }

    fn has_extension(bytes: &[u8], name: &[u8]) -> bool {
        bytes.windows(name.len()).any(|window| window == name)
    }

    #[test]
    fn an_index_of_git_is_read_in_each_version() {
        for hash in ["sha1", "sha256"] {
            let repository = Repository::new(hash);
            for version in ["2", "3", "4"] {
                repository.git(&["update-index", "--index-version", version]);
                let index = sound_index(&repository.index()).unwrap_or_else(|| panic!("{hash} {version}"));
                assert_eq!(index.corrected, None, "{hash} {version}");
                let paths: Vec<String> =
                    index.entries().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect();
                assert_eq!(paths[..3], ["a.txt/x", "deep/er/b.txt/x", "deep/er/c.txt/x"], "{hash} {version}");
                assert_eq!(paths.len(), 4);
            }
        }
    }

    #[test]
    fn claims_of_git_about_an_index_are_true() {
        for hash in ["sha1", "sha256"] {
            let repository = Repository::new(hash);
            let assert_true = |extension: &[u8], when: &str| {
                let bytes = repository.index();
                assert!(has_extension(&bytes, extension), "{hash} {when}");
                assert_eq!(sound_index(&bytes).map(|index| index.corrected), Some(None), "{hash} {when}");
            };
            for version in ["2", "4"] {
                repository.git(&["update-index", "--index-version", version]);
                repository.git(&["commit", "--allow-empty", "-qm", "all"]);
                assert_true(b"TREE", "committed");
                repository.git(&["rm", "-q", "--cached", "deep/er/c.txt/x"]);
                assert_true(b"TREE", "partly known");
                repository.git(&["add", "-N", "deep/er/c.txt/x"]);
                repository.git(&["write-tree"]);
                assert_true(b"TREE", "a path only");
                repository.git(&["add", "."]);
                for key in ["index.threads", "core.untrackedCache"] {
                    repository.git(&["config", key, "true"]);
                    repository.git(&["update-index", "--refresh", "--force-write-index"]);
                    repository.git(&["status"]);
                }
                repository.git(&["commit", "--allow-empty", "-qm", "threads"]);
                assert_true(b"EOIE", "threads");
            }
            repository.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "long"]);
            repository.git(&["commit", "--allow-empty", "-qm", "sparse"]);
            assert_true(b"sdir", "sparse");
        }
    }

    #[test]
    fn an_index_loses_single_entries() {
        for hash in ["sha1", "sha256"] {
            let repository = Repository::new(hash);
            repository.git(&["commit", "-qm", "all"]);
            let bytes = repository.index();
            let length = sound_index(&bytes).unwrap().object_length();
            let without = |path: &str| without_paths(&bytes, length, &BTreeSet::from([path.as_bytes()]));
            let rest = without("deep/er/b.txt/x").unwrap();
            std::fs::write(repository.folder.path().join(".git/index"), rest).unwrap();
            let listed = repository.git(&["ls-files"]);
            assert!(listed.contains("a.txt/x\ndeep/er/c.txt/x\n") && !listed.contains("b.txt"), "{listed}");
            assert_eq!(repository.git(&["status", "--short"]), "D  deep/er/b.txt/x\n?? deep/er/b.txt/\n");
            assert_eq!(without("no/such"), None);
        }
    }

    #[test]
    fn false_claims_about_an_index_are_dropped() {
        for hash in ["sha1", "sha256"] {
            let repository = Repository::new(hash);
            repository.git(&["commit", "-qm", "all"]);
            let tree = repository.git(&["rev-parse", "HEAD:deep"]);
            let digits: Vec<char> = tree.trim().chars().collect();
            let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
            let object: Vec<u8> = digits.chunks(2).map(byte).collect();
            let mut bytes = repository.index();
            let at = bytes.windows(object.len()).position(|window| window == object).unwrap();
            bytes[at] ^= 1;
            let index = sound_index(&bytes).unwrap();
            let corrected = index.corrected.unwrap();
            assert!(!has_extension(&corrected, b"TREE"));
            std::fs::write(repository.folder.path().join(".git/index"), &corrected).unwrap();
            assert_eq!(
                repository.git(&["write-tree"]),
                repository.git(&["rev-parse", "HEAD^{tree}"]),
                "{hash}"
            );
            let mut unknown = corrected[..corrected.len() - object.len()].to_vec();
            unknown.extend(b"ABCD\0\0\0\x01x");
            unknown.extend(&object);
            assert_eq!(sound_index(&unknown).unwrap().corrected, Some(corrected), "{hash}");
        }
    }
}
