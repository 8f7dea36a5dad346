//! Compaction, the pure part: what is summed up, what is kept, and a summary made without a model.

use buddy_protocol::{Content, Item, ItemStatus};

use crate::history::visible;

/// How much of the window the kept items may fill, as one part in so many.
const KEPT_PART: u64 = 4;
/// How much of it the newest step may fill that is kept, as one part in so many.
const NEWEST_PART: u64 = 2;
/// Characters of a request that a summary repeats.
const REQUEST: usize = 4_000;
/// Characters of one line of a mechanical summary.
const LINE: usize = 300;
/// Lines of a mechanical summary.
const LINES: usize = 120;
/// Failed calls that a summary tells of.
const FAILURES: usize = 10;

/// Where a history is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    /// How many of the visible items are summed up.
    pub(crate) summed_up: usize,
}

/// Sums up everything. None when there is nothing but a summary.
pub(crate) fn cut_all(items: &[Item]) -> Option<Cut> {
    let seen = visible(items);
    (!seen.iter().all(|item| is_summary(item))).then_some(Cut { summed_up: seen.len() })
}

/// Cuts a history so that what is kept fills a quarter of the window at most, or half of it where that is the newest step. Items
/// of one model call stay together, so that no result loses its call. None when there is nothing to sum up.
pub(crate) fn cut(items: &[Item], window: u64, size: impl Fn(&Item) -> u64) -> Option<Cut> {
    let seen = visible(items);
    let mut room = window / KEPT_PART;
    let mut kept = seen.len();
    for (start, step) in steps_from_the_end(&seen) {
        let tokens: u64 = step.iter().map(|item| size(item)).sum();
        let is_newest = kept == seen.len();
        // A prompt that nothing came after is what the model is to answer, however long it is.
        let is_needed =
            is_newest && (step.iter().all(|item| is_prompt(item)) || tokens <= window / NEWEST_PART);
        if tokens > room && !is_needed {
            break;
        }
        room = room.saturating_sub(tokens);
        kept = start;
    }
    // A summary alone gets no shorter by being summed up.
    let old = seen.get(..kept).unwrap_or_default();
    (!old.iter().all(|item| is_summary(item))).then_some(Cut { summed_up: kept })
}

fn is_summary(item: &Item) -> bool {
    matches!(item.content, Content::Compaction { .. })
}

fn is_prompt(item: &Item) -> bool {
    matches!(item.content, Content::UserMessage { ran: None, .. })
}

/// The request that the agent works on, where it is summed up with the rest: the words of it are not left to a summary.
pub(crate) fn request(old: &[&Item], kept: &[&Item]) -> String {
    let asked = old.iter().rev().find(|item| is_prompt(item));
    let text = match asked.map(|item| &item.content) {
        Some(Content::UserMessage { text, .. }) if !kept.iter().any(|item| is_prompt(item)) => text,
        _ => return String::new(),
    };
    let said: String = text.chars().take(REQUEST).collect();
    let mark = if said.len() < text.len() { "…" } else { "" };
    format!("\n\nThe request that you are working on, word for word:\n{said}{mark}")
}

/// The steps of a history, last first, each with the place of its first item.
fn steps_from_the_end<'a>(seen: &'a [&'a Item]) -> impl Iterator<Item = (usize, &'a [&'a Item])> {
    let mut end = seen.len();
    seen.chunk_by(|first, second| (&first.turn, first.step) == (&second.turn, second.step)).rev().map(
        move |step| {
            end -= step.len();
            (end, step)
        },
    )
}

/// What is kept of a summary whichever way it was made: the plan and what went wrong, so that neither is forgotten.
pub(crate) fn reminders(items: &[Item]) -> String {
    let plan = items.iter().rev().find_map(|item| match &item.content {
        Content::Plan { steps } => Some(steps),
        _ => None,
    });
    let mut text = String::new();
    if let Some(steps) = plan {
        let lines: Vec<String> =
            steps.iter().map(|step| format!("- [{:?}] {}", step.state, step.text)).collect();
        text.push_str("\n\nThe plan:\n");
        text.push_str(&lines.join("\n"));
    }
    let failed = items.iter().rev().filter_map(failure).take(FAILURES);
    let mut lines: Vec<String> = failed.collect();
    if !lines.is_empty() {
        lines.reverse();
        text.push_str("\n\nCalls that did not work:\n");
        text.push_str(&lines.join("\n"));
    }
    text
}

fn failure(item: &Item) -> Option<String> {
    let Content::ToolCall(call) = &item.content else { return None };
    let failure = call.output.as_ref()?.error.as_ref()?;
    Some(short(&format!("- {}: {} ({})", call.name, call.title, failure.message)))
}

/// A summary made by rule: what was asked, what was done and what was said, one line each.
pub(crate) fn mechanical(items: &[&Item]) -> String {
    let lines: Vec<String> = items.iter().filter_map(|item| line(item)).collect();
    let left_out = lines.len().saturating_sub(LINES);
    let head = match left_out {
        0 => "What happened so far, in short:".to_owned(),
        _ => format!("What happened so far, in short ({left_out} earlier lines left out):"),
    };
    let shown = lines.into_iter().skip(left_out);
    std::iter::once(head).chain(shown).collect::<Vec<_>>().join("\n")
}

fn line(item: &Item) -> Option<String> {
    match &item.content {
        Content::UserMessage { ran: Some(ran), .. } if ran.background.is_some() => {
            Some(short(&format!("- a command in the background ended: {}", ran.command)))
        }
        Content::UserMessage { ran: Some(ran), .. } => {
            Some(short(&format!("- the user ran a command themselves: {}", ran.command)))
        }
        Content::UserMessage { text, images, .. } => {
            let shown: Vec<String> =
                images.iter().map(|image| format!(" [image: {}]", image.label())).collect();
            Some(short(&format!("- the user said: {text}{}", shown.concat())))
        }
        Content::AgentMessage { text } if !text.is_empty() => Some(short(&format!("- you said: {text}"))),
        Content::ToolCall(call) => {
            let outcome = match item.status {
                ItemStatus::Completed => "done",
                ItemStatus::Denied => "not allowed",
                ItemStatus::Interrupted => "interrupted",
                _ => "failed",
            };
            Some(short(&format!("- you called {}: {} ({outcome})", call.name, call.title)))
        }
        Content::Compaction { summary, .. } => Some(summary.clone()),
        _ => None,
    }
}

fn short(text: &str) -> String {
    let line = text.replace('\n', " ");
    if line.chars().count() <= LINE {
        return line;
    }
    let kept: String = line.chars().take(LINE).collect();
    format!("{kept}…")
}
