//! The row of a call: a mark, a verb, its object and its result.
//!
//! The words come from the kind of a call and from its title, so that tools of other agents are shown alike.

use std::time::Duration;

use anstyle::Style;
use buddy_protocol::{ItemStatus, Json, ToolCall, ToolKind, first_line};
use serde_json::Value;

use super::call_trouble::{SAID_NO, describe_lacked_host, describe_trouble, list_stopped};
use super::finished_rows::{FinishedRows, FoldedText, RowKind};
use super::summary::{TestCounts, summarise_result};
use crate::addressing::address_user;
use crate::amounts::describe_elapsed;
use crate::counting::counted;
use crate::details::Details;
use crate::diff::{DiffHead, count_changes, render_diff};
use crate::output::ShownOutput;
use crate::text::{Paint, ShortenedText, Span, StyledLine, TerminalLook, shorten_text};
use crate::visible::{one_line, without_middle};

/// Columns of a verb.
const VERB: usize = 8;
/// The same in a narrow window.
const SHORT_VERB: usize = 6;
/// In a narrower window output begins further left.
const NARROW: usize = 60;
/// Columns of what a call is about that are kept beside its result.
const LEAST_OBJECT: usize = 12;
/// The fewest columns of a line that a command printed; in less room it is only counted.
const LEAST_QUOTE: usize = 12;
/// How many lines are shown of a command that failed.
const FAILED_LINES: usize = 2;
/// How many lines are searched for the one that says why.
const SEARCHED_LINES: usize = 2_000;
/// Rows of the reason why a call failed. Its last sentence, which says what to do next, may take more.
const REASON_ROWS: usize = 6;
/// How many lines of a diff.
const DIFF_LINES: usize = 40;
/// Columns before the numbers of a diff.
pub(super) const DIFF_INDENT: usize = 5;
/// From when on the time that a call took is told.
const LONG: Duration = Duration::from_secs(2);
/// Characters of what a call is about where rows are not cut.
const OBJECT: usize = 160;
/// Characters of a line of the reason why a call failed where rows are not cut, and lines of it.
const REASON: usize = 1_000;
const REASON_LINES: usize = 20;
/// The longest line of output that stands for the whole of it.
const ONE_LINE: usize = 100;

/// The beginning of a refusal, which the row of a call says already.
pub(crate) const NOT_ALLOWED: &str = "this is not allowed: ";

/// The name of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallWords {
    pub(crate) verb: &'static str,
    pub(crate) object: String,
    /// How many lines of a command follow those that the object shows.
    pub(crate) more_lines: usize,
}

/// The beginnings of titles, each with its verb before and after the call, and whether the rest is a path.
const VERBS: [(&str, &str, &str, bool); 17] = [
    ("read ", "Read", "Read", true),
    ("edit ", "Edit", "Edited", true),
    ("patch ", "Edit", "Edited", true),
    ("write ", "Write", "Wrote", true),
    ("make directory ", "Make", "Made", true),
    ("remove ", "Delete", "Deleted", true),
    ("list ", "List", "Listed", true),
    ("find ", "Find", "Found", false),
    ("search ", "Find", "Found", false),
    ("fetch ", "Fetch", "Fetched", false),
    ("plan: ", "Plan", "Planned", false),
    ("ask: ", "Ask", "Asked", false),
    ("check ", "Check", "Checked", false),
    ("stop ", "Stop", "Stopped", false),
    ("type ", "Type", "Typed", false),
    ("make ", "Make", "Made", false),
    ("end ", "End", "Ended", false),
];
/// The beginnings of titles of calls that execute something and yet run no command.
const NO_COMMANDS: [&str; 4] = ["stop ", "type ", "make the ", "end the "];
/// Names of tools whose commands run on.
const STARTERS: [&str; 2] = ["process_start", "shell_background"];

