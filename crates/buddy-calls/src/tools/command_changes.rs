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
