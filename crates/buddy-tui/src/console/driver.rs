//! The one loop that reads the terminal and the sessions, performs effects, and paints.

use std::sync::Arc;
use std::time::{Duration, Instant};

use buddy_protocol::{ApprovalPolicy, Command, Principal, SessionId, Sessions, SessionsError};
use crossterm::event::{Event as TerminalEvent, EventStream, KeyEventKind};
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant as TokioInstant, sleep_until};
use tokio_stream::StreamMap;

use super::custom::CustomCommand;
use super::desk::Desk;
use super::effect::{ConsoleEffect, ConsoleInput, EffectReply, Errand, Focus};
use super::errands::{ErrandDone, ErrandRunner};
use super::ground::{GroundQuery, HeardKey, QUESTION};
use super::lanes::{LaneOrder, LaneReport, Lanes};
use super::live::LAMP_MS;
use super::own_status::OwnStatus;
use super::state::Console;
use super::status_part::StatusPart;
use super::terminal::{self, HeldTerminal};
use crate::branches::take_up;
use crate::editor::{EditorKey, KeyStyle, Vim};
use crate::event_feed::{EventFeed, FeedError, FeedPart, follow_events};
use crate::exit::{Exit, LeftConversation, Signalled};
use crate::markdown::load_syntaxes;
use crate::screen::ScreenPainter;
use crate::text::{TerminalLook, Theme};

/// The shortest time between two paintings that no key asked for.
const FRAME: Duration = Duration::from_millis(33);
/// How often a time on the screen changes when nothing moves.
const SECOND: Duration = Duration::from_secs(1);
/// Events that are taken up before the screen is painted.
const BATCH: usize = 512;
/// Conversations in a list.
const LISTED: usize = 200;

/// The inputs of a conversation on a screen.
pub struct ConsoleRequest {
    /// Who talks.
    pub who: Principal,
    /// The session.
    pub session: SessionId,
    /// Its last event so far.
    pub head: u64,
    /// One message each time a signal asks to stop.
    pub interrupts: mpsc::Receiver<Signalled>,
    /// How things look.
    pub look: TerminalLook,
    /// The approval mode of a session that sets none.
    pub approvals: ApprovalPolicy,
    /// Keys of the user's own: key and what it does.
    pub keys: Vec<(String, String)>,
    /// The kind of keys that text is edited with.
    pub key_style: KeyStyle,
    /// Commands of the user's own.
    pub custom: Vec<CustomCommand>,
    /// Whether the terminal is asked for its ground, and the colours follow.
    pub follows_ground: bool,
    /// Whether the terminal is one of tmux's.
    pub is_in_tmux: bool,
    /// The parts of the status line.
    pub status_parts: Vec<StatusPart>,
    /// Whether a command of the user's own makes the status line.
    pub has_own_status: bool,
    /// The lines above the first prompt: buddy with its version and the session, then notices.
    pub greeting: Vec<String>,
    /// The first prompt, if the command line has one.
    pub prompt: Option<String>,
}

