//! Reads objects of a repository, without a git that its settings could steer: loose ones, and those in packs.
//!
//! The content of an object has to fit its name, so nobody can have another one judged than git would read later by the same name.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::object_files::{MAX_OBJECT, ObjectKind, inflate, object_name, open_object_file};
use super::packs::{ObjectPack, packs_in};

/// The most stores that one repository takes objects from.
const MAX_STORES: usize = 16;
/// The longest list of further stores.
const MAX_ALTERNATES: u64 = 64 * 1024;

/// The objects of a repository.
#[derive(Debug)]
pub(crate) struct ObjectStore {
    directories: BTreeSet<PathBuf>,
    packs: Vec<ObjectPack>,
    name_length: usize,
}

impl ObjectStore {
    /// The objects in a directory `objects`, whose names have this length.
    pub(crate) fn of(objects: &Path, name_length: usize) -> Self {
        let mut directories = BTreeSet::new();
        let mut left = vec![objects.to_owned()];
        while let Some(directory) = left.pop().filter(|_| directories.len() < MAX_STORES) {
            let list = read_file(&directory.join("info/alternates"), MAX_ALTERNATES).unwrap_or_default();
            let lines = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            left.extend(lines.map(|line| directory.join(OsStr::from_bytes(line))));
            directories.insert(directory);
        }
        let packs = directories.iter().flat_map(|directory| packs_in(&directory.join("pack"), name_length));
        Self { packs: packs.collect(), directories, name_length }
    }

    /// The content of an object; `None` if it is not there, if it is too large, or if it is another object than its name says.
    pub(crate) fn read(&self, kind: ObjectKind, name: &[u8]) -> Option<Vec<u8>> {
        let packed = || self.packs.iter().find_map(|pack| pack.read(kind, name));
        let content = self.loose(kind, name).or_else(packed)?;
        (object_name(kind, &content, self.name_length) == name).then_some(content)
    }

    fn loose(&self, kind: ObjectKind, name: &[u8]) -> Option<Vec<u8>> {
        let digits = digits_of(name);
        let (first, rest) = digits.split_at_checked(2)?;
        let read = |directory: &PathBuf| {
            let packed = read_file(&directory.join(first).join(rest), MAX_OBJECT).ok()?;
            inflate(&packed[..], MAX_OBJECT).ok()
        };
        let found = self.directories.iter().find_map(read)?;
        let end = found.iter().position(|byte| *byte == 0)?;
        let (head, content) = found.split_at_checked(end)?;
        head.starts_with(kind.word().as_bytes()).then(|| content.get(1..).map(<[u8]>::to_vec))?
    }
}

fn digits_of(name: &[u8]) -> String {
    name.iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open_object_file(path)?.take(limit).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the test holds the reader against the real program")]
    fn git(at: &Path, words: &[&str]) -> Vec<u8> {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e"]).args(words).current_dir(at);
        let run = git.output().unwrap();
        assert!(run.status.success(), "{words:?}: {run:?}");
        run.stdout
    }

    /// Every tree and blob of a repository, as git tells them.
    fn assert_all_read(at: &Path, store: &ObjectStore, when: &str) -> usize {
        let list = String::from_utf8(git(at, &["cat-file", "--batch-check", "--batch-all-objects"])).unwrap();
        let mut count = 0;
        for line in list.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, kind, _] = words[..] else { panic!("{line}") };
            let kind = match kind {
                "tree" => ObjectKind::Tree,
                "blob" => ObjectKind::Blob,
                _ => continue,
            };
            let object: Vec<u8> = (0..name.len() / 2)
                .map(|at| u8::from_str_radix(name.get(2 * at..2 * at + 2).unwrap(), 16).unwrap())
                .collect();
            let expected = git(at, &["cat-file", kind.word(), name]);
            assert_eq!(store.read(kind, &object), Some(expected), "{when}: {line}");
            count += 1;
        }
        count
    }

    #[test]
    fn objects_of_git_are_read_loose_in_packs_and_elsewhere() {
        for (hash, length) in [("sha1", 20), ("sha256", 32)] {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().join("one");
            fs::create_dir_all(top.join("deep")).unwrap();
            git(&top, &["init", "-q", &format!("--object-format={hash}"), "."]);
            for number in 0..30 {
                let lines: String =
                    (0..400).fold(String::new(), |lines, line| lines + &format!("{line} {}\n", line * line));
                fs::write(top.join("deep/long"), format!("{lines}{number}\n")).unwrap();
                fs::write(top.join(format!("deep/{number}")), lines).unwrap();
                git(&top, &["add", "."]);
                git(&top, &["commit", "-qm", "x"]);
            }
            let store = || ObjectStore::of(&top.join(".git/objects"), length);
            assert!(assert_all_read(&top, &store(), "loose") > 60);
            git(&top, &["repack", "-adq", "--depth=50"]);
            assert!(store().loose(ObjectKind::Tree, &[0; 20]).is_none() && store().packs.len() == 1);
            assert!(assert_all_read(&top, &store(), "packed") > 60);
            git(&top, &["-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq"]);
            assert!(assert_all_read(&top, &store(), "by name") > 60);
            git(folder.path(), &["clone", "-q", "--shared", "one", "two"]);
            let two = folder.path().join("two");
            let shared = ObjectStore::of(&two.join(".git/objects"), length);
            assert!(assert_all_read(&two, &shared, "shared") > 60);
        }
    }

    #[test]
    fn an_object_with_another_content_than_its_name_says_is_none() {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "."]);
        fs::write(folder.path().join("a"), "a").unwrap();
        fs::write(folder.path().join("b"), "b").unwrap();
        git(folder.path(), &["add", "."]);
        let objects = folder.path().join(".git/objects");
        let name = |content: &[u8]| object_name(ObjectKind::Blob, content, 20);
        let place = |content: &[u8]| {
            let digits = digits_of(&name(content));
            let (first, rest) = digits.split_at(2);
            objects.join(first).join(rest)
        };
        let read = |content: &[u8]| ObjectStore::of(&objects, 20).read(ObjectKind::Blob, &name(content));
        assert_eq!(read(b"a"), Some(b"a".to_vec()));
        assert_eq!(ObjectStore::of(&objects, 20).read(ObjectKind::Tree, &name(b"a")), None);
        fs::rename(place(b"b"), place(b"a")).unwrap();
        assert_eq!((read(b"a"), read(b"b")), (None, None));
    }
}
