//! The preview of a change before it is made.

use std::time::Duration;

use buddy_protocol::ToolFailure;
use tokio::time::timeout;

use crate::tools::foreseen::{Extent, Foreseen};
use crate::tools::tool::Preview;

/// The facts about a change when a user is asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) diff: Option<String>,
    pub(crate) extent: Option<Extent>,
}

/// How long a question may wait for it. A host that is slow is asked about without it.
const WITHIN: Duration = Duration::from_secs(5);
/// How much of it is kept, in bytes: it is part of the question and so of the log.
const MAX_BYTES: usize = 64 * 1024;

/// The remark where the content stays the same. A line of this form is a remark in every diff.
const UNCHANGED: &str = "\\ nothing would change in the file\n";

/// Failures that no answer of a user mends, so that nobody is asked. Any other may be for want of rights, which a yes gives.
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

/// The facts that are found in time, or why the call cannot work whatever a user says.
pub(crate) async fn known(preview: Option<Preview>) -> Result<Known, ToolFailure> {
    let Some(preview) = preview else { return Ok(Known::default()) };
    match timeout(WITHIN, preview).await {
        Ok(Ok(Some(Foreseen::Diff(diff)))) if diff.is_empty() => {
            Ok(Known { diff: Some(UNCHANGED.to_owned()), extent: None })
        }
        Ok(Ok(Some(Foreseen::Diff(diff)))) => {
            let extent = Some(Extent::of(&diff));
            Ok(Known { diff: Some(bounded(diff)), extent })
        }
        Ok(Ok(Some(Foreseen::Extent(extent)))) => Ok(Known { diff: None, extent: Some(extent) }),
        Ok(Err(failure)) if CERTAIN.contains(&failure.code.as_str()) => Err(failure),
        Ok(Ok(None) | Err(_)) | Err(_) => Ok(Known::default()),
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
        let long = async move { Ok(Some(Foreseen::Diff(long))) }.boxed();
        let shown = known(Some(long)).await.unwrap().diff.unwrap();
        assert!(shown.len() < MAX_BYTES + 100 && shown.starts_with("+a line\n"));
        let last = shown.lines().last().unwrap();
        let kept = shown.lines().count() - 1;
        assert_eq!(last, format!("\\ {} more lines are not shown", 20_000 - kept));
    }

    #[tokio::test]
    async fn what_changes_nothing_is_told_and_what_cannot_be_told_is_no_diff() {
        assert_eq!(known(None).await, Ok(Known::default()));
        assert_eq!(known(Some(async { Ok(None) }.boxed())).await, Ok(Known::default()));
        let same = known(Some(async { Ok(Some(Foreseen::Diff(String::new()))) }.boxed())).await.unwrap();
        assert_eq!((same.diff.as_deref(), same.extent), (Some(UNCHANGED), None));
    }

    #[test]
    fn the_extent_of_a_change_is_that_of_its_diff() {
        let before = "one\n-- two\n++ three\nfour\n";
        let diff = crate::tools::unified::unified("a", before, "one\n++ 2\n++ three\nfour\nfive\n");
        let other = crate::tools::unified::unified("b", "", "x\n");
        let extent = Extent::of(&format!("{diff}{other}"));
        assert_eq!(extent, Extent { files: 2, added: 3, removed: 1 });
        assert_eq!(Extent::of(&diff).added_to("Write a"), "Write a (+2 −1)");
        assert_eq!(Extent::of(&other).added_to("Commit \"x\"?"), "Commit \"x\"? 1 file (+1 −0)");
        assert_eq!(extent.added_to("Write a\nDelete b"), "2 files (+3 −1)\nWrite a\nDelete b");
    }

    #[tokio::test]
    async fn only_a_failure_that_no_yes_mends_is_told_before_the_question() {
        for (code, is_certain) in [("old_not_found", true), ("not_found", true), ("sealed", false)] {
            let failing = async move { Err(ToolFailure::new(code, "why")) }.boxed();
            assert_eq!(known(Some(failing)).await.is_err(), is_certain, "{code}");
        }
    }
}
