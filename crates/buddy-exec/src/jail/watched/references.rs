//! References of a repository after a command: those that lead git to another file in its own directory.
//!
//! A reference can name another one, to which git then writes. git takes any name for that, such as `commondir` or `hooks/post-commit`.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::super::quarantine::Moved;
use super::super::walk::{Budget, Go, Listed, Visited, Visitor, walk};
use super::Watched;
use crate::git_state::is_plain_reference;

/// The largest reference that is read to its end. The path of the longest one has some thousand bytes.
const MAX_REFERENCE: u64 = 8 * 1024;

const LEADS_ON: &str = "through it git would write to another file of its own directory";

impl Watched {
    /// Moves away references that name something else than a reference, and puts the old content back where it is known.
    pub(super) fn check_references(&self, path: &Path, moved: &mut Vec<Moved>) {
        struct Leading(Vec<PathBuf>);
        impl Visitor for Leading {
            fn enter(&mut self, _: &Visited<'_>) {}
            fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go {
                let path = visited.path.join(&entry.name);
                if entry.kind == FileType::RegularFile && leads_away(&path) {
                    self.0.push(path);
                }
                Go::Into
            }
        }
        let mut leading = Leading(Vec::new());
        if path.is_dir() {
            walk(path, &mut Budget::usual(), &mut leading);
        } else if leads_away(path) {
            leading.0.push(path.to_owned());
        }
        for path in leading.0 {
            self.take_back(&path, LEADS_ON, moved);
        }
    }
}

/// Whether a file is a reference that leads git elsewhere.
fn leads_away(path: &Path) -> bool {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else { return false };
    let mut text = Vec::new();
    let is_read = file.take(MAX_REFERENCE).read_to_end(&mut text).is_ok();
    is_read && !is_plain_reference(&text)
}
