//! The card of several actions: all of them first, each with its risk, then their diffs, and the keys that choose.

use anstyle::Style;
use buddy_protocol::{Approval, Question, Risk};

use super::asks::{AskStage, Asking};
use super::card::{Card, KeyChoice, KeyWeight};
use super::card_parts::{Fold, diff, is_in_title, press, tone};
use super::wording::{render_reason, shorten_paths, strip_counts};
use crate::diff::{DiffHead, count_changes};
use crate::text::{Paint, StyledLine, Tone, wrap, wrap_unindented};

/// The most rows of the diff of one of several before it is folded.
const FOLDED_EACH: usize = 6;
/// Columns of what one of several would do.
const ACTION: usize = 30;

/// Several actions: which are chosen and what each would do, then the diffs.
pub(super) fn batch(
    approvals: &[Approval],
    asking: &Asking,
    card: &Card<'_>,
    fold: Fold,
) -> Vec<Vec<StyledLine>> {
    let allowed: &[bool] = if let AskStage::Picking(allowed) = &asking.stage { allowed } else { &[] };
    let mut listed = Vec::new();
    let mut parts = Vec::new();
    for (number, approval) in (1..).zip(approvals) {
        let is_allowed = allowed.get(number - 1).copied().unwrap_or(allowed.is_empty());
        listed.extend(batch_row(approval, (number, is_allowed), card));
        let changes = diff(approval, card, fold, (FOLDED_EACH, DiffHead::Hidden));
        if !changes.is_empty() {
            let name = StyledLine::styled(&batch_name(approval, card), card.look.style(Paint::Strong));
            parts.push(wrap_unindented(&name, card.width()).into_iter().chain(changes).collect());
        }
    }
    std::iter::once(listed).chain(parts).collect()
}

/// The file that one of several would write, or the whole action.
fn batch_name(approval: &Approval, card: &Card<'_>) -> String {
    let action = approval.action.replace('\n', card.look.sign("⏎", "\\n"));
    let file = action.strip_prefix("Write ").filter(|_| approval.diff.is_some()).map(strip_counts);
    file.map(str::to_owned).unwrap_or(action)
}

/// One of several: its number, whether it is chosen, its name, how much it changes, its risk and the reasons for that.
fn batch_row(approval: &Approval, (number, is_allowed): (usize, bool), card: &Card<'_>) -> Vec<StyledLine> {
    let look = card.look;
    let mark = if is_allowed { look.sign("[✓]", "[x]") } else { "[ ]" };
    let lead = StyledLine::styled(&number.to_string(), look.style(Paint::Strong))
        .and(&format!("  {mark}  "), Style::new());
    let next = StyledLine::plain(&" ".repeat(lead.width()));
    let name = batch_name(approval, card);
    // A narrow window has no room for columns.
    let name = if card.is_narrow() { name } else { format!("{name:<ACTION$}") };
    let mut line = StyledLine::styled(&name, look.style(Paint::Strong));
    if let Some(diff) = approval.diff.as_ref().filter(|_| !card.is_narrow()) {
        let (added, removed) = count_changes(diff);
        line = line
            .and(&format!("  +{added}"), look.style(Paint::Good))
            .and(&format!(" {}{removed}", look.sign("−", "-")), look.style(Paint::Bad));
    }
    let tone = tone(&Question::Approval(approval.clone()));
    let (sign, word) = match approval.risk {
        Risk::Low => ("", "low"),
        Risk::Medium => ("", "medium"),
        Risk::High => (look.sign("▲ ", "! "), "high"),
    };
    let style = if approval.risk == Risk::Low { look.style(Paint::Dim) } else { look.style(tone.ink()) };
    let mut rows = wrap(&line.and(&format!("  {sign}{word}"), style), card.width(), &lead, &next);
    let reasons: Vec<String> = approval
        .reasons
        .iter()
        .filter(|reason| approval.risk != Risk::Low && !is_in_title(reason, approval.diff.is_some()))
        .map(|reason| shorten_paths(reason, &approval.cwd, look))
        .collect();
    if !reasons.is_empty() {
        let why = render_reason(&reasons.join("; "), tone.ink(), look);
        rows.extend(wrap(&why, card.width(), &next, &next));
    }
    if let Some(opens) = approval.opens_line() {
        let opens = StyledLine::styled(&opens, look.style(Paint::Warning));
        rows.extend(wrap(&opens, card.width(), &next, &next));
    }
    rows
}

/// The keys of several actions. At high risk denying comes first.
pub(super) fn batch_choices(asking: &Asking, allowed: &[bool]) -> Vec<Vec<KeyChoice>> {
    let is_awake = !asking.is_asleep();
    let weigh = |is_on: bool, weight| if is_on { weight } else { KeyWeight::Asleep };
    let is_high = tone(&asking.ask.question) == Tone::High;
    let (yes, no) = match tone(&asking.ask.question) {
        Tone::High => (KeyWeight::Danger, KeyWeight::Primary),
        _ => (KeyWeight::Primary, KeyWeight::Usual),
    };
    let count = allowed.iter().filter(|is_allowed| **is_allowed).count();
    let is_edits = matches!(&asking.ask.question, Question::Batch { approvals } if approvals.iter().all(|one| one.diff.is_some()));
    let (allow, deny, short) =
        if is_edits { ("Apply", "Reject", "Apply chosen") } else { ("Allow", "Deny", "Allow chosen") };
    let label = format!("{allow} the {count} chosen");
    let yes = if asking.seen.is_whole() {
        KeyChoice::new("y", &label, short, weigh(is_awake, yes))
    } else {
        KeyChoice::new("y", "Read on first", "Read on", weigh(is_awake, KeyWeight::Usual))
    };
    let mut choices = vec![
        vec![
            yes,
            KeyChoice::new(digits(allowed.len()), "Choose", "Choose", weigh(is_awake, KeyWeight::Usual)),
        ],
        vec![
            KeyChoice::new("d", &format!("{deny} all"), deny, weigh(is_awake, no)),
            KeyChoice::new(
                "n",
                &format!("{deny} all and say why"),
                "Say why",
                weigh(is_awake, KeyWeight::Usual),
            ),
        ],
    ];
    for group in &mut choices {
        press(asking, group);
    }
    if is_high {
        choices.reverse();
    }
    choices
}

/// The digits that choose among so many.
fn digits(count: usize) -> &'static str {
    const DIGITS: [&str; 8] = ["1-2", "1-3", "1-4", "1-5", "1-6", "1-7", "1-8", "1-9"];
    DIGITS.get(count.saturating_sub(2)).copied().unwrap_or("1-9")
}
