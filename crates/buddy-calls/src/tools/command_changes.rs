//! The changes of a command that has ended, for undo.

use buddy_exec::{Exit, Recorder};
use buddy_policy::SentWork;
use buddy_protocol::ToolFailure;
use serde_json::Value;

/// Records the changes of a command that has ended.
///
/// One simple command that failed sent no work. Of several parts, the exit code tells of the last.
pub(crate) async fn keep_after(exit: Option<&Exit>, parts: usize, recorder: &Recorder) -> Result<(), String> {
    let is_failed = exit.and_then(|exit| exit.code).is_some_and(|code| code != 0);
    if is_failed && parts <= 1 {
        recorder.sent_nothing().await;
    }
    recorder.after_command().await.map_err(|error| error.to_string())
}

/// How many parts of a line its exit code leaves open. Where each part runs only if those before it succeeded and only the last one
/// sends work, a failure says that nothing was sent.
pub(crate) fn undecided_parts(command: &str, parts: &[String]) -> usize {
    let sends =
        |part: &String| ["push", "publish", "upload", "release"].iter().any(|verb| part.contains(verb));
    let is_chain = command.matches("&&").count() + 1 == parts.len()
        && !command.replace("&&", "").contains(['|', '&', ';', '\n', '(', '{', '!', '`', '$']);
    let sends_last = parts.split_last().is_some_and(|(_, before)| !before.iter().any(sends));
    if is_chain && sends_last { 1 } else { parts.len() }
}

/// Records the changes of a call that failed while its command ran.
pub(crate) async fn keep_after_failure(result: &Result<Value, ToolFailure>, recorder: &Recorder) {
    if result.is_err()
        && let Err(error) = recorder.after_command().await
    {
        // The snapshot stays, and undo compares with it.
        tracing::warn!(%error, "what a call that failed changed is not known");
    }
}

/// Who keeps the work that a command sends, and what they keep.
pub(crate) fn receiver(sent: SentWork) -> (String, String) {
    let (to, why) = match sent {
        SentWork::Commits => ("the remote", "it keeps what was pushed"),
        SentWork::Package => ("the registry", "it keeps what was published"),
    };
    (to.to_owned(), why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::undecided_parts;

    #[test]
    fn a_chain_that_failed_sent_nothing_if_only_its_end_sends() {
        let undecided = |parts: &[&str], command: &str| {
            undecided_parts(command, &parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(undecided(&["git pull", "git push"], "git pull && git push"), 1);
        assert_eq!(undecided(&["git push"], "git push"), 1);
        for (parts, command) in [
            (&["git push", "make"], "git push && make"),
            (&["git push", "git push x"], "git push && git push x"),
            (&["git pull", "git push"], "git pull || git push"),
            (&["git pull", "git push"], "git pull; git push & wait"),
            (&["git push", "tail"], "git push | tail"),
            (&["git pull", "git push"], "git pull && ! git push"),
        ] {
            assert_eq!(undecided(parts, command), 2, "{command}");
        }
    }
}
