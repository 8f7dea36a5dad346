//! One command in a pane: typed, waited for, and stopped when it is to stop.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::apart::{RESTARTED, Streams, TOGETHER, UNFINISHED, start_marker};
use super::follow::{Done, Order, Seen, Watch};
use super::link::{Line, Link, Typed, nonce, tag};
use super::probe::{State, probe};
use super::{scripts, sessions};
use crate::drain::{Chunks, Output, Taken};
use crate::running::QUEUED_CHUNKS;
use crate::{Chunk, Ended, Exit, PaneCommand, PaneError, PaneText, Stdin, Stop, TargetError, quote};

/// How long a shell at its prompt may take to begin a command.
const BEGIN_LIMIT: Duration = Duration::from_secs(5);
/// How long a pane may be busy with something of somebody else before the call gives up.
const BUSY_LIMIT: Duration = Duration::from_secs(3);
/// How often a busy pane is looked at; most are seen to be free by their prompt.
const BUSY_PAUSE: Duration = Duration::from_millis(100);
/// How often a command is tried to be begun: once more after a new shell, once more after a new setup.
const ATTEMPTS: usize = 3;
/// How long a pane is silent before it is looked at; doubled each time.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LAST_LOOK: Duration = Duration::from_secs(30);
/// The least time between two looks, whatever the stream hints at.
const LOOK_PAUSE: Duration = Duration::from_millis(100);
/// The longest part of a command that the person is shown above its output.
const SHOWN_CHARS: usize = 2_000;

/// What the agent is told where a part of the stream was lost.
const GAP: &str =
    "a part of the output is missing in the middle: it came faster than the connection could carry it";
/// What it is told where the connection was away for a while.
const RETURN: &str =
    "the connection to the pane was lost while the command ran, and was made again; nothing is missing";

/// What is sent to the foreground, and how long it has to work. The shell itself ends a loop only by an interrupt, so
/// there is one again after the kill.
const STOPPING: &[(&str, Duration)] = &[
    ("INT", Duration::from_secs(1)),
    ("TERM", Duration::from_secs(1)),
    ("KILL", Duration::from_millis(500)),
    ("INT", Duration::from_millis(500)),
    ("KILL", Duration::from_millis(500)),
];
const KILLING: &[(&str, Duration)] = &[
    ("KILL", Duration::from_millis(500)),
    ("INT", Duration::from_millis(500)),
    ("KILL", Duration::from_millis(500)),
];

/// Whether a run is to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wish {
    #[default]
    GoOn,
    Stop,
    Kill,
}

/// The end of a run's wishes that others hold.
pub(super) struct Brake(pub(super) watch::Sender<Wish>);

impl Stop for Brake {
    fn stop(&self) {
        self.0.send_modify(|wish| *wish = (*wish).max(Wish::Stop));
    }

    fn kill(&self) {
        self.0.send_modify(|wish| *wish = Wish::Kill);
    }
}

/// A command that runs.
pub(super) struct Begun {
    pub(super) link: Arc<Link>,
    nonce: String,
    /// By which the processes of the command are found.
    tag: u32,
    /// Whether its standard error is apart.
    is_apart: bool,
    began: Instant,
    /// What was seen when it began.
    before: Seen,
    done: oneshot::Receiver<Done>,
    pub(super) live: mpsc::Receiver<Chunk>,
    notes: Vec<String>,
    /// The pane is this run's until it ends.
    _turn: OwnedSemaphorePermit,
}

