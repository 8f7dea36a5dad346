//! What the index of a repository holds: entries, and extensions that claim something about them.

/// An entry: a path below the top of the work tree, and the name of its object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexEntry {
    /// The path. It is empty for a change of an entry in another file.
    pub path: Vec<u8>,
    /// The name of the object, as bytes.
    pub object: Vec<u8>,
}

/// The place and the kind of an entry, by which the claims of extensions are judged.
#[derive(Debug)]
pub(super) struct EntryFacts {
    pub(super) mode: u32,
    /// Whether a commit of the index has it: it is neither a side of a conflict nor only a path.
    pub(super) is_committed: bool,
    /// Where it begins in the file.
    pub(super) offset: usize,
    /// How many bytes of its path are those of the entry before.
    pub(super) shared: usize,
}

/// The index of a repository.
#[derive(Debug)]
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

pub(super) fn read_number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}