impl CallWords {
    /// The words of a call that has ended well, or of one that has not, in a session that works in `cwd`.
    pub(crate) fn of(call: &ToolCall, is_done: bool, look: &TerminalLook, cwd: &str) -> Self {
        let (title, more_lines) = first_line(&call.title);
        let pick = |before, after| if is_done { after } else { before };
        if is_command(call, title) || title.starts_with("git ") {
            let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
            let runs_on = STARTERS.contains(&call.name.as_str())
                || result.is_some_and(|result| result.get("condition").is_some());
            let verb = if runs_on { pick("Start", "Started") } else { pick("Run", "Ran") };
            return Self { verb, object: title.to_owned(), more_lines };
        }
        let known = VERBS.iter().find_map(|(beginning, before, after, is_path)| {
            let object = title.strip_prefix(beginning)?;
            let object =
                if *is_path { path(object, look, cwd) } else { sought(beginning, object, look, cwd) };
            Some(Self { verb: pick(before, after), object, more_lines: 0 })
        });
        known.unwrap_or_else(|| {
            let (before, after) = match call.kind {
                ToolKind::Read => ("Read", "Read"),
                ToolKind::Edit => ("Edit", "Edited"),
                ToolKind::Delete => ("Delete", "Deleted"),
                ToolKind::Move => ("Move", "Moved"),
                ToolKind::Search => ("Find", "Found"),
                ToolKind::Execute => ("Run", "Ran"),
                ToolKind::Think => ("Think", "Thought"),
                ToolKind::Fetch => ("Fetch", "Fetched"),
                ToolKind::Other => ("Use", "Used"),
            };
            let object = if title.is_empty() { call.name.clone() } else { title.to_owned() };
            Self { verb: pick(before, after), object, more_lines: 0 }
        })
    }

    /// How many lines are not shown, in words; empty if there are none.
    fn folded(&self) -> String {
        match self.more_lines {
            0 => String::new(),
            more => format!(" … {}", counted_more(more, "line")),
        }
    }
}

fn counted_more(more: usize, noun: &str) -> String {
    format!("{more} more {noun}{}", if more == 1 { "" } else { "s" })
}

/// Whether the title of a call is a command.
fn is_command(call: &ToolCall, title: &str) -> bool {
    let is_given = || call.input.value().get("command").is_some_and(Value::is_string);
    call.kind == ToolKind::Execute
        && (is_given() || !NO_COMMANDS.iter().any(|beginning| title.starts_with(beginning)))
}

/// A path, without the size that may follow it.
fn path(object: &str, look: &TerminalLook, cwd: &str) -> String {
    let (path, _) = object.split_once(" (").unwrap_or((object, ""));
    path.split(", ").map(|path| look.path_in(path, cwd)).collect::<Vec<_>>().join(", ")
}

/// The words and the place of a search.
fn sought(beginning: &str, object: &str, look: &TerminalLook, cwd: &str) -> String {
    let quoted = |text: &str| format!("{}{text}{}", look.sign("“", "\""), look.sign("”", "\""));
    match (beginning, object.split_once(" for "), object.rsplit_once(" in ")) {
        ("search ", Some((place @ ("the web" | "YouTube"), words)), _) => {
            format!("{} on {place}", quoted(words))
        }
        ("search ", Some((place, words)), _) => format!("{} in {}", quoted(words), look.path_in(place, cwd)),
        ("find ", _, Some((pattern, place))) => format!("{pattern} in {}", look.path_in(place, cwd)),
        _ => object.to_owned(),
    }
}

/// Where output begins.
fn indent(width: usize) -> usize {
    if width < NARROW { 4 } else { 4 + VERB }
}

/// Rows below a call, at the column of what it is about.
pub(super) fn indent_below(rows: impl IntoIterator<Item = StyledLine>, width: usize) -> Vec<StyledLine> {
    let gap = " ".repeat(indent(width));
    let put = |row: StyledLine| {
        let mut line = StyledLine::plain(&gap);
        line.append(row);
        if line.text().trim().is_empty() { StyledLine::default() } else { line }
    };
    rows.into_iter().map(put).collect()
}

/// Columns for rows below a call.
pub(super) fn room_below(width: usize) -> usize {
    width.saturating_sub(indent(width)).max(1)
}

/// The row of a call: its mark, its words, and what came of it.
pub(super) fn render_call_row(
    mark: Span,
    words: &CallWords,
    result: &StyledLine,
    style: Style,
    look: &TerminalLook,
    width: usize,
) -> StyledLine {
    let verb = if width < NARROW { SHORT_VERB } else { VERB };
    let mut line = StyledLine::plain("  ");
    line.push(mark);
    line = line.and(&format!(" {:<verb$}", words.verb), look.style(Paint::Soft));
    if words.verb.len() >= verb {
        line = line.and(" ", Style::new());
    }
    let cut = look.sign("…", "~");
    let folded = look.details.called("", &words.folded()).replace('…', look.sign("…", "..."));
    let folded = StyledLine::styled(&folded, look.style(Paint::Dim));
    let taken = line.width() + folded.width() + if result.is_empty() { 0 } else { result.width() + 2 };
    let room = width.saturating_sub(taken).max(LEAST_OBJECT);
    let object = StyledLine::styled(&look.details.called("", &words.object), style).cut(room, cut);
    line.append(object);
    line.append(folded);
    if !result.is_empty() {
        line = line.and("  ", Style::new());
        line.append(result.clone());
    }
    line.cut(width, cut)
}

