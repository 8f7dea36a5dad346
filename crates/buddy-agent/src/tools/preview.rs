//! What a person is shown of a change before it is made.

use std::time::Duration;

use buddy_protocol::ToolFailure;
use tokio::time::timeout;

use crate::tools::tool::Preview;

/// How long a question may wait for it. A host that is slow is asked about without it.
const WITHIN: Duration = Duration::from_secs(5);
/// How much of it is kept, in bytes: it is part of the question and so of the log.
const MAX_BYTES: usize = 64 * 1024;

/// What is shown where the content stays the same. A line of this form is a remark in every diff.
const UNCHANGED: &str = "\\ nothing would change in the file\n";

/// Failures that no answer of a person mends, so that nobody is asked. Any other may be for want of rights, which a yes gives.
const CERTAIN: &[&str] = &[
    "bad_path",
    "bad_patch",
    "bad_pattern",
    "binary",
    "exists",
    "invalid_input",
    "is_link",
    "is_root",
    "not_a_directory",
    "not_a_file",
    "not_empty",
    "not_found",
    "old_ambiguous",
    "old_not_found",
    "patch_does_not_fit",
    "refused",
    "too_large",
];

/// The diff, where there is one in time, or why the call cannot work whatever a person says.
pub(crate) async fn known(preview: Option<Preview>) -> Result<Option<String>, ToolFailure> {
    let Some(preview) = preview else { return Ok(None) };
    match timeout(WITHIN, preview).await {
        Ok(Ok(Some(diff))) if diff.is_empty() => Ok(Some(UNCHANGED.to_owned())),
        Ok(Ok(Some(diff))) => Ok(Some(bounded(diff))),
        Ok(Err(failure)) if CERTAIN.contains(&failure.code.as_str()) => Err(failure),
        Ok(Ok(None) | Err(_)) | Err(_) => Ok(None),
    }
}

/// The first lines of a diff, and how many more there are.
fn bounded(diff: String) -> String {
    if diff.len() <= MAX_BYTES {
        return diff;
    }
    let mut size = 0;
    let mut lines = diff.split_inclusive('\n');
    let kept: String = lines
        .by_ref()
        .take_while(|line| {
            size += line.len();
            size <= MAX_BYTES
        })
        .collect();
    let left = diff.lines().count() - kept.lines().count();
    format!("{kept}\\ {left} more lines are not shown\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn a_long_diff_keeps_its_first_lines_and_says_so() {
        let long = "+a line\n".repeat(20_000);
        let shown = known(Some(async move { Ok(Some(long)) }.boxed())).await.unwrap().unwrap();
        assert!(shown.len() < MAX_BYTES + 100 && shown.starts_with("+a line\n"));
        let last = shown.lines().last().unwrap();
        let kept = shown.lines().count() - 1;
        assert_eq!(last, format!("\\ {} more lines are not shown", 20_000 - kept));
    }

    #[tokio::test]
    async fn what_changes_nothing_is_told_and_what_cannot_be_told_is_no_diff() {
        assert_eq!(known(None).await, Ok(None));
        assert_eq!(known(Some(async { Ok(None) }.boxed())).await, Ok(None));
        let same = known(Some(async { Ok(Some(String::new())) }.boxed())).await.unwrap();
        assert_eq!(same.as_deref(), Some(UNCHANGED));
    }

    #[tokio::test]
    async fn only_a_failure_that_no_yes_mends_is_told_before_the_question() {
        for (code, is_certain) in [("old_not_found", true), ("not_found", true), ("sealed", false)] {
            let failing = async move { Err(ToolFailure::new(code, "why")) }.boxed();
            assert_eq!(known(Some(failing)).await.is_err(), is_certain, "{code}");
        }
    }
}
