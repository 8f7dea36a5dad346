//! The card of a question: the action, its risk and the reason, and the keys that answer.
//!
//! The command or diff comes first and is shown whole: its rows are counted (`screen/seen.rs`), and no key allows it before all of
//! them were on the screen.

use std::borrow::Cow;
use std::ops::Range;

use anstyle::Style;
use buddy_protocol::{Approval, Question, Risk};
use unicode_width::UnicodeWidthStr;

use super::asks::{AskStage, Asking, Remark};
use super::batch::{batch, batch_choices};
use super::card::{Card, CardEnd, CardNote, Framed, Head, KeyChoice, KeyWeight};
use super::card_parts::{Fold, diff, is_in_title, press, tone};
use super::options::{LONGEST_NAME, split_option};
use super::tasks::SessionTask;
use super::wording::{ApprovalWords, mark_command, quote, render_reason, shorten_paths};
use crate::diff::{DiffHead, count_changes};
use crate::editor::{InputView, LineEntry, render_input};
use crate::list_time::describe_local_time;
use crate::screen::{Layout, QuestionPart};
use crate::text::{Paint, StyledLine, TerminalLook, Tone, wrap, wrap_unindented};
use crate::visible::one_line;

/// The most rows of a command before it is folded, in a roomy window and in a low one; all of it is shown when the question is expanded.
const FOLDED_ROWS: (usize, usize) = (6, 3);

/// The same of the reasons, and of the model's own words.
const FOLDED_RISKS: (usize, usize) = (2, 1);
const FOLDED_WHY: (usize, usize) = (1, 1);

/// The most rows of a diff before it is folded.
const FOLDED_DIFF: usize = 12;
/// Characters of what an answer for longer would allow, in its label.
const GRANT: usize = 48;

/// The surroundings of a question on the screen.
pub(super) struct CardRoom<'a> {
    /// Where the session works.
    pub(super) cwd: &'a str,
    /// The task beside the conversation that asks, if it is one of those.
    pub(super) task: Option<&'a SessionTask>,
    /// How many questions wait behind this one.
    pub(super) others: usize,
    pub(super) look: &'a TerminalLook,
    pub(super) width: usize,
    /// How many rows there are for it.
    pub(super) height: usize,
}

/// The rows of a question with the cursor, and which of them are the question itself. Of one that is higher than the room a part
/// is shown, with how much there is.
pub(super) fn render_card(asking: &Asking, room: &CardRoom<'_>) -> (InputView, QuestionPart) {
    let card = card(asking, room);
    let head = head(asking, room, &card);
    let CardPlan { lead, mut rows, is_folded, fitting, end } = plan(asking, room, &card, &head);
    let layout =
        Layout { width: room.width, rows: rows.len() - lead, is_folded, is_expanded: asking.is_expanded };
    let count = rows.len();
    let top = asking.scroll.min(count.saturating_sub(fitting));
    rows = rows.into_iter().skip(top).take(fitting).collect();
    // Rows above the question itself do not count.
    let above = lead.saturating_sub(top).min(rows.len());
    let shown = rows.len();
    let is_cut = shown < count;
    if (is_cut || is_folded) && card.is_marked() {
        let texts = mark(asking, top + 1..top + shown + 1, count, is_cut);
        rows.push(card.one_row(&texts, Paint::Warning));
    }
    // One about typing goes by itself, so the card keeps its height.
    let is_apart = matches!(asking.remark, Some(Remark::NoChoice(_)));
    let note = asking.note().map(|texts| CardNote { row: card.one_row(&texts, Paint::Warning), is_apart });
    let Framed { view, begin } = card.framed(&head, &rows, note, &end);
    let part = QuestionPart { at: begin + above..begin + shown, first: top.saturating_sub(lead), layout };
    (view, part)
}

/// How far a question can be scrolled, and how many rows stand above it.
pub(super) fn measure_reach(asking: &Asking, room: &CardRoom<'_>) -> (usize, usize) {
    let card = card(asking, room);
    let plan = plan(asking, room, &card, &head(asking, room, &card));
    (plan.rows.len().saturating_sub(plan.fitting), plan.lead)
}

