//! Keeping the store under its caps: unreferenced contents go first, then the oldest entries.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;

use super::folder::Shared;
use super::journal::{Read, Record, end_mark_of, snapshot_of};
use super::state::State;
use crate::{FileLock, LockKind};

impl Shared {
    /// Evicts unless a call is using the store, in which case the next one does it.
    pub(super) fn evict(&self) {
        if let Err(error) = self.try_evict() {
            tracing::warn!(%error, "old entries of the undo store cannot be removed");
        }
    }

    fn try_evict(&self) -> io::Result<()> {
        if !self.folder.exists() {
            return Ok(());
        }
        let Some(_lock) = FileLock::try_take(&self.lock_file()?, LockKind::Exclusive)? else {
            return Ok(());
        };
        let mut blobs: HashMap<String, u64> = self.blobs.all()?.into_iter().collect();
        let mut total: u64 = blobs.values().sum();
        let journals = self.read()?;
        let too_many = journals.len().saturating_sub(self.settings.max_entries);
        if total <= self.settings.max_total_bytes && too_many == 0 {
            return Ok(());
        }
        let mut uses = uses(&journals);
        // Contents of snapshots that led to no entry are kept again when they are needed.
        self.forget_caches();
        let idle: HashSet<String> =
            blobs.keys().filter(|digest| !uses.contains_key(*digest)).cloned().collect();
        for digest in idle {
            total -= blobs.remove(&digest).unwrap_or(0);
            self.blobs.remove(&digest)?;
        }
        for (at, journal) in journals.iter().enumerate() {
            if total <= self.settings.max_total_bytes && at >= too_many {
                break;
            }
            fs::remove_file(&journal.path)?;
            let _ = fs::remove_file(snapshot_of(&journal.path));
            let _ = fs::remove_file(end_mark_of(&journal.path));
            for digest in digests(journal) {
                let left = uses.get_mut(&digest).map_or(0, |count| {
                    *count -= 1;
                    *count
                });
                if left == 0
                    && let Some(size) = blobs.remove(&digest)
                {
                    total -= size;
                    self.blobs.remove(&digest)?;
                }
            }
        }
        Ok(())
    }
}

/// The number of entries that need each content.
fn uses(journals: &[Read]) -> HashMap<String, usize> {
    let mut uses = HashMap::new();
    for digest in journals.iter().flat_map(digests) {
        *uses.entry(digest).or_insert(0) += 1;
    }
    uses
}

/// The contents that an entry needs, once each. A command that was cut short needs its whole snapshot.
fn digests(journal: &Read) -> HashSet<String> {
    let digest = |state: State| match state {
        State::File { digest, .. } => Some(digest),
        _ => None,
    };
    let recorded = journal.records.iter().filter_map(|record| match record {
        Record::Change { before, .. } => digest(before.clone()),
        _ => None,
    });
    let snapshot = fs::read_to_string(snapshot_of(&journal.path)).unwrap_or_default();
    let lines =
        snapshot.lines().filter_map(|line| serde_json::from_str::<(serde_json::Value, State)>(line).ok());
    recorded.chain(lines.filter_map(|(_, state)| digest(state))).collect()
}