/// Types a command and waits until it runs.
pub(super) async fn begin(
    link: Arc<Link>,
    command: &PaneCommand,
    streams: Streams,
    turn: OwnedSemaphorePermit,
    mut notes: Vec<String>,
) -> Result<Begun, TargetError> {
    let busy_until = Instant::now() + BUSY_LIMIT;
    let is_missed = !link.is_marked.load(Ordering::Relaxed) && !link.is_unmarkable.load(Ordering::Relaxed);
    if streams == Streams::Apart && is_missed {
        start_marker(&link).await?;
    }
    let mut attempts = 0;
    while attempts < ATTEMPTS {
        let mut attempt = Attempt::watched(&link, command, streams).await?;
        let before = attempt.before.clone();
        let errors = attempt.is_apart.then(|| link.errors_inside());
        let typed = type_command(&link, command, errors.as_deref(), &attempt.nonce, attempt.tag).await;
        if may_be_typed(&typed) {
            let limit = if typed.is_ok() { BEGIN_LIMIT } else { within(&link) };
            match attempt.start(&link, limit).await {
                Start::Begun => {
                    notes.extend(strangers(&link));
                    return Ok(attempt.into_run(link, turn, notes));
                }
                Start::Late => return Err(attempt.into_run(link, turn, notes).unsure().await),
                Start::Unsure(error) => {
                    call_off(&link, &attempt.nonce).await;
                    return Err(error);
                }
                Start::Never => {}
            }
        }
        call_off(&link, &attempt.nonce).await;
        let typed = match typed {
            // It is known by now that it has not begun and never will.
            Err(error) if is_unheard(&error) => Typed::Yes,
            typed => typed?,
        };
        match typed {
            Typed::Yes => {
                attempts += 1;
                // The interrupt made a prompt that is nobody's.
                link.told_prompts.store(link.seen().strange_prompts, Ordering::Relaxed);
                notes.push("the shell in the pane had lost its hooks; they were set up again".to_owned());
            }
            Typed::Dead => {
                attempts += 1;
                if is_lost(&link).await? {
                    return Err(PaneError::Vanished.into());
                }
                link.respawn().await?;
                notes.push("the shell in the pane had ended; a new one was started".to_owned());
            }
            Typed::Busy(program) => {
                if Instant::now() >= busy_until {
                    return Err(PaneError::Busy { program }.into());
                }
                let mut seen = link.follower.seen.clone();
                let is_free = |seen: &Seen| seen.prompts != before.prompts || seen.is_closed;
                let _ = timeout(BUSY_PAUSE, seen.wait_for(is_free)).await;
            }
            Typed::BadCwd => {
                let source = std::io::ErrorKind::NotADirectory.into();
                return Err(TargetError::CwdUnusable { cwd: command.cwd.clone(), source });
            }
            Typed::Refused => return Err(link.refused()),
        }
    }
    Err(PaneError::NoHooks.into())
}

/// One try to begin a command.
struct Attempt {
    nonce: String,
    tag: u32,
    is_apart: bool,
    before: Seen,
    begun: oneshot::Receiver<()>,
    done: oneshot::Receiver<Done>,
    live: mpsc::Receiver<Chunk>,
}

/// What came of a line that was typed, or may have been.
enum Start {
    Begun,
    /// It has not begun, and never will.
    Never,
    /// It began after it was taken back, so that other things were typed into it.
    Late,
    /// It is not known, for this reason.
    Unsure(TargetError),
}

impl Attempt {
    /// A new try, whose marks are watched for from now on.
    async fn watched(link: &Link, command: &PaneCommand, streams: Streams) -> Result<Self, TargetError> {
        let (nonce, tag) = (nonce()?, tag()?);
        let (begun_sender, begun) = oneshot::channel();
        let (done_sender, done) = oneshot::channel();
        let (chunks, live) = mpsc::channel(QUEUED_CHUNKS);
        let output = Output::new(command.output.clone(), chunks, Chunks::Sampled);
        let is_apart = streams == Streams::Apart && link.is_marked.load(Ordering::Relaxed);
        let begun_sender = Some(begun_sender);
        let watch = Watch { nonce: nonce.clone(), is_apart, output, begun: begun_sender, done: done_sender };
        if link.follower.orders.send(Order::Watch(Box::new(watch))).await.is_err() {
            return Err(PaneError::Closed.into());
        }
        Ok(Self { nonce, tag, is_apart, before: link.seen(), begun, done, live })
    }

