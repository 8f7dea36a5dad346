//! A command that a user runs themselves in a conversation. They need nobody's leave: it has their own rights and no jail.
//! Its output is shown as it comes, and the model is told with its next call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use buddy_calls::{Attached, PipelineParts, TextClass, clip_text};
use buddy_exec::{Bounds, Ended, Exec, Exit, LogFile, OutputLimits, Stdin, Stream};
use buddy_protocol::{
    Content, DeltaStream, EventSink, Fact, Item, ItemDelta, ItemId, ItemStatus, Principal, Ran, RanOutcome,
};
use tokio_util::sync::CancellationToken;

/// How long such a command may run. Longer work belongs into a terminal of one's own.
const RUN_WITHIN: Duration = Duration::from_mins(30);
/// Bytes of each stream kept in memory, from the start and from the end.
const KEEP: usize = 128 * 1024;
/// Bytes of the log on disk.
const LOG_CAP: u64 = 64 * 1024 * 1024;

/// The note of a command whose output is not for the model.
const WITHHELD: &str =
    "the model does not see this output, as the command can read a secret; tell it what it needs to know";

/// A command that is about to run.
pub(crate) struct PersonRun {
    item: Item,
    ran: Ran,
    target: Arc<Attached>,
    log: PathBuf,
    /// How many characters of each stream the model is given.
    limit: usize,
    sink: Arc<dyn EventSink>,
    cancel: CancellationToken,
}

/// A command that runs.
pub(crate) struct Underway {
    /// Its item as it was begun.
    pub(crate) item: Item,
    /// Who runs it.
    pub(crate) by: Principal,
    cancel: CancellationToken,
}

impl Underway {
    /// Stops it; its end comes all the same.
    pub(crate) fn stop(&self) {
        self.cancel.cancel();
    }

    /// The item of one whose task broke.
    pub(crate) fn broken(self) -> Item {
        let Self { mut item, .. } = self;
        item.status = ItemStatus::Failed;
        if let Content::UserMessage { ran: Some(ran), .. } = &mut item.content {
            ran.outcome = Some(unstarted("buddy lost sight of it; its outcome is unknown"));
        }
        item
    }
}

impl PersonRun {
    /// A command on a target, in the session's directory there.
    pub(crate) fn new(
        command: String,
        is_withheld: bool,
        target: Arc<Attached>,
        parts: &PipelineParts,
    ) -> Self {
        let id = ItemId::new(&*parts.settings.ids);
        let ran = Ran {
            background: None,
            command,
            target: target.spec.name.clone(),
            cwd: target.place.cwd.to_string_lossy().into_owned(),
            is_withheld,
            outcome: None,
        };
        Self {
            item: run_item(id.clone(), &ran, ItemStatus::Running),
            ran,
            target,
            log: parts.settings.logs.join(format!("exec-{id}.log")),
            limit: parts.texts.of(TextClass::Command),
            sink: parts.sink.clone(),
            cancel: CancellationToken::new(),
        }
    }

    /// The item as it is begun.
    pub(crate) fn item(&self) -> &Item {
        &self.item
    }

    /// The means to stop it.
    pub(crate) fn underway(&self, by: Principal) -> Underway {
        Underway { item: self.item.clone(), by, cancel: self.cancel.clone() }
    }

    /// Runs it to its end and returns its item.
    pub(crate) async fn run(mut self) -> Item {
        let (outcome, status) = match self.watch().await {
            Ok(exit) => (outcome(&exit, self.limit, self.ran.is_withheld), status(&exit)),
            Err(error) => (unstarted(&error), ItemStatus::Failed),
        };
        self.ran.outcome = Some(outcome);
        run_item(self.item.id, &self.ran, status)
    }

