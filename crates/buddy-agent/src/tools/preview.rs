//! What a person is shown of a change before it is made.

use std::time::Duration;

use tokio::time::timeout;

use crate::tools::tool::Preview;

/// How long a question may wait for it. A host that is slow is asked about without it.
const WITHIN: Duration = Duration::from_secs(5);
/// How much of it is kept, in bytes: it is part of the question and so of the log.
const MAX_BYTES: usize = 64 * 1024;

/// What is shown where the content stays the same. A line of this form is a remark in every diff.
const UNCHANGED: &str = "\\ nothing would change in the file\n";

/// The diff, where there is one in time.
pub(crate) async fn known(preview: Option<Preview>) -> Option<String> {
    let diff = timeout(WITHIN, preview?).await.ok().flatten()?;
    Some(if diff.is_empty() { UNCHANGED.to_owned() } else { bounded(diff) })
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
        let shown = known(Some(async move { Some(long) }.boxed())).await.unwrap();
        assert!(shown.len() < MAX_BYTES + 100 && shown.starts_with("+a line\n"));
        let last = shown.lines().last().unwrap();
        let kept = shown.lines().count() - 1;
        assert_eq!(last, format!("\\ {} more lines are not shown", 20_000 - kept));
    }

    #[tokio::test]
    async fn what_changes_nothing_is_told_and_what_cannot_be_told_is_no_diff() {
        assert_eq!(known(None).await, None);
        assert_eq!(known(Some(async { None }.boxed())).await, None);
        let same = known(Some(async { Some(String::new()) }.boxed())).await;
        assert_eq!(same.as_deref(), Some(UNCHANGED));
    }
}
