//! The REPL: prompts from lines, answers as they stream, approvals in one line.
//!
//! Each line of input is one prompt. While a turn runs, a line steers it; while an approval waits, a line answers it.

mod past;

use std::collections::HashSet;
use std::sync::Arc;

use buddy_protocol::{
    Answer, Ask, AskId, Command, Content, DeltaStream, Event, Fact, Item, NoticeLevel, Principal, SessionId,
    Sessions, SessionsError, Subscription, ToolCall, Transcript, TurnOutcome, Usage,
};
use futures::StreamExt;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, Lines};
use tokio::sync::mpsc;

use crate::asking::{answer, question};
use crate::branches::Opened;
use crate::changes::{approve, panes, plan, told};
use crate::console::Desk;
use crate::details::Details;
use crate::exit::{Exit, Signalled};
use crate::mentions::attach_images;
use crate::printer::{OutputClosed, Printer};
use crate::show::printed;
use crate::targets::{self, TargetLine, default_target};
use crate::visible::one_line;

/// Characters of a call's title.
const TITLE: usize = 120;
/// What is told of a command that there is not.
const COMMANDS: &str = "there are /approve ask|edits|all|none|DURATION, /plan [on|off], /pane take|give, /target \
                        [add|use|remove ...], /compact, /fork, /rewind [N], /new, /resume ID, /session [search WORDS], \
                        /export [FILE], /diff, /undo [ID], /redo, /ps, /kill NAME, /config, /logout, /doctor and /quit";
/// What denies everything that waits.
const DENY_ALL: &str = "deny all";
/// What the agent is told then.
const DENIED_ALL: &str = "the person denied everything that waited";

/// A conversation in the terminal.
pub struct ReplRequest {
    /// Who talks.
    pub who: Principal,
    /// The session.
    pub session: SessionId,
    /// Its last event so far.
    pub head: u64,
    /// How much is told of what goes on.
    pub details: Details,
    /// One message each time a signal asks to interrupt.
    pub interrupts: mpsc::Receiver<Signalled>,
}

struct Repl<'a> {
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    who: Principal,
    session: SessionId,
    printer: &'a mut Printer,
    transcript: Transcript,
    details: Details,
    /// What the session had used when the turn began.
    used: Usage,
    /// Whether text of an answer was printed and its line is still open.
    is_mid_line: bool,
    /// Prompts that were accepted and are not folded yet. Until they are, no turn seems to run although one does.
    unseen: usize,
    /// Asks that were denied all together, and whose answer may not be seen yet.
    denied: HashSet<AskId>,
    /// The conversation to go on with instead of this one.
    next: Option<Opened>,
    /// Whether the person wants to leave.
    is_leaving: bool,
    /// Whether the person denied everything that waits. What the same answer of the model brings up a moment later is
    /// denied too.
    is_denying: bool,
}

/// Talks until the input ends. Returns how, and which session was talked in last.
pub async fn run_repl(
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    request: ReplRequest,
    input: impl AsyncBufRead + Unpin,
    printer: &mut Printer,
) -> Result<(Exit, SessionId), SessionsError> {
    let ReplRequest { who, session, head, details, mut interrupts } = request;
    let mut events = sessions.subscribe(&who, &session, 0).await?;
    let (transcript, denied) = (Transcript::default(), HashSet::new());
    let mut repl = Repl {
        sessions,
        desk,
        who,
        session,
        printer,
        transcript,
        details,
        used: Usage::default(),
        is_mid_line: false,
        unseen: 0,
        denied,
        next: None,
        is_leaving: false,
        is_denying: false,
    };
    repl.catch_up(&mut events, head).await?;
    repl.printer.prompt("> ");
    let exit = repl.talk(events, input.lines(), &mut interrupts).await?;
    Ok((exit, repl.session))
}