    /// Shows what it prints until it has ended.
    async fn watch(&self) -> Result<Exit, String> {
        let host = &self.target.host;
        // The model can read logs.
        let log = LogFile { path: self.log.clone(), cap_bytes: LOG_CAP };
        let log = Some(log).filter(|_| !self.ran.is_withheld);
        let exec = Exec {
            argv: joined(&host.target.describe().shell, &self.ran.command),
            cwd: self.target.place.cwd.clone(),
            env: host.env.clone(),
            stdin: Stdin::Null,
            pty: None,
            timeout: Some(RUN_WITHIN),
            bounds: Bounds::open(),
            output: OutputLimits { keep_head: KEEP, keep_tail: KEEP, log },
            way_out: None,
            end_mark: None,
        };
        if let (Some(undo), Some(workspace)) = (&host.undo, &host.undo_workspace)
            && !host.is_remote
        {
            undo.wait_for_undo(workspace.clone()).await.map_err(|error| error.to_string())?;
        }
        let mut running = host.target.start(exec).await.map_err(|error| error.to_string())?;
        let mut is_stopping = false;
        loop {
            tokio::select! {
                chunk = running.next() => {
                    let Some(chunk) = chunk else { break };
                    let stream = match chunk.stream {
                        Stream::Stdout => DeltaStream::Stdout,
                        Stream::Stderr => DeltaStream::Stderr,
                    };
                    let text = String::from_utf8_lossy(&chunk.bytes).into_owned();
                    let delta = ItemDelta { item: self.item.id.clone(), stream, text };
                    // A closed sink means that the session goes down, and then this is stopped.
                    let _ = self.sink.push(vec![Fact::ItemDelta(delta)]).await;
                }
                () = self.cancel.cancelled(), if !is_stopping => {
                    running.stop();
                    is_stopping = true;
                }
            }
        }
        running.wait().await.map_err(|error| error.to_string())
    }
}

/// A command whose errors go where its output goes: two pipes lose the order in which both came.
fn joined(shell: &str, command: &str) -> Vec<String> {
    ["/bin/sh", "-c", r#"exec "$0" -c "$1" 2>&1"#, shell, command].map(str::to_owned).to_vec()
}

/// The item of a command beside the turn.
pub(crate) fn run_item(id: ItemId, ran: &Ran, status: ItemStatus) -> Item {
    let text = format!("! {}", ran.command);
    let content =
        Content::UserMessage { text, images: Vec::new(), ran: Some(Box::new(ran.clone())), typed: None };
    Item { id, turn: None, step: None, place: None, parent: None, status, content, private: None }
}

fn status(exit: &Exit) -> ItemStatus {
    match exit.ended {
        Ended::Stopped => ItemStatus::Interrupted,
        Ended::TimedOut => ItemStatus::Failed,
        Ended::Exited => ItemStatus::Completed,
    }
}

fn outcome(exit: &Exit, limit: usize, is_withheld: bool) -> RanOutcome {
    let clipped = |text: String| clip_text(&text, limit).unwrap_or(text);
    let stopped = match exit.ended {
        Ended::Stopped => Some("stopped by the user".to_owned()),
        Ended::TimedOut => Some(format!("stopped after {} min", RUN_WITHIN.as_secs() / 60)),
        Ended::Exited => None,
    };
    let failed = exit.code.filter(|code| *code != 0).map(|code| format!("exit code {code}"));
    let note = if is_withheld {
        let ended = stopped.or(failed).map(|ended| format!("{ended}; ")).unwrap_or_default();
        Some(format!("{ended}{WITHHELD}"))
    } else {
        stopped
    };
    RanOutcome {
        exit_code: exit.code,
        signal: exit.signal,
        stdout: clipped(exit.stdout.text()),
        stderr: clipped(exit.stderr.text()),
        duration_ms: u64::try_from(exit.duration.as_millis()).unwrap_or(u64::MAX),
        log: exit.log.as_ref().map(|log| log.path.to_string_lossy().into_owned()),
        note,
    }
}

fn unstarted(why: &str) -> RanOutcome {
    RanOutcome { note: Some(why.to_owned()), ..RanOutcome::default() }
}
