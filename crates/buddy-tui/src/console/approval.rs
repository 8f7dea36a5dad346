//! How a question looks.

use std::fmt::Write;

use anstyle::Style;
use buddy_protocol::{Approval, Question, Risk};

use super::asks::{Asking, Stage};
use super::items::wrapped;
use super::tasks::Task;
use crate::diff::diff_rows;
use crate::editor::{Entry, InputView, view};
use crate::show::local_time;
use crate::text::{Line, Look, Paint, Span, wrap};
use crate::visible::one_line;

/// The most rows of a command before it is folded; all of it is shown when the question is expanded.
const FOLDED_ROWS: usize = 6;

/// The most rows of a diff before it is folded, and of each of several.
const FOLDED_DIFF: usize = 12;
const FOLDED_EACH: usize = 6;
/// Characters of what an answer for longer would allow, in the row of keys.
const GRANT: usize = 80;

/// What a question is shown in.
pub(super) struct Room<'a> {
    /// Where the session works.
    pub(super) cwd: &'a str,
    /// The task beside the conversation that asks, if it is one of those.
    pub(super) task: Option<&'a Task>,
    /// How many questions wait behind this one.
    pub(super) others: usize,
    pub(super) look: &'a Look,
    pub(super) width: usize,
    /// How many rows there are for it.
    pub(super) height: usize,
}

/// The rows of a question with the cursor. Of one that is higher than the room a part is shown, with how much there is.
pub(super) fn question(asking: &Asking, room: &Room<'_>) -> InputView {
    let end = end(asking, room.look, room.width);
    let mut rows = body(asking, room);
    let fitting = fitting(end.rows.len(), room);
    if rows.len() > fitting {
        let count = rows.len();
        let first = asking.scroll.min(count - fitting);
        rows = rows.into_iter().skip(first).take(fitting).collect();
        let text = format!(
            "rows {} to {} of {count}: arrows and page keys show the others",
            first + 1,
            first + rows.len()
        );
        let mark = Line::styled(&text, room.look.theme.style(Paint::Warning));
        rows.push(mark.cut(room.width, room.look.sign("…", "~")));
    }
    let first = rows.len();
    rows.extend(end.rows);
    InputView { rows, cursor: (first + end.cursor.0, end.cursor.1) }
}

/// How far a question can be scrolled.
pub(super) fn furthest(asking: &Asking, room: &Room<'_>) -> usize {
    let end = end(asking, room.look, room.width);
    body(asking, room).len().saturating_sub(fitting(end.rows.len(), room))
}

/// How many rows of the body fit beside the end of it and the row that says what is left out.
fn fitting(end: usize, room: &Room<'_>) -> usize {
    room.height.saturating_sub(end + 1).max(1)
}

/// Everything but the last rows.
fn body(asking: &Asking, room: &Room<'_>) -> Vec<Line> {
    let Room { cwd, task, others, look, width, .. } = *room;
    let mut rows = Vec::new();
    let dim = look.theme.style(Paint::Dim);
    if let Some(task) = task {
        let line = task.prompt.lines().next().unwrap_or_default();
        let row =
            Line::styled(&format!("task {} asks: {line}", task.number), look.theme.style(Paint::Warning));
        rows.push(row.cut(width, look.sign("…", "~")));
    }
    if let Some(time) = asking.ask.expires {
        rows.push(Line::styled(&format!("denied by itself at {}", local_time(time)), dim));
    }
    if others > 0 {
        let noun = if others == 1 { "question waits" } else { "questions wait" };
        rows.push(Line::styled(&format!("{others} more {noun}"), dim));
    }
    match &asking.ask.question {
        Question::Approval(approval) => {
            if asking.is_expanded {
                rows.extend(details(approval, cwd, look, width));
            } else {
                rows.extend(remarks(approval, cwd, look, width));
            }
            let limit = if asking.is_expanded { usize::MAX } else { FOLDED_DIFF };
            rows.extend(diff(approval, limit, look, width));
            rows.extend(command(approval, asking.is_expanded, look, width));
        }
        Question::Batch { approvals } => rows.extend(batch(approvals, asking, look, width)),
        Question::Text { text, options } => {
            for line in text.lines() {
                rows.extend(wrapped(&Line::styled(line, look.theme.style(Paint::Strong)), width));
            }
            for (number, option) in (1..).zip(options) {
                rows.extend(wrapped(&Line::plain(&format!("{number:>3}. {option}")), width));
            }
        }
    }
    rows
}

