//! Files that take effect where nobody looks, and that a command changed.
//!
//! A script in the jail may change them, as builds and generators do, and undo brings them back. The user and the model are told
//! which ones.

use std::collections::BTreeSet;
use std::path::PathBuf;

use buddy_exec::undo::Recorder;
use buddy_policy::takes_effect_unseen;
use buddy_protocol::{Fact, Notice, NoticeLevel};

use crate::tools::path_text::show_path;

/// The field of a result that tells of them, and the code of the notice.
pub(crate) const UNSEEN_FILES_CHANGED: &str = "unseen_files_changed";

/// The most files that are named.
const MAX_NAMED: usize = 10;

/// One line about the files of the workspace that commands of a call changed; none where they changed none.
pub(crate) fn describe_unseen_changes(recorder: &Recorder) -> Option<String> {
    let changed = recorder.changed_by_commands().into_iter();
    let unseen = changed.filter(|change| takes_effect_unseen(&change.root, &change.below));
    line(&unseen.map(|change| change.below).collect())
}

fn line(files: &BTreeSet<PathBuf>) -> Option<String> {
    if files.is_empty() {
        return None;
    }
    let named: Vec<String> =
        files.iter().take(MAX_NAMED).map(|file| format!("`{}`", show_path(file))).collect();
    let more = files.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "The command changed {}{more}. Such files take effect later: at a push, a commit or an install, or when an \
         agent or an editor starts. Review them, or take the change back with `/undo` (outside a conversation: `buddy undo`).",
        named.join(", ")
    ))
}

/// The same as a notice.
pub(crate) fn notice_unseen_changes(text: &str) -> Fact {
    Fact::Notice(Notice {
        level: NoticeLevel::Warning,
        code: UNSEEN_FILES_CHANGED.to_owned(),
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_and_not_too_many() {
        let files = |count: usize| (0..count).map(|at| format!(".ci/{at:02}").into()).collect();
        assert_eq!(line(&files(0)), None);
        let one = line(&files(1)).unwrap();
        assert!(one.starts_with("The command changed `.ci/00`. Such"), "{one}");
        let many = line(&files(12)).unwrap();
        assert!(many.contains("`.ci/09` and 2 more") && !many.contains("`.ci/10`"), "{many}");
    }
}
