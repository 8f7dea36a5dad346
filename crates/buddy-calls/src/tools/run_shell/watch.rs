//! Watching a command until it has ended or its wait is over, and its outcome as a result.

use std::path::{Path, PathBuf};
use std::time::Duration;

use buddy_exec::{Chunk, DenialKind, Ended, Exit, LogFile, OutputLimits, Running, Stream};
use buddy_protocol::{DeltaStream, ToolFailure, sealed_line};
use serde_json::{Value, json};

use crate::tools::failure::target_failure;
use crate::tools::outside::{JAIL, add_lines};
use crate::tools::path_text::show_files;
use crate::tools::tool::ToolContext;

/// How long a command may run in all, in the background too. What needs longer is a managed process.
pub(super) const MAX_RUN: Duration = Duration::from_hours(2);
/// Bytes of each stream kept in memory, from the start and from the end. The pipeline clips them further.
const KEEP: usize = 128 * 1024;
/// Bytes of a command's log on disk.
const LOG_CAP: u64 = 64 * 1024 * 1024;

/// Notes what the jail stopped in a command that failed. The answer says which files with secrets were closed to it where one of them can
/// be the reason.
pub(super) async fn explain(exit: &Exit, cwd: &Path, context: &ToolContext) -> Option<String> {
    if exit.code == Some(0) {
        return None;
    }
    let output = [exit.stderr.text(), exit.stdout.text()].join("\n");
    let denials = context.target.denials(&output, &context.bounds, cwd);
    let may_be_sealed =
        denials.iter().any(|denial| matches!(denial.kind, DenialKind::Sealed | DenialKind::Unknown));
    context.note_denials(denials);
    if !may_be_sealed {
        return None;
    }
    let roots: Vec<PathBuf> = context.workspace.iter().chain([&context.place.cwd]).cloned().collect();
    let files = context.target.sealed(&context.bounds, &roots).await;
    let files = sealed_line(&show_files(&files, &context.place.cwd))?;
    Some(format!(
        "it could not read {files}: they open only when the user answers a question about this command, not by a grant"
    ))
}

/// How much of the output is kept, and where all of it goes.
pub(super) fn limits(context: &ToolContext) -> OutputLimits {
    let log = LogFile { path: context.log.clone(), cap_bytes: LOG_CAP };
    OutputLimits { keep_head: KEEP, keep_tail: KEEP, log: Some(log) }
}

/// The outcome of waiting for a command.
pub(super) enum Waited {
    /// It has ended.
    Ended(Box<Exit>),
    /// It still runs.
    RunsOn,
}

/// Shows what a command prints until it has ended or the patience has, and stops it when the call is to stop.
pub(super) async fn watch(
    running: &mut Running,
    patience: Duration,
    context: &ToolContext,
) -> Result<Waited, ToolFailure> {
    let mut is_stopping = false;
    let over = async {
        loop {
            match tokio::time::Instant::now().checked_add(patience) {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
            // A command that waits for an answer is not slow: its time begins with the answer.
            match context.egress.as_ref().filter(|egress| egress.is_asking()) {
                Some(egress) => egress.answered().await,
                None => return,
            }
        }
    };
    let mut over = std::pin::pin!(over);
    loop {
        tokio::select! {
            chunk = running.next() => match chunk {
                Some(chunk) => show(&chunk, context),
                None => break,
            },
            () = &mut over, if !is_stopping => return Ok(Waited::RunsOn),
            () = context.cancel.cancelled(), if !is_stopping => {
                running.stop();
                is_stopping = true;
            }
        }
    }
    let exit = running.wait().await.map_err(|error| target_failure(&error))?;
    Ok(Waited::Ended(Box::new(exit)))
}

fn show(chunk: &Chunk, context: &ToolContext) {
    let stream = match chunk.stream {
        Stream::Stdout => DeltaStream::Stdout,
        Stream::Stderr => DeltaStream::Stderr,
    };
    // Live output is for watching; a full queue drops it, the result and the log have it all.
    let _ = context.live.try_send((stream, String::from_utf8_lossy(&chunk.bytes).into_owned()));
}

/// Up to this many bytes no model gets less than the whole, so nobody needs a count of the lines.
const WHOLE_BYTES: u64 = 4_000;

/// A command that ran is a result, whatever became of it; only one that could not be started is a failure.
pub(super) fn outcome(exit: &Exit, timeout: Duration) -> Value {
    let mut result = json!({
        "exit_code": exit.code,
        "signal": exit.signal,
        "stdout": exit.stdout.text(),
        "stderr": exit.stderr.text(),
        "duration_ms": u64::try_from(exit.duration.as_millis()).unwrap_or(u64::MAX),
        "truncated": exit.stdout.omitted() + exit.stderr.omitted() > 0,
        "log": exit.log.as_ref().map(|log| log.path.to_string_lossy().into_owned()),
    });
    if exit.stdout.total + exit.stderr.total > WHOLE_BYTES
        && let Some(fields) = result.as_object_mut()
    {
        fields.insert("lines".to_owned(), json!(exit.stdout.lines + exit.stderr.lines));
    }
    let note = match exit.ended {
        Ended::TimedOut => Some(format!(
            "the command was stopped after {} s; give a longer `wait`, or make it finish sooner",
            exit.duration.min(MAX_RUN).max(timeout).as_secs()
        )),
        Ended::Stopped => Some("the command was stopped by the user".to_owned()),
        Ended::Exited if exit.hit.memory => Some(
            "a process of the command was killed because the command took more memory than it may".to_owned(),
        ),
        Ended::Exited if exit.hit.processes => {
            Some("the command could not start as many processes as it wanted to".to_owned())
        }
        Ended::Exited if exit.leftovers > 0 => Some(format!(
            "{} process(es) that the command left running were ended with it; start processes that should outlive their command with \
             `process_start`",
            exit.leftovers
        )),
        Ended::Exited => None,
    };
    let remain = (exit.survivors > 0).then(|| {
        format!("{} process(es) of it still run: they have the rights of another account", exit.survivors)
    });
    let notes: Vec<String> = note.into_iter().chain(remain).collect();
    if !notes.is_empty() {
        result["timed_out"] = json!(exit.ended == Ended::TimedOut);
        result["note"] = json!(notes.join("; "));
    }
    // Faces show the lines of the jail below the call, so that a file which vanished is not a riddle.
    let swept: Vec<String> = exit.swept.iter().map(ToString::to_string).collect();
    add_lines(result, JAIL, &swept)
}
