//! Commands of a session that nobody waits for any longer. They run on beside the conversation and end with the session at the latest.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use buddy_exec::managed::ManagedProcesses;
use buddy_exec::{Exit, Recorder, Running, Stopper};
use buddy_protocol::{
    BACKGROUND_BEGAN, BACKGROUND_ENDED, BACKGROUND_SWEPT, EventSink, Fact, Notice, NoticeLevel, Ran,
    RanOutcome,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinSet, spawn_blocking};

use crate::tools::clip::clip_text;
use crate::tools::command_changes::keep_after;
use crate::tools::egress::CallEgress;
use crate::tools::plain;
use crate::tools::run_shell::WayServed;
use crate::tools::unseen_files::{describe_unseen_changes, notice_unseen_changes};

/// Commands of one session that run in the background at the same time.
const MAX_JOBS: usize = 16;
/// How long all of them together have to end when the session does, beyond the grace that each has.
const END_WITHIN: Duration = Duration::from_secs(20);
/// Characters of a command in a notice.
const COMMAND_CHARS: usize = 80;

/// How many of its last lines are told when a command ends, and how many characters of them.
const LAST_LINES: usize = 20;
const LAST_CHARS: usize = 2_000;
/// How much of a log is read for its last lines.
const LOG_TAIL_BYTES: u64 = 512 * 1024;
/// Ends that may wait to be taken in by the conversation: far more than commands run.
const QUEUED_ENDS: usize = 64;
/// Commands in panes that have ended and are still known by their ids.
const KEPT_PANES: usize = 32;
/// Ids of commands that are known as the session's own, also after their end.
const KEPT_IDS: usize = 256;

/// The beginning of the id of a command in a pane, which is in no list of processes.
const PANE: &str = "pane-";

/// The commands of a session in the background.
pub struct Background {
    sink: Arc<dyn EventSink>,
    /// Where ends go that the model is to be told.
    ends: mpsc::Sender<Ran>,
    /// The other end of it, until the conversation takes it.
    heard: Mutex<Option<mpsc::Receiver<Ran>>>,
    /// Held for a look or a change only.
    state: Mutex<BackgroundState>,
}

#[derive(Default)]
struct BackgroundState {
    /// By id.
    jobs: BTreeMap<String, BackgroundJob>,
    /// Each sees one command to its end.
    tasks: JoinSet<()>,
    /// Commands in panes that have ended, the oldest first.
    panes: VecDeque<EndedPane>,
    /// How many commands were left in panes.
    pane_count: u32,
    /// The ids of all commands that were left, the oldest first.
    left: VecDeque<String>,
    /// Set when the session ends: nothing is taken any more.
    is_closed: bool,
}

struct BackgroundJob {
    stopper: Stopper,
    ended: watch::Receiver<bool>,
    command: String,
    log: PathBuf,
}

/// A command in a pane that has ended.
struct EndedPane {
    id: String,
    shown: Value,
    log: PathBuf,
}

/// A command that is to run on.
pub(crate) struct Leaving {
    /// The id that the model is told.
    pub(crate) id: String,
    pub(crate) command: String,
    /// Where it runs: the directory, and the name of the target.
    pub(crate) cwd: PathBuf,
    pub(crate) target: String,
    /// The file with all of what it prints.
    pub(crate) log: PathBuf,
    pub(crate) running: Running,
    /// Serves its way out for as long as this is not dropped.
    pub(crate) way: WayServed,
    /// Who knows its connections, where it has any.
    pub(crate) egress: Option<Arc<CallEgress>>,
    /// Compares what the command changed with what was there before it.
    pub(crate) recorder: Recorder,
    /// The number of simple commands that it is made of.
    pub(crate) parts: usize,
    /// Where its end is written down; none where it is in no list.
    pub(crate) managed: Option<ManagedProcesses>,
}

impl Background {
    pub(crate) fn new(sink: Arc<dyn EventSink>) -> Arc<Self> {
        let (ends, heard) = mpsc::channel(QUEUED_ENDS);
        Arc::new(Self { sink, ends, heard: Mutex::new(Some(heard)), state: Mutex::default() })
    }