fn card<'a>(asking: &Asking, room: &CardRoom<'a>) -> Card<'a> {
    let note = usize::from(asking.note().is_some() && room.height < 8);
    Card::new(tone(&asking.ask.question), room.look, room.width, room.height.saturating_sub(note))
}

/// The title, and at the end of its row the risk and which of several questions it is.
fn head(asking: &Asking, room: &CardRoom<'_>, card: &Card<'_>) -> Head {
    let tail = tail(asking, room, card);
    let fits = |title: &str| card.holds_title(title, &tail);
    let title = match &asking.ask.question {
        _ if matches!(asking.stage, AskStage::Granting(_)) => "Allow for longer".to_owned(),
        Question::Approval(approval) => ApprovalWords::of(&by_task(approval, room), fits).title,
        Question::Batch { approvals } if approvals.iter().all(|approval| approval.diff.is_some()) => {
            format!("Apply {} edits?", approvals.len())
        }
        Question::Batch { approvals } => format!("Allow {} actions?", approvals.len()),
        Question::Text { text, .. } => Some(text.trim().to_owned())
            .filter(|text| fits(text) && !text.contains('\n'))
            .unwrap_or_else(|| "buddy asks".to_owned()),
    };
    Head { title, tail }
}

/// An approval in the name of the task beside the conversation that asks for it.
fn by_task<'a>(approval: &'a Approval, room: &CardRoom<'_>) -> Cow<'a, Approval> {
    match room.task {
        Some(task) if approval.actor == "buddy" => {
            Cow::Owned(Approval { actor: format!("task {}", task.number), ..approval.clone() })
        }
        _ => Cow::Borrowed(approval),
    }
}

fn tail(asking: &Asking, room: &CardRoom<'_>, card: &Card<'_>) -> String {
    let risk = match tone(&asking.ask.question) {
        Tone::Low => "Low risk",
        Tone::Medium => "Medium risk",
        Tone::High => "High risk",
        Tone::Question => "",
    };
    let chosen = match (&asking.stage, card.is_narrow()) {
        (AskStage::Picking(allowed), false) => {
            let count = allowed.iter().filter(|is_allowed| **is_allowed).count();
            Some(format!("{count} chosen"))
        }
        (AskStage::Choosing, false) if asking.is_expanded => Some("details".to_owned()),
        _ => None,
    };
    let changed = match &asking.ask.question {
        Question::Approval(Approval { diff: Some(diff), .. }) if !card.is_narrow() => {
            let (added, removed) = count_changes(diff);
            Some(format!("+{added} {}{removed}", room.look.sign("−", "-")))
        }
        _ => None,
    };
    let place = (room.others > 0 && !card.is_narrow()).then(|| format!("1 of {}", room.others + 1));
    let parts = Some(risk.to_owned()).filter(|risk| !risk.is_empty()).into_iter();
    parts.chain(chosen).chain(changed).chain(place).collect::<Vec<_>>().join(", ")
}

/// The note about rows that are not shown, and a shorter one for a narrow window.
fn mark(asking: &Asking, rows: Range<usize>, count: usize, is_cut: bool) -> [String; 2] {
    let is_approval = !matches!(asking.ask.question, Question::Text { .. });
    let (first, last) = (rows.start, rows.end - 1);
    match (is_cut, is_approval && !asking.seen.is_whole()) {
        (true, true) => [
            format!("Rows {first} to {last} of {count}. y shows the others first."),
            format!("{last} of {count}. y shows more."),
        ],
        (true, false) => [
            format!("Rows {first} to {last} of {count}. Arrows and page keys show the others."),
            format!("{last} of {count}. Arrows scroll."),
        ],
        (false, true) => {
            ["Some rows are folded. y shows them first.".to_owned(), "Folded. y shows all first.".to_owned()]
        }
        (false, false) => {
            ["Some rows are folded. ? shows them.".to_owned(), "Folded. ? shows all.".to_owned()]
        }
    }
}

