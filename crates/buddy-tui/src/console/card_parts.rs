//! The parts that the cards of one action and of several have in common.

use buddy_protocol::{Approval, Question, Risk};

use super::asks::Asking;
use super::card::{Card, KeyChoice};
use super::held_answer::HeldAnswer;
use crate::diff::{DiffHead, render_diff, render_whole_diff};
use crate::text::{StyledLine, Tone};

/// The tone of a question: that of its highest risk.
pub(super) fn tone(question: &Question) -> Tone {
    let risk = match question {
        Question::Approval(approval) => Some(approval.risk),
        Question::Batch { approvals } => approvals.iter().map(|approval| approval.risk).max(),
        Question::Text { .. } => None,
    };
    match risk {
        Some(Risk::Low) => Tone::Low,
        Some(Risk::Medium) => Tone::Medium,
        Some(Risk::High) => Tone::High,
        None => Tone::Question,
    }
}

/// How much of a question is folded away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Nothing,
    Much,
}

/// The changes of files.
pub(super) fn diff(
    approval: &Approval,
    card: &Card<'_>,
    fold: Fold,
    (limit, head): (usize, DiffHead),
) -> Vec<StyledLine> {
    let Some(diff) = &approval.diff else { return Vec::new() };
    match fold {
        Fold::Nothing => render_whole_diff(diff, card.look, card.width(), head),
        Fold::Much => render_diff(diff, card.look, card.width(), (limit, head)),
    }
}

/// Whether the title of an edit says all of a reason: that it writes the file, and nothing more about that.
pub(super) fn is_in_title(reason: &str, is_titled: bool) -> bool {
    let path = reason.strip_prefix("it writes `").and_then(|path| path.strip_suffix('`'));
    is_titled && path.is_some_and(|path| !path.contains('`'))
}

/// Marks the key whose answer is about to be sent.
pub(super) fn press(asking: &Asking, choices: &mut [KeyChoice]) {
    let pressed = asking.held.as_ref().and_then(HeldAnswer::label);
    choices
        .iter_mut()
        .filter(|choice| pressed.is_some_and(|key| choice.is_key(key)))
        .for_each(KeyChoice::press);
}
