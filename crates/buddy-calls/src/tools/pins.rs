//! Pins: the files that an approved command would run, scripts and makefiles alike, remembered as they were when the user
//! was asked. Policy says which, and bounds how many.

use std::path::PathBuf;

use buddy_exec::{Bounds, Target};
use sha2::{Digest, Sha256};

/// Bytes of a file that are looked at. A longer one changes unseen only behind that.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Files with the digest of each; none for what is not there or cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pins(Vec<(PathBuf, Option<[u8; 32]>)>);

/// The text of those files that a command could read itself.
pub(crate) async fn read_pins(
    paths: &[PathBuf],
    target: &dyn Target,
    bounds: &Bounds,
    max_bytes: u64,
) -> Vec<String> {
    let mut texts = Vec::with_capacity(paths.len());
    for path in paths {
        let file = target.read(bounds, path, max_bytes).await.ok();
        texts.extend(file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()));
    }
    texts
}

impl Pins {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The files as they are now.
    pub(crate) async fn take(paths: &[PathBuf], target: &dyn Target) -> Self {
        let mut pins = Vec::with_capacity(paths.len());
        for path in paths {
            let file = target.read(&Bounds::open(), path, MAX_BYTES).await.ok();
            pins.push((path.clone(), file.map(|file| Sha256::digest(&file.bytes).into())));
        }
        Self(pins)
    }
}
