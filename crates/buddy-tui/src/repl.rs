//! The REPL: prompts from lines, answers as they stream, approvals in one line.
//!
//! Each line of input is one prompt. While a turn runs, a line steers it; while an approval waits, a line answers it.

mod commands;
mod pages;
mod past;
mod streamed;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use buddy_protocol::{
    Answer, ApprovalPolicy, Ask, AskId, BACKGROUND_ENDED, Change, Command, Content, DeltaStream, Event, Fact,
    NoticeLevel, Principal, Question, SessionChanged, SessionId, Sessions, SessionsError, ToolCall,
    Transcript, TurnOutcome,
};
use futures::{FutureExt, StreamExt};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, Lines};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::approval_clock::ApprovalClock;
use crate::asking::{ReadLine, read_answer, render_question};
use crate::branches::{OpenedSession, describe_refusal as refused, take_up};
use crate::changes::{GO_AHEAD, GO_ON, describe_change, is_go_ahead};
use crate::console::{
    CustomCommand, Desk, SECOND_PRESS, SHOWN, SessionTask, TurnSum, measure_terminal, render_begun_call,
    render_ended_call,
};
use crate::details::Details;
use crate::event_feed::{EventFeed, FeedError, FeedPart, follow_events};
use crate::exit::{Exit, LeftConversation, Signalled};
use crate::farewell::{render_farewell_line, summarise_conversation};
use crate::mentions::{attach_images, find_images};
use crate::printer::{OutputClosed, Printer};
use crate::retrying::RetryNews;
use crate::show::describe_output;
use crate::slash_commands::is_slash_command;
use crate::targets::find_default_target;
use pages::Pages;
use streamed::StreamedAnswers;

/// Events that are taken up before the next prompt.
const BATCH: usize = 512;
/// How long a question must have been there before a line allows what it asks for: one that comes sooner was typed before.
const READ: Duration = Duration::from_millis(150);
/// The line that denies everything that waits.
const DENY_ALL: &str = "deny all";
/// The reason that the agent gets then.
const DENIED_ALL: &str = "the user denied everything that waited";

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

/// Where lines come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineInput {
    /// Somebody at a terminal.
    Terminal {
        /// Whether it may have a clipboard.
        has_clipboard: bool,
        /// Whether it is one of tmux's.
        is_in_tmux: bool,
    },
    /// A pipe or a file.
    Pipe,
}

struct Repl<'a> {
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    who: Principal,
    printer: &'a mut Printer,
    /// The conversation, as the screen holds it.
    task: SessionTask,
    /// Commands of the user's own that were accepted and have not ended.
    own_commands: usize,
    retry_news: RetryNews,
    details: Details,
    approvals: ApprovalClock,
    custom: Vec<CustomCommand>,
    input: LineInput,
    /// When the conversation was opened here, and when its last turn began.
    opened: Instant,
    turn_began: Instant,
    /// The answers that are being printed.
    answers: StreamedAnswers,
    /// Whether text of an answer was printed and its line is still open.
    is_mid_line: bool,
    /// Whether the prompt stands there and somebody may be typing behind it.
    is_prompted: bool,
    /// When an interrupt came that leaves at the second time.
    armed: Option<Instant>,
    /// Asks that were denied all together, and whose answer may not be seen yet.
    denied: HashSet<AskId>,
    /// The question that is put, and how much of it was shown.
    pages: Option<Pages>,
    /// The conversation to go on with instead of this one.
    next: Option<OpenedSession>,
    /// Whether the user wants to leave.
    is_leaving: bool,
    /// Whether something was refused because another process works on the session.
    is_refused: bool,
    /// Whether the user denied everything that waits. What the same answer of the model brings up a moment later is
    /// denied too.
    is_denying: bool,
}

