//! The entries of an index that were not in it before.
//!
//! A sparse index has a directory outside of the sparse checkout as one entry, with the tree of its files. git writes these files too, once
//! the user wants them. So such a directory counts as its files: it is compared with the files of before, and read as far as it differs.

use std::collections::HashSet;

use super::index_content::{EntryKind, IndexEntry};
use super::index_extensions::IndexTrees;
use super::index_file::{SoundIndex, is_sound_path};

/// The most trees that are read for one index: as many directories as a large repository has.
const MAX_TREES: usize = 20_000;
/// The most entries that they have together.
const MAX_PARTS: usize = 1_000_000;
/// The deepest path, in bytes. git and the kernel have a limit that is reached earlier.
const MAX_PATH: usize = 4_096;

/// The reason why the files of a directory are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectoryFault {
    /// A tree cannot be read, or there are too many.
    Unread,
    /// A path leads out of the work tree, or into the own directory of the repository.
    LeadsOut,
}

/// The entries that were not in an index before, with files in the place of sparse directories. The reader returns the content of a tree.
pub(crate) fn new_entries(
    before: Option<&SoundIndex>,
    now: &SoundIndex,
    read_tree: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> Result<Vec<IndexEntry>, DirectoryFault> {
    let known: HashSet<&IndexEntry> = before.into_iter().flat_map(SoundIndex::entries).collect();
    let new: Vec<&IndexEntry> = now.entries().filter(|entry| !known.contains(entry)).collect();
    let is_sparse = |entry: &&IndexEntry| entry.kind() == EntryKind::Directory;
    if new.is_empty() || !now.entries().chain(known.iter().copied()).any(|entry| is_sparse(&entry)) {
        return Ok(new.into_iter().cloned().collect());
    }
    let trees_before = before.map(|before| IndexTrees::of(&before.index));
    let trees = IndexTrees::of(&now.index);
    let of_before = |directory: &[u8]| trees_before.as_ref()?.object(directory).map(<[u8]>::to_vec);
    // A directory that is as it was has nothing new in it, however it is written down.
    let is_in_same = |entry: &&IndexEntry| {
        let ends = entry.path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        let mut above = ends.filter_map(|end| entry.path.get(..end));
        above.any(|above| {
            trees.object(above).is_some_and(|object| of_before(above).as_deref() == Some(object))
        })
    };
    let mut reader = DirectoryReader {
        read_tree,
        of_before: &of_before,
        known: &known,
        trees: 0,
        parts: 0,
        found: Vec::new(),
    };
    for entry in new.into_iter().filter(|entry| !is_in_same(entry)) {
        if is_sparse(&entry) {
            reader.read(entry)?;
        } else {
            reader.found.push(entry.clone());
        }
    }
    Ok(reader.found)
}

/// A file or a directory of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct TreePart {
    mode: u32,
    name: Vec<u8>,
    object: Vec<u8>,
}

struct DirectoryReader<'a, R, B> {
    read_tree: R,
    /// The tree that a directory had before, by its path with a slash.
    of_before: B,
    known: &'a HashSet<&'a IndexEntry>,
    trees: usize,
    parts: usize,
    found: Vec<IndexEntry>,
}

impl<R: FnMut(&[u8]) -> Option<Vec<u8>>, B: Fn(&[u8]) -> Option<Vec<u8>>> DirectoryReader<'_, R, B> {
    /// Finds the new files of a sparse directory.
    fn read(&mut self, sparse: &IndexEntry) -> Result<(), DirectoryFault> {
        let top = if sparse.path.ends_with(b"/") {
            sparse.path.clone()
        } else {
            [&sparse.path, &b"/"[..]].concat()
        };
        let before = (self.of_before)(&top);
        let mut left = vec![(top, sparse.object.clone(), before)];
        while let Some((directory, object, before)) = left.pop() {
            let parts = self.parts_of(&object)?;
            // Where git had only files before, it need not have written their tree.
            let before: HashSet<TreePart> =
                before.and_then(|before| self.parts_of(&before).ok()).into_iter().flatten().collect();
            for part in parts.into_iter().filter(|part| !before.contains(part)) {
                let path = [directory.as_slice(), &part.name].concat();
                let entry = IndexEntry { path, mode: part.mode, object: part.object };
                if !is_sound_path(&entry.path) || entry.path.len() > MAX_PATH {
                    return Err(DirectoryFault::LeadsOut);
                }
                if entry.kind() != EntryKind::Directory {
                    if !self.known.contains(&entry) {
                        self.found.push(entry);
                    }
                    continue;
                }
                let below = [entry.path.as_slice(), b"/"].concat();
                let same = before.iter().find(|other| other.name == part.name && other.mode == part.mode);
                let before = same.map(|other| other.object.clone()).or_else(|| (self.of_before)(&below));
                if before.as_ref() != Some(&entry.object) {
                    left.push((below, entry.object, before));
                }
            }
        }
        Ok(())
    }

    fn parts_of(&mut self, object: &[u8]) -> Result<Vec<TreePart>, DirectoryFault> {
        self.trees += 1;
        let is_free = self.trees <= MAX_TREES && self.parts <= MAX_PARTS;
        let content = if is_free { (self.read_tree)(object) } else { None };
        let parts = content.and_then(|content| parts_of_tree(&content, object.len()));
        let parts = parts.ok_or(DirectoryFault::Unread)?;
        self.parts += parts.len();
        Ok(parts)
    }
}

