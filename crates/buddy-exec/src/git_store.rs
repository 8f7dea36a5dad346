//! The store of a work tree whose `.git` is a file: the own directory of its repository, which lies elsewhere.
//!
//! Commands may write in a store as they may in a `.git` directory of the workspace, but only if both sides say that they belong
//! together: the file in the work tree names the store, and the store names the work tree. A command can write neither of the two, so
//! no file that it leaves opens the repository of another project.

use std::path::{Path, PathBuf};

use crate::git_marks::is_whole;
use crate::git_orders::{read, value_of};

/// The directory in which a repository has the own directories of its linked work trees.
const WORK_TREES: &str = "worktrees";
/// The directory in which a repository has the own directories of its submodules.
const MODULES: &str = "modules";
/// The longest `.git` file that is read.
const MAX_LINK_BYTES: u64 = 4096;

/// A store outside of the work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitStore {
    /// The directory that has the objects and branches, without links.
    pub at: PathBuf,
    /// Whether it is known to belong to the work tree, so that commands may write there.
    pub is_confirmed: bool,
}

/// The store of the work tree with this top, unless it is inside the work tree.
pub fn git_store(top: &Path) -> Option<GitStore> {
    let top = top.canonicalize().ok()?;
    let file = top.join(".git");
    let found = file.symlink_metadata().ok()?;
    if !found.is_file() || found.len() > MAX_LINK_BYTES {
        return None;
    }
    let git = top.join(read(&file)?.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let shared = read(&git.join("commondir")).and_then(|shared| git.join(shared.trim()).canonicalize().ok());
    let is_linked = shared.is_some();
    let at = shared.unwrap_or_else(|| git.clone());
    if at.starts_with(&top) || !is_whole(|name| at.join(name).exists()) {
        return None;
    }
    let names_top = if is_linked { is_linked_tree(&git, &at, &top) } else { is_submodule(&git, &top) };
    let is_confirmed = names_top && has_usual_name(&at) && !top.starts_with(&at);
    Some(GitStore { at, is_confirmed })
}

/// Whether this own directory is one of the store's linked work trees, and names this top.
fn is_linked_tree(git: &Path, store: &Path, top: &Path) -> bool {
    let named = read(&git.join("gitdir")).map(|named| git.join(named.trim()));
    let is_top = |named: PathBuf| {
        named.file_name().is_some_and(|name| name == ".git")
            && named.parent().and_then(|above| above.canonicalize().ok()).is_some_and(|above| above == top)
    };
    git.parent() == Some(&store.join(WORK_TREES)) && named.is_some_and(is_top)
}

/// Whether this own directory is that of a submodule, and names this top.
fn is_submodule(git: &Path, top: &Path) -> bool {
    let is_module = git.ancestors().skip(1).any(|above| above.ends_with(Path::new(".git").join(MODULES)));
    let named = read(&git.join("config")).and_then(|text| value_of(&text, "core.worktree"));
    let is_top = |named: String| git.join(named).canonicalize().is_ok_and(|named| named == top);
    is_module && named.is_some_and(is_top)
}

/// Whether a directory has a name that people give to stores. A bare repository can have any name, and its directory other files.
/// The directory of a submodule has the name of the submodule, in a directory that is git's own.
fn has_usual_name(store: &Path) -> bool {
    store.ancestors().filter_map(Path::file_name).any(|name| name == ".git")
        || store.extension().is_some_and(|extension| extension == "git")
        || store.ends_with(".bare")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A store with a linked work tree `tree`, after these writes: whether it is confirmed, or `None` if there is none.
    fn check(store: &str, writes: &[(&str, &str)], expected: Option<bool>) {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let own = format!("{store}/worktrees/t");
        let put = |name: &str, text: &str| {
            fs::create_dir_all(at.join(name).parent().unwrap()).unwrap();
            fs::write(at.join(name), text.replace('@', at.to_str().unwrap())).unwrap();
        };
        for name in ["HEAD", "objects/x", "refs/x", "config"] {
            put(&format!("{store}/{name}"), "");
        }
        put(&format!("{own}/HEAD"), "");
        put(&format!("{own}/commondir"), "../..\n");
        put(&format!("{own}/gitdir"), "@/tree/.git\n");
        put("tree/.git", &format!("gitdir: @/{own}\n"));
        for (name, text) in writes {
            put(name, text);
        }
        let found = git_store(&at.join("tree"));
        let is_confirmed = found.as_ref().map(|found| found.is_confirmed);
        assert_eq!(is_confirmed, expected, "{store} {writes:?}");
        if let Some(found) = found.filter(|_| writes.is_empty()) {
            assert_eq!(found.at, at.join(store));
        }
    }

    #[test]
    fn a_store_and_its_work_tree_name_each_other() {
        for store in ["main/.git", "app.git", ".bare"] {
            check(store, &[], Some(true));
        }
        // As git writes it with `worktree.useRelativePaths`.
        check("main/.git", &[("main/.git/worktrees/t/gitdir", "../../../../tree/.git\n")], Some(true));
        check("files", &[], Some(false));
    }

    #[test]
    fn one_side_alone_opens_nothing() {
        check("main/.git", &[("main/.git/worktrees/t/gitdir", "@/elsewhere/.git\n")], Some(false));
        check("main/.git", &[("main/.git/worktrees/t/gitdir", "@/tree\n")], Some(false));
        // The own directory of the work tree is not one of the store that it shares.
        let mine =
            [("mine/HEAD", ""), ("mine/commondir", "../main/.git\n"), ("mine/gitdir", "@/tree/.git\n")];
        check("main/.git", &[&mine[..], &[("tree/.git", "gitdir: @/mine\n")]].concat(), Some(false));
        // The whole repository of somebody else.
        check("main/.git", &[("tree/.git", "gitdir: @/main/.git\n")], Some(false));
        check("main/.git", &[("tree/.git", "gitdir: @/nowhere\n")], None);
    }

    #[test]
    fn a_submodule_names_its_work_tree_too() {
        for (named, expected) in [("../../../../tree", true), ("../../../../other", false)] {
            let config = format!("[core]\n\tworktree = {named}\n");
            let files = [
                ("main/.git/modules/part/HEAD", ""),
                ("main/.git/modules/part/objects/x", ""),
                ("main/.git/modules/part/refs/x", ""),
                ("main/.git/modules/part/config", config.as_str()),
                ("other/x", ""),
                ("tree/.git", "gitdir: ../main/.git/modules/part\n"),
            ];
            check("main/.git", &files, Some(expected));
        }
    }

    #[test]
    fn links_do_not_make_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("tree")).unwrap();
        std::os::unix::fs::symlink("../main/.git", top.join("tree/.git")).unwrap();
        assert_eq!(git_store(&top.join("tree")), None);
        assert_eq!(git_store(&top.join("none")), None);
    }
}