/// The parts of a question, fitted to its room.
struct CardPlan {
    /// How many rows stand above the question itself.
    lead: usize,
    rows: Vec<StyledLine>,
    is_folded: bool,
    /// How many rows fit.
    fitting: usize,
    end: InputView,
}

/// Folds a question that is higher than the room, unless the user unfolded it.
fn plan(asking: &Asking, room: &CardRoom<'_>, card: &Card<'_>, head: &Head) -> CardPlan {
    let mut rows = lead(asking, room, card);
    let lead = rows.len();
    let whole = itself(asking, room, card, head, Fold::Nothing);
    let end = end(asking, card, lead + whole.len());
    let fitting = card.fitting(end.rows.len());
    let folded =
        (!asking.is_expanded && !asking.is_unfolded && !card.fits(lead + whole.len(), end.rows.len()))
            .then(|| itself(asking, room, card, head, Fold::Much))
            .filter(|folded| *folded != whole);
    let is_folded = folded.is_some();
    rows.extend(folded.unwrap_or(whole));
    // Without a row that says what is left out there is room for one more.
    let is_whole = !is_folded && rows.len() <= fitting + 1 && card.fits(rows.len(), end.rows.len());
    let fitting = if is_whole { rows.len() } else { fitting };
    CardPlan { lead, rows, is_folded, fitting, end }
}

/// The row above a question: which task asks, and how long it waits.
fn lead(asking: &Asking, room: &CardRoom<'_>, card: &Card<'_>) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    let mark = room.look.sign("…", "~");
    // The title of an approval names the task, but for that of a lasting one.
    let is_titled = matches!(asking.ask.question, Question::Approval(_))
        && !matches!(asking.stage, AskStage::Granting(_));
    if let Some(task) = room.task.filter(|_| !is_titled) {
        let line = task.prompt.lines().next().unwrap_or_default();
        let row = StyledLine::styled(
            &format!("task {} asks: {line}", task.number),
            room.look.style(Paint::Warning),
        );
        rows.push(row.cut(card.width(), mark));
    }
    if let Some(time) = asking.ask.expires {
        let time = describe_local_time(time);
        let texts = [format!("denied automatically at {time}"), format!("until {time}")];
        rows.push(card.one_row(&texts, Paint::Dim));
    }
    rows
}

/// The question itself.
fn itself(asking: &Asking, room: &CardRoom<'_>, card: &Card<'_>, head: &Head, fold: Fold) -> Vec<StyledLine> {
    let title = card.own_title(&head.title).map(|title| wrap_unindented(&title, card.width()));
    let parts = match &asking.ask.question {
        Question::Approval(own) => {
            let approval = &*by_task(own, room);
            let mut parts = vec![subject(approval, card, head, fold)];
            if asking.is_expanded {
                parts.extend(details(own, room, card));
            } else if card.is_roomy() || !matches!(asking.stage, AskStage::Granting(_)) {
                let leads = leads(approval, card);
                parts.push([runs(approval, card, fold), leads, risks(approval, card, head, fold)].concat());
                parts.push(remarks(approval, room, card, fold));
            }
            parts
        }
        Question::Batch { approvals } => batch(approvals, asking, card, fold),
        Question::Text { text, options } => text_question(text, options, asking, card, head),
    };
    let mut rows = Vec::new();
    for part in title.into_iter().chain(parts).filter(|part| !part.is_empty()) {
        rows.extend((!rows.is_empty() && card.is_roomy()).then(StyledLine::default));
        rows.extend(part);
    }
    rows
}

/// The diff or the exact command. A line break in it is shown as one, and further rows are indented, so that
/// nothing can pass for a row of buddy's own.
fn subject(approval: &Approval, card: &Card<'_>, head: &Head, fold: Fold) -> Vec<StyledLine> {
    let words = ApprovalWords::of(approval, |title| title == head.title);
    let is_titled = words.is_told;
    let mut rows = Vec::new();
    if !is_titled || approval.diff.is_none() {
        rows.extend(command(approval, &words.subject, card, fold));
    }
    let shown = if is_titled { DiffHead::Hidden } else { DiffHead::Shown };
    rows.extend(diff(approval, card, fold, (FOLDED_DIFF, shown)));
    rows
}

