//! Whether undo would bring back everything that a removal takes: asked before it happens, with the limits of
//! undo.
//!
//! The snapshot of the workspace keeps the files that a command removes, without directories that git
//! ignores. A tool keeps the files that it removes itself, even if git ignores them. A use of git that throws
//! away changes leaves ignored files alone, and its commits are in its own log. Nothing is kept here; only
//! names and sizes are read, up to the same limits.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::blobs::Blobs;
use super::rebuilt::is_rebuilt;
use super::settings::{SnapshotLimits, UndoSettings};
use super::snapshot::{Seen, Snapshot, Taking};
use super::state::State;

/// The cause of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remover {
    /// A command, before which a snapshot of the workspace is taken.
    Command,
    /// A tool, which keeps the files that it removes.
    Tool,
    /// Git, which throws away changes of these files and leaves those that it ignores.
    GitFiles,
    /// Git, which does so in the whole work tree that each of these directories is in.
    GitTree,
}

/// The paths of these that undo would not bring back whole once they are removed from a workspace. A path
/// outside it is never among them.
pub fn lost(root: &Path, paths: &[PathBuf], remover: Remover, settings: UndoSettings) -> Vec<PathBuf> {
    let Ok(real) = root.canonicalize() else { return Vec::new() };
    let below = |path: &PathBuf| {
        path.strip_prefix(root).or_else(|_| path.strip_prefix(&real)).ok().map(Path::to_owned)
    };
    let inside: Vec<(&PathBuf, PathBuf)> = paths
        .iter()
        .filter_map(|path| Some((path, below(path)?)))
        .filter(|(path, _)| path.symlink_metadata().is_ok())
        .collect();
    if inside.is_empty() {
        return Vec::new();
    }
    let limits = settings.limits();
    let snapshot = if remover == Remover::Tool { Snapshot::default() } else { look(&real, limits) };
    let is_lost = |below: &Path| match remover {
        Remover::Command => !is_kept_by(&snapshot, &real, below, limits),
        Remover::Tool => !fits(&real.join(below), limits),
        Remover::GitFiles => !is_kept_from_git(&snapshot, &real, &real.join(below)),
        Remover::GitTree => !is_kept_from_git(&snapshot, &real, &work_tree(&real, below)),
    };
    inside.into_iter().filter(|(_, below)| is_lost(below)).map(|(path, _)| path.clone()).collect()
}

/// The same where nothing is kept for undo: all that is there, but for ignored directories that a command removes and that are built
/// again.
pub fn lost_without_undo(
    root: &Path,
    paths: &[PathBuf],
    remover: Remover,
    settings: UndoSettings,
) -> Vec<PathBuf> {
    let Ok(real) = root.canonicalize() else { return Vec::new() };
    let snapshot =
        if remover == Remover::Command { look(&real, settings.limits()) } else { Snapshot::default() };
    let is_built = |below: &Path| {
        let mut above = below.ancestors().filter(|above| !above.as_os_str().is_empty());
        remover == Remover::Command
            && above.any(|above| is_rebuilt(above) && !snapshot.seen.contains_key(&real.join(above)))
    };
    let is_lost = |path: &&PathBuf| {
        let below = path.strip_prefix(root).or_else(|_| path.strip_prefix(&real)).ok();
        below.is_some_and(|below| !is_built(below)) && path.symlink_metadata().is_ok()
    };
    paths.iter().filter(is_lost).cloned().collect()
}

/// The paths that a snapshot would cover.
fn look(root: &Path, limits: SnapshotLimits) -> Snapshot {
    let blobs = Blobs::new(PathBuf::new(), 0);
    let taking = Taking { limits, blobs: &blobs, store: Path::new(""), now_nanos: 0 };
    let looked = taking.walk(root, |spot, _, meta| {
        let is_file =
            spot.stat()?.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        let file = State::File { digest: String::new(), size: meta.size, mode: 0 };
        Ok(if is_file { file } else { State::Directory { mode: 0 } })
    });
    looked.unwrap_or_default()
}

