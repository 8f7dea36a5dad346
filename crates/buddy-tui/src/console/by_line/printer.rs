//! Prints a conversation line by line: answers as they stream on stdout, everything else on stderr.
//!
//! A prompt or a question stands open at the end of its line. Everything that is printed meanwhile ends that line first, so that
//! nothing is written into what somebody types.

use std::time::Duration;

use buddy_protocol::{
    BACKGROUND_ENDED, Content, DeltaStream, Event, Fact, Item, NoticeLevel, ToolCall, Transcript, TurnEnded,
    TurnOutcome,
};

use super::streamed::StreamedAnswers;
use crate::changes::GO_AHEAD;
use crate::console::line_face::LineInput;
use crate::console::{SessionTask, TurnSum, render_begun_call, render_ended_call};
use crate::details::Details;
use crate::printer::{OutputClosed, Printer};
use crate::retrying::RetryNews;
use crate::show::describe_output;

/// A line whose end is where somebody types.
enum OpenLine {
    Prompt,
    /// A question, as it was printed.
    Question(String),
}

pub(super) struct LinePrinter<'a> {
    printer: &'a mut Printer,
    input: LineInput,
    details: Details,
    /// The answers that are being printed.
    answers: StreamedAnswers,
    retry_news: RetryNews,
    /// Whether text of an answer was printed and its line is still open.
    is_mid_line: bool,
    open: Option<OpenLine>,
}

impl<'a> LinePrinter<'a> {
    pub(super) fn new(printer: &'a mut Printer, input: LineInput, details: Details) -> Self {
        let (answers, retry_news) = (StreamedAnswers::default(), RetryNews::default());
        Self { printer, input, details, answers, retry_news, is_mid_line: false, open: None }
    }

    /// Some of what streamed was missed.
    pub(super) fn miss(&mut self) {
        self.answers.miss();
    }

    /// Another conversation is shown.
    pub(super) fn turn_over(&mut self) {
        self.answers = StreamedAnswers::default();
    }