    fn into_run(self, link: Arc<Link>, turn: OwnedSemaphorePermit, notes: Vec<String>) -> Begun {
        let Self { nonce, tag, is_apart, before, done, live, .. } = self;
        Begun { link, nonce, tag, is_apart, began: Instant::now(), before, done, live, notes, _turn: turn }
    }

    /// Whether the command begins. One that does not is taken out of the shell's reach.
    async fn start(&mut self, link: &Link, limit: Duration) -> Start {
        if let Ok(begun) = timeout(limit, &mut self.begun).await {
            return started(link, begun.is_ok());
        }
        let file = link.command_file();
        let arguments = [file.as_str(), &link.spool, &self.nonce];
        match link.host.run(scripts::TAKE_BACK, &arguments, Stdin::Null).await {
            Ok(said) if said.text.is_empty() => self.never(link).await,
            // It runs, and only its stream is late.
            Ok(_) => match timeout(within(link), &mut self.begun).await {
                Ok(begun) => started(link, begun.is_ok()),
                Err(_) => Start::Unsure(out_of_reach(link)),
            },
            Err(error) => Start::Unsure(unsure(link, &error)),
        }
    }

    /// Makes sure that the command never begins. A shell that had read the command before it was taken back does begin it, however
    /// late; but first things first: once it has carried out a setup that was typed afterwards, it is done with the command too.
    async fn never(&mut self, link: &Link) -> Start {
        let next = async {
            // Something that was begun and not sent, such as an open quote, would swallow the next line too.
            link.interrupt().await?;
            link.set_up().await
        };
        let next = tokio::select! {
            biased;
            begun = &mut self.begun => return if begun.is_ok() { Start::Late } else { started(link, false) },
            next = next => next,
        };
        match (self.begun.try_recv(), next) {
            (Ok(()), _) => Start::Late,
            (Err(_), Ok(())) => Start::Never,
            (Err(_), Err(error)) => Start::Unsure(unsure(link, &error)),
        }
    }
}

fn started(link: &Link, is_begun: bool) -> Start {
    if is_begun { Start::Begun } else { Start::Unsure(gone(link)) }
}

/// What is said of a command that may still begin.
fn unsure(link: &Link, error: &TargetError) -> TargetError {
    if error.is_connection() {
        out_of_reach(link)
    } else {
        PaneError::Unsure { why: error.to_string() }.into()
    }
}

async fn type_command(
    link: &Link,
    command: &PaneCommand,
    errors: Option<&str>,
    nonce: &str,
    tag: u32,
) -> Result<Typed, TargetError> {
    let text = match &command.text {
        PaneText::Shell(text) => text.clone(),
        PaneText::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
            format!("/usr/bin/env -- {}", words.join(" "))
        }
    };
    let cwd = command.cwd.to_str().ok_or(TargetError::BadPath { why: "is not text" })?;
    if text.contains('\0') || cwd.contains('\0') {
        return Err(TargetError::BadPath { why: "has a zero byte in it" });
    }
    let content = scripts::command(&text, &shown(&text), cwd, errors, nonce, tag);
    let line = Line { text: scripts::COMMAND_LINE, file: link.command_file(), content, cwd };
    link.type_line(line).await
}

/// A command as the person sees it above its output: nothing in it moves the cursor.
fn shown(text: &str) -> String {
    let is_quiet = |letter: &char| !letter.is_control() || *letter == '\n';
    let shown: String = text.trim_end().chars().filter(is_quiet).take(SHOWN_CHARS).collect();
    if shown.len() < text.trim_end().len() { format!("{shown} …") } else { shown }
}

/// Whether the pane of a dead shell is gone too. Its stream tells that a little later.
async fn is_lost(link: &Link) -> Result<bool, TargetError> {
    let state = probe(link, 0).await?.state;
    let is_lost = matches!(state, State::ServerGone | State::Closed);
    link.is_gone.store(is_lost, Ordering::Relaxed);
    Ok(is_lost)
}