/// Talks until the input ends. Returns how, and what is left.
pub async fn run_repl(
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    request: ReplRequest,
    input: impl AsyncBufRead + Unpin,
    printer: &mut Printer,
) -> Result<LeftConversation, SessionsError> {
    let ReplRequest {
        who,
        session,
        head,
        details,
        is_read_aloud,
        approvals,
        custom,
        input: kind,
        prompt,
        mut interrupts,
    } = request;
    printer.read_aloud(is_read_aloud);
    let in_use = take_up(&*sessions, &who, &session).await?;
    let mut events = follow_events(sessions.clone(), who.clone(), session.clone(), 0).await?;
    let mut repl = Repl {
        sessions,
        desk,
        who,
        printer,
        task: SessionTask::new(SHOWN, session, String::new()),
        own_commands: 0,
        retry_news: RetryNews::default(),
        details,
        approvals: ApprovalClock::new(approvals, Instant::now().into_std()),
        custom,
        input: kind,
        opened: Instant::now(),
        turn_began: Instant::now(),
        answers: StreamedAnswers::default(),
        is_mid_line: false,
        is_prompted: false,
        armed: None,
        denied: HashSet::new(),
        pages: None,
        next: None,
        is_leaving: false,
        is_refused: false,
        is_denying: false,
    };
    repl.catch_up(&mut events, head).await?;
    repl.arrive(in_use);
    if let Some(line) = prompt {
        repl.enter(line.trim()).await?;
    }
    repl.put_prompt();
    let exit = repl.talk(events, input.lines(), &mut interrupts).await?;
    let is_empty = repl.transcript().items().is_empty();
    let rows = summarise_conversation(repl.transcript(), repl.opened.elapsed(), repl.task.reader.work_time());
    if !rows.is_empty() {
        let _ = repl.end_line();
        repl.leave_prompt();
        repl.printer.status("");
        for row in &rows {
            repl.printer.status(&render_farewell_line(row));
        }
    }
    Ok(LeftConversation { exit, session: repl.task.session, is_empty, stopped: Vec::new() })
}

