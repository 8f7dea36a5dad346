//! Trusted folders.

use serde::{Deserialize, Serialize};

/// A folder that the user trusts. It is known by more than its path, so that another folder in its place is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedFolder {
    /// Its real path.
    pub path: String,
    /// The device that it is on.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// The time at which it was made, if the file system keeps it.
    pub born_ns: Option<u64>,
    /// Its control files as they were trusted.
    pub files: Vec<TrustedFolderFile>,
}

/// A control file as it was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedFolderFile {
    /// Its name in the folder.
    pub name: String,
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

/// Asks which control files of a folder changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewFolder {
    /// The folder, absolute or relative to the working directory.
    pub folder: String,
}

/// A control file that is not what the user trusted, and whose change the user can accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlFileChange {
    /// Its name in the folder.
    pub name: String,
    /// The text that takes effect.
    pub trusted: Option<String>,
    /// The text that is there now; `None` if the file is gone.
    pub now: Option<String>,
    /// The change line by line. The end of a long one is left out.
    pub diff: Vec<String>,
}

/// Trusts a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustFolder {
    /// The folder, absolute or relative to the working directory.
    pub folder: String,
    /// The changes that the user saw and accepts, exactly as they were shown. If there are none, the folder is trusted with its
    /// control files as they are.
    pub seen: Vec<ControlFileChange>,
}

/// Stops trusting a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DistrustFolder {
    /// The folder, absolute or relative to the working directory. One that is gone can be named by its path.
    pub folder: String,
}
