//! How a question looks.

use std::fmt::Write;
use std::ops::Range;

use anstyle::Style;
use buddy_protocol::{Approval, Question, Risk};

use super::asks::{Asking, Stage};
use super::items::wrapped;
use super::tasks::Task;
use crate::diff::{diff_rows, whole_diff_rows};
use crate::editor::{Entry, InputView, view};
use crate::screen::{Layout, QuestionPart};
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

/// The fewest rows of a room in which one says how much there is.
const MARKED: usize = 3;

/// The rows of a question with the cursor, and which of them are the question itself. Of one that is higher than the room a part
/// is shown, with how much there is.
pub(super) fn question(asking: &Asking, room: &Room<'_>) -> (InputView, QuestionPart) {
    let end = end(asking, room);
    let fitting = fitting(end.rows.len(), room);
    let Body { lead, mut rows, is_folded } = body(asking, room, fitting);
    let layout =
        Layout { width: room.width, rows: rows.len() - lead, is_folded, is_expanded: asking.is_expanded };
    let count = rows.len();
    let top = asking.scroll.min(count.saturating_sub(fitting));
    rows = rows.into_iter().skip(top).take(fitting).collect();
    // Rows above the question itself do not count.
    let above = lead.saturating_sub(top).min(rows.len());
    let part = QuestionPart { at: above..rows.len(), first: top.saturating_sub(lead), layout };
    let is_cut = rows.len() < count;
    if (is_cut || is_folded) && room.height >= MARKED {
        let text = mark(asking, top + 1..top + rows.len() + 1, count, is_cut);
        let mark = Line::styled(&text, room.look.theme.style(Paint::Warning));
        rows.push(mark.cut(room.width, room.look.sign("…", "~")));
    }
    let first = rows.len();
    rows.extend(end.rows);
    (InputView { rows, cursor: (first + end.cursor.0, end.cursor.1) }, part)
}

/// What is said of rows that are not shown.
fn mark(asking: &Asking, rows: Range<usize>, count: usize, is_cut: bool) -> String {
    let is_approval = !matches!(asking.ask.question, Question::Text { .. });
    match (is_cut, is_approval && !asking.seen.is_whole()) {
        (true, true) => {
            format!("rows {} to {} of {count}: y shows the others first", rows.start, rows.end - 1)
        }
        (true, false) => {
            format!(
                "rows {} to {} of {count}: arrows and page keys show the others",
                rows.start,
                rows.end - 1
            )
        }
        (false, true) => "some rows are folded: y shows them first".to_owned(),
        (false, false) => "some rows are folded: ? shows them".to_owned(),
    }
}

/// How far a question can be scrolled, and how many rows stand above it.
pub(super) fn reach(asking: &Asking, room: &Room<'_>) -> (usize, usize) {
    let fitting = fitting(end(asking, room).rows.len(), room);
    let body = body(asking, room, fitting);
    (body.rows.len().saturating_sub(fitting), body.lead)
}

/// How many rows of the body fit beside the end of it and the row that says what is left out.
fn fitting(end: usize, room: &Room<'_>) -> usize {
    room.height.saturating_sub(end + usize::from(room.height >= MARKED)).max(1)
}

/// Everything but the last rows.
struct Body {
    /// How many rows stand above the question itself.
    lead: usize,
    rows: Vec<Line>,
    is_folded: bool,
}

/// What is higher than the room is folded, unless the person unfolded it.
fn body(asking: &Asking, room: &Room<'_>, fitting: usize) -> Body {
    let mut rows = lead(asking, room);
    let lead = rows.len();
    let whole = itself(asking, room, Fold::Nothing);
    let folded = (!asking.is_expanded && lead + whole.len() > fitting)
        .then(|| itself(asking, room, Fold::Much))
        .filter(|folded| *folded != whole);
    let is_folded = folded.is_some();
    rows.extend(folded.unwrap_or(whole));
    Body { lead, rows, is_folded }
}

/// How much of a question is folded away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    Nothing,
    Much,
}

/// What stands above a question.
fn lead(asking: &Asking, room: &Room<'_>) -> Vec<Line> {
    let Room { task, others, look, width, .. } = *room;
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
    rows
}

