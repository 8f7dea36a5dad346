//! The rows of finished items.

use std::time::Duration;

use anstyle::Style;
use buddy_protocol::{
    Content, Image, Item, ItemStatus, NoticeLevel, Ran, SessionId, Transcript, folded_command,
};

use super::allowed::AllowedCalls;
use super::calls::{self, Paper};
use super::finished_rows::{FinishedRows, FoldedText, RowKind};
use super::plan_card::render_plan_rows;
use crate::amounts::describe_elapsed;
use crate::counting::counted;
use crate::diff::{DiffHead, render_diff};
use crate::markdown::Markdown;
use crate::output::ShownOutput;
use crate::show::{
    describe_end, describe_output, describe_reminder, describe_unknown, label_image, printed_output,
};
use crate::text::{
    Paint, Picture, Pictures, StyledLine, TerminalLook, tell_text, wrap, wrap_text, wrap_unindented,
};

/// How many lines are shown of a command of the user's own, and rows of what the user said.
const OWN_LINES: usize = 40;
/// How many lines of a diff.
const DIFF_LINES: usize = 40;
/// How many items of an old conversation are shown when it is taken up.
pub(super) const RECAP_ITEMS: usize = 12;
/// How many images of one item are drawn.
const MAX_DRAWN: usize = 4;
/// From when on the time that a call took is told.
const LONG: Duration = Duration::from_secs(2);

/// The widest that prose is.
pub(super) const PROSE: usize = 88;

/// The sign in the gutter before the first row of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gutter {
    /// The agent speaks.
    Lamp,
    /// It goes on.
    Empty,
}

/// Columns for what the agent says, beside the gutter.
pub(super) fn prose_width(width: usize) -> usize {
    width.saturating_sub(2).max(1)
}

/// Rows of what the agent says, behind the gutter.
pub(super) fn put_behind_gutter(
    rows: Vec<StyledLine>,
    gutter: Gutter,
    look: &TerminalLook,
) -> Vec<StyledLine> {
    let mut is_begun = gutter == Gutter::Empty;
    let put = |row: StyledLine| {
        if row.is_empty() {
            return row;
        }
        let mut line = if std::mem::replace(&mut is_begun, true) {
            StyledLine::plain("  ")
        } else {
            StyledLine::styled(look.sign("●", "*"), look.style(Paint::Agent)).and(" ", Style::new())
        };
        line.append(row);
        line
    };
    rows.into_iter().map(put).collect()
}

/// A notice of a session, as a run shows it.
pub(crate) fn render_session_notice(
    text: &str,
    level: NoticeLevel,
    look: &TerminalLook,
    width: usize,
) -> Vec<StyledLine> {
    let level = match level {
        NoticeLevel::Info => NoticeWeight::Aside,
        NoticeLevel::Warning => NoticeWeight::Careful,
        NoticeLevel::Error => NoticeWeight::Failed,
    };
    render_notice(text, level, look, width)
}