/// Whether a line is in the pane, or may be.
fn may_be_typed(typed: &Result<Typed, TargetError>) -> bool {
    match typed {
        Ok(typed) => *typed == Typed::Yes,
        Err(error) => is_unheard(error),
    }
}

/// Whether an error leaves open what was done: a connection that was lost does not tell, nor does one who is silent.
fn is_unheard(error: &TargetError) -> bool {
    let is_silent = matches!(error, TargetError::SupervisorLost | TargetError::Pane(PaneError::Silent));
    is_silent || error.is_connection()
}

/// How long a command may take to begin where the connection may be away.
fn within(link: &Link) -> Duration {
    BEGIN_LIMIT + link.host.reconnect_within
}

/// Why a stream has ended.
fn gone(link: &Link) -> TargetError {
    if link.seen().is_out_of_reach { out_of_reach(link) } else { PaneError::Closed.into() }
}

fn out_of_reach(link: &Link) -> TargetError {
    PaneError::OutOfReach { attach: sessions::attach(&link.host, &link.session) }.into()
}

async fn call_off(link: &Link, nonce: &str) {
    // A follower that is gone has nothing to be called off.
    let _ = link.follower.orders.send(Order::CallOff(nonce.to_owned())).await;
}

/// What the agent should know about what somebody else did in the pane since it was told last.
fn strangers(link: &Link) -> Option<String> {
    let prompts = link.seen().strange_prompts;
    let told = link.told_prompts.swap(prompts, Ordering::Relaxed);
    (prompts > told).then(|| {
        format!(
            "somebody else used the pane {} time(s) since the last command; capture it to see what they did",
            prompts - told
        )
    })
}

impl Begun {
    /// Waits until the command has ended, and ends it where that is wanted.
    pub(super) async fn see_out(
        mut self,
        limit: Option<Duration>,
        mut wish: watch::Receiver<Wish>,
    ) -> (Result<Exit, TargetError>, Vec<String>) {
        let result = self.until_end(limit, &mut wish).await;
        if result.is_err() {
            // Whatever comes of the command now, nobody waits for it any more.
            call_off(&self.link, &self.nonce).await;
        }
        if self.began.elapsed() >= Duration::from_secs(1) && result.is_ok() {
            self.notes.extend(self.typing().await);
        }
        self.notes.extend(strangers(&self.link));
        let seen = self.link.seen();
        if seen.gaps > self.before.gaps {
            self.notes.push(GAP.to_owned());
        } else if seen.returns > self.before.returns {
            self.notes.push(RETURN.to_owned());
        }
        self.notes.extend(self.apartness(&seen, &result));
        (result, self.notes)
    }

    /// What is to be known about the streams.
    fn apartness(&self, seen: &Seen, result: &Result<Exit, TargetError>) -> Option<String> {
        let has_output = result.as_ref().is_ok_and(|exit| exit.stdout.total > 0);
        let note = if !self.is_apart {
            has_output.then_some(TOGETHER)
        } else if seen.unfinished > self.before.unfinished {
            // The next command gets another marker.
            self.link.is_marked.store(false, Ordering::Relaxed);
            Some(UNFINISHED)
        } else if seen.restarts > self.before.restarts {
            Some(RESTARTED)
        } else {
            None
        };
        note.map(str::to_owned)
    }

