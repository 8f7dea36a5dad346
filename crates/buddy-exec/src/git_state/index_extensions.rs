//! The extensions of an index: claims about its entries that git believes without a look at them.
//!
//! git commits the trees that `TREE` names, reads entries at the places that `IEOT` and `EOIE` name, and brings back sides of conflicts from
//! `REUC`. A program that writes them by itself can therefore change a commit that shows nothing of it beforehand. So the claims are computed
//! from the entries, and an index with a false one loses its extensions, which git then computes anew. `UNTR` and `FSMN` say which files need
//! no look; they can hide a change, as flags of entries can.

use std::collections::HashMap;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::index_content::{EntryFacts, EntryKind, GitIndex, IndexEntry, IndexExtension, read_number};

/// The deepest directory whose tree is computed. git has a limit on paths that is reached earlier.
const MAX_DEPTH: usize = 1_000;
/// The mode of a directory that a sparse index has instead of its files.
const SPARSE_DIRECTORY: u32 = 0o040_000;
/// The length of names of objects by SHA-1.
const SHA1_LENGTH: usize = 20;

const TREES: &[u8] = b"TREE";
const RESOLVED: &[u8] = b"REUC";
const SPARSE: &[u8] = b"sdir";
const END_OF_ENTRIES: &[u8] = b"EOIE";
const BLOCKS: &[u8] = b"IEOT";
/// Extensions that say nothing about contents.
const WITHOUT_CLAIMS: &[&[u8]] = &[RESOLVED, SPARSE, b"UNTR", b"FSMN"];

/// Whether each extension is known and claims what the entries say.
pub(super) fn are_true(extensions: &[IndexExtension<'_>], index: &GitIndex) -> bool {
    extensions.iter().all(|extension| match extension.name {
        TREES => names_true_trees(extension.payload, index),
        END_OF_ENTRIES => extension.payload.get(..4).and_then(read_number).map(usize_of) == Some(index.end),
        BLOCKS => has_true_blocks(extension.payload, index),
        name => WITHOUT_CLAIMS.contains(&name),
    })
}

/// The file without extensions that claim anything, with its checksum.
pub(super) fn sealed_index(
    bytes: &[u8],
    index: &GitIndex,
    extensions: &[IndexExtension<'_>],
) -> Option<Vec<u8>> {
    let mut sealed = bytes.get(..index.end)?.to_vec();
    if extensions.iter().any(|extension| extension.name == SPARSE) {
        sealed.extend_from_slice(SPARSE);
        sealed.extend_from_slice(&[0; 4]);
    }
    let checksum = digest(&sealed, index.object_length);
    sealed.extend(checksum);
    Some(sealed)
}

/// The sides of conflicts that git can bring back, as entries. None if they are not in the form of git.
pub(super) fn resolved_entries(
    extensions: &[IndexExtension<'_>],
    object_length: usize,
) -> Option<Vec<IndexEntry>> {
    let mut entries = Vec::new();
    for extension in extensions.iter().filter(|extension| extension.name == RESOLVED) {
        let mut rest = extension.payload;
        while !rest.is_empty() {
            let path = until(&mut rest, 0)?;
            let modes = [until(&mut rest, 0)?, until(&mut rest, 0)?, until(&mut rest, 0)?];
            for mode in modes.iter().filter(|mode| **mode != b"0") {
                let (object, after) = rest.split_at_checked(object_length)?;
                rest = after;
                let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
                entries.push(IndexEntry { path: path.to_vec(), mode, object: object.to_vec() });
            }
        }
    }
    Some(entries)
}

/// Whether the blocks of entries that threads read begin and end where entries do.
fn has_true_blocks(payload: &[u8], index: &GitIndex) -> bool {
    let Some((version, mut rest)) = payload.split_at_checked(4) else { return false };
    let mut next = 0;
    while let Some((block, after)) = rest.split_at_checked(8) {
        let (offset, count) = block.split_at(4);
        let begins = index.facts.get(next).is_some_and(|facts: &EntryFacts| {
            facts.shared == 0 && read_number(offset).map(usize_of) == Some(facts.offset)
        });
        if !begins {
            return false;
        }
        next = next.saturating_add(read_number(count).map_or(usize::MAX, usize_of));
        rest = after;
    }
    read_number(version) == Some(1) && rest.is_empty() && next == index.entries.len()
}

/// A tree that git makes of a directory of the index.
#[derive(Debug, PartialEq, Eq)]
struct IndexTree {
    object: Vec<u8>,
    /// How many entries of the index are in it.
    count: usize,
}

/// Whether the trees that an extension names are those that git makes of the entries. A directory that has none, because the extension
/// does not claim to know it, is right.
fn names_true_trees(payload: &[u8], index: &GitIndex) -> bool {
    let trees = IndexTrees::of(index);
    let mut rest = payload;
    // Directories whose children come next, and how many.
    let mut open: Vec<(Vec<u8>, usize)> = vec![(Vec::new(), 1)];
    let mut is_root = true;
    while let Some((above, left)) = open.last_mut() {
        let Some(still) = left.checked_sub(1) else {
            open.pop();
            continue;
        };
        *left = still;
        let Some(node) = read_node(&mut rest, index.object_length) else { return false };
        let directory =
            if is_root { Vec::new() } else { [above.as_slice(), node.name, b"/".as_slice()].concat() };
        let is_named = node.name.is_empty() == is_root;
        let is_true = node.tree.is_none_or(|tree| trees.made.get(&directory) == Some(&Some(tree)));
        if !is_named || !is_true || open.len() > MAX_DEPTH {
            return false;
        }
        is_root = false;
        open.push((directory, node.children));
    }
    rest.is_empty()
}

/// A directory in the extension.
struct TreeNode<'a> {
    name: &'a [u8],
    tree: Option<IndexTree>,
    children: usize,
}

fn read_node<'a>(rest: &mut &'a [u8], object_length: usize) -> Option<TreeNode<'a>> {
    let name = until(rest, 0)?;
    let count = decimal(until(rest, b' ')?)?;
    let children = usize::try_from(decimal(until(rest, b'\n')?)?).ok()?;
    // A negative count says that the tree is not known.
    let tree = match usize::try_from(count) {
        Err(_) => None,
        Ok(count) => {
            let (object, after) = rest.split_at_checked(object_length)?;
            *rest = after;
            Some(IndexTree { object: object.to_vec(), count })
        }
    };
    Some(TreeNode { name, tree, children })
}