impl Repl<'_> {
    async fn catch_up(&mut self, events: &mut EventFeed, head: u64) -> Result<(), SessionsError> {
        self.task.skip_until = head;
        while self.transcript().head() < head {
            match events.next().await {
                Some(Ok(FeedPart::Event(event))) => self.fold(&event)?,
                Some(Ok(FeedPart::Missed)) => {}
                Some(Err(error)) => return Err(error.into()),
                None => return Err(SessionsError::Closed),
            }
        }
        Ok(())
    }

    /// Says who works on the session, if another process does, and puts the question that waits there.
    fn arrive(&mut self, in_use: Option<String>) {
        self.task.is_in_use = in_use.is_some();
        if let Some(text) = in_use {
            self.tell(&text);
        }
        let _ = self.ask();
    }

    fn fold(&mut self, event: &Event) -> Result<(), SessionsError> {
        if let Fact::SessionChanged(SessionChanged { approvals: Some(policy), .. }) = &event.fact {
            self.approvals.note(*policy, Instant::now().into_std());
        }
        let now = Instant::now().into_std();
        let is_past = event.seq.is_some_and(|seq| seq <= self.task.skip_until);
        let reader = &mut self.task.reader;
        let folded = if is_past { reader.skip(event, now) } else { reader.fold(event, now) };
        folded.map_err(|error| SessionsError::Conflict(error.to_string()))?;
        self.task.note(event);
        Ok(())
    }

    fn transcript(&self) -> &Transcript {
        self.task.reader.transcript()
    }

    async fn talk<R: AsyncBufRead + Unpin>(
        &mut self,
        mut events: EventFeed,
        mut lines: Lines<R>,
        interrupts: &mut mpsc::Receiver<Signalled>,
    ) -> Result<Exit, SessionsError> {
        let mut is_open = true;
        let mut exit = self.is_leaving.then_some(Exit::Ok);
        while exit.is_none() {
            tokio::select! {
                event = events.next() => exit = self.take(event).await?,
                line = lines.next_line(), if is_open => match line {
                    Ok(Some(line)) => self.enter(line.trim()).await?,
                    Ok(None) | Err(_) => is_open = false,
                },
                Some(signalled) = interrupts.recv() => exit = self.signalled(signalled).await?,
                () = at(self.task.deadline), if self.task.deadline.is_some() => self.end_in_time().await?,
            }
            // What a line brought about is told before the next prompt.
            for _ in 0..BATCH {
                match events.next().now_or_never() {
                    Some(event) if exit.is_none() => exit = self.take(event).await?,
                    _ => break,
                }
            }
            while self.is_idle()
                && let Some(line) = self.task.queue.pop_front()
            {
                self.enter(&line).await?;
            }
            if exit.is_some() || self.is_leaving {
                break;
            }
            if let Some(next) = self.next.take() {
                events = self.open(next).await?;
            }
            // The input may end while a turn runs, as it does with a pipe; the turn is seen through, without approvals.
            // What another process does is not waited for.
            if !is_open && (self.is_idle() || self.task.is_in_use) {
                return Ok(self.end_of_input());
            }
            if !is_open {
                let reason = "the input has ended".to_owned();
                self.settle_all(&Answer::Unanswered { reason }).await?;
            }
            self.put_prompt();
        }
        Ok(exit.unwrap_or(Exit::Ok))
    }

    /// How the conversation ends with its input. Nobody may see what a pipe was refused, so the exit code tells.
    fn end_of_input(&self) -> Exit {
        if self.is_refused && self.input == LineInput::Pipe { Exit::Failed } else { Exit::Ok }
    }

    /// Takes up an event. Says how the conversation ends, if it does.
    async fn take(
        &mut self,
        part: Option<Result<FeedPart, FeedError>>,
    ) -> Result<Option<Exit>, SessionsError> {
        let event = match part {
            Some(Ok(FeedPart::Event(event))) => event,
            Some(Ok(FeedPart::Missed)) => {
                self.answers.miss();
                return Ok(None);
            }
            Some(Err(error)) => return Err(error.into()),
            None => return Ok(Some(Exit::Ok)),
        };
        self.fold(&event)?;
        self.notice_prompt(&event);
        if self.is_denying {
            self.deny_all().await?;
        }
        Ok(self.draw(&event).is_err().then_some(Exit::OutputClosed))
    }

    /// Stops what runs. Says how the conversation ends where nothing does.
    async fn signalled(&mut self, signalled: Signalled) -> Result<Option<Exit>, SessionsError> {
        // What runs is stopped and written down when the session is closed.
        if signalled == Signalled::End {
            return Ok(Some(Exit::Interrupted));
        }
        if self.is_idle() {
            return Ok(self.press_again());
        }
        if !self.task.queue.is_empty() {
            self.task.queue.clear();
            self.tell("The lines that you queued were dropped.");
        }
        self.interrupt().await?;
        Ok(None)
    }

    fn notice_prompt(&mut self, event: &Event) {
        if let Fact::ItemEnded(ended) = &event.fact
            && let Content::UserMessage { ran: Some(ran), .. } = &ended.item.content
            && ran.background.is_none()
        {
            self.own_commands = self.own_commands.saturating_sub(1);
        }
        // The model has answered anew, or is done: what it wants now was not denied yet.
        if matches!(event.fact, Fact::UsageReported(_) | Fact::TurnEnded(_)) {
            self.is_denying = false;
        }
    }

    /// An interrupt where nothing runs: the first one at a terminal says what a second one does.
    fn press_again(&mut self) -> Option<Exit> {
        let now = Instant::now();
        let is_second = self.armed.is_some_and(|since| now.duration_since(since) < SECOND_PRESS);
        match self.input {
            LineInput::Pipe => return Some(Exit::Interrupted),
            LineInput::Terminal { .. } if is_second => return Some(Exit::Ok),
            LineInput::Terminal { .. } => {}
        }
        self.armed = Some(now);
        self.tell("Press ctrl-c again to leave.");
        None
    }

    async fn end_in_time(&mut self) -> Result<(), SessionsError> {
        self.task.deadline = None;
        self.tell("The turn reached its time limit.");
        self.interrupt().await
    }

    fn is_idle(&self) -> bool {
        self.task.is_idle() && self.own_commands == 0
    }

    async fn send(&mut self, command: Command) -> Result<(), SessionsError> {
        let sent = self.sessions.send(&self.who, &self.task.session, command).await;
        self.task.is_in_use &= sent.is_err();
        self.is_refused |= matches!(sent, Err(SessionsError::Busy { .. }));
        sent
    }

    async fn enter(&mut self, line: &str) -> Result<(), SessionsError> {
        let ask = self.transcript().asks().first().cloned();
        let is_open = std::mem::take(&mut self.is_prompted) || ask.is_some();
        // Whoever types a line ends that of the prompt too; a pipe does not.
        if is_open && self.input == LineInput::Pipe {
            self.printer.prompt("\n");
        }
        self.armed = None;
        if let Some(ask) = ask {
            let takes_words = matches!(ask.question, Question::Text { .. });
            if takes_words || !is_slash_command(line) {
                return self.answer(&ask, line).await;
            }
            self.command(line).await?;
            let _ = self.ask();
            return Ok(());
        }
        if is_slash_command(line) {
            return self.command(line).await;
        }
        match (line, line.strip_prefix('!').map(str::trim)) {
            ("", _) => {}
            ("?", _) => self.help(),
            (_, Some("")) => {
                self.tell("Put a command after !, such as !git status. It runs as you, without approval.");
            }
            (_, Some(command)) => {
                self.say(Command::Run { command: command.to_owned(), target: None }).await?;
            }
            (line, None) if is_go_ahead(self.transcript(), line) => {
                self.change(Change { plan_only: Some(false), ..Change::default() }).await?;
                self.say(Command::prompt(GO_ON)).await?;
            }
            (line, None) => self.say(Command::prompt(line)).await?,
        }
        Ok(())
    }

    /// Sends a prompt, or a command of the user's own. Both are seen through: a prompt becomes a message, and a command
    /// ends as one.
    async fn say(&mut self, mut command: Command) -> Result<(), SessionsError> {
        let paths = match &command {
            Command::Prompt { text, typed, .. } => find_images(typed.as_ref().unwrap_or(text)),
            _ => Vec::new(),
        };
        let target = find_default_target(self.transcript());
        if let Err(reason) = attach_images(&*self.desk, &target, paths, &mut command).await {
            self.tell(&format!("buddy: {reason}"));
            return Ok(());
        }
        let is_own = matches!(command, Command::Run { .. });
        match self.send(command).await {
            Err(error @ SessionsError::Agent(_)) => {
                self.tell(&format!("buddy: {}", refused(&error)));
                Ok(())
            }
            sent => {
                let count = if is_own { &mut self.own_commands } else { &mut self.task.unseen };
                *count += usize::from(sent.is_ok());
                self.forgive(sent)
            }
        }
    }

    /// Stops what runs: the user's own command before the turn.
    async fn interrupt(&mut self) -> Result<(), SessionsError> {
        let own = self.task.reader.own_command().map(|item| item.id.clone());
        let stopped = match own {
            Some(item) => self.send(Command::Stop { item }).await,
            None => self.send(self.task.interrupt()).await,
        };
        match stopped {
            // It has ended meanwhile.
            Err(SessionsError::Agent(_)) => Ok(()),
            other => self.forgive(other),
        }
    }

    /// A refused command is told and the conversation goes on.
    fn forgive(&mut self, sent: Result<(), SessionsError>) -> Result<(), SessionsError> {
        match sent {
            Err(
                error @ (SessionsError::Conflict(_) | SessionsError::Invalid(_) | SessionsError::Busy { .. }),
            ) => {
                self.tell(&format!("buddy: {}", refused(&error)));
                Ok(())
            }
            other => other,
        }
    }

    async fn answer(&mut self, ask: &Ask, line: &str) -> Result<(), SessionsError> {
        if line == DENY_ALL {
            self.is_denying = true;
            return self.deny_all().await;
        }
        let is_yes = matches!(line, "y" | "Y" | "yes");
        if is_yes && self.pages.as_ref().is_some_and(Pages::has_more) {
            // Also where a yes needs a word, which stands at the end.
            self.may_allow(&ask.id);
            let _ = self.ask();
            return Ok(());
        }
        let answer = match read_answer(&ask.question, line) {
            ReadLine::Answer(answer) => answer,
            ReadLine::Help(text) => {
                self.tell(&text);
                let _ = self.ask();
                return Ok(());
            }
        };
        if answer.allows() && !self.may_allow(&ask.id) {
            let _ = self.ask();
            return Ok(());
        }
        let sent = self.send(Command::Answer { ask: ask.id.clone(), answer }).await;
        self.forgive(sent)
    }

    /// Whether a question was shown to its end, and long enough ago to be read. Turns to its next rows where it was not.
    fn may_allow(&mut self, ask: &AskId) -> bool {
        let Some(pages) = self.pages.as_mut().filter(|pages| pages.ask == *ask) else { return false };
        if self.input == LineInput::Pipe {
            return true;
        }
        if pages.since.elapsed() < READ {
            self.tell("You typed that before the question appeared, so it allows nothing.");
            return false;
        }
        !pages.turn()
    }

    async fn deny_all(&mut self) -> Result<(), SessionsError> {
        self.settle_all(&Answer::Deny { reason: Some(DENIED_ALL.to_owned()) }).await
    }

    /// Gives one answer to everything that waits.
    async fn settle_all(&mut self, answer: &Answer) -> Result<(), SessionsError> {
        for ask in self.transcript().asks().to_vec() {
            if !self.denied.insert(ask.id.clone()) {
                continue;
            }
            let sent = self.send(Command::Answer { ask: ask.id, answer: answer.clone() }).await;
            self.forgive(sent)?;
        }
        Ok(())
    }

    fn draw(&mut self, event: &Event) -> Result<(), OutputClosed> {
        if !self.retry_news.is_news(&event.fact) {
            return Ok(());
        }
        match &event.fact {
            Fact::ItemDelta(delta) if delta.stream == DeltaStream::Text => {
                let item = self.transcript().item(&delta.item);
                if matches!(item.map(|item| &item.content), Some(Content::AgentMessage { .. }))
                    && self.answers.grow(&delta.item, &delta.text)
                {
                    self.print_answer(&delta.text)?;
                }
            }
            // Another part of the answer begins on a line of its own.
            Fact::ItemStarted(started) if matches!(started.item.content, Content::AgentMessage { .. }) => {
                self.end_line()?;
            }
            Fact::ItemEnded(ended) => {
                if let Content::UserMessage { ran: Some(ran), .. } = &ended.item.content
                    && ran.background.is_none()
                {
                    self.show_output(&format!("! {}\n{}", ran.command, describe_output(ran)))?;
                }
                if let Content::AgentMessage { text } = &ended.item.content
                    && let Some(rest) = self.answers.end(&ended.item.id, text)
                {
                    self.print_answer(&rest)?;
                }
                if let Content::ToolCall(call) = &ended.item.content {
                    let (on, cwd) = (self.where_of(call), self.cwd());
                    self.status(&render_ended_call(call, ended.item.status, &on, self.details, &cwd))?;
                }
            }
            Fact::ItemChanged(changed) => {
                self.answers.start_over(&changed.item.id);
                if let Content::ToolCall(call) = &changed.item.content
                    && let Some(line) =
                        render_begun_call(call, &self.where_of(call), self.details, &self.cwd())
                {
                    self.status(&line)?;
                }
            }
            // One question at a time: the others wait until this one is answered.
            Fact::Asked(_) if self.transcript().asks().len() == 1 => self.ask()?,
            Fact::Answered(_) => self.ask()?,
            Fact::SessionChanged(changed) => {
                if let Some(text) = describe_change(changed) {
                    self.status(&text)?;
                }
            }
            Fact::Notice(notice) if notice.level != NoticeLevel::Info || notice.code == BACKGROUND_ENDED => {
                self.status(&notice.text)?;
            }
            Fact::TurnEnded(ended) => {
                if let Some(failure) = &ended.failure {
                    let hint = failure.hint.as_ref().map(|hint| format!("\n  {hint}")).unwrap_or_default();
                    self.status(&format!("buddy: {}{hint}", failure.message))?;
                } else if ended.outcome == TurnOutcome::Interrupted {
                    self.status("interrupted")?;
                } else if ended.outcome == TurnOutcome::Completed && self.transcript().is_plan_only() {
                    self.status(GO_AHEAD)?;
                }
                self.end_line()?;
                self.sum_up();
            }
            Fact::TurnStarted(_) => {
                self.turn_began = Instant::now();
                self.answers.begin_turn();
                self.leave_prompt();
            }
            _ => {}
        }
        Ok(())
    }

    fn print_answer(&mut self, text: &str) -> Result<(), OutputClosed> {
        self.printer.answer(text)?;
        self.is_mid_line = !text.ends_with('\n');
        Ok(())
    }

    /// Tells the time, the changes and the cost of the turn that has ended.
    fn sum_up(&mut self) {
        let before = self.task.billed;
        if let Some(text) = self.details.tokens(&before.usage, &self.transcript().bill().usage) {
            self.printer.status(&text);
        }
        // Times are not read aloud.
        let ran = if self.printer.is_read_aloud() { Duration::ZERO } else { self.turn_began.elapsed() };
        let sum = TurnSum::of(self.transcript(), ran, &before);
        let mut parts = sum.parts();
        if !parts.is_empty() {
            parts.extend(sum.has_changes().then(|| "/undo takes it back".to_owned()));
            self.printer.status(&format!("  {}", parts.join("   ")));
        }
    }

    /// Where the session works.
    fn cwd(&self) -> String {
        self.transcript().started().map(|started| started.cwd.clone()).unwrap_or_default()
    }

    /// Which target a call is on, where there are several.
    fn where_of(&self, call: &ToolCall) -> String {
        let target = call.target.as_ref().filter(|_| self.transcript().targets().len() > 1);
        target.map(|target| format!(" on {target}")).unwrap_or_default()
    }

    /// Puts the oldest question that waits.
    fn ask(&mut self) -> Result<(), OutputClosed> {
        self.end_line()?;
        let transcript = self.task.reader.transcript();
        let Some(ask) = transcript.asks().first() else { return Ok(()) };
        let cwd = transcript.started().map(|started| started.cwd.as_str()).unwrap_or_default();
        let text = render_question(ask, cwd);
        let pages = match self.pages.take().filter(|pages| pages.ask == ask.id) {
            Some(pages) => pages,
            None if self.input == LineInput::Pipe => Pages::whole(ask.id.clone(), text),
            None => Pages::new(ask.id.clone(), &text, measure_terminal()),
        };
        self.printer.prompt(&pages.text());
        self.pages = Some(pages);
        Ok(())
    }

    /// Prints lines of status, above a question that waits or the prompt.
    fn status(&mut self, text: &str) -> Result<(), OutputClosed> {
        self.print_above(|printer| printer.status(text))
    }

    /// Prints what a program wrote, above a question that waits or the prompt.
    fn show_output(&mut self, text: &str) -> Result<(), OutputClosed> {
        self.print_above(|printer| printer.program_output(text))
    }

    fn print_above(&mut self, print: impl FnOnce(&mut Printer)) -> Result<(), OutputClosed> {
        self.end_line()?;
        if !self.transcript().asks().is_empty() {
            self.printer.prompt("\n");
            print(self.printer);
            return self.ask();
        }
        self.leave_prompt();
        print(self.printer);
        Ok(())
    }

    /// Says what a command of buddy's own says.
    fn tell(&mut self, text: &str) {
        // That nobody reads the answer any more is seen at its next part.
        let _ = self.end_line();
        self.leave_prompt();
        self.printer.status(text);
    }

    /// Puts the prompt where it does not stand and nothing runs. What is told meanwhile ends its line and has it put anew, so
    /// that nothing is written into what somebody types.
    fn put_prompt(&mut self) {
        if self.is_idle() && !self.is_prompted {
            self.printer.prompt("> ");
            self.is_prompted = true;
        }
    }

    /// Ends the line in which the prompt stands.
    fn leave_prompt(&mut self) {
        if std::mem::take(&mut self.is_prompted) {
            self.printer.prompt("\n");
        }
    }

    fn end_line(&mut self) -> Result<(), OutputClosed> {
        if std::mem::take(&mut self.is_mid_line) {
            self.printer.answer("\n")?;
        }
        Ok(())
    }
}

async fn at(time: Option<std::time::Instant>) {
    match time {
        Some(time) => sleep_until(Instant::from_std(time)).await,
        None => std::future::pending().await,
    }
}