/// Talks until the user leaves. Returns how, and what is left.
pub async fn run_console(
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    mut request: ConsoleRequest,
) -> Result<LeftConversation, SessionsError> {
    if request.follows_ground {
        // On a ground that nobody knows only the terminal's own sixteen colours can be read for certain.
        request.look.theme = Theme::Terminal;
    }
    terminal::give_back_on_panic();
    let terminal = HeldTerminal::enter(request.is_in_tmux).map_err(|error| {
        SessionsError::Conflict(format!("the terminal cannot be used: {error}; `buddy exec` needs none"))
    })?;
    let (columns, height) = HeldTerminal::size();
    let mut console =
        Console::new(request.session.clone(), request.look.clone(), columns, desk.history(), Instant::now());
    console.take_keys(&request.keys);
    console.begin_with(request.approvals);
    console.vim = (request.key_style == KeyStyle::Vim).then(Vim::default);
    console.custom = request.custom;
    console.status_parts = request.status_parts;
    console.own_status = OwnStatus::new(request.has_own_status);
    console.greet(&request.greeting);
    let (lanes, reports) = Lanes::open(&sessions, &desk, &request.who);
    let asked = request.follows_ground.then(Instant::now);
    let mut driver = ConsoleDriver {
        painter: ScreenPainter::new(request.look, columns, height),
        console,
        terminal,
        jobs: JoinSet::new(),
        events: StreamMap::new(),
        lanes,
        sessions: sessions.clone(),
        desk,
        who: request.who.clone(),
        exit: None,
        paint_at: Some(Instant::now()),
        painted: None,
        keys: Some(EventStream::new()),
        ground: GroundQuery::new(asked),
    };
    if asked.is_some() {
        driver.terminal.write(QUESTION).ok();
    }
    if !driver.console.look.is_plain() {
        // Done while nothing waits for it, so that the first block of code does not.
        driver.jobs.spawn_blocking(|| {
            load_syntaxes();
            ErrandDone::Reply(EffectReply::Said(String::new()))
        });
    }
    driver.open(request.session, request.head).await?;
    if let Some(prompt) = request.prompt {
        driver.take(ConsoleInput::Said(prompt)).await;
    }
    let result = driver.run(request.interrupts, reports).await;
    driver.console.now = Instant::now();
    driver.console.settle_calls();
    let mut farewell = driver.console.take_rows();
    farewell.extend(driver.console.farewell_rows());
    driver.terminal.write(&driver.painter.leave_with(&farewell)).ok();
    let console = &driver.console;
    let session = console.front().session.clone();
    let is_empty = console.front().reader.transcript().items().is_empty();
    let stopped = console.list_stopped();
    drop(driver);
    result.map(|exit| LeftConversation { exit, session, is_empty, stopped })
}

struct ConsoleDriver {
    console: Console,
    painter: ScreenPainter,
    terminal: HeldTerminal,
    /// Effects that take their time.
    jobs: JoinSet<ErrandDone>,
    events: StreamMap<SessionId, EventFeed>,
    lanes: Lanes,
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    who: Principal,
    exit: Option<Exit>,
    /// When the screen is to be painted; none when it shows what it should.
    paint_at: Option<Instant>,
    painted: Option<Instant>,
    /// The keys; none while somebody else has the terminal.
    keys: Option<EventStream>,
    ground: GroundQuery,
}

impl ConsoleDriver {
    /// Follows a session from its beginning.
    async fn open(&mut self, session: SessionId, head: u64) -> Result<(), SessionsError> {
        let in_use = take_up(&*self.sessions, &self.who, &session).await?;
        let events = follow_events(self.sessions.clone(), self.who.clone(), session.clone(), 0).await?;
        self.events.insert(session, events);
        self.console.front_mut().skip_until = head;
        self.console.note_in_use(in_use);
        Ok(())
    }

    async fn run(
        &mut self,
        mut interrupts: mpsc::Receiver<Signalled>,
        mut reports: mpsc::Receiver<LaneReport>,
    ) -> Result<Exit, SessionsError> {
        loop {
            let (tick, paint, held) = (self.next_tick(), self.paint_at, self.ground.deadline());
            let keys = self.keys.get_or_insert_with(EventStream::new);
            let input = tokio::select! {
                biased;
                Some(event) = keys.next() => Self::terminal_input(event),
                () = wait_until(held), if held.is_some() => {
                    self.type_held().await;
                    None
                }
                Some(_) = interrupts.recv() => Some(ConsoleInput::Stop),
                () = wait_until(paint), if paint.is_some() => {
                    self.paint()?;
                    None
                }
                Some(done) = self.jobs.join_next(), if !self.jobs.is_empty() => Some(self.finished(done)),
                Some(report) = reports.recv() => Some(ConsoleInput::Reply(report.into_reply()?)),
                Some((session, part)) = self.events.next(), if !self.events.is_empty() => {
                    Some(Self::event(session, part)?)
                }
                () = wait_until(tick), if tick.is_some() => Some(ConsoleInput::Tick),
            };
            if let Some(input) = input {
                self.sift(input).await;
                self.drain().await?;
            }
            if let Some(exit) = self.exit {
                self.paint()?;
                return Ok(exit);
            }
        }
    }

    /// Takes an input that may be a part of what the terminal says by itself.
    async fn sift(&mut self, input: ConsoleInput) {
        match input {
            ConsoleInput::Key(key) => match self.ground.hear(key, Instant::now()) {
                HeardKey::Part => {}
                HeardKey::Answer(theme) => self.take(ConsoleInput::Ground(theme)).await,
                HeardKey::Keys(keys) => self.type_keys(keys).await,
            },
            ConsoleInput::Paste(text) => {
                self.type_held().await;
                self.take(ConsoleInput::Paste(text)).await;
            }
            other => self.take(other).await,
        }
    }

