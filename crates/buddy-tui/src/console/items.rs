//! How finished items look.

use std::time::Duration;

use anstyle::Style;
use buddy_protocol::{
    Content, Image, Item, ItemStatus, Json, PlanStep, PlanStepState, Ran, ToolCall, ToolKind, Transcript,
};
use serde_json::Value;

use super::summary::summary;
use super::tasks::elapsed_text;
use crate::diff::{DiffHead, diff_rows};
use crate::markdown::Markdown;
use crate::output::Output;
use crate::show::{image_label, printed};
use crate::text::{Line, Look, Paint, Picture, Pictures, Span, wrap};
use crate::visible::one_line;

/// How many lines of a command's output are shown.
const OUTPUT_LINES: usize = 5;
/// Characters of what the jail stopped.
const STOPPED: usize = 400;
/// How many of the first and of the last lines are shown of one that failed.
const FAILED_LINES: (usize, usize) = (4, 8);
/// The same for a command of the person's own, and rows of what the person said.
const OWN_LINES: usize = 40;
/// How many lines of a diff.
const DIFF_LINES: usize = 40;
/// How many items of an old conversation are shown when it is taken up.
const RECAP_ITEMS: usize = 12;
/// How many images of one item are drawn.
const MAX_DRAWN: usize = 4;
/// From when on the time that a call took is told.
const LONG: Duration = Duration::from_secs(2);

/// What rows are of. Different kinds are kept apart by an empty row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Person,
    Message,
    Thought,
    Call,
    Note,
}

impl Kind {
    pub(super) fn is_apart_from(self, next: Self) -> bool {
        !matches!(
            (self, next),
            (Self::Call, Self::Call) | (Self::Message, Self::Message) | (Self::Note, Self::Note)
        )
    }
}

/// A finished item as rows.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) kind: Kind,
    pub(super) rows: Vec<Line>,
    /// All of what the rows show a part of.
    pub(super) folded: Option<String>,
}

/// The rows of a line without an indent.
pub(super) fn wrapped(line: &Line, width: usize) -> Vec<Line> {
    let none = Line::default();
    wrap(line, width, &none, &none)
}

/// How a finished item looks.
pub(super) fn finished(item: &Item, ran: Duration, look: &Look, width: usize) -> Shown {
    let shown = |kind, rows| Shown { kind, rows, folded: None };
    match &item.content {
        // A notice tells of its end.
        Content::UserMessage { ran: Some(run), .. } if run.background.is_some() => {
            shown(Kind::Note, Vec::new())
        }
        Content::UserMessage { ran: Some(run), .. } => own_command(run, item.status, ran, look, width),
        Content::UserMessage { text, images, .. } => person(text, images, look, width),
        Content::AgentMessage { text } => {
            let mut markdown = Markdown::default();
            markdown.push(text);
            shown(Kind::Message, markdown.finish(look, width))
        }
        Content::Reasoning { text } => thought(text, ran, look),
        Content::ToolCall(call) => {
            let mut shown = self::call(call, item.status, ran, look, width);
            let lead = Line::plain("  ");
            for (place, image) in call.images.iter().enumerate() {
                shown.rows.extend(self::image(image, &lead, place < MAX_DRAWN, look, width));
            }
            shown
        }
        Content::FileChange(change) => shown(Kind::Call, diff(&change.diff, look, width)),
        Content::Plan { steps } => shown(Kind::Note, plan(steps, look, width)),
        Content::SubSession { title, .. } => shown(Kind::Call, vec![Line::plain(title)]),
        Content::Compaction { summary, .. } => {
            let row =
                Line::styled("what was said before is summed up from here on", look.style(Paint::Dim));
            Shown { kind: Kind::Note, rows: vec![row], folded: Some(summary.clone()) }
        }
        Content::Canvas { .. } => shown(Kind::Note, Vec::new()),
    }
}

/// The end of a conversation that is taken up.
pub(super) fn recap(transcript: &Transcript, look: &Look, width: usize) -> Vec<Line> {
    let items: Vec<&Item> = transcript.items().iter().filter(|item| item.status.is_final()).collect();
    let shown: Vec<&Item> = items.iter().rev().take(RECAP_ITEMS).copied().collect();
    let mut rows = Vec::new();
    if items.len() > shown.len() {
        let text = format!("{} earlier items", items.len() - shown.len());
        rows.push(Line::styled(&text, look.style(Paint::Dim)));
    }
    let mut last = None;
    for item in shown.into_iter().rev() {
        let shown = finished(item, Duration::ZERO, look, width);
        if shown.rows.is_empty() {
            continue;
        }
        if !rows.is_empty() && last.is_none_or(|last: Kind| last.is_apart_from(shown.kind)) {
            rows.push(Line::default());
        }
        last = Some(shown.kind);
        rows.extend(shown.rows);
    }
    rows
}