/// What would change in files.
fn diff(approval: &Approval, limit: usize, look: &Look, width: usize) -> Vec<Line> {
    approval.diff.as_deref().map(|diff| diff_rows(diff, look, width, limit)).unwrap_or_default()
}

/// The last rows: what can be pressed, or what is being written.
fn end(asking: &Asking, look: &Look, width: usize) -> InputView {
    let written = |label: &str, entry: &Entry| {
        let draft = &entry.draft;
        let prompt = Line::styled(label, look.theme.style(Paint::Warning));
        view(&prompt, draft.shown(), draft.cursor(), width)
    };
    match &asking.stage {
        Stage::Choosing => keys(&asking.ask.question, look, width),
        Stage::Picking(_) => hint(
            "y allows all, d none, n none and say why; a number turns one on or off, enter answers, ? more",
            look,
            width,
        ),
        Stage::Telling(entry) => written("no; tell it what to do instead: ", entry),
        Stage::Editing(entry) => written("run: ", entry),
        Stage::Replying(entry) => {
            let has_options =
                matches!(&asking.ask.question, Question::Text { options, .. } if !options.is_empty());
            written(
                if has_options { "arrows, a number, or your own words: " } else { "your answer: " },
                entry,
            )
        }
        Stage::Granting(granting) => match &asking.ask.question {
            Question::Approval(approval) => granting.view(approval, look, width),
            _ => hint("", look, width),
        },
    }
}

fn keys(question: &Question, look: &Look, width: usize) -> InputView {
    let Question::Approval(approval) = question else { return hint("", look, width) };
    let mut text = "y yes".to_owned();
    if let Some(offer) = approval.offers.first() {
        let what = if offer.grant == approval.action {
            "exactly this".to_owned()
        } else {
            one_line(&offer.grant, GRANT)
        };
        let _ = write!(text, " · a always in this session: {what} · p choose what to allow");
    }
    if approval.is_editable {
        text.push_str(" · e edit");
    }
    text.push_str(" · d deny · n no, and say why · ? more");
    hint(&text, look, width)
}

fn hint(text: &str, look: &Look, width: usize) -> InputView {
    let text = if look.is_ascii { text.replace('·', "|") } else { text.to_owned() };
    let rows = wrapped(&Line::styled(&text, look.theme.style(Paint::Dim)), width);
    let last = rows.len() - 1;
    let column = rows.last().map_or(0, Line::width);
    InputView { rows, cursor: (last, column) }
}

/// What a person should know in any case: that it happens elsewhere than usual, and what it is for.
fn remarks(approval: &Approval, cwd: &str, look: &Look, width: usize) -> Vec<Line> {
    let target = approval.target.as_ref().map(|target| format!("on {target}"));
    let place = (approval.cwd != cwd).then(|| format!("in {}", approval.cwd));
    let warning = look.theme.style(Paint::Warning);
    let elsewhere = target.into_iter().chain(place).map(|text| Line::styled(&text, warning));
    let why = approval.why.as_ref().map(|why| {
        let text = why.split_whitespace().collect::<Vec<_>>().join(" ");
        Line::styled(&format!("it says: {text}"), look.theme.style(Paint::Dim))
    });
    elsewhere.chain(why).flat_map(|line| wrapped(&line, width)).collect()
}

