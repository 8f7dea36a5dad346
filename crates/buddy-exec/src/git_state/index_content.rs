//! What the index of a repository holds: entries, and extensions that claim something about them.

/// An entry: a path below the top of the work tree, and the name of its object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexEntry {
    /// The path. It is empty for a change of an entry in another file.
    pub path: Vec<u8>,
    /// The kind of file, and whether it is a program, in the form of git.
    pub mode: u32,
    /// The name of the object, as bytes.
    pub object: Vec<u8>,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    /// A file that can be executed.
    Program,
    /// A directory outside of a sparse checkout, with the tree of its files.
    Directory,
    /// A link, a submodule, or an entry of a kind that git does not write: it can lead to files that are not in the index.
    Leading,
}

/// The bits of a mode that say the kind, and their values.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;
/// The bit of a file that its owner can execute.
const EXECUTABLE: u32 = 0o100;

impl IndexEntry {
    pub(crate) fn kind(&self) -> EntryKind {
        match self.mode & KIND {
            REGULAR if self.mode & EXECUTABLE != 0 => EntryKind::Program,
            REGULAR => EntryKind::File,
            DIRECTORY => EntryKind::Directory,
            _ => EntryKind::Leading,
        }
    }

    pub(crate) fn is_link(&self) -> bool {
        self.mode & KIND == LINK
    }
}

/// The place of an entry, by which the claims of extensions are judged.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EntryFacts {
    /// Whether a commit of the index has it: it is neither a side of a conflict nor only a path.
    pub(super) is_committed: bool,
    /// Where it begins in the file.
    pub(super) offset: usize,
    /// How many bytes of its path are those of the entry before.
    pub(super) shared: usize,
}

/// The index of a repository.
#[derive(Debug, PartialEq, Eq)]
pub struct GitIndex {
    /// The entries, in their order.
    pub entries: Vec<IndexEntry>,
    pub(super) facts: Vec<EntryFacts>,
    /// Where the entries end.
    pub(super) end: usize,
    pub(super) object_length: usize,
    /// Whether further entries are in another file.
    pub(super) is_split: bool,
}

/// An extension of an index.
#[derive(Debug)]
pub(super) struct IndexExtension<'a> {
    pub(super) name: &'a [u8],
    pub(super) payload: &'a [u8],
}

#[cfg(test)]
impl GitIndex {
    /// An index with these entries, as far as their contents matter.
    pub(super) fn of_entries(entries: Vec<IndexEntry>) -> Self {
        let fact = |_| EntryFacts { is_committed: true, offset: 0, shared: 0 };
        let facts = entries.iter().map(fact).collect();
        Self { entries, facts, end: 0, object_length: 20, is_split: false }
    }
}

pub(super) fn read_number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}