/// The rows of a finished call.
pub(super) fn render_finished_call(
    call: &ToolCall,
    status: ItemStatus,
    ran: Duration,
    paper: &Paper<'_>,
) -> FinishedRows {
    let Paper { look, width, cwd, answered } = *paper;
    let outcome = CallOutcome::of(call, status);
    let is_done = outcome.was_done;
    let words = CallWords::of(call, is_done, look, cwd);
    let (mark, ink) = if outcome.is_bad {
        (Span::new(look.sign("✗", "x"), look.style(Paint::Bad)), Paint::Bad)
    } else {
        (Span::new(look.sign("✓", "+"), look.style(Paint::Dim)), Paint::Dim)
    };
    let answer = if outcome.is_bad || width < NARROW { "" } else { answered };
    let rest =
        [describe_result("", ran, width), answer.to_owned()].into_iter().filter(|part| !part.is_empty());
    let rest: Vec<String> = rest.collect();
    let quote = outcome.is_quote.then(|| fit_quote(&outcome.result, &words, &rest.join(", "), look, width));
    let is_cut = quote.as_ref().is_some_and(|quote| *quote != outcome.result);
    let mut result = describe_result(quote.as_ref().unwrap_or(&outcome.result), ran, width);
    if look.is_ascii {
        result = result.replace('−', "-");
    }
    if !answer.is_empty() {
        result = if result.is_empty() { answer.to_owned() } else { format!("{result}, {answer}") };
    }
    let style = if outcome.is_bad { look.style(Paint::Strong) } else { Style::new() };
    let mut rows = vec![render_call_row(
        mark,
        &words,
        &StyledLine::styled(&result, look.style(ink)),
        style,
        look,
        width,
    )];
    let mut folded = None;
    if let Some(text) = &outcome.diff {
        let indent = if width < NARROW { 0 } else { DIFF_INDENT };
        let changed = render_diff(text, look, width.saturating_sub(indent), (DIFF_LINES, DiffHead::Hidden));
        rows.extend(changed.into_iter().map(|row| {
            let mut line = StyledLine::plain(&" ".repeat(indent));
            line.append(row);
            line
        }));
        folded = (text.lines().count() > DIFF_LINES).then(|| text.clone());
    } else if outcome.is_bad {
        let shown = if outcome.is_output {
            failure_rows(&outcome, look, width)
        } else {
            reason_rows(&outcome, look, width)
        };
        folded = shown.has_more.then(|| outcome.text.clone());
        rows.extend(indent_below(shown.rows, width));
    } else if !outcome.text.is_empty() {
        folded = Some(outcome.text.clone());
    } else if is_cut {
        folded = Some(outcome.result.clone());
    }
    let told = list_stopped(call).into_iter().map(|(name, text)| (format!("{name}: "), text));
    let checks = found_by_checks(call).into_iter().map(|text| ("check ".to_owned(), text));
    for (word, text) in told.chain(checks) {
        let leads = (&StyledLine::styled(&word, look.style(Paint::Warning)), &StyledLine::plain("  "));
        let text = shorten_text(&text, Style::new(), room_below(width), leads, REASON_ROWS);
        rows.extend(indent_below(shortened_rows(text, look, width).rows, width));
    }
    if words.more_lines > 0 {
        let output = folded.unwrap_or_else(|| outcome.text.clone());
        folded = Some(format!("{}\n\n{output}", call.title.trim_end()).trim_end().to_owned());
    }
    let heading = format!("{}{}", words.verb, look.details.called(" ", &words.object));
    let folded = folded.map(|text| FoldedText::new(heading, &text));
    FinishedRows { kind: RowKind::Call, rows, folded }
}