/// Whether a snapshot has everything at and beneath a path, but for directories that are built
/// again.
fn is_kept_by(snapshot: &Snapshot, root: &Path, below: &Path, limits: SnapshotLimits) -> bool {
    let is_rebuilt = |path: &Path| is_rebuilt(path) && !snapshot.seen.contains_key(path);
    let top = root.join(below);
    if top.ancestors().take_while(|above| *above != root).any(is_rebuilt) {
        return true;
    }
    let mut left = VecDeque::from([top]);
    let mut looked_at = 0;
    while let Some(path) = left.pop_front() {
        looked_at += 1;
        let Ok(found) = path.symlink_metadata() else { continue };
        let is_seen = path == root
            || snapshot.seen.get(&path).is_some_and(|seen| !matches!(seen.state, State::NotKept { .. }));
        if is_rebuilt(&path) {
            continue;
        }
        if !is_seen || looked_at > limits.files {
            return false;
        }
        if found.is_dir() {
            left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    true
}

/// The top of the work tree that a directory is in, within the workspace.
fn work_tree(root: &Path, below: &Path) -> PathBuf {
    let directory = root.join(below);
    let above = directory.ancestors().take_while(|above| above.starts_with(root));
    let top = above.into_iter().find(|above| above.join(".git").symlink_metadata().is_ok());
    top.unwrap_or(root).to_owned()
}

/// Whether a snapshot has every file at and beneath a path that git could change. Its own store does not count.
fn is_kept_from_git(snapshot: &Snapshot, root: &Path, top: &Path) -> bool {
    let is_store = |path: &Path| {
        path.strip_prefix(top).is_ok_and(|below| below.components().any(|part| part.as_os_str() == ".git"))
    };
    let is_whole = snapshot.cut_at.as_deref().is_none_or(is_store);
    let is_seen = top == root || snapshot.seen.contains_key(top);
    let is_left = |seen: &Seen| matches!(seen.state, State::NotKept { .. }) && !seen.is_ignored;
    let beneath = snapshot.seen.range(top.to_owned()..).take_while(|(path, _)| path.starts_with(top));
    let is_kept = beneath.into_iter().all(|(path, seen)| is_store(path) || !is_left(seen));
    let is_file = snapshot.seen.get(top).is_some_and(|seen| matches!(seen.state, State::File { .. }));
    is_seen && is_kept && (is_whole || is_file)
}

/// Whether a removal by a tool is within the limits of undo.
fn fits(top: &Path, limits: SnapshotLimits) -> bool {
    let (mut files, mut bytes) = (0, 0);
    let mut left = VecDeque::from([top.to_owned()]);
    while let Some(path) = left.pop_front() {
        let Ok(found) = path.symlink_metadata() else { continue };
        files += 1;
        if found.is_dir() {
            left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if found.is_file() {
            bytes += found.len();
            if found.len() > limits.file_bytes {
                return false;
            }
        }
        if files > limits.files || bytes > limits.bytes {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: UndoSettings = UndoSettings {
        max_file_bytes: 100,
        max_total_bytes: 10_000,
        max_entries: 10,
        max_snapshot_files: 20,
        max_snapshot_bytes: 1_000,
    };

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[(&str, usize)]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (name, bytes) in files {
                let path = tree.0.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, vec![b'x'; *bytes]).unwrap();
            }
            tree
        }

        fn ignoring(self, lines: &str) -> Self {
            fs::create_dir(self.0.path().join(".git")).unwrap();
            fs::write(self.0.path().join(".gitignore"), lines).unwrap();
            self
        }

        #[track_caller]
        fn check(&self, path: &str, by_command: bool, by_tool: bool) {
            let paths = [self.0.path().join(path)];
            let is_lost = |remover| !lost(self.0.path(), &paths, remover, SMALL).is_empty();
            assert_eq!((is_lost(Remover::Command), is_lost(Remover::Tool)), (by_command, by_tool), "{path}");
        }
    }

    #[test]
    fn files_that_a_snapshot_keeps_are_not_lost() {
        let tree = Tree::new(&[("src/a.rs", 10), ("src/b/c.rs", 10), ("notes", 3)]);
        for path in ["src", "src/b", "notes", "missing", "../elsewhere"] {
            tree.check(path, false, false);
        }
    }

    #[test]
    fn ignored_directories_are_lost_to_commands_unless_they_are_built_again() {
        let files = [
            ("data/a", 1),
            ("target/debug/a", 1),
            ("pkg/node_modules/b/c", 1),
            ("pkg/src", 1),
            ("x/data/c", 1),
        ];
        let tree = Tree::new(&files).ignoring("data\ntarget\nnode_modules\n*.log\n");
        fs::write(tree.0.path().join("a.log"), "x").unwrap();
        tree.check("data", true, false);
        tree.check("data/a", true, false);
        tree.check("x", true, false);
        for path in ["target", "target/debug", "target/debug/a", "pkg", "pkg/node_modules", "a.log"] {
            tree.check(path, false, false);
        }
    }

    #[test]
    fn files_beyond_the_limits_of_undo_are_lost() {
        let tree = Tree::new(&[("big", 101), ("a/small", 1), ("a/big", 200)]);
        tree.check("big", true, true);
        tree.check("a", true, true);
        tree.check("a/small", false, false);
        let many: Vec<String> = (0..30).map(|number| format!("many/{number}")).collect();
        let many: Vec<(&str, usize)> = many.iter().map(|name| (name.as_str(), 1)).collect();
        Tree::new(&many).check("many", true, true);
        let heavy: Vec<String> = (0..12).map(|number| format!("heavy/{number}")).collect();
        let heavy: Vec<(&str, usize)> = heavy.iter().map(|name| (name.as_str(), 99)).collect();
        Tree::new(&heavy).check("heavy", true, true);
    }

    #[test]
    fn git_leaves_ignored_files_and_loses_those_beyond_the_limits() {
        let files =
            [("data/a", 200), ("src/a.rs", 1), ("sub/src/b.rs", 1), ("assets/big", 101), ("x.log", 500)];
        let tree = Tree::new(&files).ignoring("data\n*.log\n");
        fs::create_dir(tree.0.path().join("sub/.git")).unwrap();
        fs::write(tree.0.path().join(".git/large"), [b'x'; 300]).unwrap();
        let check = |path: &str, files_lost: bool, tree_lost: bool| {
            let paths = [tree.0.path().join(path)];
            let is_lost = |remover| !lost(tree.0.path(), &paths, remover, SMALL).is_empty();
            let found = (is_lost(Remover::GitFiles), is_lost(Remover::GitTree));
            assert_eq!(found, (files_lost, tree_lost), "{path}");
        };
        check("src/a.rs", false, true);
        check("src", false, true);
        check("assets", true, true);
        check("assets/big", true, true);
        check("", true, true);
        check("sub", false, false);
        check("sub/src", false, false);
        check("missing", false, false);
        fs::remove_file(tree.0.path().join("assets/big")).unwrap();
        check("", false, false);
    }

    #[test]
    fn without_undo_all_is_lost_but_what_is_missing_or_built_again() {
        let files = [("src/a.rs", 1), ("target/debug/a", 1), ("build/own.sh", 1)];
        let tree = Tree::new(&files).ignoring("target\n");
        let check = |path: &str, by_command: bool, by_tool: bool| {
            let paths = [tree.0.path().join(path)];
            let is_lost = |remover| !lost_without_undo(tree.0.path(), &paths, remover, SMALL).is_empty();
            assert_eq!((is_lost(Remover::Command), is_lost(Remover::Tool)), (by_command, by_tool), "{path}");
        };
        check("src/a.rs", true, true);
        check("build/own.sh", true, true);
        check("target", false, true);
        check("target/debug/a", false, true);
        check("missing", false, false);
        check("../elsewhere", false, false);
    }

    #[test]
    fn a_link_is_removed_and_not_what_it_leads_to() {
        let tree = Tree::new(&[("big/a", 200)]);
        std::os::unix::fs::symlink("big", tree.0.path().join("link")).unwrap();
        tree.check("link", false, false);
    }
}