fn person(text: &str, images: &[Image], look: &Look, width: usize) -> Shown {
    let style = look.style(Paint::Person);
    let (first, next) = (Line::styled("> ", style.bold()), Line::plain("  "));
    let mut rows = Vec::new();
    for line in text.lines() {
        let lead = if rows.is_empty() { &first } else { &next };
        rows.extend(wrap(&Line::styled(line, style), width, lead, &next));
    }
    // Who pasted a file does not want to scroll back over it.
    let left_out = rows.len().saturating_sub(OWN_LINES);
    if left_out > 1 {
        let last = rows.split_off(rows.len() - 1);
        rows.truncate(OWN_LINES - 2);
        let mark = look.sign("…", "...");
        let fold = format!("{mark} {} rows left out, ctrl-o shows all", left_out + 1);
        rows.extend(wrap(&Line::styled(&fold, look.style(Paint::Dim)), width, &next, &next));
        rows.extend(last);
    }
    for (place, image) in images.iter().enumerate() {
        let lead = if rows.is_empty() { &first } else { &next };
        rows.extend(self::image(image, lead, place < MAX_DRAWN, look, width));
    }
    Shown { kind: Kind::Person, rows, folded: (left_out > 1).then(|| text.to_owned()) }
}

/// What an image is called, and the image itself where the terminal can show it.
fn image(image: &Image, lead: &Line, is_drawn: bool, look: &Look, width: usize) -> Vec<Line> {
    let label = Line::styled(&image_label(image), look.style(Paint::Dim));
    let mut rows = wrap(&label, width, lead, &Line::plain("  "));
    // To draw takes a while, so of many only the names are shown.
    if look.pictures != Pictures::None && is_drawn {
        rows.extend(Picture::of(image, width).into_iter().flat_map(Line::picture));
    }
    rows
}

/// The line of a command that the person runs themselves.
pub(super) fn own_title(ran: &Ran, look: &Look) -> Line {
    let style = look.style(Paint::Person);
    let line = ran.command.lines().next().unwrap_or_default();
    Line::styled("! ", style.bold()).and(line, style)
}

/// A command that the person ran: they wanted to see what comes out, so more of it is shown.
fn own_command(run: &Ran, status: ItemStatus, ran: Duration, look: &Look, width: usize) -> Shown {
    let mut head = own_title(run, look);
    if ran >= LONG {
        head = head.and(&format!("  {}", elapsed_text(ran)), look.style(Paint::Dim));
    }
    let mut rows = vec![head.cut(width, look.sign("…", "~"))];
    let text = printed(run);
    let mut output = Output::new(OWN_LINES - 1, 1);
    output.push(&text);
    let is_ok = status == ItemStatus::Completed
        && run.outcome.as_ref().is_some_and(|outcome| outcome.exit_code == Some(0));
    let style = if is_ok { Style::new() } else { look.style(Paint::Bad) };
    let shown = output.folded(look, width.saturating_sub(2));
    rows.extend(indented(shown.iter().map(|row| Line::styled(&row.text(), style)).collect()));
    let folded = (output.line_count() > OWN_LINES).then(|| text.clone());
    Shown { kind: Kind::Person, rows, folded }
}

fn thought(text: &str, ran: Duration, look: &Look) -> Shown {
    let lines = text.lines().count();
    if lines == 0 {
        return Shown { kind: Kind::Thought, rows: Vec::new(), folded: None };
    }
    let noun = if lines == 1 { "line" } else { "lines" };
    let text_row =
        format!("{} thought for {} ({lines} {noun}, ctrl-o shows)", look.sign("✻", "*"), elapsed_text(ran));
    let row = Line::styled(&text_row, look.style(Paint::Dim));
    Shown { kind: Kind::Thought, rows: vec![row], folded: Some(text.to_owned()) }
}

/// The line that says which call it is.
pub(super) fn title(call: &ToolCall, bullet: Span, look: &Look) -> Line {
    let mut line = Line::from(bullet).and(" ", Style::new());
    line.push(Span::new(&call.name, look.style(Paint::Agent)));
    let title = call.title.lines().next().unwrap_or_default();
    line.and(&look.details.called("  ", title), Style::new())
}

fn call(call: &ToolCall, status: ItemStatus, ran: Duration, look: &Look, width: usize) -> Shown {
    let is_ok = status == ItemStatus::Completed;
    let bullet =
        Span::new(look.sign("●", "*"), look.style(if is_ok { Paint::Good } else { Paint::Bad }));
    let mut head = title(call, bullet, look);
    if ran >= LONG {
        head = head.and(&format!("  {}", elapsed_text(ran)), look.style(Paint::Dim));
    }
    let mut rows = vec![head.cut(width, look.sign("…", "~"))];
    let body = Body::of(call, status);
    // Why something failed is mostly said last.
    let (first, last) = if body.is_bad { FAILED_LINES } else { (OUTPUT_LINES - 1, 1) };
    let style = look.style(if body.is_bad { Paint::Bad } else { Paint::Dim });
    let folded;
    if let Some(text) = &body.diff {
        rows.extend(diff(text, look, width));
        folded = (text.lines().count() > DIFF_LINES).then(|| text.clone());
    } else {
        let mut output = Output::new(first, last);
        output.push(&body.text);
        let shown = output.folded(look, width.saturating_sub(2));
        rows.extend(indented(shown.iter().map(|row| Line::styled(&row.text(), style)).collect()));
        folded = (output.line_count() > first + last).then(|| body.text.clone());
    }
    for line in stopped(call) {
        let lead = Line::styled("  jail: ", look.style(Paint::Warning));
        let next = Line::plain("    ");
        rows.extend(wrap(&Line::plain(&line), width, &lead, &next));
    }
    Shown { kind: Kind::Call, rows, folded }
}