/// A line that a command printed, as far as there is room beside the whole command and the rest of the result.
fn fit_quote(line: &str, words: &CallWords, rest: &str, look: &TerminalLook, width: usize) -> String {
    let object = StyledLine::plain(&look.details.called("", &words.object)).width();
    let folded = StyledLine::plain(&look.details.called("", &words.folded())).width();
    let rest = if rest.is_empty() { 0 } else { StyledLine::plain(rest).width() + 2 };
    let lead = verb_columns(width).max(words.verb.len() + 5);
    let room = width.saturating_sub(lead + object + folded + rest + 2);
    match StyledLine::plain(line) {
        whole if whole.width() <= room => line.to_owned(),
        whole if room >= LEAST_QUOTE => whole.cut(room, look.sign("…", "~")).text(),
        _ => "1 line".to_owned(),
    }
}

/// A line for each check that found new errors in a file that the call edited.
fn found_by_checks(call: &ToolCall) -> Vec<String> {
    let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
    let checks = result.as_ref().and_then(|result| result.get("checks")).and_then(Value::as_array);
    let line = |check: &Value| {
        let text = |name: &str| check.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_new = check.get("new").and_then(Value::as_array).is_some_and(|new| !new.is_empty());
        let count = check.get("count").and_then(Value::as_u64).unwrap_or_default();
        let line = format!("{}: {} in {}", text("name"), counted(count, "new error"), text("file"));
        is_new.then(|| one_line(&line, OBJECT))
    };
    checks.into_iter().flatten().filter_map(line).collect()
}

/// The result of a call, with its time if that is long.
pub(super) fn describe_result(result: &str, ran: Duration, width: usize) -> String {
    let time = (ran >= LONG).then(|| describe_elapsed(ran));
    let parts = Some(result.to_owned()).filter(|text| !text.is_empty()).into_iter().chain(time);
    let text = parts.collect::<Vec<_>>().join(", ");
    // A narrow window has room for the first part alone.
    if width < NARROW { text.split(", ").next().unwrap_or_default().to_owned() } else { text }
}

/// The lines of a failure that are shown.
struct FailureRows {
    rows: Vec<StyledLine>,
    has_more: bool,
}

/// The lines of a program's output that say why it failed, and how many more there are.
fn failure_rows(outcome: &CallOutcome, look: &TerminalLook, width: usize) -> FailureRows {
    let mut output = ShownOutput::new(SEARCHED_LINES, FAILED_LINES);
    output.push(&outcome.text);
    let (shown, more) = output.telling_trouble(look, room_below(width), FAILED_LINES);
    let soft = look.style(Paint::Soft);
    let mut rows: Vec<StyledLine> = shown.iter().map(|row| StyledLine::styled(&row.text(), soft)).collect();
    rows.extend((more > 0).then(|| more_row(more, "line", look, width)));
    FailureRows { rows, has_more: more > 0 }
}

/// The reason why a call failed, or the user's words about it.
fn reason_rows(outcome: &CallOutcome, look: &TerminalLook, width: usize) -> FailureRows {
    let text = outcome.text.trim_end();
    let text = if outcome.is_said {
        format!("{}{text}{}", look.sign("“", "\""), look.sign("”", "\""))
    } else {
        text.to_owned()
    };
    let (none, room) = (StyledLine::default(), room_below(width));
    let text = shorten_text(&text, look.style(Paint::Soft), room, (&none, &none), REASON_ROWS);
    shortened_rows(text, look, width)
}

/// The rows of a text, with a note where some are left out.
fn shortened_rows(text: ShortenedText, look: &TerminalLook, width: usize) -> FailureRows {
    let ShortenedText { head: mut rows, left_out, tail } = text;
    rows.extend((left_out > 0).then(|| more_row(left_out, "row", look, width)));
    rows.extend(tail);
    FailureRows { rows, has_more: left_out > 0 }
}

/// The note that there is more, and the key that shows it.
fn more_row(more: usize, noun: &str, look: &TerminalLook, width: usize) -> StyledLine {
    let dim = look.style(Paint::Dim);
    let row = StyledLine::styled(&format!("{} {}", look.sign("…", "..."), counted_more(more, noun)), dim);
    if width < NARROW {
        return row.cut(room_below(width), "");
    }
    row.and("  ctrl+o", look.style(Paint::Strong)).and(" show", dim)
}

/// Columns before the object of a call.
pub(super) fn verb_columns(width: usize) -> usize {
    4 + if width < NARROW { SHORT_VERB } else { VERB }
}