    async fn until_end(
        &mut self,
        limit: Option<Duration>,
        wish: &mut watch::Receiver<Wish>,
    ) -> Result<Exit, TargetError> {
        let deadline = limit.and_then(|limit| self.began.checked_add(limit));
        let link = self.link.clone();
        let mut seen = link.follower.seen.clone();
        let mut deaths = 0;
        let mut look_after = FIRST_LOOK;
        loop {
            tokio::select! {
                biased;
                turn = turn(&mut self.done, wish, deadline) => return self.take(turn).await,
                () = died(&mut seen, deaths) => {}
                () = sleep(look_after) => look_after = (look_after * 2).min(LAST_LOOK),
            }
            deaths = seen.borrow().deaths;
            let found = tokio::select! {
                // What is known by the stream needs no look, which may take long where the connection is bad.
                biased;
                turn = turn(&mut self.done, wish, deadline) => return self.take(turn).await,
                found = probe(&link, 0) => found,
            };
            // A look that fails is no news: the one who follows the stream finds out whether the host comes back, and the time limit
            // holds all the same.
            if let Ok(found) = found
                && let Some(exit) = self.judge(found.state).await?
            {
                return Ok(exit);
            }
            tokio::select! {
                biased;
                turn = turn(&mut self.done, wish, deadline) => return self.take(turn).await,
                () = sleep(LOOK_PAUSE) => {}
            }
        }
    }

    /// Comes to the end that a run has taken, or is to take.
    async fn take(&mut self, turn: Turn) -> Result<Exit, TargetError> {
        match turn {
            Turn::Done(Some(done)) => Ok(self.exit(done, Ended::Exited)),
            Turn::Done(None) => Err(self.lost().await),
            Turn::Wished(Wish::Kill) => self.stop(KILLING, Ended::Stopped).await,
            Turn::Wished(Wish::GoOn | Wish::Stop) => self.stop(STOPPING, Ended::Stopped).await,
            Turn::TimeUp => self.stop(STOPPING, Ended::TimedOut).await,
        }
    }

    /// Ends a command that began when it was no longer expected to, and says what is known of it.
    async fn unsure(self) -> TargetError {
        let link = self.link.clone();
        let why = "it began after it had been taken back, and was ended".to_owned();
        match self.end().await {
            Ok(_) => PaneError::Unsure { why }.into(),
            Err(error) => unsure(&link, &error),
        }
    }

    /// Ends a command that nobody waits for.
    pub(super) async fn end(mut self) -> Result<Exit, TargetError> {
        let ended = self.stop(KILLING, Ended::Stopped).await;
        if ended.is_err() {
            call_off(&self.link, &self.nonce).await;
        }
        ended
    }

    /// Adds to what is to be known about the run.
    pub(super) fn tell(&mut self, note: Option<String>) {
        self.notes.extend(note);
    }

    /// Why there is no stream any more.
    async fn lost(&self) -> TargetError {
        if self.link.seen().is_out_of_reach {
            return out_of_reach(&self.link);
        }
        match probe(&self.link, 0).await {
            Ok(found) if found.state == State::ServerGone => PaneError::ServerLost.into(),
            _ => PaneError::Closed.into(),
        }
    }

    /// The end of the command, where what became of the pane is one.
    async fn judge(&mut self, state: State) -> Result<Option<Exit>, TargetError> {
        self.link.is_gone.store(matches!(state, State::ServerGone | State::Closed), Ordering::Relaxed);
        match state {
            State::Alive | State::Unknown => Ok(None),
            State::ServerGone => Err(PaneError::ServerLost.into()),
            State::Closed => Err(PaneError::Closed.into()),
            State::Dead { code, signal } => {
                self.notes.push(
                    "the command ended the shell of the pane; the next command gets a new one".to_owned(),
                );
                let exit = self.taken(Ended::Exited).await?;
                let code = code.or(exit.code.filter(|_| signal.is_none()));
                Ok(Some(Exit { code, signal, ..exit }))
            }
            State::Replaced => {
                let exit = self.taken(Ended::Exited).await?;
                let set_up = self.link.set_up().await;
                self.notes.push(match set_up {
                    Ok(()) => {
                        "the command replaced the shell of the pane, so there is no exit code; the new one \
                               was set up"
                            .to_owned()
                    }
                    Err(error) => format!(
                        "the command replaced the shell of the pane, so there is no exit code; {error}"
                    ),
                });
                Ok(Some(exit))
            }
        }
    }