/// What the jail stopped in a call, one line each.
pub(crate) fn stopped(call: &ToolCall) -> Vec<String> {
    let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
    let lines =
        result.as_ref().and_then(|result| result.get("jail")?.as_array()).cloned().unwrap_or_default();
    lines.iter().filter_map(Value::as_str).map(|line| one_line(line, STOPPED)).collect()
}

/// What went wrong with a call, in one line; none where nothing did.
pub(crate) fn trouble(call: &ToolCall, status: ItemStatus) -> Option<String> {
    let body = Body::of(call, status);
    let lines: Vec<&str> = body.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = match lines.as_slice() {
        // How a command ended comes first, and why mostly last.
        [how, .., why] if call.kind == ToolKind::Execute && status == ItemStatus::Completed => {
            format!("{how}: {why}")
        }
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    };
    (body.is_bad && !text.is_empty()).then_some(text)
}

/// What is shown of a result.
struct Body {
    text: String,
    diff: Option<String>,
    is_bad: bool,
}

impl Body {
    fn of(call: &ToolCall, status: ItemStatus) -> Self {
        let Some(output) = &call.output else {
            let text = if status == ItemStatus::Interrupted { "interrupted" } else { "" };
            return Self { text: text.to_owned(), diff: None, is_bad: true };
        };
        if let Some(error) = &output.error {
            // What a refused call is told to do instead is for the agent.
            let hint = error.hint.as_deref().filter(|_| status != ItemStatus::Denied);
            let hint = hint.map(|hint| format!("\n{hint}")).unwrap_or_default();
            return Self { text: format!("{}{hint}", error.message), diff: None, is_bad: true };
        }
        let result: Value = output.result.as_ref().map_or(Value::Null, Json::value);
        let diff = result.get("diff").and_then(Value::as_str).filter(|diff| !diff.is_empty());
        Self {
            text: text_of(call.kind, &result),
            diff: diff.map(str::to_owned),
            is_bad: result.get("exit_code").and_then(Value::as_i64).is_some_and(|code| code != 0),
        }
    }
}

fn text_of(kind: ToolKind, result: &Value) -> String {
    let part = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
    match kind {
        ToolKind::Execute if result.get("exit_code").is_some() && result.get("stdout").is_some() => {
            let mut text = format!("{}{}", part("stdout"), part("stderr"));
            if let Some(code) = result.get("exit_code").and_then(Value::as_i64).filter(|code| *code != 0) {
                text = format!("exit code {code}\n{text}");
            }
            if let Some(signal) = result.get("signal").and_then(Value::as_i64) {
                text = format!("ended by signal {signal}\n{text}");
            }
            let note = part("note");
            match (text.trim_end().is_empty(), note.is_empty()) {
                (_, true) => text,
                (true, false) => note.to_owned(),
                (false, false) => format!("{}\n{note}", text.trim_end()),
            }
        }
        _ => summary(result),
    }
}

/// Rows under the line that says what they are of.
fn indented(rows: Vec<Line>) -> impl Iterator<Item = Line> {
    rows.into_iter().map(|row| {
        let mut line = Line::plain("  ");
        line.append(row);
        line
    })
}

/// A unified diff in rows.
fn diff(text: &str, look: &Look, width: usize) -> Vec<Line> {
    indented(diff_rows(text, look, width.saturating_sub(2), (DIFF_LINES, DiffHead::Shown))).collect()
}

/// A plan with what is done of it.
pub(super) fn plan(steps: &[PlanStep], look: &Look, width: usize) -> Vec<Line> {
    let mut rows = Vec::new();
    for step in steps {
        let (mark, style) = match step.state {
            PlanStepState::Done => (look.sign("✔ ", "[x] "), look.style(Paint::Dim).strikethrough()),
            PlanStepState::Active => (look.sign("▶ ", "[>] "), look.style(Paint::Strong)),
            PlanStepState::Pending => (look.sign("☐ ", "[ ] "), Style::new()),
        };
        let lead = Line::styled(mark, look.style(Paint::Agent));
        let next = Line::plain(&" ".repeat(lead.width()));
        rows.extend(wrap(&Line::styled(&step.text, style), width, &lead, &next));
    }
    rows
}