/// The trees of all directories of an index, by their paths with a slash at the end.
pub(super) struct IndexTrees<'a> {
    index: &'a GitIndex,
    /// The entry that is read next.
    next: usize,
    /// None for a directory that has no tree: with a conflict, or with entries in an order that git does not make.
    made: HashMap<Vec<u8>, Option<IndexTree>>,
}

impl<'a> IndexTrees<'a> {
    pub(super) fn of(index: &'a GitIndex) -> Self {
        let mut trees = Self { index, next: 0, made: HashMap::new() };
        trees.make(b"", 0);
        trees
    }

    /// The tree of a directory, which is named with a slash at the end.
    pub(super) fn object(&self, directory: &[u8]) -> Option<&[u8]> {
        Some(&self.made.get(directory)?.as_ref()?.object)
    }

    /// Makes the tree of a directory from the entries that come next, and returns its object.
    fn make(&mut self, directory: &[u8], depth: usize) -> Option<Vec<u8>> {
        let began = self.next;
        let index = self.index;
        let mut content = Some(Vec::new());
        while let (Some(entry), Some(facts)) = (index.entries.get(self.next), index.facts.get(self.next))
            && let Some(rest) = entry.path.strip_prefix(directory)
        {
            let slash = rest.iter().position(|byte| *byte == b'/').filter(|slash| slash + 1 < rest.len());
            let part = match slash {
                Some(slash) if depth < MAX_DEPTH => {
                    let name = rest.get(..slash).unwrap_or_default();
                    let below = [directory, name, b"/"].concat();
                    self.make(&below, depth + 1).map(|object| tree_part(SPARSE_DIRECTORY, name, &object))
                }
                _ => {
                    self.next += 1;
                    let name = rest.strip_suffix(b"/").unwrap_or(rest);
                    if entry.kind() == EntryKind::Directory {
                        let tree = IndexTree { object: entry.object.clone(), count: 1 };
                        self.keep(&entry.path, Some(tree));
                    }
                    (facts.is_committed && slash.is_none())
                        .then(|| tree_part(entry.mode, name, &entry.object))
                }
            };
            match (&mut content, part) {
                (Some(content), Some(part)) => content.extend(part),
                _ => content = None,
            }
        }
        let length = index.object_length;
        let object = content.map(|content| {
            let head = format!("tree {}\0", content.len());
            digest(&[head.as_bytes(), &content].concat(), length)
        });
        let tree = object.clone().map(|object| IndexTree { object, count: self.next - began });
        self.keep(directory, tree);
        object
    }

    fn keep(&mut self, directory: &[u8], tree: Option<IndexTree>) {
        // A directory that comes a second time has its entries in two places.
        let tree = if self.made.contains_key(directory) { None } else { tree };
        self.made.insert(directory.to_vec(), tree);
    }
}

/// An entry as a tree has it.
fn tree_part(mode: u32, name: &[u8], object: &[u8]) -> Vec<u8> {
    [format!("{mode:o} ").as_bytes(), name, b"\0", object].concat()
}

fn digest(bytes: &[u8], object_length: usize) -> Vec<u8> {
    if object_length == SHA1_LENGTH { Sha1::digest(bytes).to_vec() } else { Sha256::digest(bytes).to_vec() }
}

/// Takes the bytes before the next one of this value, which is dropped.
fn until<'a>(rest: &mut &'a [u8], end: u8) -> Option<&'a [u8]> {
    let at = rest.iter().position(|byte| *byte == end)?;
    let (taken, after) = rest.split_at_checked(at)?;
    *rest = after.get(1..)?;
    Some(taken)
}

fn decimal(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A number of four bytes; this program runs where it fits.
fn usize_of(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