/// The row of a call that begins, for where nothing is painted over; none for one that is told when it has ended.
pub(crate) fn render_begun_call(call: &ToolCall, on: &str, details: Details, cwd: &str) -> Option<String> {
    let look = TerminalLook { details, ..TerminalLook::plain() };
    let words = CallWords::of(call, false, &look, cwd);
    let object = one_line(&details.called("", &words.object), OBJECT) + &details.called("", &words.folded());
    (call.kind == ToolKind::Execute)
        .then(|| format!("  ● {:<VERB$}{object}{on}", words.verb).trim_end().to_owned())
}

/// The row of a call that has ended, with the reason where it went wrong, what the jail stopped in it, and which connections failed.
pub(crate) fn render_ended_call(
    call: &ToolCall,
    status: ItemStatus,
    on: &str,
    details: Details,
    cwd: &str,
) -> String {
    let look = TerminalLook { details, ..TerminalLook::plain() };
    let outcome = CallOutcome::of(call, status);
    let words = CallWords::of(call, outcome.was_done, &look, cwd);
    let object = one_line(&details.called("", &words.object), OBJECT) + &details.called("", &words.folded());
    // How a command ended is said already, and why mostly last.
    let why = describe_trouble(call, status).filter(|_| outcome.is_output).unwrap_or_default();
    let why = why.split_once(": ").map(|(_, why)| one_line(why, OBJECT));
    let is_reason = outcome.is_bad && !outcome.is_output;
    let reasons = outcome.text.lines().take(if status == ItemStatus::Denied { REASON_LINES } else { 1 });
    let reasons: Vec<String> =
        reasons.filter(|_| is_reason).map(|line| without_middle(line, REASON)).collect();
    let parts = [Some(outcome.result), why.or_else(|| reasons.first().cloned())];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    let mark = if outcome.is_bad { "✗" } else { "✓" };
    let head = format!("  {mark} {:<VERB$}{object}{on}  {}", words.verb, parts.join(": "));
    let gap = " ".repeat(4 + VERB);
    let stopped = list_stopped(call).into_iter().map(|(name, text)| format!("{name}: {text}"));
    let checks = found_by_checks(call).into_iter().map(|text| format!("check {text}"));
    let below = reasons.into_iter().skip(1).chain(stopped).chain(checks);
    let below =
        below.flat_map(|text| text.lines().map(|line| without_middle(line, REASON)).collect::<Vec<_>>());
    let lines = std::iter::once(head.trim_end().to_owned()).chain(below.map(|line| format!("{gap}{line}")));
    lines.collect::<Vec<_>>().join("\n")
}

/// The row of a call by its words alone.
pub(crate) fn render_named_call(call: &ToolCall, status: ItemStatus, on: &str, cwd: &str) -> String {
    let outcome = CallOutcome::of(call, status);
    let words = CallWords::of(call, outcome.was_done, &TerminalLook::plain(), cwd);
    let mark = match status {
        ItemStatus::Pending | ItemStatus::Running => "○",
        _ if outcome.is_bad => "✗",
        _ => "✓",
    };
    format!("  {mark} {:<VERB$}{}{}{on}", words.verb, one_line(&words.object, OBJECT), words.folded())
}

/// A line below a call for each thing that the jail stopped or moved in it, for the list of a session's calls.
pub(crate) fn render_stopped(call: &ToolCall) -> String {
    let gap = " ".repeat(4 + VERB);
    let lines = list_stopped(call).into_iter().map(|(name, text)| format!("{name}: {text}"));
    let lines =
        lines.flat_map(|text| text.lines().map(|line| without_middle(line, REASON)).collect::<Vec<_>>());
    lines.flat_map(|line| ["\n".to_owned(), gap.clone(), line]).collect()
}

/// The surface that things are shown on.
#[derive(Clone, Copy)]
pub(super) struct Paper<'a> {
    pub(super) look: &'a TerminalLook,
    pub(super) width: usize,
    /// Where the session works.
    pub(super) cwd: &'a str,
    /// How the user allowed it; empty where nobody was asked.
    pub(super) answered: &'a str,
}

/// The outcome of a call.
pub(super) struct CallOutcome {
    /// In a few words.
    pub(super) result: String,
    /// All of what was said, where the words are less.
    pub(super) text: String,
    /// Whether these words are a line that a program printed.
    is_quote: bool,
    /// Whether the text is what the user said.
    is_said: bool,
    /// Whether the text is what a program wrote.
    is_output: bool,
    pub(super) diff: Option<String>,
    pub(super) is_bad: bool,
    /// Whether what it is about was done, be it with success or not.
    was_done: bool,
}

