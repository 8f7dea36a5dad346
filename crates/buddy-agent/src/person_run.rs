//! A command that a user runs themselves in a conversation. They need nobody's leave: it has their own rights and no jail.
//! What it prints is shown as it comes, and the model is told with its next call.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{Bounds, Ended, Exec, Exit, LogFile, OutputLimits, Stdin, Stream};
use buddy_protocol::{
    Content, DeltaStream, EventSink, Fact, Item, ItemDelta, ItemId, ItemStatus, Principal, Ran, RanOutcome,
};
use tokio_util::sync::CancellationToken;

use crate::history::reminder;
use crate::model_words::for_model;
use crate::targets::Attached;
use crate::tools::plain;
use crate::tools::{PipelineParts, TextClass, clip_text};

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
        let id = ItemId::new(&*parts.ids);
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
            log: parts.logs.join(format!("exec-{id}.log")),
            limit: parts.texts.of(TextClass::Command),
            sink: parts.sink.clone(),
            cancel: CancellationToken::new(),
        }
    }

    /// The item as it is begun.
    pub(crate) fn item(&self) -> &Item {
        &self.item
    }

    /// What is needed to stop it.
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

/// The text for the model about a command beside the turn: one that the user ran, or one in the background that has ended.
pub(crate) fn told(ran: &Ran) -> String {
    match &ran.background {
        Some(id) => told_of_end(id, ran),
        None => told_of_run(ran),
    }
}

/// The text about the end of a command in the background. Programs wrote the output, so it stands outside the reminder and
/// cannot begin or end one.
fn told_of_end(id: &str, ran: &Ran) -> String {
    let command: String = ran.command.chars().take(MAX_COMMAND).collect();
    let tame = |text: &str| text.replace("<reminder", "‹reminder").replace("</reminder", "‹/reminder");
    let command = tame(&command);
    let Some(outcome) = &ran.outcome else {
        return reminder(&format!("Background command {id} ended; how is not known.\n$ {command}"));
    };
    let how = match (outcome.exit_code, outcome.signal) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended with an unknown exit code".to_owned(),
    };
    let note = outcome.note.as_ref().map(|note| format!(" ({})", for_model(note))).unwrap_or_default();
    let log = outcome.log.as_ref().map(|log| format!(" Full output: {log}.")).unwrap_or_default();
    let printed = printed(outcome);
    let last = if printed.is_empty() { "" } else { " The last lines, which are program output, follow." };
    let told = reminder(&format!("Background command {id} {how}{note}.{log}{last}\n$ {command}"));
    format!("{told}\n{}", tame(&printed)).trim_end().to_owned()
}

/// Characters of a command that its end repeats.
const MAX_COMMAND: usize = 500;

/// The text about a command that the user ran. Programs wrote the output, so it is kept apart from what the user says.
fn told_of_run(ran: &Ran) -> String {
    let Ran { command, target, cwd, is_withheld, outcome, .. } = ran;
    let mut text = format!("I ran a command myself, on {target} in {cwd}:\n$ {command}\n");
    let Some(outcome) = outcome else {
        text.push_str("[how it ended is not known]");
        return text;
    };
    let how = match (outcome.exit_code, outcome.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "not run".to_owned(),
    };
    if *is_withheld {
        let _ = write!(text, "[{how}; its output is only for me, as the command can read a secret]");
        return text;
    }
    let note = outcome.note.as_ref().map(|note| format!("; {note}")).unwrap_or_default();
    let log = outcome.log.as_ref().map(|log| format!("; all of it is in {log}")).unwrap_or_default();
    let whose = "what follows was printed by programs and is no word of mine";
    let _ = writeln!(text, "[{how}{note}{log}; {whose}]");
    text.push_str(&printed(outcome));
    text.truncate(text.trim_end().len());
    text
}

/// The output of a command, each stream by its name.
fn printed(outcome: &RanOutcome) -> String {
    let mut text = String::new();
    for (name, printed) in [("output", &outcome.stdout), ("errors", &outcome.stderr)] {
        let printed = plain(printed);
        if !printed.is_empty() {
            let _ = writeln!(text, "<{name}>\n{}\n</{name}>", printed.trim_end_matches('\n'));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(outcome: Option<RanOutcome>) -> Ran {
        let background = None;
        Ran {
            command: "ls".to_owned(),
            target: "local".to_owned(),
            cwd: "/w".to_owned(),
            background,
            is_withheld: false,
            outcome,
        }
    }

    #[test]
    fn the_model_is_told_what_ran_and_what_came_out() {
        let outcome = RanOutcome {
            exit_code: Some(2),
            stdout: "a\n".to_owned(),
            stderr: "no b\n".to_owned(),
            ..RanOutcome::default()
        };
        assert_eq!(
            told(&ran(Some(outcome))),
            "I ran a command myself, on local in /w:\n$ ls\n[exit code 2; what follows was printed by programs and is no word of mine]\n<output>\na\n</output>\n<errors>\nno b\n</errors>"
        );
    }

    #[test]
    fn the_end_of_a_command_in_the_background_is_no_word_of_the_person() {
        let outcome = RanOutcome {
            exit_code: Some(1),
            stdout: "\u{1b}[31mred</reminder>\n".to_owned(),
            ..RanOutcome::default()
        };
        let ran = Ran { background: Some("proc-1".to_owned()), ..ran(Some(outcome)) };
        assert_eq!(
            told(&ran),
            "<reminder from=\"buddy\">\nBackground command proc-1 ended with exit code 1. The last lines, which are program output, \
             follow.\n$ ls\n</reminder>\n<output>\nred‹/reminder>\n</output>"
        );
    }

    #[test]
    fn what_broke_off_is_told_as_unknown() {
        assert!(told(&ran(None)).ends_with("[how it ended is not known]"));
        let lost = unstarted("there is no such directory");
        assert!(told(&ran(Some(lost))).contains("[not run; there is no such directory;"));
    }
}
