//! `buddy exec`: one prompt, one answer, no questions.
//!
//! The answer alone goes to the output; what happens on the way goes to the status stream. Nothing ever waits for a
//! user: what would ask is denied with a reason that the model sees. Only a run that is steered by commands has somebody
//! who can answer.

mod lines;
mod outlet;
mod schema;
mod steered;
mod steering;
#[cfg(test)]
mod tests;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use buddy_protocol::{
    Attachment, Change, Command, Content, Event, Fact, Failure, FailureKind, Item, NewSession, NoticeLevel,
    Principal, SessionId, Sessions, SessionsError, TurnOutcome, Usage,
};
use futures::StreamExt;
use tokio::io::AsyncBufRead;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::console::{render_begun_call, render_ended_call};
use crate::counting::counted;
use crate::details::Details;
use crate::event_feed::{EventFeed, FeedPart, follow_events};
use crate::exit::Exit;
use crate::left_running::LeftRunning;
use crate::printer::Printer;
use crate::report::{RunReport, StopCause};
use crate::retrying::RetryNews;
use lines::{BoundedLines, MAX_LINE};
use outlet::ExecOutlet;
pub use schema::{AnswerSchema, SchemaError};
use schema::{CORRECTIONS, missed};
use steering::Steering;
pub use watch::ExecWatch;
use watch::WatchedRun;

/// How long an interrupted turn may take to come to its end.
const STOP_WITHIN: Duration = Duration::from_secs(15);
/// How long a reader may take for what is left to print once a run was stopped.
const READ_WITHIN: Duration = Duration::from_secs(5);

/// A run with less time than this has no report at its end: the model would get too little of it.
const MIN_REPORTED: Duration = Duration::from_secs(30);
/// The part of the time of a run that is kept for the report, and its bounds.
const REPORT_PART: u32 = 10;
const MIN_REPORT: Duration = Duration::from_secs(5);
const MAX_REPORT: Duration = Duration::from_secs(30);

/// The time at the end of a run that is kept for a report.
fn report_time(timeout: Duration) -> Option<Duration> {
    (timeout >= MIN_REPORTED).then(|| (timeout / REPORT_PART).clamp(MIN_REPORT, MAX_REPORT))
}

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// The text of the answer.
    Text,
    /// One JSON object with the answer and what it took.
    Json,
    /// Every event of the run, one a line, and then that object.
    StreamJson,
}

/// Which session a run belongs to.
#[derive(Debug, Clone)]
pub enum ExecTarget {
    /// A new one.
    New(Box<NewSession>),
    /// One that goes on after event `head`.
    Resume {
        /// The session.
        session: SessionId,
        /// Its last event so far.
        head: u64,
        /// Another model from here on.
        model: Option<String>,
    },
}

/// A headless run.
pub struct ExecRequest {
    /// Who prompts.
    pub who: Principal,
    /// The session.
    pub target: ExecTarget,
    /// The prompt; none where the commands bring the first one.
    pub prompt: Option<String>,
    /// The part of it that the user typed, where the prompt is from a pipe or a file.
    pub typed: Option<String>,
    /// The images that go with it.
    pub images: Vec<Attachment>,
    /// The schema that the answer must fit.
    pub schema: Option<AnswerSchema>,
    /// Whether the agent only reads and plans; none leaves that to the session.
    pub plan_only: Option<bool>,
    /// How much is told of what goes on.
    pub details: Details,
    /// How that looks where a user watches it on a terminal; none where it is told in plain lines.
    pub watch: Option<ExecWatch>,
    /// How to print.
    pub format: OutputFormat,
    /// Whether live deltas are printed among the events.
    pub include_deltas: bool,
    /// How long the run may take.
    pub timeout: Option<Duration>,
    /// Cancelled when a signal asks to stop.
    pub interrupt: CancellationToken,
}

/// Commands for a run, one a line.
pub type CommandInput = Box<dyn AsyncBufRead + Send + Unpin>;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecOutcome {
    /// The exit code.
    pub exit: Exit,
    /// The last answer, as the format for text prints it.
    pub last_message: String,
}