/// The question itself.
fn itself(asking: &Asking, room: &Room<'_>, fold: Fold) -> Vec<Line> {
    let Room { cwd, look, width, .. } = *room;
    let mut rows = Vec::new();
    match &asking.ask.question {
        Question::Approval(approval) => {
            if asking.is_expanded {
                rows.extend(details(approval, cwd, look, width));
            } else {
                rows.extend(remarks(approval, cwd, look, width));
            }
            rows.extend(diff(approval, fold, FOLDED_DIFF, look, width));
            rows.extend(command(approval, fold, look, width));
        }
        Question::Batch { approvals } => rows.extend(batch(approvals, asking, fold, look, width)),
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
fn diff(approval: &Approval, fold: Fold, limit: usize, look: &Look, width: usize) -> Vec<Line> {
    let rows = |diff: &str| match fold {
        Fold::Nothing => whole_diff_rows(diff, look, width),
        Fold::Much => diff_rows(diff, look, width, limit),
    };
    approval.diff.as_deref().map(rows).unwrap_or_default()
}

/// The last rows, as many as leave room for a row of the question.
fn end(asking: &Asking, room: &Room<'_>) -> InputView {
    let InputView { mut rows, cursor } = whole_end(asking, room.look, room.width);
    let most = room.height.saturating_sub(2).max(1);
    if rows.len() <= most {
        return InputView { rows, cursor };
    }
    // A line that is written shows where the cursor is, and the keys show the first of them.
    let above = asking.stage.entry().map_or(0, |_| cursor.0.saturating_sub(most - 1));
    rows.drain(..above);
    rows.truncate(most);
    InputView { rows, cursor: (cursor.0.saturating_sub(above).min(most - 1), cursor.1) }
}

/// What can be pressed, or what is being written.
fn whole_end(asking: &Asking, look: &Look, width: usize) -> InputView {
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
        Stage::Confirming(confirming) => {
            let word = asking.ask.question.word().unwrap_or_default();
            written(&format!("type {word} and press Enter to allow this: "), &confirming.entry)
        }
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
    let mut text = if approval.word.is_some() { "y yes, with a word" } else { "y yes" }.to_owned();
    if let Some(offer) = approval.offers.first() {
        let what = if offer.grant == approval.action {
            "exactly this".to_owned()
        } else {
            one_line(&offer.grant, GRANT)
        };
        let _ = write!(text, " · a always until you quit: {what} · p choose what to allow");
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

/// What a person should know in any case: that it happens elsewhere than usual, what it is for, and which secrets it can read.
fn remarks(approval: &Approval, cwd: &str, look: &Look, width: usize) -> Vec<Line> {
    let target = approval.target.as_ref().map(|target| format!("on {target}"));
    let place = (approval.cwd != cwd).then(|| format!("in {}", approval.cwd));
    let warning = look.theme.style(Paint::Warning);
    let elsewhere = target.into_iter().chain(place).map(|text| Line::styled(&text, warning));
    let why = approval.why.as_ref().map(|why| {
        let text = why.split_whitespace().collect::<Vec<_>>().join(" ");
        Line::styled(&format!("it says: {text}"), look.theme.style(Paint::Dim))
    });
    let opens = approval.opens_line().map(|text| Line::styled(&text, warning));
    elsewhere.chain(why).chain(opens).flat_map(|line| wrapped(&line, width)).collect()
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
    if !approval.opens.is_empty() {
        put("secrets", &approval.opens.join(", "), theme.style(Paint::Warning));
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
fn command(approval: &Approval, fold: Fold, look: &Look, width: usize) -> Vec<Line> {
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
    if rows.len() > FOLDED_ROWS && fold == Fold::Much {
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

fn batch(approvals: &[Approval], asking: &Asking, fold: Fold, look: &Look, width: usize) -> Vec<Line> {
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
        if let Some(opens) = approval.opens_line() {
            rows.extend(wrap(&Line::styled(&opens, look.theme.style(Paint::Warning)), width, &next, &next));
        }
        rows.extend(diff(approval, fold, FOLDED_EACH, look, width));
    }
    rows
}