fn command(approval: &Approval, text: &str, card: &Card<'_>, fold: Fold) -> Vec<StyledLine> {
    let look = card.look;
    let risk = tone(&Question::Approval(approval.clone())).ink();
    let next = StyledLine::plain("  ");
    let lines: Vec<&str> = text.split('\n').collect();
    let mut rows = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let mark = if index + 1 == lines.len() { "" } else { look.sign("⏎", "\\n") };
        let row = mark_command(line, (&approval.reasons, &approval.risky), look, risk)
            .and(mark, look.style(Paint::Dim));
        let first = if index == 0 { StyledLine::default() } else { next.clone() };
        rows.extend(wrap(&row, card.width(), &first, &next));
    }
    folded(rows, FOLDED_ROWS, 2, card, fold)
}

/// Rows of which those in the middle are folded away if there are more than the limit, which is lower in a low window. The last rows stay.
fn folded(
    mut rows: Vec<StyledLine>,
    (roomy, low): (usize, usize),
    last: usize,
    card: &Card<'_>,
    fold: Fold,
) -> Vec<StyledLine> {
    let limit = if card.is_roomy() { roomy } else { low };
    let last = last.min(limit.saturating_sub(1));
    // A row that says that one row is missing would take its place.
    if fold == Fold::Nothing || rows.len() <= limit + 1 {
        return rows;
    }
    let hidden = rows.len() - limit;
    let tail = rows.split_off(rows.len() - last);
    rows.truncate(limit - last);
    let text = format!("  {} {hidden} more rows  ? shows all", card.look.sign("…", "..."));
    rows.push(
        StyledLine::styled(&text, card.look.style(Paint::Warning))
            .cut(card.width(), card.look.sign("…", "~")),
    );
    rows.extend(tail);
    rows
}

/// The command that wants to connect as it was written, where the question is about hosts.
fn runs(approval: &Approval, card: &Card<'_>, fold: Fold) -> Vec<StyledLine> {
    if approval.parts.is_empty() || !ApprovalWords::of(approval, |_| true).is_about_hosts() {
        return Vec::new();
    }
    let row = |(place, line): (usize, &String)| {
        card.fact(if place == 0 { "runs" } else { "" }, &StyledLine::plain(line.trim_end()))
    };
    folded(approval.parts.iter().enumerate().flat_map(row).collect(), FOLDED_WHY, 0, card, fold)
}

/// The addresses that git connects to.
fn leads(approval: &Approval, card: &Card<'_>) -> Vec<StyledLine> {
    let row = |(place, address): (usize, &String)| {
        card.fact(if place == 0 { "to" } else { "" }, &StyledLine::plain(address))
    };
    approval.destinations.iter().enumerate().flat_map(row).collect()
}

/// Why it is asked for, and which secrets it can read.
fn risks(approval: &Approval, card: &Card<'_>, head: &Head, fold: Fold) -> Vec<StyledLine> {
    let look = card.look;
    let is_titled =
        approval.diff.is_some() && ApprovalWords::of(approval, |title| title == head.title).is_told;
    let ink = tone(&Question::Approval(approval.clone())).ink();
    let mut rows = Vec::new();
    let reasons: Vec<String> =
        approval.reasons.iter().filter(|reason| !is_in_title(reason, is_titled)).cloned().collect();
    let texts = if approval.risk == Risk::High { reasons } else { vec![reasons.join("; ")] };
    for (place, text) in texts.iter().filter(|text| !text.is_empty()).enumerate() {
        let name = if place == 0 { "risk" } else { "" };
        rows.extend(card.fact(name, &render_reason(&shorten_paths(text, &approval.cwd, look), ink, look)));
    }
    rows = folded(rows, FOLDED_RISKS, 0, card, fold);
    if let Some(opens) = approval.opens_line() {
        let opens = card.fact("secret", &StyledLine::styled(&opens, look.style(Paint::Warning)));
        rows.extend(folded(opens, FOLDED_WHY, 0, card, fold));
    }
    rows
}

