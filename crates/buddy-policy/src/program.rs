//! Programs that commands run by name. `PATH` decides which files they are.

use std::path::PathBuf;

/// A program that a command runs by its name, so that `PATH` decides which file that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramUse {
    /// The name.
    pub name: String,
    /// The directories that it could run in, from which relative directories of `PATH` count.
    pub cwds: Vec<PathBuf>,
}

/// A program whose name means a file that commands of the session can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeableProgram {
    /// The name.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The digest of its content, and of its interpreter if it is a script; none if nobody could tell that it is the same.
    pub digest: Option<String>,
}