impl CallOutcome {
    pub(super) fn of(call: &ToolCall, status: ItemStatus) -> Self {
        let bad = |result: &str, text: &str| Self {
            result: result.to_owned(),
            text: text.to_owned(),
            is_quote: false,
            is_said: false,
            is_output: false,
            diff: None,
            is_bad: true,
            was_done: false,
        };
        let Some(output) = &call.output else {
            return bad(if status == ItemStatus::Interrupted { "interrupted" } else { "" }, "");
        };
        if let Some(error) = &output.error {
            // The advice to a refused call is for the agent.
            let hint = error.hint.as_deref().filter(|_| status != ItemStatus::Denied);
            let hint = hint.map(|hint| format!("\n{hint}")).unwrap_or_default();
            return match (status, error.message.split_once(SAID_NO)) {
                (ItemStatus::Denied, Some((_, words))) => {
                    let words = words.trim_start_matches([':', ' ']);
                    Self { is_said: !words.is_empty(), ..bad("you denied it", words) }
                }
                (ItemStatus::Denied, None) => {
                    let text = error.message.strip_prefix(NOT_ALLOWED).unwrap_or(&error.message);
                    bad("denied", &address_user(text))
                }
                _ => bad("failed", &address_user(&format!("{}{hint}", error.message))),
            };
        }
        let result: Value = output.result.as_ref().map_or(Value::Null, Json::value);
        let diff = result.get("diff").and_then(Value::as_str).filter(|diff| !diff.is_empty());
        if let Some(diff) = diff {
            let (added, removed) = count_changes(diff);
            let result = format!("+{added} −{removed}");
            return Self {
                result,
                diff: Some(diff.to_owned()),
                is_bad: false,
                was_done: true,
                ..bad("", "")
            };
        }
        match (call.kind, result.get("exit_code"), result.get("stdout")) {
            (ToolKind::Execute, Some(code), Some(_)) => {
                let ran = Self::ran(&result, code.as_i64().unwrap_or(0), status);
                let Some(lacked) = describe_lacked_host(&result) else { return ran };
                // The program took the refusal for an answer; the line below the row says which host it was.
                Self { result: lacked.to_owned(), is_bad: true, was_done: false, ..ran }
            }
            _ => Self { is_bad: false, was_done: true, ..bad(&summarise_result(&result), "") },
        }
    }

    /// The outcome of a command that ran to its end.
    fn ran(result: &Value, code: i64, status: ItemStatus) -> Self {
        let part = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut text = format!("{}{}", part("stdout"), part("stderr"));
        let note = part("note");
        if !note.is_empty() {
            text =
                if text.trim().is_empty() { note.to_owned() } else { format!("{}\n{note}", text.trim_end()) };
        }
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let signal = result.get("signal").and_then(Value::as_i64);
        let tests = TestCounts::of(&text);
        let is_quote = matches!(lines.as_slice(), [line] if line.chars().count() <= ONE_LINE);
        let is_quote = is_quote && code == 0 && signal.is_none();
        let words = match (signal, code, lines.as_slice()) {
            (Some(_), ..) if status == ItemStatus::Interrupted => "stopped".to_owned(),
            (Some(signal), ..) => format!("signal {signal}"),
            (None, code, _) if code != 0 && tests.failed > 0 => format!("{} failed", tests.failed),
            (None, code, _) if code != 0 => format!("exit {code}"),
            (None, _, [_, _, ..]) if tests.passed > 0 => format!("{} passed", tests.passed),
            (None, _, []) => String::new(),
            (None, _, [line]) if is_quote => line.trim().to_owned(),
            (None, _, lines) => {
                let all = result.get("lines").and_then(Value::as_u64);
                counted(all.unwrap_or(lines.len() as u64), "line")
            }
        };
        let is_bad = code != 0 || signal.is_some();
        let is_told = lines.len() < 2 && !is_bad;
        let text = if is_told { String::new() } else { text.trim_end().to_owned() };
        Self {
            result: words,
            text,
            is_quote,
            is_said: false,
            is_output: true,
            diff: None,
            is_bad,
            was_done: true,
        }
    }
}

#[cfg(test)]
mod tests;
