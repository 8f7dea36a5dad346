//! The files that calls changed, counted for people.

use std::collections::BTreeSet;

use buddy_protocol::{Content, Item, ItemStatus, Json, ToolCall, ToolKind};
use serde_json::Value;

use crate::counting::counted;
use crate::diff::{changed_files, count_changes};

/// The changes of some calls, as their results tell of them. Changes by commands are not known here.
#[derive(Debug, Default)]
pub(crate) struct FileChanges {
    files: BTreeSet<String>,
    added: usize,
    removed: usize,
    commits: u64,
}

impl FileChanges {
    /// The changes of these items.
    pub(crate) fn of<'a>(items: impl IntoIterator<Item = &'a Item>) -> Self {
        let mut changes = Self::default();
        for item in items.into_iter().filter(|item| item.status == ItemStatus::Completed) {
            match &item.content {
                Content::ToolCall(call) => changes.add_call(call),
                Content::FileChange(change) => changes.add_diff(&change.diff),
                _ => {}
            }
        }
        changes
    }

    fn add_call(&mut self, call: &ToolCall) {
        let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
        let Some(result) = result else { return };
        if result.get("commit").is_some() && result.get("subject").is_some() {
            self.commits += 1;
        }
        let text = |name: &str| result.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        match call.kind {
            ToolKind::Execute if call.title.contains("git") && call.title.contains("commit") => {
                self.commits += committed(text("stdout").unwrap_or_default());
            }
            // `git diff` has a diff too and changes nothing.
            ToolKind::Edit if !call.title.starts_with("git ") => {
                self.add_diff(text("diff").unwrap_or_default());
            }
            ToolKind::Delete => self.files.extend(text("path").map(str::to_owned)),
            _ => {}
        }
    }

    fn add_diff(&mut self, diff: &str) {
        let (added, removed) = count_changes(diff);
        self.added += added;
        self.removed += removed;
        self.files.extend(changed_files(diff));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.commits == 0
    }

    /// Whether a commit may have taken the changes in, so that no diff shows them.
    pub(crate) fn has_commits(&self) -> bool {
        self.commits > 0
    }

    /// `2 files +14 −3`; none where no file changed.
    pub(crate) fn told(&self) -> Option<String> {
        let lines = match (self.added, self.removed) {
            (0, 0) => String::new(),
            (added, removed) => format!(" +{added} −{removed}"),
        };
        (!self.files.is_empty()).then(|| format!("{}{lines}", counted(self.files.len() as u64, "file")))
    }

    /// The same with the commits.
    pub(crate) fn told_with_commits(&self) -> Option<String> {
        let commits = (self.commits > 0).then(|| counted(self.commits, "commit"));
        let parts: Vec<String> = self.told().into_iter().chain(commits).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// How many commits `git commit` printed: `[main 3de23d5] subject` each.
fn committed(stdout: &str) -> u64 {
    let is_commit = |line: &&str| {
        let bracket = line.strip_prefix('[').and_then(|line| line.split_once("] "));
        let id = bracket.and_then(|(place, _)| place.rsplit_once(' ')).map(|(_, id)| id);
        id.is_some_and(|id| id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    stdout.lines().filter(is_commit).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_counted_as_git_prints_them() {
        let printed = "[main (root-commit) 3de23d5] first\n 1 file changed, 1 insertion(+)\n[main 0123abc] second\n[detached HEAD fedcba9] third\n";
        assert_eq!(committed(printed), 3);
        assert_eq!(committed("[info] done 1234567\n[1] 2345\n"), 0);
    }
}