impl Repl<'_> {
    async fn catch_up(&mut self, events: &mut Subscription, head: u64) -> Result<(), SessionsError> {
        while self.transcript.head() < head {
            match events.next().await {
                Some(Ok(event)) => self.fold(&event)?,
                _ => return Err(SessionsError::Closed),
            }
        }
        Ok(())
    }

    fn fold(&mut self, event: &Event) -> Result<(), SessionsError> {
        self.transcript.apply(event).map_err(|error| SessionsError::Conflict(error.to_string()))
    }

    async fn talk<R: AsyncBufRead + Unpin>(
        &mut self,
        mut events: Subscription,
        mut lines: Lines<R>,
        interrupts: &mut mpsc::Receiver<Signalled>,
    ) -> Result<Exit, SessionsError> {
        let mut is_open = true;
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(Ok(event)) => {
                        self.fold(&event)?;
                        self.notice_prompt(&event);
                        if self.is_denying {
                            self.deny_all(DENIED_ALL).await?;
                        }
                        if self.draw(&event).is_err() {
                            return Ok(Exit::OutputClosed);
                        }
                    }
                    Some(Err(error)) => return Err(SessionsError::Conflict(error.to_string())),
                    None => return Ok(Exit::Ok),
                },
                line = lines.next_line(), if is_open => match line {
                    Ok(Some(line)) => self.enter(line.trim()).await?,
                    Ok(None) | Err(_) => is_open = false,
                },
                Some(signalled) = interrupts.recv() => {
                    // What runs is stopped and written down when the session is closed.
                    if signalled == Signalled::End || self.is_idle() {
                        return Ok(Exit::Interrupted);
                    }
                    self.interrupt().await?;
                }
            }
            if self.is_leaving {
                return Ok(Exit::Ok);
            }
            if let Some(next) = self.next.take() {
                events = self.open(next).await?;
            }
            // The input may end while a turn runs, as it does with a pipe; the turn is seen through, without approvals.
            if !is_open && self.is_idle() {
                return Ok(Exit::Ok);
            }
            if !is_open {
                self.deny_all("the input has ended").await?;
            }
        }
    }

    fn notice_prompt(&mut self, event: &Event) {
        if let Fact::ItemEnded(ended) = &event.fact
            && matches!(ended.item.content, Content::UserMessage { .. })
        {
            self.unseen = self.unseen.saturating_sub(1);
        }
        // The model has answered anew, or is done: what it wants now was not denied yet.
        if matches!(event.fact, Fact::UsageReported(_) | Fact::TurnEnded(_)) {
            self.is_denying = false;
        }
    }

    fn is_idle(&self) -> bool {
        self.transcript.turn().is_none() && self.unseen == 0
    }

    async fn send(&self, command: Command) -> Result<(), SessionsError> {
        self.sessions.send(&self.who, &self.session, command).await
    }

    async fn enter(&mut self, line: &str) -> Result<(), SessionsError> {
        if let Some(ask) = self.transcript.asks().first().cloned() {
            return self.answer(&ask, line).await;
        }
        if line.is_empty() {
            self.printer.prompt("> ");
            return Ok(());
        }
        if line.starts_with('/') {
            return self.command(line).await;
        }
        let mut command = match line.strip_prefix('!').map(str::trim) {
            Some(command) => Command::Run { command: command.to_owned(), target: None },
            None => Command::prompt(line),
        };
        if let Err(reason) = attach_images(&*self.desk, &default_target(&self.transcript), &mut command).await
        {
            self.printer.status(&format!("buddy: {reason}"));
            self.printer.prompt("> ");
            return Ok(());
        }
        // Both are seen through: a prompt becomes a message, and a command of the person's own ends as one.
        match self.send(command).await {
            Err(SessionsError::Agent(failure)) => {
                self.printer.status(&format!("buddy: {}", failure.message));
                Ok(())
            }
            sent => {
                self.unseen += usize::from(sent.is_ok());
                self.forgive(sent)
            }
        }
    }

    /// Stops what runs: the person's own command before the turn.
    async fn interrupt(&mut self) -> Result<(), SessionsError> {
        let is_own = |item: &&Item| matches!(item.content, Content::UserMessage { ran: Some(_), .. });
        let own = self.transcript.open_items().find(is_own).map(|item| item.id.clone());
        let stopped = match own {
            Some(item) => self.send(Command::Stop { item }).await,
            None => self.send(Command::Interrupt).await,
        };
        match stopped {
            // It has ended meanwhile.
            Err(SessionsError::Agent(_)) => Ok(()),
            other => other,
        }
    }

    /// A line that is for buddy and not for the agent.
    async fn command(&mut self, line: &str) -> Result<(), SessionsError> {
        let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
        if self.go_elsewhere(name, argument.trim()).await? {
            if self.is_idle() {
                self.printer.prompt("> ");
            }
            return Ok(());
        }
        let command = match (name, argument.trim()) {
            ("/compact", "") => Ok(Command::Compact),
            ("/approve" | "/permissions", policy) => approve(policy),
            ("/plan", "" | "on") => Ok(plan(true)),
            ("/plan", "off") => Ok(plan(false)),
            ("/pane", "take") => Ok(panes(true)),
            ("/pane", "give") => Ok(panes(false)),
            ("/target", line) => match targets::read(line) {
                TargetLine::List => Err(targets::list(&self.transcript)),
                TargetLine::Send(command) => Ok(command),
                TargetLine::Help(help) => Err(help),
            },
            _ => Err(COMMANDS.to_owned()),
        };
        match command {
            Ok(command) => {
                match self.send(command).await {
                    // What the agent refuses leaves the conversation as it was.
                    Err(SessionsError::Agent(failure)) => {
                        self.printer.status(&format!("buddy: {}", failure.message));
                    }
                    sent => self.forgive(sent)?,
                }
            }
            Err(help) => self.printer.status(&help),
        }
        if self.is_idle() {
            self.printer.prompt("> ");
        }
        Ok(())
    }

    /// A refused command is told and the conversation goes on.
    fn forgive(&mut self, sent: Result<(), SessionsError>) -> Result<(), SessionsError> {
        match sent {
            Err(error @ (SessionsError::Conflict(_) | SessionsError::Invalid(_))) => {
                self.printer.status(&format!("buddy: {error}"));
                Ok(())
            }
            other => other,
        }
    }

    async fn answer(&mut self, ask: &Ask, line: &str) -> Result<(), SessionsError> {
        if line == DENY_ALL {
            self.is_denying = true;
            return self.deny_all(DENIED_ALL).await;
        }
        let answer = answer(&ask.question, line);
        let sent = self.send(Command::Answer { ask: ask.id.clone(), answer }).await;
        self.forgive(sent)
    }

    async fn deny_all(&mut self, reason: &str) -> Result<(), SessionsError> {
        for ask in self.transcript.asks().to_vec() {
            if !self.denied.insert(ask.id.clone()) {
                continue;
            }
            let answer = Answer::Deny { reason: Some(reason.to_owned()) };
            let sent = self.send(Command::Answer { ask: ask.id, answer }).await;
            self.forgive(sent)?;
        }
        Ok(())
    }

    fn draw(&mut self, event: &Event) -> Result<(), OutputClosed> {
        match &event.fact {
            Fact::ItemDelta(delta) if delta.stream == DeltaStream::Text => {
                let item = self.transcript.item(&delta.item);
                if matches!(item.map(|item| &item.content), Some(Content::AgentMessage { .. })) {
                    self.printer.answer(&delta.text)?;
                    self.is_mid_line = !delta.text.ends_with('\n');
                }
            }
            // Another part of the answer begins on a line of its own.
            Fact::ItemStarted(started) if matches!(started.item.content, Content::AgentMessage { .. }) => {
                self.end_line()?;
            }
            Fact::ItemEnded(ended) => {
                if let Content::UserMessage { ran: Some(ran), .. } = &ended.item.content {
                    self.status(&format!("! {}\n{}", ran.command, printed(ran)))?;
                    if self.is_idle() {
                        self.printer.prompt("> ");
                    }
                }
            }
            Fact::ItemChanged(changed) => {
                if let Content::ToolCall(call) = &changed.item.content {
                    let on = self.where_of(call);
                    let called = self.details.called(": ", &one_line(&call.title, TITLE));
                    self.status(&format!("▶ {}{on}{called}", call.name))?;
                }
            }
            // One question at a time: the others wait until this one is answered.
            Fact::Asked(_) if self.transcript.asks().len() == 1 => self.ask()?,
            Fact::Answered(_) => self.ask()?,
            Fact::SessionChanged(changed) => {
                if let Some(text) = told(changed) {
                    self.status(&text)?;
                }
            }
            Fact::Notice(notice) if notice.level != NoticeLevel::Info => self.status(&notice.text)?,
            Fact::TurnEnded(ended) => {
                if let Some(failure) = &ended.failure {
                    let hint = failure.hint.as_ref().map(|hint| format!("\n  {hint}")).unwrap_or_default();
                    self.status(&format!("buddy: {}{hint}", failure.message))?;
                } else if ended.outcome == TurnOutcome::Interrupted {
                    self.status("interrupted")?;
                }
                self.end_line()?;
                if let Some(text) = self.details.tokens(&self.used, &self.transcript.bill().usage) {
                    self.printer.status(&text);
                }
                self.printer.prompt("> ");
            }
            Fact::TurnStarted(_) => self.used = self.transcript.bill().usage,
            _ => {}
        }
        Ok(())
    }

    /// Which target a call is on, where there are several.
    fn where_of(&self, call: &ToolCall) -> String {
        let target = call.target.as_ref().filter(|_| self.transcript.targets().len() > 1);
        target.map(|target| format!(" on {target}")).unwrap_or_default()
    }

    /// Puts the oldest question that waits.
    fn ask(&mut self) -> Result<(), OutputClosed> {
        self.end_line()?;
        if let Some(ask) = self.transcript.asks().first() {
            let cwd = self.transcript.started().map(|started| started.cwd.as_str()).unwrap_or_default();
            self.printer.prompt(&question(ask, cwd));
        }
        Ok(())
    }

    /// Prints a line of status, above a question that waits.
    fn status(&mut self, text: &str) -> Result<(), OutputClosed> {
        self.end_line()?;
        if self.transcript.asks().is_empty() {
            self.printer.status(text);
            return Ok(());
        }
        self.printer.prompt("\n");
        self.printer.status(text);
        self.ask()
    }

    fn end_line(&mut self) -> Result<(), OutputClosed> {
        if std::mem::take(&mut self.is_mid_line) {
            self.printer.answer("\n")?;
        }
        Ok(())
    }
}