struct ExecRun<'a> {
    sessions: Arc<dyn Sessions>,
    request: &'a ExecRequest,
    session: SessionId,
    outlet: ExecOutlet,
    report: RunReport,
    stop: Option<StopCause>,
    /// When the run is stopped; once it is being stopped, when that is waited for no longer.
    deadline: Option<Instant>,
    /// When the model is asked for a report, so that it comes before the deadline.
    report_at: Option<Instant>,
    /// Whether it was.
    is_wound_up: bool,
    /// How often the model was asked again for an answer that fits.
    corrections: u32,
    /// Whether commands steer the run.
    is_steered: bool,
    steering: Steering,
    /// When the run began, or the turn of one that is steered.
    began: Instant,
    /// How the last turn of a run that is steered ended.
    last: Option<ExecOutcome>,
    retry_news: RetryNews,
    left_running: LeftRunning,
    /// Where the session works, where it began here.
    cwd: String,
    watched: Option<WatchedRun>,
}

/// Runs one prompt to the end of its turn; with commands, until those have ended and nothing runs any more.
///
/// A failure before the prompt is taken is an error. A later one is the end of the run.
pub async fn run_exec(
    sessions: Arc<dyn Sessions>,
    request: ExecRequest,
    commands: Option<CommandInput>,
    printer: Printer,
) -> Result<ExecOutcome, SessionsError> {
    let began = Instant::now();
    let (session, head) = open(&*sessions, &request).await?;
    // A new session plans only when that is wished; one that goes on may have been left planning.
    let is_new = matches!(request.target, ExecTarget::New(_));
    if let Some(is_on) = request.plan_only.filter(|is_on| *is_on || !is_new) {
        let change = Change { plan_only: Some(is_on), ..Change::default() };
        sessions.send(&request.who, &session, Command::Change(change)).await?;
    }
    sessions.take_up(&request.who, &session).await?;
    let events = follow_events(sessions.clone(), request.who.clone(), session.clone(), head).await?;
    let is_steered = commands.is_some();
    let outlet = ExecOutlet::start(printer).map_err(|error| SessionsError::Conflict(error.to_string()))?;
    let mut run = ExecRun {
        sessions,
        request: &request,
        session,
        outlet,
        report: RunReport::default(),
        stop: None,
        deadline: request.timeout.map(|timeout| began + timeout),
        report_at: request.timeout.and_then(|timeout| Some(began + timeout - report_time(timeout)?)),
        is_wound_up: false,
        corrections: 0,
        is_steered,
        steering: Steering::new(is_steered),
        began,
        last: None,
        retry_news: RetryNews::default(),
        left_running: LeftRunning::default(),
        cwd: String::new(),
        watched: request
            .watch
            .clone()
            .filter(|_| request.format != OutputFormat::StreamJson)
            .map(WatchedRun::new),
    };
    if let Some(prompt) = &request.prompt {
        let text = request.schema.as_ref().map_or_else(|| prompt.clone(), |schema| schema.asked(prompt));
        let (images, typed) = (request.images.clone(), request.typed.clone());
        run.obey(Command::Prompt { text, images, typed }).await?;
    }
    let no_commands: CommandInput = Box::new(tokio::io::empty());
    let commands = BoundedLines::new(commands.unwrap_or(no_commands), MAX_LINE);
    if let Err(error) = run.follow(events, commands).await {
        run.report.break_off(failure(error));
    }
    Ok(run.finish().await)
}

/// The failure of a run that could not be followed to its end.
fn failure(error: SessionsError) -> Failure {
    match error {
        SessionsError::Agent(failure) => failure,
        other => {
            Failure { http_status: None, kind: FailureKind::Internal, message: other.to_string(), hint: None }
        }
    }
}

async fn open(sessions: &dyn Sessions, request: &ExecRequest) -> Result<(SessionId, u64), SessionsError> {
    match &request.target {
        ExecTarget::New(new) => Ok((sessions.create(&request.who, NewSession::clone(new)).await?, 0)),
        ExecTarget::Resume { session, head, model } => {
            if model.is_some() {
                let change = Command::Change(Change { model: model.clone(), ..Change::default() });
                sessions.send(&request.who, session, change).await?;
            }
            Ok((session.clone(), *head))
        }
    }
}

