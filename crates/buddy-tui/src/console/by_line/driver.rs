//! The loop of a conversation line by line: it reads lines and the sessions, performs effects in their order, and prints.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use buddy_protocol::{ApprovalPolicy, Command, Principal, SessionId, Sessions, SessionsError};
use futures::{FutureExt, StreamExt};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, Lines};
use tokio::sync::mpsc;
use tokio_stream::StreamMap;

use super::printer::LinePrinter;
use crate::branches::take_up;
use crate::console::custom::CustomCommand;
use crate::console::desk::Desk;
use crate::console::driver::wait_until;
use crate::console::effect::{ConsoleEffect, ConsoleInput, EffectReply, Errand};
use crate::console::errands::{ErrandDone, ErrandRunner};
use crate::console::lanes::{LaneOrder, LaneReport, send_order};
use crate::console::line_face::LineInput;
use crate::console::state::Console;
use crate::console::terminal::{encode_copy, measure_terminal};
use crate::details::Details;
use crate::event_feed::{EventFeed, FeedError, FeedPart, follow_events};
use crate::exit::{Exit, LeftConversation, Signalled};
use crate::farewell::{render_farewell_line, summarise_conversation};
use crate::printer::Printer;
use crate::slash_commands::is_slash_command;
use crate::text::TerminalLook;

/// Events that are taken up before the next prompt.
const BATCH: usize = 512;
/// Conversations in a list.
const LISTED: usize = 50;
/// The columns of rows that a program reads: more than any row has.
const UNBROKEN: usize = 10_000;

/// A conversation line by line.
pub struct LineRequest {
    /// Who talks.
    pub who: Principal,
    /// The session.
    pub session: SessionId,
    /// Its last event so far.
    pub head: u64,
    /// How much is told of what goes on.
    pub details: Details,
    /// Whether a program reads the lines aloud: signs become words.
    pub is_read_aloud: bool,
    /// The approval mode of a session that sets none.
    pub approvals: ApprovalPolicy,
    /// Commands of the user's own.
    pub custom: Vec<CustomCommand>,
    /// Where the lines come from.
    pub input: LineInput,
    /// The first line, where there is one already.
    pub prompt: Option<String>,
    /// One message each time a signal asks to interrupt.
    pub interrupts: mpsc::Receiver<Signalled>,
}

struct LineDriver<'a> {
    console: Console,
    printer: LinePrinter<'a>,
    input: LineInput,
    events: StreamMap<SessionId, EventFeed>,
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    who: Principal,
    /// The line that was given before there was a conversation.
    prompt: Option<String>,
    /// Whether the surroundings may have changed since they were looked at.
    is_astray: bool,
    /// Whether something was refused because another process works on the session.
    is_refused: bool,
    exit: Option<Exit>,
}

/// Talks until the input ends. Returns how, and what is left.
pub async fn run_lines(
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    request: LineRequest,
    input: impl AsyncBufRead + Unpin,
    printer: &mut Printer,
) -> Result<LeftConversation, SessionsError> {
    let LineRequest { who, session, details, is_read_aloud, input: kind, mut interrupts, .. } = request;
    printer.read_aloud(is_read_aloud);
    let in_use = take_up(&*sessions, &who, &session).await?;
    let events = follow_events(sessions.clone(), who.clone(), session.clone(), 0).await?;
    let look = TerminalLook { details, is_read_aloud, ..TerminalLook::plain() };
    let mut console = Console::new(session.clone(), look, UNBROKEN, Vec::new(), Instant::now());
    console.go_by_line(kind);
    console.begin_with(request.approvals);
    console.custom = request.custom;
    console.front_mut().skip_until = request.head;
    console.note_in_use(in_use);
    let mut driver = LineDriver {
        console,
        printer: LinePrinter::new(printer, kind, details),
        input: kind,
        events: StreamMap::from_iter([(session, events)]),
        sessions,
        desk,
        who,
        prompt: request.prompt,
        is_astray: true,
        is_refused: false,
        exit: None,
    };
    let exit = driver.talk(input.lines(), &mut interrupts).await?;
    // Nobody may see what a pipe was refused, so the exit code tells.
    let is_failed = driver.is_refused && kind == LineInput::Pipe && exit == Exit::Ok;
    let exit = if is_failed { Exit::Failed } else { exit };
    Ok(driver.leave(exit))
}

