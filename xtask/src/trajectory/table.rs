//! The figures as text.

use super::figures::{Figures, TurnSums};

/// A table of the outcomes, then one line for each other figure.
pub(super) fn render(figures: &Figures) -> String {
    let mut lines = vec![
        "| outcome | turns | model calls | tool calls | input tokens | output tokens | model calls a turn | tokens a turn |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(figures.outcomes.iter().map(|(outcome, sums)| row(outcome, sums)));
    lines.push(String::new());
    let failures: Vec<String> =
        figures.failures.iter().map(|(code, count)| format!("{code}: {count}")).collect();
    let calls: u64 = figures.outcomes.values().map(|sums| sums.tool_calls).sum();
    let failed: u64 = figures.failures.values().sum();
    lines.push(format!("failed tool calls: {}{}", share(failed, calls), listed(&failures)));
    let edits = &figures.edits;
    lines.push(format!(
        "edits applied at first try: {}; later: {}; never: {}",
        share(edits.at_first_try, edits.wanted),
        edits.later,
        edits.wanted - edits.at_first_try - edits.later
    ));
    lines.push(format!(
        "verified after the last edit: {} turns; reminded: {}",
        share(figures.verified_turns, figures.changing_turns),
        figures.reminders
    ));
    let sum = |of: fn(&TurnSums) -> u64| figures.outcomes.values().map(of).sum::<u64>();
    lines.push(format!(
        "cache hits: {} model calls; {} input tokens",
        share(figures.cache_hits, sum(|sums| sums.model_calls)),
        share(sum(|sums| sums.usage.cached_input), sum(|sums| sums.usage.input))
    ));
    lines.join("\n")
}

fn row(outcome: &str, sums: &TurnSums) -> String {
    let TurnSums { turns, model_calls, tool_calls, usage } = sums;
    let tokens = usage.input.saturating_add(usage.output);
    format!(
        "| {outcome} | {turns} | {model_calls} | {tool_calls} | {} | {} | {} | {} |",
        usage.input,
        usage.output,
        mean(*model_calls, *turns),
        mean(tokens, *turns)
    )
}

/// A mean with one decimal, rounded.
fn mean(sum: u64, count: u64) -> String {
    let tenths = sum.saturating_mul(10).saturating_add(count / 2).checked_div(count).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn share(part: u64, whole: u64) -> String {
    match part.saturating_mul(100).checked_div(whole) {
        Some(percent) => format!("{part} of {whole} ({percent} %)"),
        None => "0 of 0".to_owned(),
    }
}

fn listed(parts: &[String]) -> String {
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}
