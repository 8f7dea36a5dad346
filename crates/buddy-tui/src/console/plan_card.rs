//! The plan of a turn: a card above the input while it is carried out, and rows once it ends.

use anstyle::Style;
use buddy_protocol::{PlanStep, PlanStepState};

use crate::text::{Paint, StyledLine, TerminalLook, wrap};

/// Rows of the card below its title.
const CARD_STEPS: usize = 6;

/// The card: the steps around the one that is carried out, one row each.
pub(super) fn render_plan_card(steps: &[PlanStep], look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    let mark = look.sign("…", "~");
    let mut rows = vec![head(steps, look)];
    let active = steps.iter().position(|step| step.state != PlanStepState::Done).unwrap_or(steps.len());
    let shown = if steps.len() <= CARD_STEPS { steps.len() } else { CARD_STEPS - 1 };
    // One step that is done stays above the one that is carried out.
    let first = active.saturating_sub(1).min(steps.len() - shown);
    let row = |step: &PlanStep| lead(step, look).and(&step.text, style(step, look)).cut(width, mark);
    rows.extend(steps.iter().skip(first).take(shown).map(row));
    if shown < steps.len() {
        let text = format!("    {} {} more", look.sign("…", "..."), steps.len() - shown);
        rows.push(StyledLine::styled(&text, look.style(Paint::Dim)).cut(width, mark));
    }
    rows
}

/// The whole plan.
pub(super) fn render_plan_rows(steps: &[PlanStep], look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    let next = StyledLine::plain("    ");
    let mut rows = vec![head(steps, look)];
    for step in steps {
        rows.extend(wrap(
            &StyledLine::styled(&step.text, style(step, look)),
            width,
            &lead(step, look),
            &next,
        ));
    }
    rows
}

fn head(steps: &[PlanStep], look: &TerminalLook) -> StyledLine {
    let done = steps.iter().filter(|step| step.state == PlanStepState::Done).count();
    let head = StyledLine::styled("  Plan", look.style(Paint::Strong));
    head.and(&format!("  {done} of {}", steps.len()), look.style(Paint::Dim))
}

fn lead(step: &PlanStep, look: &TerminalLook) -> StyledLine {
    let (sign, style) = match step.state {
        PlanStepState::Done => (look.sign("✓", "+"), look.style(Paint::Dim)),
        PlanStepState::Active => (look.sign("●", "*"), look.style(Paint::Agent)),
        PlanStepState::Pending => (look.sign("○", "o"), look.style(Paint::Dim)),
    };
    StyledLine::plain("  ").and(sign, style).and(" ", Style::new())
}

fn style(step: &PlanStep, look: &TerminalLook) -> Style {
    match step.state {
        PlanStepState::Done => look.style(Paint::Dim),
        PlanStepState::Active => look.style(Paint::Strong),
        PlanStepState::Pending => Style::new(),
    }
}
