//! A file that a word names, with the access to it.

use crate::effect::TouchAccess;
use crate::shell::ShellWord;

/// A word that names a file, and the access to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) access: TouchAccess,
    pub(crate) word: ShellWord,
    pub(crate) scope: WeighScope,
}

/// The extent of a touch around the file that a word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WeighScope {
    /// The file itself.
    Itself,
    /// Files in the same directory.
    Beside,
    /// Files in it and beneath it.
    Within,
}
