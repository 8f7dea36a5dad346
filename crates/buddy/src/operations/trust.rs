//! Trusted folders of this machine.

use std::path::PathBuf;

use anyhow::bail;
use buddy_protocol::operations::{ControlFileChange, TrustFolder, TrustedFolder, TrustedFolderFile};

use super::place::OperationPlace;
use crate::config::{TrustStore, UntrustedChange};

/// All of them.
pub(super) fn list(place: &OperationPlace) -> anyhow::Result<Vec<TrustedFolder>> {
    let listed = store(place).list()?.into_iter().map(|trusted| TrustedFolder {
        path: trusted.path.to_string_lossy().into_owned(),
        device: trusted.device,
        inode: trusted.inode,
        born_ns: trusted.born_ns,
        files: trusted
            .files
            .into_iter()
            .map(|file| TrustedFolderFile { name: file.name, sha256: file.sha256 })
            .collect(),
    });
    Ok(listed.collect())
}

/// The changes in a folder since it was trusted.
pub(super) fn review(place: &OperationPlace, folder: &str) -> Vec<ControlFileChange> {
    let changes = store(place).reviewable(&place.path(folder));
    changes.iter().map(control_file_change).collect()
}

/// Trusts a folder with its files as they are, or with the changes that the user saw.
pub(super) fn give(place: &OperationPlace, request: &TrustFolder) -> anyhow::Result<String> {
    let (store, folder): (TrustStore, PathBuf) = (store(place), place.path(&request.folder));
    let path = if request.seen.is_empty() {
        store.add(&folder)?
    } else {
        store.accept(&folder, &seen_changes(&request.seen)?)?
    };
    Ok(path.to_string_lossy().into_owned())
}

/// Stops trusting a folder.
pub(super) fn take(place: &OperationPlace, folder: &str) -> anyhow::Result<bool> {
    store(place).remove(&place.path(folder))
}

fn store(place: &OperationPlace) -> TrustStore {
    TrustStore::new(&place.environment.data)
}

fn control_file_change(change: &UntrustedChange) -> ControlFileChange {
    ControlFileChange {
        name: change.name.to_owned(),
        trusted: change.trusted.clone(),
        now: change.now.text().map(str::to_owned),
        diff: change.diff(),
    }
}

fn seen_changes(seen: &[ControlFileChange]) -> anyhow::Result<Vec<UntrustedChange>> {
    let change = |change: &ControlFileChange| match UntrustedChange::seen(
        &change.name,
        change.trusted.clone(),
        change.now.clone(),
    ) {
        Some(change) => Ok(change),
        None => bail!("`{}` is not a control file", change.name),
    };
    seen.iter().map(change).collect()
}
