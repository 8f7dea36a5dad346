//! Understanding a command line as bash reads it, without running anything.
//!
//! The grammar finds the structure; every word is decoded here, and every gap between words is checked, so
//! that text that the grammar skips is seen. Uncertain parts are marked as unclear and are never taken for
//! harmless.

mod computed;
mod heredoc;
mod read;
mod script;
mod tree;
mod word;

pub(crate) use computed::{is_counted, is_number_variable, is_plain_name, is_plain_setting};
pub(crate) use read::read;
pub(crate) use script::{Direction, Redirect, ShellScript, Simple, UnreadableScript};
pub(crate) use word::ShellWord;

/// The longest command line that is parsed. A kernel takes no argument over 128 KiB, and nobody reviews even
/// this much.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// The greatest depth of the tree of a command line: deeper than anything people write, and no danger to the
/// stack.
pub(crate) const MAX_DEPTH: usize = 100;
/// The most simple commands and redirections in one command line, those in wrappers and scripts
/// included.
pub(crate) const MAX_LEAVES: usize = 256;
/// The most wrappers and quoted scripts that may sit in each other.
pub(crate) const MAX_WRAPPERS: usize = 12;
