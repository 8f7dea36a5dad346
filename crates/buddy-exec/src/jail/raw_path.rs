//! A path that can be sent as it is.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A path as bytes, as a path need not be text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RawPath(Vec<u8>);

impl RawPath {
    pub(super) fn to_path(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.0.clone()))
    }
}

impl<P: AsRef<Path>> From<P> for RawPath {
    fn from(path: P) -> Self {
        Self(path.as_ref().as_os_str().as_bytes().to_vec())
    }
}
