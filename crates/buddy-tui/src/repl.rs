//! The REPL: prompts from lines, answers as they stream, approvals in one line.
//!
//! Each line of input is one prompt. While a turn runs, a line steers it; while an approval waits, a line answers it.

use std::collections::HashSet;
use std::sync::Arc;

use buddy_protocol::{
    Answer, ApprovalPolicy, Ask, AskId, Change, Command, Content, DeltaStream, Event, Fact, Item,
    NoticeLevel, Principal, SessionChanged, SessionId, Sessions, SessionsError, Subscription, ToolCall,
    Transcript, TurnOutcome,
};
use futures::StreamExt;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, Lines};
use tokio::sync::mpsc;

use crate::asking::{answer, question, seconds};
use crate::exit::{Exit, Signalled};
use crate::printer::{OutputClosed, Printer};
use crate::show::printed;
use crate::targets::{self, TargetLine};
use crate::visible::one_line;

/// Characters of a call's title.
const TITLE: usize = 120;
/// What is told of a command that there is not.
const COMMANDS: &str = "there are /approve ask|edits|all|none|DURATION, /plan [on|off], /pane take|give, /target \
                        [add|use|remove …] and /compact";
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
    /// One message each time a signal asks to interrupt.
    pub interrupts: mpsc::Receiver<Signalled>,
}

struct Repl<'a> {
    sessions: Arc<dyn Sessions>,
    who: Principal,
    session: SessionId,
    printer: &'a mut Printer,
    transcript: Transcript,
    /// Whether text of an answer was printed and its line is still open.
    is_mid_line: bool,
    /// Prompts that were accepted and are not folded yet. Until they are, no turn seems to run although one does.
    unseen: usize,
    /// Asks that were denied all together, and whose answer may not be seen yet.
    denied: HashSet<AskId>,
    /// Whether the person denied everything that waits. What the same answer of the model brings up a moment later is
    /// denied too.
    is_denying: bool,
}

/// Talks until the input ends.
pub async fn run_repl(
    sessions: Arc<dyn Sessions>,
    request: ReplRequest,
    input: impl AsyncBufRead + Unpin,
    printer: &mut Printer,
) -> Result<Exit, SessionsError> {
    let ReplRequest { who, session, head, mut interrupts } = request;
    let mut events = sessions.subscribe(&who, &session, 0).await?;
    let (transcript, denied) = (Transcript::default(), HashSet::new());
    let mut repl = Repl {
        sessions,
        who,
        session,
        printer,
        transcript,
        is_mid_line: false,
        unseen: 0,
        denied,
        is_denying: false,
    };
    repl.catch_up(&mut events, head).await?;
    repl.printer.prompt("> ");
    repl.talk(events, input.lines(), &mut interrupts).await
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
        let command = match line.strip_prefix('!').map(str::trim) {
            Some(command) => Command::Run { command: command.to_owned(), target: None },
            None => Command::Prompt { text: line.to_owned() },
        };
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
        let command = match (name, argument.trim()) {
            ("/compact", "") => Ok(Command::Compact),
            ("/approve", policy) => approve(policy),
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
                    self.status(&format!("▶ {}{on}: {}", call.name, one_line(&call.title, TITLE)))?;
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
                self.printer.prompt("> ");
            }
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

fn approve(policy: &str) -> Result<Command, String> {
    let policy = match policy {
        "ask" => ApprovalPolicy::Ask,
        "all" => ApprovalPolicy::All,
        "none" => ApprovalPolicy::None,
        "edits" => ApprovalPolicy::Edits,
        time => match seconds(time) {
            Some(seconds) => ApprovalPolicy::Window { seconds },
            None => {
                return Err(
                    "say /approve ask, edits, all, none, or for how long, such as /approve 10m".to_owned()
                );
            }
        },
    };
    Ok(Command::Change(Change { approvals: Some(policy), ..Change::default() }))
}

fn plan(is_on: bool) -> Command {
    Command::Change(Change { plan_only: Some(is_on), ..Change::default() })
}

/// Takes the shared panes, or gives them back.
fn panes(is_taken: bool) -> Command {
    Command::Change(Change { panes_taken: Some(is_taken), ..Change::default() })
}

/// What a person is told about a change.
pub(crate) fn told(changed: &SessionChanged) -> Option<String> {
    let approvals = changed.approvals.map(|policy| match policy {
        ApprovalPolicy::Ask => "approvals: what needs one is asked for".to_owned(),
        ApprovalPolicy::All => "approvals: everything is allowed that no rule forbids".to_owned(),
        ApprovalPolicy::None => "approvals: what needs one is denied".to_owned(),
        ApprovalPolicy::Edits => {
            "approvals: changes of files in the workspace are allowed; the rest is asked for".to_owned()
        }
        ApprovalPolicy::Window { seconds } => {
            format!("approvals: for {seconds} s everything is allowed that is not dangerous; then buddy asks again")
        }
    });
    let plan = changed.plan_only.map(|is_on| {
        let text = if is_on { "plan mode: nothing is changed" } else { "plan mode is off" };
        text.to_owned()
    });
    let panes = changed.panes_taken.map(|is_taken| {
        let text = if is_taken {
            "the panes are yours: the agent types nothing until you say /pane give"
        } else {
            "the agent has the panes again"
        };
        text.to_owned()
    });
    let targets = changed.targets.as_ref().map(|targets| format!("targets:\n{}", targets::lines(targets)));
    plan.or(approvals).or(panes).or(targets)
}