    /// The ends of commands, for the one who tells the model. Can be taken once.
    pub fn take_ends(&self) -> Option<mpsc::Receiver<Ran>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn state(&self) -> MutexGuard<'_, BackgroundState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more command can be left.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.state();
        !state.is_closed && state.jobs.len() < MAX_JOBS
    }

    /// A new id for a command that is left in a pane.
    pub(crate) fn pane_id(&self) -> String {
        let mut state = self.state();
        state.pane_count += 1;
        format!("{PANE}{}", state.pane_count)
    }

    /// Whether a command runs.
    pub fn is_busy(&self) -> bool {
        !self.state().jobs.is_empty()
    }

    /// Whether a command with this id was left by this session, whether or not it still runs.
    pub(crate) fn has_left(&self, id: &str) -> bool {
        let state = self.state();
        state.jobs.contains_key(id) || state.left.iter().any(|left| left == id)
    }

    /// Whether a pane is busy with one of them.
    pub(crate) fn has_pane(&self) -> bool {
        self.state().jobs.keys().any(|id| id.starts_with(PANE))
    }

    /// Takes a command that runs on.
    pub(crate) fn take(self: &Arc<Self>, leaving: Leaving) {
        let (end, ended) = watch::channel(false);
        let (command, log) = (leaving.command.clone(), leaving.log.clone());
        let job = BackgroundJob { stopper: leaving.running.stopper(), ended, command, log };
        let mut state = self.state();
        // Those that have ended are let go of.
        while state.tasks.try_join_next().is_some() {}
        if state.is_closed {
            job.stopper.stop();
        }
        state.jobs.insert(leaving.id.clone(), job);
        if state.left.len() >= KEPT_IDS {
            state.left.pop_front();
        }
        state.left.push_back(leaving.id.clone());
        let background = Arc::downgrade(self);
        state.tasks.spawn(async move {
            let began = format!("{} runs in the background: {}", leaving.id, short(&leaving.command));
            if let Some(background) = background.upgrade() {
                background.tell(BACKGROUND_BEGAN, began).await;
            }
            let (log, egress) = (leaving.log.clone(), leaving.egress.clone());
            let recorder = leaving.recorder.clone();
            let SeenOut { mut ran, was_stopped, undo, swept } = see_out(leaving).await;
            if let Some(background) = background.upgrade() {
                let unseen = describe_unseen_changes(&recorder);
                if let Some(line) = &unseen {
                    let _ = background.sink.push(vec![notice_unseen_changes(line)]).await;
                }
                for line in &swept {
                    background.tell(BACKGROUND_SWEPT, line.clone()).await;
                }
                let stopped = was_stopped.then(|| "it was stopped".to_owned());
                let notes: Vec<String> = stopped.into_iter().chain(swept).chain(unseen).collect();
                if !notes.is_empty() {
                    ran.outcome.get_or_insert_default().note = Some(notes.join("\n"));
                }
                let notices = egress.map(|egress| [egress.withdrawn(), egress.notice()]);
                for notice in notices.into_iter().flatten().flatten() {
                    // A closed sink means that the session is going down.
                    let _ = background.sink.push(vec![Fact::Notice(notice)]).await;
                }
                background.ended(ran, was_stopped, undo.as_deref(), log).await;
            }
            end.send_replace(true);
        });
    }

    /// Takes in how a command ended, and tells the user and the model.
    async fn ended(&self, mut ran: Ran, was_stopped: bool, undo: Option<&str>, log: PathBuf) {
        let id = ran.background.clone().unwrap_or_default();
        let is_closing = {
            let mut state = self.state();
            state.jobs.remove(&id);
            if id.starts_with(PANE) {
                let shown = shown_end(&id, &ran);
                state.panes.push_back(EndedPane { id: id.clone(), shown, log });
                if state.panes.len() > KEPT_PANES {
                    state.panes.pop_front();
                }
            }
            state.is_closed
        };
        let outcome = ran.outcome.get_or_insert_default();
        let how = match (is_closing, outcome.exit_code, outcome.signal) {
            (true, _, _) => "was ended with the session".to_owned(),
            (false, Some(code), _) => format!("ended with exit code {code}"),
            (false, None, Some(signal)) => format!("was ended by signal {signal}"),
            (false, None, None) if was_stopped => "was stopped".to_owned(),
            (false, None, None) => "ended; how is not known".to_owned(),
        };
        if is_closing {
            let earlier = outcome.note.take().map(|note| format!("; {note}")).unwrap_or_default();
            outcome.note = Some(format!("it was ended with the session{earlier}"));
        }
        let undo =
            undo.map(|why| format!("; what it changed is not kept for undo: {why}")).unwrap_or_default();
        self.tell(BACKGROUND_ENDED, format!("{id} {how}: {}{undo}", short(&ran.command))).await;
        // Nobody hears it where the session is gone.
        let _ = self.ends.send(ran).await;
    }

    async fn tell(&self, code: &str, text: String) {
        let notice = Notice { level: NoticeLevel::Info, code: code.to_owned(), text };
        // A closed sink means that the session is going down.
        let _ = self.sink.push(vec![Fact::Notice(notice)]).await;
    }

    /// How a command in a pane stands, and the file with what it printed. None where the id is none of those.
    pub(crate) fn pane(&self, id: &str) -> Option<(Value, PathBuf)> {
        if !id.starts_with(PANE) {
            return None;
        }
        let state = self.state();
        if let Some(job) = state.jobs.get(id) {
            let shown = json!({"id": id, "command": job.command, "condition": "running"});
            return Some((shown, job.log.clone()));
        }
        let ended = state.panes.iter().find(|ended| ended.id == id)?;
        Some((ended.shown.clone(), ended.log.clone()))
    }

    /// Ends a command of this session and waits for that. False where it is none of those.
    pub(crate) async fn stop(&self, id: &str, is_forced: bool) -> bool {
        let Some((stopper, mut ended)) =
            self.state().jobs.get(id).map(|job| (job.stopper.clone(), job.ended.clone()))
        else {
            return false;
        };
        if is_forced {
            stopper.kill();
        } else {
            stopper.stop();
        }
        // The sender going away means that it has ended too.
        let _ = ended.wait_for(|ended| *ended).await;
        true
    }

    /// Ends all of them, as the session ends.
    pub async fn end(&self) {
        let mut tasks = {
            let mut state = self.state();
            state.is_closed = true;
            for job in state.jobs.values() {
                job.stopper.stop();
            }
            std::mem::take(&mut state.tasks)
        };
        let all = async { while tasks.join_next().await.is_some() {} };
        // A command that does not end in time is killed when its run is dropped with its task.
        let _ = tokio::time::timeout(END_WITHIN, all).await;
    }
}