impl ExecRun<'_> {
    async fn follow(
        &mut self,
        mut events: EventFeed,
        mut commands: BoundedLines<CommandInput>,
    ) -> Result<(), SessionsError> {
        let closed = self.outlet.closed();
        while !(self.is_steered && self.is_over()) {
            tokio::select! {
                // Earlier events are seen before the next command, so that a run is not over too early.
                biased;
                () = until(self.deadline) => {
                    if self.stop.is_some() || self.steering.has_ended {
                        return Ok(());
                    }
                    self.interrupt(StopCause::Timeout).await?;
                }
                () = until(self.report_at), if self.stop.is_none() => self.wind_up().await?,
                () = self.request.interrupt.cancelled(), if self.stop.is_none() => {
                    self.interrupt(StopCause::Signal).await?;
                }
                () = closed.cancelled(), if self.stop.is_none() => self.interrupt(StopCause::OutputClosed).await?,
                () = self.outlet.pass_on(), if !self.outlet.is_drained() => {}
                event = events.next(), if self.may_go_on() => match event {
                    Some(Ok(FeedPart::Event(event))) => {
                        if self.take(&event).await? && self.settle().await? {
                            return Ok(());
                        }
                    }
                    // A run reports whole items.
                    Some(Ok(FeedPart::Missed)) => {}
                    Some(Err(error)) => return Err(error.into()),
                    // The last word of a session that was ended for good.
                    None if self.steering.has_ended => return Ok(()),
                    None => return Err(SessionsError::Closed),
                },
                line = commands.next(), if self.steering.is_open && self.outlet.is_drained() => match line {
                    Ok(Some(line)) => self.hear(line).await?,
                    Ok(None) | Err(_) => self.stop_hearing().await?,
                },
            }
        }
        Ok(())
    }

    /// Whether the next event may be looked at: what the last one said has found its way out.
    fn may_go_on(&self) -> bool {
        self.outlet.is_drained() || (self.stop.is_some() && self.outlet.has_room())
    }

    /// Stops what runs, and waits for its end only so long.
    async fn interrupt(&mut self, stop: StopCause) -> Result<(), SessionsError> {
        self.stop = Some(stop);
        self.steering.is_open = false;
        self.stop_soon();
        if self.steering.has_ended {
            return Ok(());
        }
        self.sessions.send(&self.request.who, &self.session, Command::interrupt()).await?;
        self.stop_beside().await
    }

    /// Asks for a report while there is time for one.
    async fn wind_up(&mut self) -> Result<(), SessionsError> {
        self.report_at = None;
        if self.steering.has_ended || !self.report.is_running() {
            return Ok(());
        }
        self.is_wound_up = true;
        let limit = self.request.timeout.map(|limit| format!(" of {} s", limit.as_secs_f64().round()));
        let reason = format!("its time limit{} is nearly reached", limit.unwrap_or_default());
        self.sessions.send(&self.request.who, &self.session, Command::WindUp { reason }).await
    }

    fn stop_soon(&mut self) {
        self.deadline = Some(Instant::now() + STOP_WITHIN);
    }

    async fn take(&mut self, event: &Event) -> Result<bool, SessionsError> {
        self.print(event);
        self.left_running.note(&event.fact);
        self.steering.note(event);
        match &event.fact {
            Fact::Asked(asked) if !self.steering.is_open => self.deny(asked.ask.id.clone()).await?,
            Fact::ItemStarted(_) if self.stop.is_some() => self.stop_beside().await?,
            Fact::SessionEnded(_) => self.stop_soon(),
            // The report came, and the time was up for everything else.
            Fact::TurnEnded(ended) if self.is_wound_up && ended.outcome == TurnOutcome::Interrupted => {
                self.stop = self.stop.or(Some(StopCause::Timeout));
                self.steering.is_open = false;
            }
            Fact::TurnStarted(_) if self.is_steered => self.began = Instant::now(),
            _ => {}
        }
        Ok(self.report.apply(event))
    }

    /// The turn has ended. True when the run is over by that.
    async fn settle(&mut self) -> Result<bool, SessionsError> {
        if let Some(schema) = &self.request.schema
            && self.stop.is_none()
            && self.report.has_completed()
        {
            match schema.fit(self.report.text()) {
                Ok(fitting) => self.report.accept(fitting.text, fitting.value),
                Err(mismatch) if self.corrections < CORRECTIONS => {
                    self.corrections += 1;
                    // The reason stands in the error if no answer fits.
                    self.outlet.status("the answer does not fit the schema, and is asked for again");
                    self.report.next_turn();
                    self.obey(Command::prompt(schema.corrected(&mismatch))).await?;
                    return Ok(false);
                }
                Err(mismatch) => self.report.reject(missed(&mismatch)),
            }
        }
        if self.is_steered {
            self.last = Some(self.conclude());
            self.report = RunReport::default();
        }
        Ok(!self.is_steered)
    }

    fn print(&mut self, event: &Event) {
        if self.stop == Some(StopCause::OutputClosed) {
            return;
        }
        if self.request.format == OutputFormat::StreamJson {
            if event.seq.is_some() || self.request.include_deltas {
                self.outlet.line(event.to_json().unwrap_or_default());
            }
            return;
        }
        let is_news = self.retry_news.is_news(&event.fact);
        if let Fact::SessionStarted(started) = &event.fact {
            self.cwd.clone_from(&started.cwd);
        }
        if let Some(watched) = &mut self.watched {
            if let Some(rows) = watched.event(event).filter(|_| is_news) {
                self.outlet.rows(rows);
            }
            return;
        }
        if let Some(line) = status_line(event, self.request.details, &self.cwd).filter(|_| is_news) {
            self.outlet.status(line);
        }
    }

    /// How it all ended. A run that is steered tells of each turn when it ends; of a turn that does not, it tells here.
    async fn finish(mut self) -> ExecOutcome {
        let outcome = if !self.is_steered || self.report.is_running() || self.report.failure().is_some() {
            self.conclude()
        } else {
            let exit = self.stop.map(|stop| self.report.exit(Some(stop)));
            let last = self.last.take();
            let last = last.unwrap_or(ExecOutcome { exit: Exit::Ok, last_message: String::new() });
            ExecOutcome { exit: exit.unwrap_or(last.exit), ..last }
        };
        let deadline = if self.stop.is_some() || self.steering.has_ended {
            Some(Instant::now() + READ_WITHIN)
        } else {
            self.deadline
        };
        let exit = tokio::select! {
            biased;
            is_printed = self.outlet.finish() => if is_printed { outcome.exit } else { Exit::OutputClosed },
            // It ended in time, and nobody read how.
            () = self.request.interrupt.cancelled(), if self.stop.is_none() => Exit::Interrupted,
            () = until(deadline) => if self.stop.is_some() { outcome.exit } else { Exit::Timeout },
        };
        ExecOutcome { exit, ..outcome }
    }

    /// Tells how the turn ended.
    fn conclude(&mut self) -> ExecOutcome {
        let exit = self.report.exit(self.stop);
        if let Some(watched) = &mut self.watched {
            self.outlet.rows(watched.cleared());
        }
        if let Some(failure) = self.report.failure() {
            self.outlet.status(format!("buddy: {}", failure.message));
            if let Some(hint) = &failure.hint {
                self.outlet.status(format!("  {hint}"));
            }
        }
        if let Some(text) = self.request.details.tokens(&Usage::default(), &self.report.usage()) {
            self.outlet.status(text);
        }
        if exit == Exit::Timeout {
            self.outlet.status("buddy: the time limit was reached");
        }
        let left: Vec<String> = self.left_running.ids().map(str::to_owned).collect();
        if !left.is_empty() && !self.is_steered {
            self.outlet.status(format!(
                "in the background, and ended with this run: {} ({})",
                counted(left.len() as u64, "command"),
                left.join(", ")
            ));
        }
        let duration_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        // Who wants JSON that fits has no use for anything else.
        let is_usable = self.request.schema.is_none() || self.report.is_accepted();
        let last_message = if is_usable { with_newline(self.report.text()) } else { String::new() };
        match self.request.format {
            OutputFormat::Text => self.outlet.answer(last_message.clone()),
            OutputFormat::Json | OutputFormat::StreamJson => {
                let mut result = self.report.result(Some(&self.session), exit, duration_ms);
                result.ended_with_run = if self.is_steered { Vec::new() } else { left };
                self.outlet.line(serde_json::to_string(&result).unwrap_or_default());
            }
        }
        if let Some(watched) = &mut self.watched {
            let rows = watched.end(exit, self.report.denied(), self.began.elapsed(), self.report.cost());
            self.outlet.rows(rows);
        }
        ExecOutcome { exit, last_message }
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn with_newline(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// The rows about an event for a user who watches, in a session that works in `cwd`.
fn status_line(event: &Event, details: Details, cwd: &str) -> Option<String> {
    let call = |item: &Item| match &item.content {
        Content::ToolCall(call) => Some((**call).clone()),
        _ => None,
    };
    match &event.fact {
        Fact::SessionStarted(_) => Some(format!("session {}", event.session)),
        Fact::ItemChanged(changed) => render_begun_call(&call(&changed.item)?, "", details, cwd),
        Fact::ItemEnded(ended) => {
            Some(render_ended_call(&call(&ended.item)?, ended.item.status, "", details, cwd))
        }
        Fact::Notice(notice) => match notice.level {
            NoticeLevel::Info => Some(notice.text.clone()),
            NoticeLevel::Warning => Some(format!("warning: {}", notice.text)),
            NoticeLevel::Error => Some(format!("error: {}", notice.text)),
        },
        _ => None,
    }
}