/// What a person should know beside the command itself.
fn details(approval: &Approval, cwd: &str, look: &Look, width: usize) -> Vec<Line> {
    let theme = look.theme;
    let dim = theme.style(Paint::Dim);
    let mut rows = Vec::new();
    let mut put = |name: &str, text: &str, style: Style| {
        let lead = Line::styled(&format!("{name:<8}"), dim);
        let next = Line::plain("        ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        rows.extend(wrap(&Line::styled(&text, style), width, &lead, &next));
    };
    put("who", &approval.actor, Style::new());
    if let Some(target) = &approval.target {
        put("target", target, Style::new());
    }
    let place = format!("{} in {}", approval.place, approval.cwd);
    put("where", &place, if approval.cwd == cwd { Style::new() } else { theme.style(Paint::Warning) });
    let (risk, style) = match approval.risk {
        Risk::Low => ("low", theme.style(Paint::Good)),
        Risk::Medium => ("medium", theme.style(Paint::Tool)),
        Risk::High => ("high", theme.style(Paint::Bad).bold()),
    };
    put("risk", risk, style);
    for reason in &approval.reasons {
        put("asked", reason, Style::new());
    }
    if let Some(why) = &approval.why {
        put("it says", why, Style::new());
    }
    for part in &approval.parts {
        put("runs", part, Style::new());
    }
    for offer in &approval.offers {
        put("allow", &format!("`{}` would cover {}", offer.grant, offer.covers), Style::new());
    }
    rows
}

/// The exact action in the one-line form, its further lines below it. A line break in it is shown as one, so that nothing
/// can pass for a line of buddy's own.
fn command(approval: &Approval, is_expanded: bool, look: &Look, width: usize) -> Vec<Line> {
    let theme = look.theme;
    let risk = if approval.risk == Risk::High { theme.style(Paint::Bad) } else { theme.style(Paint::Person) };
    let mut lead = Line::default();
    if approval.actor != "buddy" {
        lead.push(Span::new(&format!("[{}] ", approval.actor), theme.style(Paint::Warning)));
    }
    lead.push(Span::new(&format!("{}$ ", approval.place), risk));
    let mut rows = Vec::new();
    let lines: Vec<&str> = approval.action.split('\n').collect();
    let next = Line::plain("    ");
    for (index, line) in lines.iter().enumerate() {
        let is_last = index + 1 == lines.len();
        let mark = if is_last { String::new() } else { look.sign("⏎", "\\n").to_owned() };
        let mut row = if index == 0 { lead.clone() } else { next.clone() };
        row.push(Span::new(line, theme.style(Paint::Strong)));
        row.push(Span::new(&mark, theme.style(Paint::Dim)));
        if is_last {
            row.push(Span::new(" -- approve?", theme.style(Paint::Warning)));
        }
        rows.extend(wrap(&row, width, &Line::default(), &next));
    }
    if rows.len() > FOLDED_ROWS && !is_expanded {
        let hidden = rows.len() - FOLDED_ROWS;
        let tail = rows.split_off(rows.len() - 2);
        rows.truncate(FOLDED_ROWS - 2);
        let noun = if hidden == 1 { "row" } else { "rows" };
        rows.push(Line::styled(
            &format!("    {hidden} more {noun}: ? shows all"),
            theme.style(Paint::Warning),
        ));
        rows.extend(tail);
    }
    rows
}

fn batch(approvals: &[Approval], asking: &Asking, look: &Look, width: usize) -> Vec<Line> {
    let Stage::Picking(allowed) = &asking.stage else { return Vec::new() };
    let mut rows = Vec::new();
    for (number, approval) in (1..).zip(approvals) {
        let is_allowed = allowed.get(number - 1).copied().unwrap_or(false);
        let mark = if is_allowed { look.sign("☑", "[x]") } else { look.sign("☐", "[ ]") };
        let risk = if approval.risk == Risk::High { look.theme.style(Paint::Bad) } else { Style::new() };
        let lead = Line::plain(&format!("{number:>3}. {mark} "));
        let next = Line::plain(&" ".repeat(lead.width()));
        let action = approval.action.replace('\n', look.sign("⏎", "\\n"));
        rows.extend(wrap(&Line::styled(&format!("{}$ {action}", approval.place), risk), width, &lead, &next));
        let limit = if asking.is_expanded { usize::MAX } else { FOLDED_EACH };
        rows.extend(diff(approval, limit, look, width));
    }
    rows
}
