//! Compaction, the pure part: what is summed up, what is kept, and a summary made without a model.

use buddy_protocol::{Content, Item, ItemId, ItemStatus, Json, ReminderCause, ToolKind};
use serde_json::Value;

use crate::history::{is_clearable, visible};

/// How much of the window the kept items may fill, as one part in so many.
const KEPT_PART: u64 = 4;
/// How much of it the newest step may fill that is kept, as one part in so many.
const NEWEST_PART: u64 = 2;
/// Clearing results must free one part in so many of the window, since it costs the prompt cache.
const FREED_PART: u64 = 8;
/// Characters of one message of the user that a summary repeats.
const REQUEST: usize = 8_000;
/// Characters of all of them.
const REQUESTS: usize = 40_000;
/// Files and processes that a summary names.
const NAMED: usize = 50;
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
            is_newest && (step.iter().all(|item| is_unanswered(item)) || tokens <= window / NEWEST_PART);
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

/// Whether an item is a part of a prompt, or stands beside one.
fn is_unanswered(item: &Item) -> bool {
    is_prompt(item) || matches!(item.content, Content::Environment { .. } | Content::Reminder { .. })
}

fn is_prompt(item: &Item) -> bool {
    matches!(item.content, Content::UserMessage { ran: None, .. })
}

/// The user's words that are no longer seen, verbatim: they are not left to a summary. The newest have precedence where there are too
/// many. Words from before an earlier summary are among them.
pub(crate) fn requests(items: &[Item], kept: &[&Item]) -> String {
    let mut room = REQUESTS;
    let mut said = Vec::new();
    let is_gone = |item: &&Item| is_prompt(item) && !kept.iter().any(|kept| kept.id == item.id);
    for item in items.iter().rev().filter(is_gone) {
        let Content::UserMessage { text, .. } = &item.content else { continue };
        let kept: String = text.chars().take(room.min(REQUEST)).collect();
        if kept.is_empty() {
            break;
        }
        room -= kept.chars().count();
        let mark = if kept.len() < text.len() { "…" } else { "" };
        said.push(format!("<said>\n{kept}{mark}\n</said>"));
    }
    if said.is_empty() {
        return String::new();
    }
    said.reverse();
    format!(
        "\n\nThe user's own words so far, oldest first; the last are the request that you are working on:\n{}",
        said.join("\n")
    )
}

/// The first item whose result stays, if clearing the results before it frees enough. The results of the newest calls stay, up to a
/// quarter of the window.
pub(crate) fn clearable(items: &[Item], window: u64, size: impl Fn(&Item) -> u64) -> Option<ItemId> {
    let done = items.iter().rposition(|item| {
        matches!(item.content, Content::ResultsCleared { .. } | Content::Compaction { .. })
    });
    // An earlier batch is not cleared again.
    let begin = match done.and_then(|place| items.get(place)).map(|item| &item.content) {
        Some(
            Content::ResultsCleared { kept_from } | Content::Compaction { kept_from: Some(kept_from), .. },
        ) => items.iter().position(|item| item.id == *kept_from).unwrap_or(0),
        Some(_) => done.unwrap_or(0),
        None => 0,
    };
    let mut room = window / KEPT_PART;
    let mut kept = items.len();
    for (place, item) in items.iter().enumerate().skip(begin).rev() {
        let tokens = size(item);
        if is_clearable(item) && tokens > room {
            break;
        }
        room = room.saturating_sub(tokens);
        kept = place;
    }
    let freed: u64 = items.iter().take(kept).skip(begin).filter(|item| is_clearable(item)).map(&size).sum();
    (freed >= (window / FREED_PART).max(1)).then(|| items.get(kept).map(|item| item.id.clone())).flatten()
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

/// Whether the last reminder about plan mode says that it is on.
pub(crate) fn was_told_to_plan(items: &[Item]) -> bool {
    let told = items.iter().rev().find_map(|item| match &item.content {
        Content::Reminder { cause: ReminderCause::PlanBegan, .. } => Some(true),
        Content::Reminder { cause: ReminderCause::PlanEnded, .. } => Some(false),
        _ => None,
    });
    told.unwrap_or(false)
}

/// The additions to a summary, however it was made: the plan and the failures, so that neither is forgotten.
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
    if was_told_to_plan(items) {
        text.push_str("\n\nPlan mode is on: nothing is changed, and your answer is a plan.");
    }
    list(&mut text, "Files that you changed:", &changed_files(items));
    list(&mut text, "Processes that you started and that may still run:", &started_processes(items));
    let failed = items.iter().rev().filter_map(failure).take(FAILURES);
    let mut lines: Vec<String> = failed.collect();
    if !lines.is_empty() {
        lines.reverse();
        text.push_str("\n\nCalls that did not work:\n");
        text.push_str(&lines.join("\n"));
    }
    text
}

fn list(text: &mut String, head: &str, lines: &[String]) {
    if !lines.is_empty() {
        text.extend(["\n\n", head]);
        text.extend(lines.iter().map(|line| format!("\n- {line}")));
    }
}

/// The paths that calls changed, each once, in the order of their last change.
fn changed_files(items: &[Item]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for item in items.iter().rev().filter(|item| item.status == ItemStatus::Completed) {
        let Content::ToolCall(call) = &item.content else { continue };
        if !matches!(call.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move) {
            continue;
        }
        for path in call.output.iter().flat_map(|output| changed_paths(output.result.as_ref())) {
            if !paths.contains(&path) && paths.len() < NAMED {
                paths.push(path);
            }
        }
    }
    paths.reverse();
    paths
}

/// The paths in the result of a call that changes files.
fn changed_paths(result: Option<&Json>) -> Vec<String> {
    let Some(result) = result.map(Json::value) else { return Vec::new() };
    let one = result.get("path").and_then(Value::as_str);
    let several = result.get("files").and_then(Value::as_array).into_iter().flatten();
    let several = several.filter_map(|file| file.as_str().or_else(|| file.get("path")?.as_str()));
    one.into_iter().chain(several).map(str::to_owned).collect()
}

/// The processes that calls left running and no later one ended, as far as the results say.
fn started_processes(items: &[Item]) -> Vec<String> {
    let mut running: Vec<(String, String)> = Vec::new();
    for item in items {
        match &item.content {
            Content::UserMessage { ran: Some(ran), .. } => {
                running.retain(|(id, _)| ran.background.as_ref() != Some(id));
            }
            Content::ToolCall(call) => {
                let result = call.output.as_ref().and_then(|output| output.result.as_ref());
                let Some(id) =
                    result.and_then(|result| result.value().get("id")?.as_str().map(str::to_owned))
                else {
                    continue;
                };
                running.retain(|(known, _)| *known != id);
                if call.kind == ToolKind::Execute && call.input.value().get("command").is_some() {
                    running.push((id, call.title.clone()));
                }
            }
            _ => {}
        }
    }
    running.into_iter().rev().take(NAMED).map(|(id, title)| short(&format!("`{id}`: {title}"))).collect()
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
