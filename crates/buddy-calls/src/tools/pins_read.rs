//! The files of an approved command that runs on, until it has opened them.

use std::time::Duration;

use buddy_exec::FileOpens;
use tokio::task::spawn_blocking;

use crate::tools::tool::ToolContext;

/// How long a command that is left to itself has to open the files that it runs. Far more than a program needs for that; some of the
/// files may not be used at all.
const READ_WITHIN: Duration = Duration::from_secs(3);

/// Waits until an approved command that runs on has opened its files, so that a later command changes nothing that it was approved with.
pub(crate) struct PinsRead(Option<FileOpens>);

impl PinsRead {
    /// Begins before the command starts.
    pub(crate) fn begin(context: &ToolContext) -> Self {
        let is_watched = !context.pins.is_empty() && context.target.managed().is_some();
        let opens = is_watched.then(|| FileOpens::watch(&context.pins));
        Self(opens.and_then(|opens| {
            opens.inspect_err(|error| tracing::warn!(%error, "cannot watch the files of a command")).ok()
        }))
    }

    pub(crate) async fn wait(self) {
        if let Some(opens) = self.0 {
            // If it fails, the time that the command had until now has to do.
            let _ = spawn_blocking(move || opens.wait(READ_WITHIN)).await;
        }
    }
}
