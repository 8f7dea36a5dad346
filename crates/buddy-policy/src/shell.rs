//! Understanding a command line as bash reads it, without running anything.
//!
//! The grammar finds the structure; every word is decoded here, and every gap between words is looked at, so that text
//! that the grammar skips is seen. What is not certain is said to be unclear and is never taken for harmless.

mod heredoc;
mod read;
mod script;
mod tree;
mod word;

pub(crate) use read::read;
pub(crate) use script::{Direction, Redirect, Script, Simple, Unreadable};
pub(crate) use word::Word;

/// The longest command line that is read. A kernel takes no argument over 128 KiB, and nobody reviews even this much.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// How deep the tree of a command line may be: deeper than anything a person writes, and no danger to the stack.
pub(crate) const MAX_DEPTH: usize = 100;
/// Simple commands and redirections in one command line, those in wrappers and scripts included.
pub(crate) const MAX_LEAVES: usize = 256;
/// How many wrappers and quoted scripts may sit in each other.
pub(crate) const MAX_WRAPPERS: usize = 12;
