//! Commands of a session that nobody waits for any longer. They run on beside the conversation and end with the session at the latest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use buddy_exec::managed::ManagedProcesses;
use buddy_exec::{Exit, Recorder, Running, Stopper};
use buddy_protocol::{BACKGROUND_ENDED, EventSink, Fact, Notice, NoticeLevel};
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};

use crate::tools::egress::CallEgress;
use crate::tools::run_shell::WayServed;

/// Commands of one session that run in the background at the same time.
const MAX_JOBS: usize = 16;
/// How long all of them together have to end when the session does, beyond the grace that each has.
const END_WITHIN: Duration = Duration::from_secs(20);
/// Characters of a command in a notice.
const COMMAND_CHARS: usize = 80;

/// What the id of a command in a pane begins with, which is in no list of processes.
pub(crate) const PANE: &str = "pane-";

/// The commands of a session in the background.
pub(crate) struct Background {
    sink: Arc<dyn EventSink>,
    /// Held for a look or a change only.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By id.
    jobs: BTreeMap<String, Job>,
    /// Each sees one command to its end.
    tasks: JoinSet<()>,
    /// Set when the session ends: nothing is taken any more.
    is_closed: bool,
}

struct Job {
    stopper: Stopper,
    ended: watch::Receiver<bool>,
}

/// A command that is to run on.
pub(crate) struct Leaving {
    /// The id that the model is told.
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) running: Running,
    /// Serves its way out for as long as this is not dropped.
    pub(crate) way: WayServed,
    /// Who knows its connections, where it has any.
    pub(crate) egress: Option<Arc<CallEgress>>,
    /// Compares what the command changed with what was there before it.
    pub(crate) recorder: Recorder,
    /// Where its end is written down; none where it is in no list.
    pub(crate) managed: Option<ManagedProcesses>,
}

impl Background {
    pub(crate) fn new(sink: Arc<dyn EventSink>) -> Arc<Self> {
        Arc::new(Self { sink, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more command can be left.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.state();
        !state.is_closed && state.jobs.len() < MAX_JOBS
    }

    /// Whether a pane is busy with one of them.
    pub(crate) fn has_pane(&self) -> bool {
        self.state().jobs.keys().any(|id| id.starts_with(PANE))
    }

    /// Takes a command that runs on.
    pub(crate) fn take(self: &Arc<Self>, leaving: Leaving) {
        let (end, ended) = watch::channel(false);
        let job = Job { stopper: leaving.running.stopper(), ended };
        let mut state = self.state();
        // Those that have ended are let go of.
        while state.tasks.try_join_next().is_some() {}
        if state.is_closed {
            job.stopper.stop();
        }
        state.jobs.insert(leaving.id.clone(), job);
        let background = Arc::downgrade(self);
        state.tasks.spawn(async move {
            let (id, egress) = (leaving.id.clone(), leaving.egress.clone());
            let text = see_out(leaving).await;
            end.send_replace(true);
            let Some(background) = background.upgrade() else { return };
            background.state().jobs.remove(&id);
            let notice = Notice { level: NoticeLevel::Info, code: BACKGROUND_ENDED.to_owned(), text };
            // A closed sink means that the session is going down.
            let connections = egress.and_then(|egress| egress.notice());
            let notices = connections.into_iter().chain([notice]).map(Fact::Notice).collect();
            let _ = background.sink.push(notices).await;
        });
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
    pub(crate) async fn end(&self) {
        let mut tasks = {
            let mut state = self.state();
            state.is_closed = true;
            for job in state.jobs.values() {
                job.stopper.stop();
            }
            std::mem::take(&mut state.tasks)
        };
        let all = async { while tasks.join_next().await.is_some() {} };
        // What does not end in time is killed when its run is dropped with its task.
        let _ = tokio::time::timeout(END_WITHIN, all).await;
    }
}

/// Sees a command to its end, and says how it ended.
async fn see_out(leaving: Leaving) -> String {
    let Leaving { id, command, mut running, way, egress: _, recorder, managed } = leaving;
    let exit = tokio::select! {
        exit = drained(&mut running) => exit,
        never = way => match never {},
    };
    let kept = recorder.after_command().await;
    let exit = Arc::new(exit);
    if let Some(managed) = managed {
        let (id, exit) = (id.clone(), exit.clone());
        let settled = spawn_blocking(move || managed.settle(&id, (*exit).as_ref())).await;
        if !matches!(settled, Ok(Ok(()))) {
            tracing::warn!("the end of a background command could not be written down");
        }
    }
    let short: String =
        command.chars().map(|letter| if letter == '\n' { ' ' } else { letter }).take(COMMAND_CHARS).collect();
    let how = match (*exit).as_ref() {
        Some(Exit { code: Some(code), .. }) => format!("ended with exit code {code}"),
        Some(Exit { signal: Some(signal), .. }) => format!("was ended by signal {signal}"),
        _ => "ended; how is not known".to_owned(),
    };
    let undo = match kept {
        Ok(()) => String::new(),
        Err(error) => format!("; what it changed is not kept for undo: {error}"),
    };
    format!("{id} {how}: {short}{undo}")
}

/// The end of a command whose live output nobody reads.
async fn drained(running: &mut Running) -> Option<Exit> {
    while running.next().await.is_some() {}
    running.wait().await.ok()
}
