//! Tools for managed processes: commands that run on when the call, the session and buddy have ended.
//!
//! A user's agents see and end the processes that were started for that user, whichever session did it, and no
//! others: neither those of other people nor any that buddy did not start.

mod logs;
mod shown;
mod start;
mod status;
mod stop;

use buddy_exec::managed::{ManagedError, ManagedProcesses, Status};
use buddy_protocol::ToolFailure;
use tokio::task::spawn_blocking;

use crate::tools::failure::{causes, target_failure};
use crate::tools::tool::ToolContext;
pub(crate) use logs::ProcessLogs;
pub(crate) use shown::shown;
pub(crate) use start::{ProcessStart, in_background, launch};
pub(crate) use status::ProcessStatus;
pub(crate) use stop::ProcessStop;

/// Does something with the managed processes of the target, beside everything else: it reads files and may wait.
async fn with_managed<T: Send + 'static>(
    context: &ToolContext,
    work: impl FnOnce(&ManagedProcesses) -> Result<T, ToolFailure> + Send + 'static,
) -> Result<T, ToolFailure> {
    let managed = context.target.managed().cloned().ok_or_else(|| {
        ToolFailure::new("unsupported", "this target cannot keep processes")
            .hint("run the command with `run_shell` and wait for it")
    })?;
    let done = spawn_blocking(move || work(&managed)).await;
    done.unwrap_or_else(|_| Err(ToolFailure::new("internal", "the tool broke; its outcome is unknown")))
}

/// One of this user's processes, by its id; or one that runs, by its name or the number of its process, which results tell
/// too. Another user's is not told from one that does not exist.
fn find(managed: &ManagedProcesses, id: &str, person: &str) -> Result<Status, ToolFailure> {
    let is_own = |status: &Status| status.record.owner.person == person;
    let missing = match managed.status(id) {
        Ok(status) if is_own(&status) => return Ok(status),
        Ok(_) => ManagedError::NotFound { id: id.to_owned() },
        Err(error) => error,
    };
    let is_meant = |status: &Status| {
        let process = status.record.process.as_ref().map(|process| process.pid.to_string());
        status.record.name.as_deref() == Some(id) || process.as_deref() == Some(id)
    };
    let all = managed.list().map_err(|error| failure(&error))?;
    let mut found =
        all.into_iter().filter(|status| status.condition.is_live() && is_own(status) && is_meant(status));
    match (found.next(), found.next()) {
        (Some(status), None) => Ok(status),
        (Some(_), Some(_)) => {
            let message = format!("several processes that run are called `{id}`");
            Err(ToolFailure::new("ambiguous", message).hint("give the id that `process_status` lists"))
        }
        (None, _) => Err(failure(&missing)),
    }
}

pub(crate) fn failure(error: &ManagedError) -> ToolFailure {
    match error {
        ManagedError::NotStarted(error) => target_failure(error),
        ManagedError::NotFound { .. } => {
            ToolFailure::new("not_found", causes(error)).hint("`process_status` without an id lists them")
        }
        ManagedError::TooMany { .. } => {
            ToolFailure::new("too_many", causes(error)).hint("end one that is not needed with `process_stop`")
        }
        _ => ToolFailure::new("failed", causes(error)),
    }
}
