//! The names that git writes in the own directory of a repository, and those of them that steer a later git command.
//!
//! The table says which names a command may leave there. All others stay only if they were there before. Files that git needs in order to
//! go on with a rebase, a merge or a series of patches are judged by their text: only options that run no program and write to no other
//! place are let through. The names are those that git 2.39 to 2.47 writes; a test makes git write them.

mod index_changes;
mod index_content;
mod index_extensions;
mod index_file;
mod link_names;
mod object_files;
mod objects;
mod packs;
mod texts;

pub(crate) use index_changes::{DirectoryFault, new_entries};
pub(crate) use index_content::EntryKind;
pub use index_content::{GitIndex, IndexEntry};
pub(crate) use index_file::{SoundIndex, sound_index, without_paths};
pub(crate) use link_names::LinkTable;
pub(crate) use object_files::{ObjectKind, object_name};
pub(crate) use objects::ObjectStore;
pub(crate) use texts::{is_plain_reference, replacements, without_replacements};

use texts::{
    StepFilter, has_plain_apply_options, has_plain_strategy_options, is_author, is_branch_name,
    is_built_in_strategy, is_plain_signature, is_rerere_option, updates_branches, with_plain_options,
    without_orders, without_temporary,
};

/// The standing of a name in the own directory of a repository.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GitState {
    /// Commands may write it, and everything below it.
    Free,
    /// A directory whose entries count one by one.
    Inside,
    /// Commands may write it as long as this says so of its text.
    Judged(fn(&str) -> bool),
    /// Commands may write it, and lines that this takes out are removed.
    Filtered(StepFilter),
    /// A reference, or a directory of them: commands may write it, but a reference that names another file names one of these.
    References,
    /// Commands may write it, but add no replacements of objects.
    PackedReferences,
    /// Commands may write it as git does: without paths that lead away, and without new contents for files that programs run code from.
    Index,
    /// A change that git would apply to the work tree by itself.
    Autostash,
    /// It steers git, or git does not write it.
    Steers,
}

use GitState::{Autostash, Filtered, Free, Index, Judged, PackedReferences, References, Steers};

