//! The status line: what works, where, in which mode, and what it has used.

use buddy_protocol::ApprovalPolicy;

use super::state::Console;
use crate::text::{Line, Look, Paint};

/// From which part of the context window on it is shown as a warning.
const FULL_PERCENT: u64 = 80;

/// The status, in as many parts as fit.
pub(super) fn row(console: &Console, width: usize) -> Line {
    let transcript = console.front().reader.transcript();
    let surroundings = &console.surroundings;
    let model = transcript.model().unwrap_or(&surroundings.model);
    let mut parts = vec![model.to_owned()];
    if let Some(started) = transcript.started() {
        let directory = started.cwd.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/");
        let branch = surroundings.branch.as_ref().map(|branch| format!(" ({branch})")).unwrap_or_default();
        parts.push(format!("{directory}{branch}"));
    }
    parts.extend(mode(console));
    parts.extend(context(console));
    let tokens = transcript.bill().tokens();
    if tokens > 0 {
        parts.push(format!("{} tokens", short(tokens)));
    }
    parts.extend(transcript.bill().total().filter(|cost| cost.0 > 0).map(|cost| cost.to_string()));
    let others = console.tasks.iter().skip(1).filter(|task| !task.is_idle()).count();
    if others > 0 {
        parts.push(format!("{others} in the background"));
    }
    parts.retain(|part| !part.is_empty());
    joined(&parts, &console.look, width)
}

fn mode(console: &Console) -> Option<String> {
    if console.front().reader.transcript().is_plan_only() {
        return Some("plan".to_owned());
    }
    match console.approvals() {
        ApprovalPolicy::Ask => None,
        ApprovalPolicy::All => Some("approves all".to_owned()),
        ApprovalPolicy::None => Some("approves nothing".to_owned()),
        ApprovalPolicy::Edits => Some("accepts edits".to_owned()),
        ApprovalPolicy::Window { .. } => Some("approves for a while".to_owned()),
    }
}

/// How full the context window is.
fn context(console: &Console) -> Option<String> {
    let window = console.surroundings.window.filter(|window| *window > 0)?;
    let usage = console.front().reader.transcript().last_usage()?;
    let percent = (usage.input + usage.output).saturating_mul(100) / window;
    let mark = if percent >= FULL_PERCENT { "!" } else { "" };
    Some(format!("{percent}% context{mark}"))
}

/// A number with few digits.
pub(super) fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        _ => format!("{}.{}M", number / 1_000_000, number % 1_000_000 / 100_000),
    }
}

/// The first parts that fit.
fn joined(parts: &[String], look: &Look, width: usize) -> Line {
    let dim = look.theme.style(Paint::Dim);
    let between = look.sign(" · ", " | ");
    let mut line = Line::default();
    for part in parts {
        let mut longer = line.clone();
        if !longer.is_empty() {
            longer = longer.and(between, dim);
        }
        longer = longer.and(part, dim);
        if longer.width() > width && !line.is_empty() {
            break;
        }
        line = longer;
    }
    line.cut(width, look.sign("…", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [7, 999, 1_234, 45_678, 2_340_000].into_iter().map(short).collect();
        assert_eq!(shown, ["7", "999", "1.2k", "45.6k", "2.3M"]);
    }

    #[test]
    fn what_does_not_fit_is_left_out_from_the_end() {
        let parts = ["model", "work (main)", "34% context"].map(String::from);
        let check = |width, text: &str| assert_eq!(joined(&parts, &Look::plain(), width).text(), text);
        check(80, "model · work (main) · 34% context");
        check(25, "model · work (main)");
        check(4, "mod…");
    }
}
