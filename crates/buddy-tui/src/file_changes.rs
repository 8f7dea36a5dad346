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
    /// The commit that the last reset moved the branch to.
    reset_to: Option<String>,
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
            ToolKind::Execute if call.title.contains("git") => {
                let printed = text("stdout").unwrap_or_default();
                if COMMITTING.iter().any(|verb| call.title.contains(verb)) {
                    self.commits += count_commits(&call.title, printed, self.commits);
                }
                if moves_branch(&call.title) {
                    self.reset_to = reset_to(printed).or(self.reset_to.take());
                }
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
        self.files.is_empty() && self.commits == 0 && self.reset_to.is_none()
    }

    /// Whether a commit may have taken the changes in, so that no diff shows them.
    pub(crate) fn has_commits(&self) -> bool {
        self.commits > 0
    }

    /// `2 files +14 −3`; none where no file changed.
    pub(crate) fn describe(&self) -> Option<String> {
        let lines = match (self.added, self.removed) {
            (0, 0) => String::new(),
            (added, removed) => format!(" +{added} −{removed}"),
        };
        (!self.files.is_empty()).then(|| format!("{}{lines}", counted(self.files.len() as u64, "file")))
    }

    /// The same with the commits.
    pub(crate) fn told_with_commits(&self) -> Option<String> {
        let commits = (self.commits > 0).then(|| counted(self.commits, "commit"));
        let reset = self.reset_to.as_ref().map(|commit| format!("reset to {commit}"));
        let parts: Vec<String> = self.describe().into_iter().chain(commits).chain(reset).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Commands of git that make commits.
const COMMITTING: [&str; 5] = ["commit", "merge", "pull", "revert", "cherry-pick"];

/// How many commits a command added to those of the same turn. An amended commit takes the place of one, and `--quiet`
/// prints none.
fn count_commits(command: &str, stdout: &str, before: u64) -> u64 {
    let mut words = command.split_whitespace().skip_while(|word| *word != "commit");
    let is_quiet = |word: &str| {
        word == "--quiet"
            || word.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains('q'))
    };
    if before > 0 && command.contains("--amend") {
        return 0;
    }
    if words.next().is_some() && words.any(is_quiet) {
        return count_printed_commits(stdout).max(1);
    }
    count_printed_commits(stdout)
}

/// How many commits git printed: `[main 3de23d5] subject` each, and a line for a merge.
fn count_printed_commits(stdout: &str) -> u64 {
    let is_commit = |line: &&str| {
        let bracket = line.strip_prefix('[').and_then(|line| line.split_once("] "));
        let id = bracket.and_then(|(place, _)| place.rsplit_once(' ')).map(|(_, id)| id);
        id.is_some_and(|id| id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let is_merge = |line: &&str| line.starts_with("Merge made by ");
    stdout.lines().filter(|line| is_commit(line) || is_merge(line)).count() as u64
}

/// Whether a command resets to a commit that it names. `git reset --hard` alone drops no commits.
fn moves_branch(command: &str) -> bool {
    let Some((_, rest)) = command.split_once("reset ") else { return false };
    let words = rest.split_whitespace().take_while(|word| !["--", ";", "&&", "||", "|"].contains(word));
    rest.contains("--hard") && words.clone().any(|word| !word.starts_with('-') && word != "HEAD")
}

/// The commit in `HEAD is now at 3de23d5 subject`.
fn reset_to(stdout: &str) -> Option<String> {
    let line = stdout.lines().rev().find_map(|line| line.strip_prefix("HEAD is now at "))?;
    line.split_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_that_can_drop_commits_is_told() {
        for (command, is_move) in [
            ("git reset --hard HEAD~1", true),
            ("git reset --hard HEAD~2 && git status", true),
            ("git reset --hard", false),
            ("git reset --hard HEAD", false),
            ("git reset a.txt", false),
        ] {
            assert_eq!(moves_branch(command), is_move, "{command}");
        }
        assert_eq!(reset_to("HEAD is now at 3de23d5 first\n").as_deref(), Some("3de23d5"));
        let changes = FileChanges { reset_to: Some("3de23d5".to_owned()), ..FileChanges::default() };
        assert_eq!(changes.told_with_commits().as_deref(), Some("reset to 3de23d5"));
    }

    #[test]
    fn commits_are_counted_as_git_prints_them() {
        let printed = "[main (root-commit) 3de23d5] first\n 1 file changed, 1 insertion(+)\n[main 0123abc] second\n[detached HEAD fedcba9] third\n";
        assert_eq!(count_printed_commits(printed), 3);
        assert_eq!(count_printed_commits("Merge made by the 'ort' strategy.\n a.txt | 1 +\n"), 1);
        for (command, printed, before, expected) in [
            ("git commit -qm 'a'", "", 0, 1),
            ("git add -A && git commit --quiet -m a", "", 1, 1),
            ("git commit --amend --no-edit", "[main 3de23d5] a\n", 1, 0),
            ("git commit --amend --no-edit", "[main 3de23d5] a\n", 0, 1),
            ("git pull -q", "", 0, 0),
        ] {
            assert_eq!(count_commits(command, printed, before), expected, "{command}");
        }
        assert_eq!(count_printed_commits("[info] done 1234567\n[1] 2345\n"), 0);
    }
}