    /// Types what was held back.
    async fn type_held(&mut self) {
        let keys = self.ground.release();
        self.type_keys(keys).await;
    }

    async fn type_keys(&mut self, keys: Vec<EditorKey>) {
        for key in keys {
            self.take(ConsoleInput::Key(key)).await;
        }
    }

    async fn take(&mut self, input: ConsoleInput) {
        let is_urgent =
            matches!(input, ConsoleInput::Key(_) | ConsoleInput::Paste(_) | ConsoleInput::Resized);
        let now = Instant::now();
        let soon = if is_urgent { now } else { self.painted.map_or(now, |painted| painted + FRAME) };
        self.paint_at = Some(self.paint_at.map_or(soon, |at| at.min(soon)));
        for effect in self.console.handle(input, now) {
            self.perform(effect).await;
        }
    }

    /// Takes up what is ready, so that the screen is painted once for all of it.
    async fn drain(&mut self) -> Result<(), SessionsError> {
        for _ in 0..BATCH {
            let Some(Some((session, part))) = self.events.next().now_or_never() else { return Ok(()) };
            self.take(Self::event(session, part)?).await;
        }
        Ok(())
    }

    fn next_tick(&self) -> Option<Instant> {
        // Nothing moves while a question waits for a user.
        let is_moving = self.console.look.has_motion && self.console.asking.is_none();
        let step = if is_moving { Duration::from_millis(LAMP_MS) } else { SECOND };
        let busy = self.console.is_busy();
        let next = busy.then(|| self.painted.map_or_else(Instant::now, |painted| painted + step));
        let wakes = self.console.wakes_at();
        next.into_iter().chain(wakes).min()
    }

    fn terminal_input(event: std::io::Result<TerminalEvent>) -> Option<ConsoleInput> {
        match event {
            Ok(TerminalEvent::Key(key)) if key.kind != KeyEventKind::Release => {
                Some(ConsoleInput::Key(EditorKey::of(key)))
            }
            Ok(TerminalEvent::Paste(text)) => Some(ConsoleInput::Paste(text)),
            Ok(TerminalEvent::Resize(..)) => Some(ConsoleInput::Resized),
            Ok(TerminalEvent::FocusGained) => Some(ConsoleInput::Focus(Focus::Here)),
            Ok(TerminalEvent::FocusLost) => Some(ConsoleInput::Focus(Focus::Elsewhere)),
            Ok(TerminalEvent::Mouse(_) | TerminalEvent::Key(_)) => None,
            // The terminal is gone.
            Err(_) => Some(ConsoleInput::Stop),
        }
    }

    fn event(session: SessionId, part: Result<FeedPart, FeedError>) -> Result<ConsoleInput, SessionsError> {
        Ok(match part {
            Ok(FeedPart::Event(event)) => ConsoleInput::Event(session, event),
            Ok(FeedPart::Missed) => ConsoleInput::Missed(session),
            // The conversation stays, and can be taken up again.
            Err(FeedError::Unfollowed(error)) => ConsoleInput::Reply(EffectReply::Failed(error.to_string())),
            Err(error) => return Err(error.into()),
        })
    }

    fn finished(&mut self, done: Result<ErrandDone, JoinError>) -> ConsoleInput {
        match done {
            Ok(ErrandDone::Reply(reply)) => ConsoleInput::Reply(reply),
            Ok(ErrandDone::Follow(session, events, reply)) => {
                self.events.insert(session, events);
                ConsoleInput::Reply(reply)
            }
            Err(error) => ConsoleInput::Reply(EffectReply::Failed(error.to_string())),
        }
    }

    async fn perform(&mut self, effect: ConsoleEffect) {
        match effect {
            ConsoleEffect::Send(session, command) => {
                if !self.order(session, command) {
                    let why = "buddy is busy, so this was not sent";
                    if !self.console.answer_refused(why) {
                        self.console.complain(&format!("{why}."));
                    }
                }
            }
            ConsoleEffect::Errand(errand) => self.start(errand),
            ConsoleEffect::Leave(session) => drop(self.events.remove(&session)),
            ConsoleEffect::Remember(text) => self.desk.remember(&text),
            ConsoleEffect::Edit(text) => self.edit(&text).await,
            ConsoleEffect::LogIn(profile) => self.log_in(profile.as_deref()).await,
            ConsoleEffect::Copy(text) => self.copy(&text),
            ConsoleEffect::Suspend => self.suspend(),
            ConsoleEffect::Redraw => {
                self.painter.set_look(self.console.look.clone());
                self.painter.forget();
            }
            ConsoleEffect::Ring(text) => drop(self.terminal.ring(&text)),
            ConsoleEffect::Quit(exit) => self.exit = Some(exit),
        }
    }