/// A notice behind its sign.
pub(super) fn render_notice(
    text: &str,
    level: NoticeWeight,
    look: &TerminalLook,
    width: usize,
) -> Vec<StyledLine> {
    let (sign, paint) = match level {
        NoticeWeight::Careful => (look.sign("▲ ", "! "), Paint::Warning),
        NoticeWeight::Failed => (look.sign("✗ ", "x "), Paint::Bad),
        NoticeWeight::Aside => ("  ", Paint::Dim),
    };
    let style = if level == NoticeWeight::Aside { look.style(Paint::Dim) } else { Style::new() };
    let (first, next) = (StyledLine::styled(sign, look.style(paint)), StyledLine::plain("  "));
    tell_text(text, style, width.min(PROSE), &first, &next)
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoticeWeight {
    Careful,
    Failed,
    Aside,
}

/// The rows of a finished item.
pub(super) fn render_item(item: &Item, ran: Duration, paper: &Paper<'_>) -> FinishedRows {
    let Paper { look, width, .. } = *paper;
    let shown = |kind, rows| FinishedRows { kind, rows, folded: None };
    match &item.content {
        // A notice tells of its end.
        Content::UserMessage { ran: Some(run), .. } if run.background.is_some() => {
            shown(RowKind::Note, Vec::new())
        }
        Content::UserMessage { ran: Some(run), .. } => own_command(run, item.status, ran, look, width),
        Content::UserMessage { text, images, .. } => render_prompt(text, images, look, width),
        Content::AgentMessage { text } => {
            let mut markdown = Markdown::default();
            markdown.push(text);
            let rows = markdown.finish(look, prose_width(width));
            shown(RowKind::Message, put_behind_gutter(rows, Gutter::Lamp, look))
        }
        Content::Reasoning { text } => render_thought(text, ran, look, width),
        Content::ToolCall(call) => {
            let mut shown = calls::render_finished_call(call, item.status, ran, paper);
            let lead = StyledLine::plain("    ");
            for (place, image) in call.images.iter().enumerate() {
                shown.rows.extend(self::image(image, &lead, place < MAX_DRAWN, look, width));
            }
            shown
        }
        Content::FileChange(change) => shown(RowKind::Call, diff(&change.diff, look, width)),
        Content::Plan { steps } => shown(RowKind::Note, render_plan_rows(steps, look, width)),
        Content::SubSession { title, .. } => shown(RowKind::Call, vec![StyledLine::plain(title)]),
        Content::Compaction { summary, .. } => {
            let row = StyledLine::styled(look.sign("●", "*"), look.style(Paint::Agent))
                .and(" Summarised the conversation", look.style(Paint::Strong))
                .and("  ctrl+o shows the summary", look.style(Paint::Dim));
            let rows = wrap(&row, width, &StyledLine::default(), &StyledLine::plain("  "));
            let folded = Some(FoldedText::new("Summary of the conversation", summary));
            FinishedRows { kind: RowKind::Notice, rows, folded }
        }
        Content::Reminder { cause, text } => {
            let rows = render_notice(describe_reminder(*cause), NoticeWeight::Aside, look, width);
            FinishedRows {
                kind: RowKind::Note,
                rows,
                folded: Some(FoldedText::new(describe_reminder(*cause), text)),
            }
        }
        Content::Unknown(unknown) => {
            shown(RowKind::Note, render_notice(&describe_unknown(unknown), NoticeWeight::Aside, look, width))
        }
        // A notice tells of cleared results, and the user knows their own environment.
        Content::ResultsCleared { .. } | Content::Environment { .. } | Content::Canvas { .. } => {
            shown(RowKind::Note, Vec::new())
        }
    }
}

/// The line about the items that are not shown, with the way to see them.
pub(super) fn describe_earlier(count: usize, session: &SessionId) -> String {
    format!("{} earlier: `buddy show {session}` prints them", counted(count as u64, "item"))
}

/// The end of a conversation that is taken up.
pub(super) fn render_recap(
    session: &SessionId,
    transcript: &Transcript,
    allowed: &AllowedCalls,
    look: &TerminalLook,
    width: usize,
) -> Vec<StyledLine> {
    let is_shown =
        |item: &&Item| item.status.is_final() && !matches!(item.content, Content::Environment { .. });
    let items: Vec<&Item> = transcript.items().iter().filter(is_shown).collect();
    let shown: Vec<&Item> = items.iter().rev().take(RECAP_ITEMS).copied().collect();
    let mut rows = Vec::new();
    if items.len() > shown.len() {
        let text = describe_earlier(items.len() - shown.len(), session);
        rows.extend(wrap_unindented(&StyledLine::sentence(&text, look.style(Paint::Dim)), width));
    }
    let mut last = None;
    let cwd = transcript.started().map(|started| started.cwd.as_str()).unwrap_or_default();
    for item in shown.into_iter().rev() {
        let answered = allowed.find(&item.id).unwrap_or_default();
        let shown = render_item(item, Duration::ZERO, &Paper { look, width, cwd, answered });
        if shown.rows.is_empty() {
            continue;
        }
        if !rows.is_empty() && last.is_none_or(|last: RowKind| last.is_apart_from(shown.kind)) {
            rows.push(StyledLine::default());
        }
        last = Some(shown.kind);
        rows.extend(shown.rows);
    }
    rows
}

fn render_prompt(text: &str, images: &[Image], look: &TerminalLook, width: usize) -> FinishedRows {
    let style = look.style(Paint::Person);
    let (first, next) = (StyledLine::styled(look.sign("› ", "> "), style), StyledLine::plain("  "));
    let width = width.min(PROSE);
    let mut rows = wrap_text(text, style, width, &first, &next);
    if let Some(first) = rows.first_mut() {
        *first = std::mem::take(first).marked_as_prompt();
    }
    // Who pasted a file does not want to scroll back over it.
    let left_out = rows.len().saturating_sub(OWN_LINES);
    if left_out > 1 {
        let last = rows.split_off(rows.len() - 1);
        rows.truncate(OWN_LINES - 2);
        let mark = look.sign("…", "...");
        let fold = format!("{mark} {} more rows  ctrl+o show", left_out + 1);
        rows.extend(wrap(&StyledLine::styled(&fold, look.style(Paint::Dim)), width, &next, &next));
        rows.extend(last);
    }
    for (place, image) in images.iter().enumerate() {
        let lead = if rows.is_empty() { &first } else { &next };
        rows.extend(self::image(image, lead, place < MAX_DRAWN, look, width));
    }
    FinishedRows {
        kind: RowKind::Person,
        rows,
        folded: (left_out > 1).then(|| FoldedText::new("Your prompt", text)),
    }
}

/// The name of an image, and the image itself where the terminal can show it.
fn image(
    image: &Image,
    lead: &StyledLine,
    is_drawn: bool,
    look: &TerminalLook,
    width: usize,
) -> Vec<StyledLine> {
    let label = StyledLine::styled(&label_image(image), look.style(Paint::Dim));
    let mut rows = wrap(&label, width, lead, &StyledLine::plain("  "));
    // To draw takes a while, so of many only the names are shown.
    if look.pictures != Pictures::None && is_drawn {
        rows.extend(Picture::of(image, width).into_iter().flat_map(StyledLine::picture));
    }
    rows
}

/// The line of a command that the user runs themselves.
pub(super) fn render_own_title(ran: &Ran, look: &TerminalLook) -> StyledLine {
    let style = look.style(Paint::Person);
    let command = folded_command(&ran.command).replace('…', look.sign("…", "..."));
    StyledLine::styled("! ", style.bold()).and(&command, style)
}

/// A command that the user ran: they wanted to see what comes out, so more of it is shown.
fn own_command(
    run: &Ran,
    status: ItemStatus,
    ran: Duration,
    look: &TerminalLook,
    width: usize,
) -> FinishedRows {
    let mut head = render_own_title(run, look);
    if ran >= LONG {
        head = head.and(&format!("  {}", describe_elapsed(ran)), look.style(Paint::Dim));
    }
    let mut rows = vec![head.cut(width, look.sign("…", "~"))];
    let text = describe_output(run);
    let mut output = ShownOutput::new(OWN_LINES - 1, 1);
    output.push(&printed_output(run));
    let is_ok = status == ItemStatus::Completed
        && run.outcome.as_ref().is_some_and(|outcome| outcome.exit_code == Some(0));
    let style = if is_ok { Style::new() } else { look.style(Paint::Bad) };
    let shown = output.folded(look, width.saturating_sub(2));
    rows.extend(indented(shown.iter().map(|row| StyledLine::styled(&row.text(), style)).collect()));
    // Words of buddy's own stay whole.
    let indent = StyledLine::plain("  ");
    let end = describe_end(run);
    rows.extend(end.into_iter().flat_map(|end| tell_text(&end, style, width.min(PROSE), &indent, &indent)));
    let folded =
        (output.line_count() > OWN_LINES).then(|| FoldedText::new(render_own_title(run, look).text(), &text));
    FinishedRows { kind: RowKind::Person, rows, folded }
}

fn render_thought(text: &str, ran: Duration, look: &TerminalLook, width: usize) -> FinishedRows {
    let lines = text.lines().count();
    if lines == 0 {
        return FinishedRows { kind: RowKind::Thought, rows: Vec::new(), folded: None };
    }
    let noun = if lines == 1 { "line" } else { "lines" };
    let text_row =
        format!("{} thought for {}  {lines} {noun}, ctrl+o show", look.sign("✻", "*"), describe_elapsed(ran));
    let row = StyledLine::styled(&text_row, look.style(Paint::Dim));
    let rows = wrap(&row, width, &StyledLine::plain("  "), &StyledLine::plain("    "));
    FinishedRows { kind: RowKind::Thought, rows, folded: Some(FoldedText::new("Thought", text)) }
}

/// Rows under the line that says what they are of.
fn indented(rows: Vec<StyledLine>) -> impl Iterator<Item = StyledLine> {
    rows.into_iter().map(|row| {
        let mut line = StyledLine::plain("  ");
        line.append(row);
        line
    })
}

/// A unified diff in rows.
fn diff(text: &str, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    indented(render_diff(text, look, width.saturating_sub(2), (DIFF_LINES, DiffHead::Shown))).collect()
}