/// A command that has ended.
struct SeenOut {
    ran: Ran,
    /// Whether somebody stopped it: its supervisor is gone and tells no end.
    was_stopped: bool,
    /// Why its changes could not be kept, where they could not.
    undo: Option<String>,
    /// The files that the sweep moved after it and that nobody was told of before.
    swept: Vec<String>,
}

/// Sees a command to its end.
async fn see_out(leaving: Leaving) -> SeenOut {
    let Leaving { id, command, cwd, target, log, mut running, way, egress: _, recorder, parts, managed } =
        leaving;
    let exit = tokio::select! {
        exit = drained(&mut running) => exit,
        never = way => match never {},
    };
    let kept = keep_after(exit.as_ref(), parts, &recorder).await;
    let was_stopped = managed.is_some() && exit.is_none();
    let exit = Arc::new(exit);
    if let Some(managed) = managed {
        let (id, exit) = (id.clone(), exit.clone());
        let settled = spawn_blocking(move || managed.settle(&id, (*exit).as_ref())).await;
        if !matches!(settled, Ok(Ok(()))) {
            tracing::warn!("the end of a background command could not be written down");
        }
    }
    let exit = (*exit).as_ref();
    let (printed, path) = (log.clone(), log);
    let printed = spawn_blocking(move || last_lines(&printed, LAST_LINES)).await.unwrap_or_default();
    let outcome = RanOutcome {
        exit_code: exit.and_then(|exit| exit.code),
        signal: exit.and_then(|exit| exit.signal),
        stdout: clip_text(&printed, LAST_CHARS).unwrap_or(printed),
        duration_ms: exit.map_or(0, |exit| u64::try_from(exit.duration.as_millis()).unwrap_or(u64::MAX)),
        log: Some(path.to_string_lossy().into_owned()),
        ..RanOutcome::default()
    };
    let cwd = cwd.to_string_lossy().into_owned();
    let ran = Ran { command, target, cwd, background: Some(id), is_withheld: false, outcome: Some(outcome) };
    let swept = exit.iter().flat_map(|exit| &exit.swept).map(ToString::to_string).collect();
    SeenOut { ran, was_stopped, undo: kept.err(), swept }
}

/// The last lines of a log, as plain text. One that cannot be read has none.
pub(crate) fn last_lines(log: &Path, count: usize) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let skipped = file.metadata()?.len().saturating_sub(LOG_TAIL_BYTES);
        file.seek(io::SeekFrom::Start(skipped))?;
        let mut bytes = Vec::new();
        file.take(LOG_TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = plain(&String::from_utf8_lossy(&read().unwrap_or_default()));
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines.get(lines.len().saturating_sub(count)..).unwrap_or_default();
    if kept.is_empty() { String::new() } else { kept.join("\n") + "\n" }
}

/// How a command in a pane ended, as the model reads it.
fn shown_end(id: &str, ran: &Ran) -> Value {
    let outcome = ran.outcome.as_ref();
    json!({
        "id": id,
        "command": ran.command,
        "condition": "ended",
        "exit_code": outcome.and_then(|outcome| outcome.exit_code),
        "signal": outcome.and_then(|outcome| outcome.signal),
    })
}

/// The beginning of a command, in one line.
fn short(command: &str) -> String {
    let mut letters = command.chars().map(|letter| if letter == '\n' { ' ' } else { letter });
    let short: String = letters.by_ref().take(COMMAND_CHARS).collect();
    if letters.next().is_some() { short + "…" } else { short }
}

/// The end of a command whose live output nobody reads.
async fn drained(running: &mut Running) -> Option<Exit> {
    while running.next().await.is_some() {}
    running.wait().await.ok()
}
