//! The marks by which git takes a directory for the own directory of a repository, whatever its name is.
//!
//! Half a repository is as good as a whole one to somebody who can add the rest later. So the sweep after a command and the
//! file tools both go by single marks.

use std::fs;
use std::path::Path;

use buddy_protocol::fold_path;

/// The file without which git takes no directory for a repository.
pub(crate) const HEAD: &str = "HEAD";

/// The kind of object that a mark is. A link can be either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkKind {
    File,
    Directory,
}

/// The table of marks.
const GIT_MARKS: &[(&str, MarkKind)] = &[
    (HEAD, MarkKind::File),
    ("commondir", MarkKind::File),
    ("config", MarkKind::File),
    ("gitdir", MarkKind::File),
    ("objects", MarkKind::Directory),
    ("refs", MarkKind::Directory),
];

/// Parts that git takes orders from and that are directories. All others are files.
const PART_DIRECTORIES: &[&str] = &["branches", "hooks", "remotes"];

/// Whether git would take a directory with these names for a repository's own directory, or for that of one of its work trees.
pub(crate) fn is_whole(has: impl Fn(&str) -> bool) -> bool {
    has(HEAD) && ((has("objects") && has("refs")) || has("commondir") || has("gitdir"))
}

/// Whether a directory with these names is at least half a repository: one more name makes it a whole one.
pub(crate) fn is_half(has: impl Fn(&str) -> bool) -> bool {
    has(HEAD) && (GIT_MARKS.iter().any(|(mark, _)| *mark != HEAD && has(mark)) || has("hooks"))
}

/// Whether writing a file or making a directory at a path adds a mark, or one of these parts that git takes orders from, to a
/// directory that has another mark of a repository already.
pub fn adds_to_repository(path: &Path, parts: &[&str]) -> bool {
    let above = path.ancestors().skip(1);
    above.into_iter().any(|directory| {
        let Ok(below) = path.strip_prefix(directory) else { return false };
        let names = fold_path(below);
        let Some(first) = names.first() else { return false };
        let adds = is_part(&names, parts) || is_new_mark(directory, &names);
        adds && GIT_MARKS
            .iter()
            .any(|(mark, kind)| !mark.eq_ignore_ascii_case(first) && is_there(&directory.join(mark), *kind))
    })
}

fn is_part(names: &[String], parts: &[&str]) -> bool {
    parts.iter().any(|part| {
        let wanted: Vec<&str> = part.split('/').collect();
        let is_below = wanted.iter().zip(names).all(|(wanted, name)| name == wanted);
        // A directory of the name of such a file is not read.
        let fits = names.len() == wanted.len() || PART_DIRECTORIES.contains(part);
        is_below && fits && names.len() >= wanted.len()
    })
}

fn is_new_mark(directory: &Path, names: &[String]) -> bool {
    let Some((first, rest)) = names.split_first() else { return false };
    let mark = GIT_MARKS.iter().find(|(mark, _)| mark.eq_ignore_ascii_case(first));
    mark.is_some_and(|(mark, kind)| match kind {
        MarkKind::File => rest.is_empty(),
        MarkKind::Directory => !is_there(&directory.join(mark), MarkKind::Directory),
    })
}

fn is_there(path: &Path, kind: MarkKind) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| match kind {
        MarkKind::File => !found.is_dir(),
        MarkKind::Directory => found.is_dir() || found.is_symlink(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: &[&str] = &["config", "hooks", "info/attributes"];

    #[test]
    fn a_name_counts_beside_another_mark_and_in_every_spelling() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for directory in ["half", "two/objects", "app/config", "plain"] {
            fs::create_dir_all(top.join(directory)).unwrap();
        }
        fs::write(top.join("half/HEAD"), "ref: refs/heads/m\n").unwrap();
        for (path, expected) in [
            ("half/config", true),
            ("half/Config", true),
            ("half/objects", true),
            ("half/objects/x", true),
            ("half/refs", true),
            ("half/commondir", true),
            ("half/hooks/pre-commit", true),
            ("half/info/attributes", true),
            ("half/deep/config", false),
            ("half/notes", false),
            ("half/config/x", false),
            ("two/config", true),
            ("two/refs", true),
            ("two/objects/x", false),
            ("app/hooks/use.ts", false),
            ("app/refs/x", false),
            ("plain/config", false),
            ("plain/hooks/x", false),
        ] {
            assert_eq!(adds_to_repository(&top.join(path), PARTS), expected, "{path}");
        }
    }

    #[test]
    fn half_a_repository_has_a_head_and_more() {
        let has = |names: &'static [&'static str]| move |name: &str| names.contains(&name);
        assert!(is_half(has(&["HEAD", "config"])) && !is_whole(has(&["HEAD", "config"])));
        assert!(!is_half(has(&["HEAD"])) && !is_half(has(&["config", "objects", "refs"])));
        assert!(is_whole(has(&["HEAD", "objects", "refs"])) && is_whole(has(&["HEAD", "gitdir"])));
    }
}