/// The purpose and the place. A narrow window has room for that only where it is elsewhere than usual.
fn remarks(approval: &Approval, room: &CardRoom<'_>, card: &Card<'_>, fold: Fold) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    if let Some(why) = approval.why.as_ref().filter(|_| !card.is_narrow()) {
        let why = card.fact("why", &StyledLine::plain(&quote(why, card.look)));
        rows.extend(folded(why, FOLDED_WHY, 0, card, fold));
    }
    let is_elsewhere = approval.cwd != room.cwd || approval.target.is_some();
    if is_elsewhere || !card.is_narrow() {
        rows.extend(card.fact("where", &place(approval, room)));
    }
    rows
}

/// The account, the target, the directory, and the limits there.
fn place(approval: &Approval, room: &CardRoom<'_>) -> StyledLine {
    let look = room.look;
    let warning = look.style(Paint::Warning);
    let target = approval.target.as_ref().map(|target| format!("  on {target}")).unwrap_or_default();
    let style = if approval.cwd == room.cwd { Style::new() } else { warning };
    let limits = approval.limits.map(|limits| format!("  {limits}")).unwrap_or_default();
    StyledLine::plain(&approval.place)
        .and(&target, warning)
        .and(&format!("  {}", look.path(&approval.cwd)), style)
        .and(&limits, look.style(Paint::Dim))
}

