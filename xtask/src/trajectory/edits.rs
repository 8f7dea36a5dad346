//! Changes of files: which calls make them, how many tries each took, and what counts as a check.

use std::collections::BTreeSet;
use std::ops::AddAssign;

use buddy_protocol::{ItemStatus, ToolCall, ToolKind};
use serde_json::Value;

/// The number of tries that the changes took. Calls on the same file, up to the one that works, are tries of one change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EditTries {
    /// Changes that the model tried to make.
    pub(super) wanted: u64,
    /// Those whose first call worked.
    pub(super) at_first_try: u64,
    /// Those that a later call made.
    pub(super) later: u64,
    /// Files whose last call failed.
    failing: BTreeSet<String>,
}

impl EditTries {
    /// Takes note of a call that changes files.
    pub(super) fn note(&mut self, call: &ToolCall, status: ItemStatus) {
        let subject = subject(call);
        let is_retry = self.failing.contains(&subject);
        self.wanted += u64::from(!is_retry);
        if status != ItemStatus::Completed {
            self.failing.insert(subject);
        } else if is_retry {
            self.later += 1;
            self.failing.remove(&subject);
        } else {
            self.at_first_try += 1;
        }
    }
}

impl AddAssign for EditTries {
    fn add_assign(&mut self, other: Self) {
        self.wanted += other.wanted;
        self.at_first_try += other.at_first_try;
        self.later += other.later;
    }
}

/// Whether the call is one that changes files. Staging and committing leave them as they are.
pub(super) fn changes_files(call: &ToolCall) -> bool {
    matches!(call.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
        && !matches!(call.name.as_str(), "git_add" | "git_commit")
}

/// Whether the call is a command that ran to exit code 0: the same rule as that of the finish gate.
pub(super) fn has_succeeded(status: ItemStatus, call: &ToolCall) -> bool {
    if call.kind != ToolKind::Execute || status != ItemStatus::Completed {
        return false;
    }
    let result = call.output.as_ref().and_then(|output| output.result.as_ref());
    result.is_some_and(|result| result.value().get("exit_code") == Some(&Value::from(0)))
}

/// The file that the call is about; of a patch the first one, and the tool's name if the call names none.
fn subject(call: &ToolCall) -> String {
    let input = call.input.value();
    let text = |key: &str| input.get(key).and_then(Value::as_str);
    let named = text("path").or_else(|| text("file_path")).map(|path| path.trim_start_matches("./"));
    let in_patch = || {
        text("patch")?.lines().find_map(|line| {
            let (_, file) = line.strip_prefix("*** ")?.split_once(" File: ")?;
            Some(file.trim())
        })
    };
    named.or_else(in_patch).unwrap_or(&call.name).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, input: Value) -> ToolCall {
        ToolCall {
            call_id: String::new(),
            name: name.to_owned(),
            kind: ToolKind::Edit,
            title: String::new(),
            input: input.into(),
            output: None,
            images: Vec::new(),
            target: None,
            had_secrets: false,
            caller: None,
        }
    }

    fn check(calls: &[(ToolCall, ItemStatus)], wanted: u64, at_first_try: u64, later: u64) {
        let mut tries = EditTries::default();
        for (call, status) in calls {
            tries.note(call, *status);
        }
        assert_eq!(
            (tries.wanted, tries.at_first_try, tries.later),
            (wanted, at_first_try, later),
            "{calls:?}"
        );
    }

    #[test]
    fn a_retry_is_the_same_change_whatever_tool_makes_it() {
        let patch = call(
            "apply_patch",
            json!({"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch"}),
        );
        let whole = call("write_file", json!({"path": "./a.txt", "content": "y"}));
        check(&[(patch, ItemStatus::Failed), (whole, ItemStatus::Completed)], 1, 0, 1);
    }

    #[test]
    fn changes_of_other_files_and_later_changes_are_their_own() {
        let a = || call("edit_file", json!({"path": "a"}));
        let b = call("edit_file", json!({"file_path": "b"}));
        check(
            &[(a(), ItemStatus::Completed), (b, ItemStatus::Completed), (a(), ItemStatus::Completed)],
            3,
            3,
            0,
        );
    }

    #[test]
    fn a_change_that_never_works_counts_once() {
        let a = || call("edit_file", json!({"path": "a"}));
        check(&[(a(), ItemStatus::Failed), (a(), ItemStatus::Denied)], 1, 0, 0);
    }

    #[test]
    fn staging_changes_no_file() {
        assert!(!changes_files(&call("git_add", json!({}))));
        assert!(changes_files(&call("edit_file", json!({}))));
    }
}
