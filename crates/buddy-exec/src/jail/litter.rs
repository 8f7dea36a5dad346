//! Litter: files that jails left when their supervisor was killed, and those that older versions held names
//! with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use buddy_protocol::NameSet;

use super::look::look;
use super::names::Names;
use super::stand_in::{clear_left_behind, clear_stand_ins};
use super::walk::Budget;

/// The most entries, the depth and the time of a search: one runs whenever a session begins.
const ENTRIES: usize = 5_000;
const DEPTH: usize = 4;
const TIME: Duration = Duration::from_millis(200);

/// Removes the leavings of jails in these directories that no jail uses any more: stand-ins in repositories,
/// and empty directories at these names. Everything else stays as it is.
pub fn clear_litter(roots: &[PathBuf], guarded: &NameSet) {
    let roots: Vec<PathBuf> = roots
        .iter()
        .filter_map(|root| root.canonicalize().ok())
        .filter(|root| root != Path::new("/"))
        .collect();
    let budget = Budget::small(ENTRIES, DEPTH).within(TIME);
    let sights = look(&roots, &Names::of(guarded), &Names::default(), &[], budget);
    for order in &sights.orders {
        clear_left_behind(order);
    }
    for git in &sights.git {
        clear_stand_ins(git);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, DirBuilder};
    use std::os::unix::fs::DirBuilderExt;

    use super::*;
    use crate::jail::stand_in::StandIn;

    #[test]
    fn unused_litter_goes_and_everything_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("repo/.git/objects")).unwrap();
        fs::write(root.join("repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(root.join("repo/.git/config"), "").unwrap();
        let held = DirBuilder::new().mode(0o1555).create(root.join("repo/.envrc"));
        held.unwrap();
        fs::create_dir(root.join("repo/.vscode")).unwrap();
        fs::write(root.join("repo/.git/commondir"), ".\n").unwrap();
        let used = StandIn::at(&root.join("repo/.git"), "config.worktree").unwrap().unwrap();
        let names = NameSet::trees([".envrc", ".vscode", ".git/hooks"]);
        clear_litter(std::slice::from_ref(&root), &names);
        let there = |name: &str| root.join("repo").join(name).exists();
        assert!(!there(".envrc") && !there(".git/commondir"));
        assert!(there(".vscode"), "a user's empty directory stays");
        assert!(there(".git/config.worktree"), "one that a jail uses stays");
        drop(used);
        assert!(!there(".git/config.worktree"));
    }
}