/// The parts of a tree; `None` if it is not in the form of git.
fn parts_of_tree(content: &[u8], name_length: usize) -> Option<Vec<TreePart>> {
    let mut parts = Vec::new();
    let mut rest = content;
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        let mode = u32::from_str_radix(std::str::from_utf8(rest.get(..space)?).ok()?, 8).ok()?;
        let name = rest.get(space + 1..end)?.to_vec();
        let (object, after) = rest.get(end + 1..)?.split_at_checked(name_length)?;
        // A slash in a name would make another path of it.
        if name.contains(&b'/') {
            return None;
        }
        parts.push(TreePart { mode, name, object: object.to_vec() });
        rest = after;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::index_content::GitIndex;
    use super::super::object_files::{ObjectKind, object_name};
    use super::*;

    const FILE: u32 = 0o100_644;
    const DIRECTORY: u32 = 0o040_000;

    /// Trees of files, which have the content of their path.
    #[derive(Default)]
    struct Trees(HashMap<Vec<u8>, Vec<u8>>);

    impl Trees {
        /// The tree of a directory with these files, each with a mark that stands for its content.
        fn make(&mut self, files: &[(&str, u8)]) -> Vec<u8> {
            let mut parts: Vec<(Vec<u8>, u32, Vec<u8>)> = Vec::new();
            let mut below: Vec<(&str, Vec<(&str, u8)>)> = Vec::new();
            for (path, mark) in files {
                match path.split_once('/') {
                    None => parts.push((path.as_bytes().to_vec(), FILE, vec![*mark; 20])),
                    Some((name, rest)) => match below.iter_mut().find(|(other, _)| *other == name) {
                        Some((_, files)) => files.push((rest, *mark)),
                        None => below.push((name, vec![(rest, *mark)])),
                    },
                }
            }
            for (name, files) in below {
                parts.push((name.as_bytes().to_vec(), DIRECTORY, self.make(&files)));
            }
            parts.sort_by_key(|(name, mode, _)| {
                [name.as_slice(), if *mode == DIRECTORY { b"/" } else { b"" }].concat()
            });
            let content: Vec<u8> = parts
                .iter()
                .flat_map(|(name, mode, object)| {
                    [format!("{mode:o} ").as_bytes(), name, b"\0", object].concat()
                })
                .collect();
            let object = object_name(ObjectKind::Tree, &content, 20);
            self.0.insert(object.clone(), content);
            object
        }
    }

    fn index(entries: &[(&str, u32, Vec<u8>)]) -> SoundIndex {
        let entry = |(path, mode, object): &(&str, u32, Vec<u8>)| IndexEntry {
            path: path.as_bytes().to_vec(),
            mode: *mode,
            object: object.clone(),
        };
        SoundIndex {
            index: GitIndex::of_entries(entries.iter().map(entry).collect()),
            resolved: Vec::new(),
            corrected: None,
        }
    }

    fn check(
        before: &SoundIndex,
        now: &SoundIndex,
        trees: &Trees,
        expected: Result<&[&str], DirectoryFault>,
    ) {
        let new = new_entries(Some(before), now, |name| trees.0.get(name).cloned());
        let new = new.map(|new| {
            let mut paths: Vec<String> =
                new.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect();
            paths.sort();
            paths
        });
        assert_eq!(new, expected.map(|paths| paths.iter().map(|path| (*path).to_owned()).collect()));
    }

    #[test]
    fn a_sparse_directory_is_its_files() {
        let mut trees = Trees::default();
        let files = [("a", 1), ("deep/.envrc", 2), ("deep/er/b", 3)];
        let (old, file) = (trees.make(&files), |path, mark: u8| (path, FILE, vec![mark; 20]));
        let flat = index(&[file("x/a", 1), file("x/deep/.envrc", 2), file("x/deep/er/b", 3), file("y", 4)]);
        let sparse = |tree: &[u8]| index(&[("x/", DIRECTORY, tree.to_vec()), ("y", FILE, vec![4; 20])]);
        let nothing = Trees::default();
        check(&flat, &sparse(&old), &nothing, Ok(&[]));
        check(&sparse(&old), &flat, &nothing, Ok(&[]));
        check(&sparse(&old), &sparse(&old), &nothing, Ok(&[]));
        let new = trees.make(&[("a", 1), ("deep/.envrc", 9), ("deep/er/b", 3), ("new/c", 5)]);
        check(&sparse(&old), &sparse(&new), &trees, Ok(&["x/deep/.envrc", "x/new/c"]));
        check(&flat, &sparse(&new), &trees, Ok(&["x/deep/.envrc", "x/new/c"]));
        check(&index(&[]), &sparse(&old), &trees, Ok(&["x/a", "x/deep/.envrc", "x/deep/er/b", "y"]));
        check(&flat, &sparse(&new), &nothing, Err(DirectoryFault::Unread));
        let away = trees.make(&[(".git", 1)]);
        check(&flat, &sparse(&away), &trees, Err(DirectoryFault::LeadsOut));
    }

    #[test]
    fn another_mode_is_another_entry() {
        let one = index(&[("a", FILE, vec![1; 20])]);
        let other = index(&[("a", 0o120_000, vec![1; 20])]);
        check(&one, &other, &Trees::default(), Ok(&["a"]));
        check(&one, &one, &Trees::default(), Ok(&[]));
    }

    #[test]
    fn a_tree_that_git_did_not_write_is_none() {
        for content in [
            &b"100644 a"[..],
            b"100644 a\0short",
            b"x a\0aaaaaaaaaaaaaaaaaaaa",
            b"40000 a/b\0aaaaaaaaaaaaaaaaaaaa",
        ] {
            assert_eq!(parts_of_tree(content, 20), None);
        }
        assert_eq!(parts_of_tree(b"40000 a\0aaaaaaaaaaaaaaaaaaaa", 20).map(|parts| parts.len()), Some(1));
    }
}