/// Names in the own directory of a repository, first match first. A name ends with a star if it stands for all names with this beginning, and
/// begins with one if it stands for all with this end.
const GIT_STATE: &[(&str, GitState)] = &[
    // Objects, and the names of them.
    ("objects", Free),
    ("refs/replace", Steers),
    (REFERENCES, References),
    ("reftable", Free),
    ("logs", Free),
    ("packed-refs", PackedReferences),
    ("HEAD", References),
    ("*_HEAD", References),
    ("AUTO_MERGE", References),
    ("shallow*", Free),
    ("lfs", Free),
    // The index.
    ("index", Index),
    ("index.*", Free),
    ("next-index-*", Free),
    ("sharedindex*", Index),
    ("fsmonitor--daemon", Free),
    ("fsmonitor--daemon.ipc", Free),
    // Texts for people.
    ("*_EDITMSG", Free),
    ("*_MSG", Free),
    ("MERGE_MODE", Free),
    ("EDIT_DESCRIPTION", Free),
    ("ADD_EDIT.patch", Free),
    ("addp-hunk-edit.diff", Free),
    ("description", Free),
    ("gc.log", Free),
    ("gc.pid", Free),
    ("lost-found", Free),
    ("fast_import_crash_*", Free),
    ("subtree-cache", Free),
    ("info/exclude", Free),
    ("info/refs", Free),
    // A search for a change, and a merge of notes.
    ("BISECT_*", References),
    ("NOTES_MERGE_*", References),
    // Changes that wait.
    ("MERGE_AUTOSTASH", Autostash),
    ("rebase-merge/autostash", Autostash),
    ("rebase-apply/autostash", Autostash),
    ("rebase-merge/git-rebase-todo", Filtered(without_orders)),
    ("rebase-merge/git-rebase-todo.backup", Filtered(without_orders)),
    ("rebase-merge/strategy", Judged(is_built_in_strategy)),
    ("rebase-merge/strategy_opts", Judged(has_plain_strategy_options)),
    ("rebase-merge/gpg_sign_opt", Judged(is_plain_signature)),
    ("rebase-merge/allow_rerere_autoupdate", Judged(is_rerere_option)),
    ("rebase-merge/author-script", Judged(is_author)),
    ("rebase-merge/head-name", Judged(is_branch_name)),
    ("rebase-merge/update-refs", Judged(updates_branches)),
    ("rebase-merge/refs-to-delete", Filtered(without_temporary)),
    ("rebase-merge/amend", Free),
    ("rebase-merge/cdate_is_adate", Free),
    ("rebase-merge/current-fixups", Free),
    ("rebase-merge/done", Free),
    ("rebase-merge/drop_redundant_commits", Free),
    ("rebase-merge/dropped", Free),
    ("rebase-merge/end", Free),
    ("rebase-merge/ignore_date", Free),
    ("rebase-merge/implicit-interactive", Free),
    ("rebase-merge/interactive", Free),
    ("rebase-merge/keep_redundant_commits", Free),
    ("rebase-merge/message*", Free),
    ("rebase-merge/msgnum", Free),
    ("rebase-merge/no-reschedule-failed-exec", Free),
    ("rebase-merge/onto", Free),
    ("rebase-merge/orig-head", Free),
    ("rebase-merge/patch", Free),
    ("rebase-merge/quiet", Free),
    ("rebase-merge/reschedule-failed-exec", Free),
    ("rebase-merge/rewritten-list", Free),
    ("rebase-merge/rewritten-pending", Free),
    ("rebase-merge/signoff", Free),
    ("rebase-merge/squash-onto", Free),
    ("rebase-merge/stopped-sha", Free),
    ("rebase-merge/trailer", Free),
    ("rebase-merge/verbose", Free),
    ("rebase-apply/apply-opt", Judged(has_plain_apply_options)),
    ("rebase-apply/author-script", Judged(is_author)),
    ("rebase-apply/gpg_sign_opt", Judged(is_plain_signature)),
    ("rebase-apply/head-name", Judged(is_branch_name)),
    ("rebase-apply/0*", Free),
    ("rebase-apply/1*", Free),
    ("rebase-apply/2*", Free),
    ("rebase-apply/3*", Free),
    ("rebase-apply/4*", Free),
    ("rebase-apply/5*", Free),
    ("rebase-apply/6*", Free),
    ("rebase-apply/7*", Free),
    ("rebase-apply/8*", Free),
    ("rebase-apply/9*", Free),
    ("rebase-apply/abort-safety", Free),
    ("rebase-apply/applying", Free),
    ("rebase-apply/dirtyindex", Free),
    ("rebase-apply/final-commit", Free),
    ("rebase-apply/info", Free),
    ("rebase-apply/keep", Free),
    ("rebase-apply/last", Free),
    ("rebase-apply/messageid", Free),
    ("rebase-apply/msg*", Free),
    ("rebase-apply/next", Free),
    ("rebase-apply/no-verify", Free),
    ("rebase-apply/onto", Free),
    ("rebase-apply/orig-head", Free),
    ("rebase-apply/original-commit", Free),
    ("rebase-apply/patch", Free),
    ("rebase-apply/patch-merge-*", Free),
    ("rebase-apply/quiet", Free),
    ("rebase-apply/quoted-cr", Free),
    ("rebase-apply/rebasing", Free),
    ("rebase-apply/rewritten", Free),
    ("rebase-apply/scissors", Free),
    ("rebase-apply/sign", Free),
    ("rebase-apply/threeway", Free),
    ("rebase-apply/utf8", Free),
    ("rebase-apply/verbose", Free),
    ("sequencer/abort-safety", Free),
    ("sequencer/head", Free),
    ("sequencer/opts", Filtered(with_plain_options)),
    ("sequencer/todo", Filtered(without_orders)),
    // The own directories of further work trees.
    ("locked", Free),
    // Stores of other programs. They hold no settings.
    (".graphite_*", Free),
    ("annex", Free),
    ("branchless", Free),
    ("filter-repo", Free),
    ("machete", Free),
    ("opencode", Free),
    ("sl", Free),
    ("svn", Free),
];

/// The directory of the references of a repository.
const REFERENCES: &str = "refs";

/// Ends of names that git reads nothing from: locks, drafts, and the copies that editors keep.
const UNREAD_ENDS: &[&str] = &[".lock", ".new", ".tmp", ".bak", ".orig", "~"];

/// Beginnings of names of drafts.
const DRAFT_BEGINNINGS: &[&str] = &["tmp_", ".tmp-"];

/// A part of the name of a draft of a stand-in.
const STAND_IN_DRAFT: &str = ".buddy-";

/// Names that steer git in a directory in which not git alone makes files, because it is also somebody's directory of work trees.
const STEERING: &[&str] = &["MERGE_AUTOSTASH", "MERGE_RR", "rr-cache"];

/// Directories of a repository's own directory in which other repositories have theirs.
const WORK_TREES: &str = "worktrees";
const MODULES: &str = "modules";

/// The standing of an entry with these names below the own directory of a repository.
pub(crate) fn git_state(names: &[&str], is_directory: bool) -> GitState {
    match names {
        [WORK_TREES | MODULES] | [WORK_TREES, _] | [MODULES, ..] if is_directory => GitState::Inside,
        [WORK_TREES, _, below @ ..] if !below.is_empty() => git_state(below, is_directory),
        // The name of a submodule has any number of parts, and git may be about to make it.
        [MODULES, below @ ..] => (1..below.len())
            .filter_map(|from| below.get(from..))
            .map(|rest| git_state(rest, is_directory))
            .find(|state| !matches!(state, Steers))
            .unwrap_or(Steers),
        _ => own_state(names, is_directory),
    }
}