    /// Has a command sent. False when too many wait already.
    fn order(&self, session: SessionId, command: Command) -> bool {
        self.lanes.give(LaneOrder::new(&self.console, session, command))
    }

    fn start(&mut self, errand: Errand) {
        let runner = ErrandRunner::new(&self.sessions, &self.desk, &self.who, &self.console, LISTED);
        self.jobs.spawn(runner.run(errand));
    }

    /// Leaves the terminal to an editor.
    async fn edit(&mut self, text: &str) {
        self.step_aside();
        let edited = self.desk.edit(text).await;
        self.step_back();
        let reply = match edited {
            Ok(text) => EffectReply::Edited(text),
            Err(text) => EffectReply::Failed(text),
        };
        // The reply to an edited text brings no further effect that edits.
        let _ = self.console.handle(ConsoleInput::Reply(reply), Instant::now());
    }

    /// Leaves the terminal to a login.
    async fn log_in(&mut self, profile: Option<&str>) {
        self.step_aside();
        let model = self.desk.log_in(profile).await;
        self.step_back();
        let reply = match model {
            Ok(model) => EffectReply::LoggedIn(model),
            Err(text) => EffectReply::Failed(text),
        };
        for effect in self.console.handle(ConsoleInput::Reply(reply), Instant::now()) {
            if let ConsoleEffect::Send(session, command) = effect
                && !self.order(session, command)
            {
                self.console.complain("buddy is busy, so this was not sent.");
            }
        }
        // A login without a name can have changed which model answers.
        self.start(Errand::LookAround);
    }

    fn suspend(&mut self) {
        self.step_aside();
        // The whole job, so that a script which started buddy stops with it.
        let stopped = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
        self.step_back();
        if let Err(error) = stopped {
            self.console.complain(&format!("cannot suspend: {error}"));
        }
    }

    fn step_aside(&mut self) {
        self.keys = None;
        let _ = self.terminal.write(&self.painter.leave());
        terminal::give_back();
    }

    fn step_back(&mut self) {
        if self.terminal.take().is_err() {
            self.exit = Some(Exit::Interrupted);
        }
        self.painter.forget();
    }

    fn copy(&mut self, text: &str) {
        match self.terminal.copy(text) {
            Ok(true) => self.console.say("Copied to the terminal's clipboard, if it has one."),
            Ok(false) => {
                self.console
                    .complain("That is too long for the terminal's clipboard. Use /export to write a file.");
            }
            Err(error) => self.console.complain(&format!("cannot reach the terminal: {error}")),
        }
    }

    fn paint(&mut self) -> Result<(), SessionsError> {
        let now = Instant::now();
        self.console.now = now;
        (self.paint_at, self.painted) = (None, Some(now));
        if !terminal::is_held() {
            self.step_back();
        }
        // The terminal may have changed since it last said so, and what is painted for another width goes astray.
        let (columns, height) = HeldTerminal::size();
        self.painter.resize(columns, height);
        (self.console.columns, self.console.height) = (columns, self.painter.height());
        self.console.most_open = self.painter.most_open();
        let rows = self.console.take_rows();
        let frame = self.console.frame(self.painter.height());
        let bytes = self.painter.paint(&rows, frame);
        let title = self.console.title();
        let written = self.terminal.write(&bytes).and_then(|()| self.terminal.set_title(title));
        written.map_err(|_| SessionsError::Closed)?;
        if self.console.note_painted(self.painter.question()) {
            // The row that said how to see the rest says that no more.
            let frame = self.console.frame(self.painter.height());
            let bytes = self.painter.paint(&[], frame);
            self.terminal.write(&bytes).map_err(|_| SessionsError::Closed)?;
        }
        Ok(())
    }
}

/// Waits until a time, or for ever where there is none.
pub(super) async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(TokioInstant::from_std(time)).await,
        None => std::future::pending().await,
    }
}