/// Everything that is known beside the action.
fn details(approval: &Approval, room: &CardRoom<'_>, card: &Card<'_>) -> Vec<Vec<StyledLine>> {
    let look = card.look;
    let flat = |text: &str| StyledLine::plain(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut parts = Vec::new();
    for part in &approval.parts {
        parts.extend(card.fact("runs", &flat(part)));
    }
    let mut rows = leads(approval, card);
    for reason in &approval.reasons {
        let ink = tone(&Question::Approval(approval.clone())).ink();
        rows.extend(card.fact("asked", &render_reason(&flat(reason).text(), ink, look)));
    }
    if !approval.opens.is_empty() {
        let opens = StyledLine::styled(&approval.opens.join(", "), look.style(Paint::Warning));
        rows.extend(card.fact("secret", &opens));
    }
    rows.extend(card.fact("who", &flat(&approval.actor)));
    rows.extend(card.fact("where", &place(approval, room)));
    if let Some(why) = &approval.why {
        rows.extend(card.fact("why", &StyledLine::plain(&quote(why, look))));
    }
    if approval.offers.is_empty() && approval.is_editable {
        rows.extend(
            card.fact("a, p", &StyledLine::plain("not offered: buddy asks about this command every time")),
        );
    }
    for offer in &approval.offers {
        let covers =
            StyledLine::styled(&offer.grant, look.style(Paint::Code)).and(" would allow ", Style::new());
        rows.extend(card.fact("a, p", &covers.and(&flat(&offer.covers).text(), Style::new())));
    }
    vec![parts, rows]
}

/// The words of a question where the band has no room for them, and the answers to pick from.
fn text_question(
    text: &str,
    options: &[String],
    asking: &Asking,
    card: &Card<'_>,
    head: &Head,
) -> Vec<Vec<StyledLine>> {
    let look = card.look;
    let mut words = Vec::new();
    if text.trim() != head.title {
        for line in text.lines() {
            words.extend(wrap_unindented(&StyledLine::styled(line, look.style(Paint::Strong)), card.width()));
        }
    }
    vec![words, answers(options, asking, card)]
}

/// The answers to pick from, what is said about each beside it, and the way to another.
fn answers(options: &[String], asking: &Asking, card: &Card<'_>) -> Vec<StyledLine> {
    let look = card.look;
    let written = asking.stage.entry().map(|entry| entry.draft.shown()).unwrap_or_default();
    let parts: Vec<(&str, &str)> = options.iter().map(|option| split_option(option)).collect();
    let widest = parts.iter().map(|(name, _)| name.width()).max().unwrap_or(0).min(LONGEST_NAME);
    let row = |number: &str, is_chosen: bool, text: StyledLine| {
        let mark = if is_chosen { look.sign("❯ ", "> ") } else { "  " };
        let style = if is_chosen { look.style(Paint::Selected).bold() } else { Style::new() };
        let lead = StyledLine::styled(&format!("{mark}{number:<3}"), style);
        let next = StyledLine::plain(&" ".repeat(lead.width()));
        wrap(&text, card.width(), &lead, &next)
    };
    let mut rows = Vec::new();
    for (number, (name, about)) in (1..).zip(parts.iter().copied()) {
        let is_chosen = written == name;
        let style = if is_chosen { look.style(Paint::Selected).bold() } else { Style::new() };
        // A narrow window has room for the answer alone.
        let about = if card.is_narrow() { "" } else { about };
        let name = if about.is_empty() { name.to_owned() } else { format!("{name:<widest$}   ") };
        let text = StyledLine::styled(&name, style).and(about, look.style(Paint::Dim));
        rows.extend(row(&format!("{number}"), is_chosen, text));
    }
    if !options.is_empty() {
        let is_own = !written.is_empty() && parts.iter().all(|(name, _)| *name != written);
        let text = format!("Something else{}", look.sign("…", "..."));
        rows.extend(row("", is_own, StyledLine::plain(&text)));
    }
    rows
}

/// The last rows, as many as leave room for a row of the question. The keys stay; of a line that is written, the rows around the cursor
/// do.
fn end(asking: &Asking, card: &Card<'_>, body: usize) -> InputView {
    let CardEnd { written, keys } = whole_end(asking, card, body);
    let most = card.most_end();
    let Some(InputView { mut rows, cursor }) = written else {
        let InputView { mut rows, cursor } = keys;
        rows.truncate(most);
        return InputView { rows, cursor };
    };
    let mut keys = keys.rows;
    keys.truncate(most.saturating_sub(1));
    let room = most - keys.len();
    let above = if rows.len() > room { cursor.0.saturating_sub(room - 1) } else { 0 };
    rows.drain(..above);
    rows.truncate(room);
    rows.extend(keys);
    InputView { rows, cursor: (cursor.0 - above, cursor.1) }
}

/// The keys, and the line being written.
fn whole_end(asking: &Asking, card: &Card<'_>, body: usize) -> CardEnd {
    let written = |label: &str, entry: &LineEntry, keys: &[KeyChoice]| {
        let mut rows =
            wrap_unindented(&StyledLine::styled(label, card.look.style(Paint::Strong)), card.width());
        rows.retain(|row| !row.is_empty());
        let prompt = StyledLine::styled(card.look.sign("› ", "> "), card.look.style(Paint::Person));
        let line = render_input(&prompt, entry.draft.shown(), entry.draft.cursor(), card.width());
        let first = rows.len();
        rows.extend(line.rows);
        rows.extend(card.gap());
        let keys = card.keys(&[keys.to_vec()], body + rows.len());
        let cursor = (first + line.cursor.0, line.cursor.1);
        CardEnd { written: Some(InputView { rows, cursor }), keys }
    };
    let only = |keys| CardEnd { written: None, keys };
    let key = |key, label, weight| KeyChoice::new(key, label, label, weight);
    let back = || key("esc", "Back", KeyWeight::Usual);
    match &asking.stage {
        AskStage::Choosing => only(card.keys(&choices(asking, card), body)),
        AskStage::Picking(allowed) => only(card.keys(&batch_choices(asking, allowed), body)),
        AskStage::Telling(entry) => {
            let keys = [key("enter", "Deny", KeyWeight::Primary), back()];
            written("Deny it. What should buddy do instead?", entry, &keys)
        }
        AskStage::Editing(entry) => {
            let keys = [key("enter", "Run this instead", KeyWeight::Primary), back()];
            written("Edit the command:", entry, &keys)
        }
        AskStage::Confirming(confirming) => {
            let word = asking.ask.question.word().unwrap_or_default();
            let keys = [key("enter", "Allow", KeyWeight::Danger), back()];
            let wanted = format!("Type {word} to allow this:");
            let line = match &confirming.refused {
                Some(why) => {
                    let mut letters = why.chars();
                    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
                    format!("{first}{}. {wanted}", letters.as_str())
                }
                None => wanted,
            };
            written(&line, &confirming.entry, &keys)
        }
        AskStage::Replying(entry) => {
            let has_options =
                matches!(&asking.ask.question, Question::Text { options, .. } if !options.is_empty());
            let choose =
                has_options.then(|| key(card.look.sign("↑↓", "up/down"), "Choose", KeyWeight::Usual));
            let skip = KeyChoice::new("esc", "Let buddy decide", "Skip", KeyWeight::Usual);
            let answer = key("enter", "Answer", KeyWeight::Primary);
            let keys: Vec<KeyChoice> = std::iter::once(answer).chain(choose).chain([skip]).collect();
            written("", entry, &keys)
        }
        AskStage::Granting(granting) => match &asking.ask.question {
            Question::Approval(approval) => granting.view(approval, card, body),
            _ => only(InputView { rows: vec![StyledLine::default()], cursor: (0, 0) }),
        },
    }
}

/// The keys of an approval: those that allow, and those that do not. At high risk denying comes first.
fn choices(asking: &Asking, card: &Card<'_>) -> Vec<Vec<KeyChoice>> {
    let Question::Approval(approval) = &asking.ask.question else { return Vec::new() };
    let is_high = approval.risk == Risk::High;
    let is_awake = !asking.is_asleep();
    let is_open = is_awake && asking.seen.is_whole();
    let weigh = |is_on: bool, weight| if is_on { weight } else { KeyWeight::Asleep };
    let words = ApprovalWords::of(approval, |_| false);
    let mut allow = Vec::new();
    let yes = if is_high { KeyWeight::Danger } else { KeyWeight::Primary };
    match (&approval.word, asking.seen.is_whole()) {
        (_, false) => {
            allow.push(KeyChoice::new("y", "Read on first", "Read on", weigh(is_awake, KeyWeight::Usual)));
        }
        (Some(_), true) => {
            allow.push(KeyChoice::new("y", "Allow by typing a word", "Allow", weigh(is_open, yes)));
        }
        (None, true) => allow.push(KeyChoice::new("y", words.yes, words.yes, weigh(is_open, yes))),
    }
    if let Some(offer) = approval.offers.first() {
        let dots = card.look.sign("…", "...");
        let (label, lasting) = if offer.grant == approval.action {
            let lasting = format!("Allow exactly this for 30 days{dots}");
            (StyledLine::plain("Allow exactly this, this session"), StyledLine::plain(&lasting))
        } else {
            let grant = one_line(&words.granted(&offer.grant, card.look), GRANT);
            let allow = |end: &str| {
                StyledLine::plain("Allow ").and(&grant, card.look.style(Paint::Code)).and(end, Style::new())
            };
            (allow(" this session"), allow(&format!(" for 30 days{dots}")))
        };
        allow.push(KeyChoice::labelled("a", label, "This session", weigh(is_open, KeyWeight::Usual)));
        allow.push(KeyChoice::labelled("p", lasting, "30 days", weigh(is_open, KeyWeight::Usual)));
    }
    let no = if is_high { KeyWeight::Primary } else { KeyWeight::Usual };
    let mut deny = vec![
        KeyChoice::new("d", words.no, words.no, weigh(is_awake, no)),
        KeyChoice::new(
            "n",
            &format!("{} and say why", words.no),
            "Say why",
            weigh(is_awake, KeyWeight::Usual),
        ),
    ];
    if approval.is_editable {
        deny.push(KeyChoice::new("e", "Edit", "Edit", weigh(is_open, KeyWeight::Usual)));
    }
    let look = if asking.is_expanded { "Less" } else { "Details" };
    deny.push(KeyChoice::new("?", look, look, weigh(is_awake, KeyWeight::Usual)));
    press(asking, &mut allow);
    press(asking, &mut deny);
    if is_high { vec![deny, allow] } else { vec![allow, deny] }
}