/// The same in a directory that git shares with its user.
pub(crate) fn shared_git_state(names: &[&str], is_directory: bool) -> GitState {
    match (git_state(names, is_directory), names) {
        (Steers, [name]) if !STEERING.contains(name) => Free,
        (state, _) => state,
    }
}

fn own_state(names: &[&str], is_directory: bool) -> GitState {
    let is_above = |(row, _): &(&str, GitState)| {
        let mut row = row.split('/');
        names.iter().all(|name| row.next() == Some(name)) && row.next().is_some()
    };
    if is_directory && GIT_STATE.iter().any(is_above) {
        return GitState::Inside;
    }
    let row = GIT_STATE.iter().find(|(row, _)| {
        let row: Vec<&str> = row.split('/').collect();
        row.len() <= names.len() && row.iter().zip(names).all(|(row, name)| fits(row, name))
    });
    if let Some((row, state)) = row {
        // Only a directory that is free or has references is so with everything below.
        let is_whole = row.split('/').count() == names.len();
        let is_deep = matches!(state, Free) || (matches!(state, References) && *row == REFERENCES);
        return if is_whole || is_deep { *state } else { Steers };
    }
    let last = names.last().copied().unwrap_or_default();
    let is_unread = UNREAD_ENDS.iter().any(|end| last.ends_with(end))
        || DRAFT_BEGINNINGS.iter().any(|beginning| last.starts_with(beginning))
        || last.contains(STAND_IN_DRAFT);
    if is_unread && !is_directory { Free } else { Steers }
}

fn fits(row: &str, name: &str) -> bool {
    match (row.strip_prefix('*'), row.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(beginning)) => name.starts_with(beginning),
        (None, None) => row == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(path: &str) -> &'static str {
        let is_directory = path.ends_with('/');
        let names: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        match git_state(&names, is_directory) {
            Free => "free",
            GitState::Inside => "inside",
            Judged(_) | Filtered(_) | References | PackedReferences | Index => "judged",
            Autostash | Steers => "steers",
        }
    }

    #[test]
    fn names_of_git_and_others() {
        for (path, expected) in [
            ("objects/", "free"),
            ("refs/", "inside"),
            ("refs/heads/", "judged"),
            ("refs/heads/deep/x", "judged"),
            ("refs/replace/", "steers"),
            ("refs/replace/x", "steers"),
            ("refs/stash", "judged"),
            ("packed-refs", "judged"),
            ("HEAD", "judged"),
            ("MERGE_HEAD", "judged"),
            ("MERGE_HEAD/x", "steers"),
            ("MERGE_MSG", "free"),
            ("MERGE_RR", "steers"),
            ("merge_rr", "steers"),
            ("rr-cache/", "steers"),
            ("MERGE_AUTOSTASH", "steers"),
            ("rebase-merge/", "inside"),
            ("rebase-merge/autostash", "steers"),
            ("rebase-merge/new-in-a-later-git", "steers"),
            ("rebase-apply/0017", "free"),
            ("rebase-apply/apply-opt", "judged"),
            ("rebase-apply/deep/", "steers"),
            ("index", "judged"),
            ("worktrees/t/index", "judged"),
            ("modules/a/b/index", "judged"),
            ("sharedindex.0123", "judged"),
            ("index.lock", "free"),
            ("config.lock", "free"),
            ("x/", "steers"),
            ("info/", "inside"),
            ("info/grafts", "steers"),
            ("worktrees/", "inside"),
            ("worktrees/t/", "inside"),
            ("worktrees/t/MERGE_AUTOSTASH", "steers"),
            ("worktrees/t/logs/", "free"),
            ("modules/a/b/", "inside"),
            ("modules/a/b/HEAD", "judged"),
            ("modules/a/b/MERGE_RR", "steers"),
            ("modules/a/b/rebase-apply/apply-opt", "judged"),
            ("modules/a/MERGE_AUTOSTASH", "steers"),
            ("modules/a/rr-cache/x/postimage", "steers"),
            ("modules/a/lfs/objects/aa/bb/aabb", "free"),
            ("lfs/", "free"),
            ("lfs/cache/locks/refs/heads/main/verifiable", "free"),
        ] {
            assert_eq!(state(path), expected, "{path}");
        }
        assert!(matches!(shared_git_state(&["notes.md"], false), Free));
        assert!(matches!(shared_git_state(&["MERGE_RR"], false), Steers));
        assert!(matches!(shared_git_state(&["rebase-merge", "other"], false), Steers));
    }
}
