//! The limits of the undo store.

/// The limits of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoSettings {
    /// The largest file whose content is kept.
    pub max_file_bytes: u64,
    /// The most bytes of all contents together; the oldest entries go first.
    pub max_total_bytes: u64,
    /// The most entries.
    pub max_entries: usize,
    /// The most paths that one snapshot or removal covers.
    pub max_snapshot_files: usize,
    /// The most bytes that one snapshot or removal covers.
    pub max_snapshot_bytes: u64,
}

impl Default for UndoSettings {
    fn default() -> Self {
        Self {
            max_file_bytes: 16 * 1024 * 1024,
            max_total_bytes: 1024 * 1024 * 1024,
            max_entries: 2_000,
            max_snapshot_files: 20_000,
            max_snapshot_bytes: 256 * 1024 * 1024,
        }
    }
}

impl UndoSettings {
    pub(super) fn limits(self) -> SnapshotLimits {
        let Self { max_file_bytes, max_snapshot_files, max_snapshot_bytes, .. } = self;
        SnapshotLimits { files: max_snapshot_files, bytes: max_snapshot_bytes, file_bytes: max_file_bytes }
    }
}

/// The limits of a snapshot.
#[derive(Debug, Clone, Copy)]
pub(super) struct SnapshotLimits {
    pub(super) files: usize,
    pub(super) bytes: u64,
    pub(super) file_bytes: u64,
}