    /// Ends the command with all that it started, also what left its session. What earlier commands left running stays.
    async fn stop(&mut self, steps: &[(&str, Duration)], ended: Ended) -> Result<Exit, TargetError> {
        let exit = self.end_foreground(steps, ended).await;
        match (exit, self.link.sweep(self.tag).await) {
            (Ok(exit), Ok(survivors)) => Ok(Exit { survivors, ..exit }),
            (Ok(exit), Err(error)) => {
                self.notes
                    .push(format!("it is not known whether all that the command started has ended: {error}"));
                Ok(exit)
            }
            (Err(error), _) => Err(error),
        }
    }

    async fn end_foreground(
        &mut self,
        steps: &[(&str, Duration)],
        ended: Ended,
    ) -> Result<Exit, TargetError> {
        for (signal, time) in steps {
            match self.link.signal_stopped(signal).await {
                Err(error) if error.is_connection() => return Err(out_of_reach(&self.link)),
                // The next signal may fare better, and at last there is a new shell.
                Ok(()) | Err(_) => {}
            }
            match timeout(*time, &mut self.done).await {
                Ok(Ok(done)) => return Ok(self.exit(done, ended)),
                Ok(Err(_)) => return Err(PaneError::Closed.into()),
                Err(_) => {}
            }
        }
        let exit = self.taken(ended).await?;
        self.link.respawn().await?;
        self.notes.push("the shell of the pane did not come back; a new one was started".to_owned());
        Ok(exit)
    }

    /// What there is of the output when no prompt will tell the end.
    async fn taken(&mut self, ended: Ended) -> Result<Exit, TargetError> {
        call_off(&self.link, &self.nonce).await;
        match (&mut self.done).await {
            Ok(done) => Ok(self.exit(done, ended)),
            Err(_) => Err(PaneError::Closed.into()),
        }
    }

    fn exit(&self, done: Done, ended: Ended) -> Exit {
        let Done { status: code, taken } = done;
        let Taken { stdout, stderr, log, chunks_dropped } = taken;
        let duration = self.began.elapsed();
        Exit { code, ended, duration, stdout, stderr, log, chunks_dropped, ..Exit::default() }
    }

    /// Whether somebody typed while the command ran.
    async fn typing(&self) -> Option<String> {
        // tmux tells whole seconds, so a part of one counts as one.
        let seconds = self.began.elapsed().as_millis().div_ceil(1000);
        let found = probe(&self.link, u64::try_from(seconds).ok()?).await.ok()?;
        (found.typing > 0).then(|| "somebody typed into the pane while the command ran".to_owned())
    }
}

/// What a run comes to.
enum Turn {
    /// Its end, or none where the stream has ended.
    Done(Option<Done>),
    /// It is to stop.
    Wished(Wish),
    /// Its time is up.
    TimeUp,
}

/// Waits for the end of a run, or for what is to end it.
async fn turn(
    done: &mut oneshot::Receiver<Done>,
    wish: &mut watch::Receiver<Wish>,
    deadline: Option<Instant>,
) -> Turn {
    tokio::select! {
        biased;
        done = done => Turn::Done(done.ok()),
        wish = wished(wish) => Turn::Wished(wish),
        () = until(deadline) => Turn::TimeUp,
    }
}

/// Waits until the run is to stop.
async fn wished(wish: &mut watch::Receiver<Wish>) -> Wish {
    let wanted = wish.wait_for(|wish| *wish != Wish::GoOn).await.map(|wish| *wish);
    match wanted {
        Ok(wanted) => wanted,
        // Nobody is left who could want it.
        Err(_) => std::future::pending().await,
    }
}

/// Waits for a hint that the shell has ended.
async fn died(seen: &mut watch::Receiver<Seen>, known: u64) {
    if seen.wait_for(|seen| seen.deaths > known).await.is_err() {
        std::future::pending::<()>().await;
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