    /// Prints an event that was folded into this task, whose turn ran for so long.
    pub(super) fn draw(
        &mut self,
        event: &Event,
        task: &SessionTask,
        ran: Option<Duration>,
    ) -> Result<(), OutputClosed> {
        if !self.retry_news.is_news(&event.fact) {
            return Ok(());
        }
        let transcript = task.reader.transcript();
        match &event.fact {
            Fact::ItemDelta(delta) if delta.stream == DeltaStream::Text => {
                let item = transcript.item(&delta.item);
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
            Fact::ItemEnded(ended) => self.draw_end(&ended.item, transcript)?,
            Fact::ItemChanged(changed) => {
                self.answers.start_over(&changed.item.id);
                if let Content::ToolCall(call) = &changed.item.content
                    && let Some(line) = render_begun_call(
                        call,
                        &name_target(call, transcript),
                        self.details,
                        &task.reader.cwd(),
                    )
                {
                    self.status(&line)?;
                }
            }
            Fact::Notice(notice) if notice.level != NoticeLevel::Info || notice.code == BACKGROUND_ENDED => {
                self.status(&notice.text)?;
            }
            Fact::TurnEnded(ended) => self.draw_turn_end(ended, task, ran)?,
            Fact::TurnStarted(_) => {
                self.answers.begin_turn();
                if matches!(self.open, Some(OpenLine::Prompt)) {
                    self.close_line();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn draw_end(&mut self, item: &Item, transcript: &Transcript) -> Result<(), OutputClosed> {
        match &item.content {
            Content::UserMessage { ran: Some(ran), .. } if ran.background.is_none() => {
                let text = format!("! {}\n{}", ran.command, describe_output(ran));
                self.print_above(|printer| printer.program_output(&text))
            }
            Content::AgentMessage { text } => match self.answers.end(&item.id, text) {
                Some(rest) => self.print_answer(&rest),
                None => Ok(()),
            },
            Content::ToolCall(call) => {
                let cwd = transcript.started().map(|started| started.cwd.as_str()).unwrap_or_default();
                let on = name_target(call, transcript);
                self.status(&render_ended_call(call, item.status, &on, self.details, cwd))
            }
            _ => Ok(()),
        }
    }

    fn draw_turn_end(
        &mut self,
        ended: &TurnEnded,
        task: &SessionTask,
        ran: Option<Duration>,
    ) -> Result<(), OutputClosed> {
        if let Some(failure) = &ended.failure {
            let hint = failure.hint.as_ref().map(|hint| format!("\n  {hint}")).unwrap_or_default();
            self.status(&format!("buddy: {}{hint}", failure.message))?;
        } else if ended.outcome == TurnOutcome::Interrupted {
            self.status("interrupted")?;
        } else if ended.outcome == TurnOutcome::Completed && task.reader.transcript().is_plan_only() {
            self.status(GO_AHEAD)?;
        }
        self.end_line()?;
        self.sum_up(task, ran);
        Ok(())
    }

    /// Tells the time, the changes and the cost of the turn that has ended.
    fn sum_up(&mut self, task: &SessionTask, ran: Option<Duration>) {
        let transcript = task.reader.transcript();
        if let Some(text) = self.details.tokens(&task.billed.usage, &transcript.bill().usage) {
            self.printer.status(&text);
        }
        // Times are not read aloud.
        let ran = ran.filter(|_| !self.printer.is_read_aloud()).unwrap_or_default();
        let sum = TurnSum::of(transcript, ran, &task.billed);
        let mut parts = sum.parts();
        if !parts.is_empty() {
            parts.extend(sum.has_changes().then(|| "/undo takes it back".to_owned()));
            self.printer.status(&format!("  {}", parts.join("   ")));
        }
    }

    fn print_answer(&mut self, text: &str) -> Result<(), OutputClosed> {
        self.printer.answer(text)?;
        self.is_mid_line = !text.ends_with('\n');
        Ok(())
    }

    /// Says what a command of buddy's own says.
    pub(super) fn tell(&mut self, text: &str) {
        // That nobody reads the answer any more is seen at its next part.
        let _ = self.status(text);
    }

    /// Sends something to the terminal that steers it.
    pub(super) fn order(&mut self, text: &str) {
        self.printer.order(text);
    }

    fn status(&mut self, text: &str) -> Result<(), OutputClosed> {
        self.print_above(|printer| printer.status(text))
    }

    /// Prints something above a question that waits. The prompt is put anew when everything is told.
    fn print_above(&mut self, print: impl FnOnce(&mut Printer)) -> Result<(), OutputClosed> {
        self.end_line()?;
        let open = self.close_line();
        print(self.printer);
        if let Some(OpenLine::Question(text)) = open {
            self.ask(text);
        }
        Ok(())
    }

    /// Puts a question.
    pub(super) fn ask(&mut self, text: String) {
        let _ = self.end_line();
        self.close_line();
        self.printer.prompt(&text);
        self.open = Some(OpenLine::Question(text));
    }

    /// The question was answered elsewhere, if one stands there.
    pub(super) fn drop_question(&mut self) {
        if matches!(self.open, Some(OpenLine::Question(_))) {
            self.close_line();
        }
    }

    /// Puts the prompt, unless something stands open.
    pub(super) fn put_prompt(&mut self) {
        if self.open.is_none() {
            self.printer.prompt("> ");
            self.open = Some(OpenLine::Prompt);
        }
    }

    /// A line was typed. That ends the line of the prompt too, except in a pipe.
    pub(super) fn take_line(&mut self) {
        if self.open.take().is_some() && self.input == LineInput::Pipe {
            self.printer.prompt("\n");
        }
    }

    /// Ends the line that stands open.
    fn close_line(&mut self) -> Option<OpenLine> {
        let open = self.open.take();
        if open.is_some() {
            self.printer.prompt("\n");
        }
        open
    }

    fn end_line(&mut self) -> Result<(), OutputClosed> {
        if std::mem::take(&mut self.is_mid_line) {
            self.printer.answer("\n")?;
        }
        Ok(())
    }
}

/// Which target a call is on, where there are several.
fn name_target(call: &ToolCall, transcript: &Transcript) -> String {
    let target = call.target.as_ref().filter(|_| transcript.targets().len() > 1);
    target.map(|target| format!(" on {target}")).unwrap_or_default()
}