impl LineDriver<'_> {
    async fn talk<R: AsyncBufRead + Unpin>(
        &mut self,
        mut lines: Lines<R>,
        interrupts: &mut mpsc::Receiver<Signalled>,
    ) -> Result<Exit, SessionsError> {
        let mut is_open = true;
        loop {
            self.show();
            if self.console.takes_lines()
                && let Some(line) = self.prompt.take()
            {
                self.enter(line.trim()).await?;
            }
            if let Some(exit) = self.exit {
                return Ok(exit);
            }
            let is_ready = is_open && self.console.takes_lines();
            if self.console.takes_lines() && self.console.is_quiet() && self.console.question().is_none() {
                self.printer.put_prompt();
            }
            let deadline = self.console.next_deadline();
            tokio::select! {
                part = self.events.next() => self.follow(part).await?,
                line = lines.next_line(), if is_ready => if let Ok(Some(line)) = line {
                    self.enter(line.trim()).await?;
                } else {
                    is_open = false;
                    self.take(ConsoleInput::InputEnded).await?;
                },
                Some(signalled) = interrupts.recv() => self.take(match signalled {
                    // Closing the session stops running turns and records it.
                    Signalled::End => ConsoleInput::Stop,
                    Signalled::Interrupt => ConsoleInput::Interrupt,
                }).await?,
                () = wait_until(deadline), if deadline.is_some() => self.take(ConsoleInput::Tick).await?,
            }
            // The effects of a line are told before the next prompt.
            for _ in 0..BATCH {
                match self.events.next().now_or_never() {
                    Some(part) if self.exit.is_none() => self.follow(part).await?,
                    _ => break,
                }
            }
        }
    }

    /// Takes a line of input.
    async fn enter(&mut self, line: &str) -> Result<(), SessionsError> {
        self.printer.take_line();
        if is_slash_command(line) && std::mem::take(&mut self.is_astray) {
            let reply = self.run(Errand::LookAround).await;
            self.take(ConsoleInput::Reply(reply)).await?;
        }
        self.take(ConsoleInput::Line(line.to_owned())).await
    }

    async fn follow(
        &mut self,
        part: Option<(SessionId, Result<FeedPart, FeedError>)>,
    ) -> Result<(), SessionsError> {
        let Some((session, part)) = part else {
            // No session is followed any more.
            self.exit = Some(Exit::Ok);
            return Ok(());
        };
        match part? {
            FeedPart::Event(event) => self.take(ConsoleInput::Event(session, event)).await,
            FeedPart::Missed => {
                if session == self.console.front().session {
                    self.printer.miss();
                }
                self.take(ConsoleInput::Missed(session)).await
            }
        }
    }

    /// Takes an input, prints what it brought about, and performs the effects in their order.
    async fn take(&mut self, input: ConsoleInput) -> Result<(), SessionsError> {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let effects = self.handle(input);
            for effect in effects {
                inputs.extend(self.perform(effect).await?.map(ConsoleInput::Reply));
            }
        }
        Ok(())
    }

    fn handle(&mut self, input: ConsoleInput) -> Vec<ConsoleEffect> {
        let now = Instant::now();
        let (columns, rows) = measure_terminal();
        if self.input != LineInput::Pipe {
            (self.console.columns, self.console.height) = (columns, rows);
        }
        let front = self.console.front();
        let new = match &input {
            ConsoleInput::Event(session, event)
                if *session == front.session && event.seq.is_none_or(|seq| seq > front.skip_until) =>
            {
                Some((event.clone(), front.elapsed(now)))
            }
            _ => None,
        };
        let effects = self.console.handle(input, now);
        if let Some((event, ran)) = new
            && self.printer.draw(&event, self.console.front(), ran).is_err()
        {
            self.exit = Some(Exit::OutputClosed);
        }
        self.show();
        effects
    }

    /// Prints what the console tells, and the question that waits.
    fn show(&mut self) {
        if self.console.question().is_none() {
            self.printer.drop_question();
        }
        for text in self.console.take_told() {
            self.printer.tell(&text);
        }
        if let Some(text) = self.console.take_question() {
            self.printer.ask(text);
        }
    }

    /// Performs an effect. Returns what came of it.
    async fn perform(&mut self, effect: ConsoleEffect) -> Result<Option<EffectReply>, SessionsError> {
        Ok(match effect {
            ConsoleEffect::Send(session, command) => Some(self.send(session, command).await?),
            ConsoleEffect::Errand(Errand::LookAround) => {
                // Nothing shows them before a command asks.
                self.is_astray = true;
                None
            }
            ConsoleEffect::Errand(errand) => Some(self.run(errand).await),
            ConsoleEffect::Leave(session) => {
                self.events.remove(&session);
                None
            }
            ConsoleEffect::LogIn(profile) => self.log_in(profile.as_deref()).await,
            ConsoleEffect::Copy(text) => {
                self.copy(&text);
                None
            }
            ConsoleEffect::Quit(exit) => {
                self.exit = Some(exit);
                None
            }
            ConsoleEffect::Remember(_)
            | ConsoleEffect::Edit(_)
            | ConsoleEffect::Suspend
            | ConsoleEffect::Redraw
            | ConsoleEffect::Ring(_) => None,
        })
    }

    async fn send(&mut self, session: SessionId, command: Command) -> Result<EffectReply, SessionsError> {
        let order = LaneOrder::new(&self.console, session, command);
        let report = send_order(&*self.sessions, &*self.desk, &self.who, order).await;
        self.is_refused |= matches!(&report, LaneReport::Refused { error: SessionsError::Busy { .. }, .. });
        report.into_reply()
    }

    async fn run(&mut self, errand: Errand) -> EffectReply {
        let runner = ErrandRunner::new(&self.sessions, &self.desk, &self.who, &self.console, LISTED);
        match runner.run(errand).await {
            ErrandDone::Reply(reply) => reply,
            ErrandDone::Follow(session, events, reply) => {
                self.events.insert(session, events);
                self.printer.turn_over();
                reply
            }
        }
    }

    /// Lets the user connect a model. The terminal is theirs meanwhile.
    async fn log_in(&mut self, profile: Option<&str>) -> Option<EffectReply> {
        if self.input == LineInput::Pipe {
            self.printer
                .tell("/login needs a terminal. `buddy login NAME --api-key` reads a key from stdin.");
            return None;
        }
        Some(match self.desk.log_in(profile).await {
            Ok(model) => EffectReply::LoggedIn(model),
            Err(text) => EffectReply::Failed(text),
        })
    }

    fn copy(&mut self, text: &str) {
        let told = match self.input {
            LineInput::Pipe | LineInput::Terminal { has_clipboard: false, .. } => {
                "this terminal has no clipboard; use /export to write a file"
            }
            LineInput::Terminal { is_in_tmux, .. } => match encode_copy(text, is_in_tmux) {
                Some(order) => {
                    self.printer.order(&order);
                    "Copied to the terminal's clipboard, if it has one."
                }
                None => "That is too long for the terminal's clipboard. Use /export to write a file.",
            },
        };
        self.printer.tell(told);
    }

    /// Says what is left of the conversation.
    fn leave(mut self, exit: Exit) -> LeftConversation {
        let front = self.console.front();
        let transcript = front.reader.transcript();
        let (session, is_empty) = (front.session.clone(), transcript.items().is_empty());
        let sat = self.console.opened.elapsed();
        let rows = summarise_conversation(transcript, sat, front.reader.work_time(), front.is_in_use);
        if !rows.is_empty() {
            self.printer.tell("");
            for row in &rows {
                self.printer.tell(&render_farewell_line(row));
            }
        }
        LeftConversation { exit, session, is_empty, stopped: self.console.list_stopped() }
    }
}
