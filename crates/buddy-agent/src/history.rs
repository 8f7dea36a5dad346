//! The history as a model is given it, made from the items of a session.
//!
//! The same items always give the same history, and more items only add to its end, so that a provider's prompt cache
//! holds from call to call and after a restart. Exceptions come in batches: clearing the results of older calls, a summary, and
//! hiding older images where there are more than a request may carry.

use std::collections::{HashMap, HashSet, VecDeque};

use buddy_model::PromptItem;
use buddy_protocol::{Content, Envelope, Item, ItemId, ItemStatus, ToolCall, ToolKind, TurnId};

use crate::environment::{block, changes, known};
use crate::reminder_text::reminder;
use crate::result_text::result_text;
use crate::run_text::{describe_client_call, render_run};

/// The answer to a call that has no result. Every call must have one before the model is called again.
const NO_RESULT: &str = "error interrupted: the call was not finished";

/// The answer to a call whose result was cleared.
const CLEARED: &str = "(This result was cleared to make room; the call was made. Read again what you need, and do not repeat what has effects.)";
/// Bytes up to which a result is never cleared.
const SHORT_RESULT: usize = 600;

/// The most images in a history.
const MAX_IMAGES_SHOWN: usize = 40;
/// The most text of images in a history. The strictest provider takes 32 MB in all.
const MAX_IMAGE_TEXT: usize = 20 * 1024 * 1024;

/// Where an item stands in the history. Fields count in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HistoryPlace {
    turn: usize,
    step: u32,
    rank: Rank,
    order: u32,
}

/// The parts of a step, in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Environment,
    Message,
    Answer,
}

fn is_environment(item: &Item) -> bool {
    matches!(item.content, Content::Environment { .. })
}

/// The items of a session as a prompt.
pub(crate) fn history(items: &[Item]) -> Vec<PromptItem> {
    let seen = visible(items);
    let cleared = cleared(items);
    let mut prompt = Vec::new();
    // A compaction breaks the prompt cache anyway, so all facts about the environment stand first again.
    let is_gone = |item: &&Item| is_environment(item) && !seen.iter().any(|shown| shown.id == item.id);
    let known = known(items.iter().filter(is_gone));
    if !known.is_empty() {
        prompt.push(PromptItem::user(block(&known)));
    }
    let first = if known.is_empty() { seen.iter().find(|item| is_environment(item)) } else { None };
    for step in seen.chunk_by(|first, second| (&first.turn, first.step) == (&second.turn, second.step)) {
        push_step(&mut prompt, step.iter().copied(), &cleared, first.map(|item| &item.id));
    }
    hide_old_images(&mut prompt);
    prompt
}

/// The ids of the calls whose results the model no longer sees in full.
fn cleared(items: &[Item]) -> HashSet<&ItemId> {
    let kept_from = items.iter().rev().find_map(|item| match &item.content {
        Content::ResultsCleared { kept_from } => Some(kept_from),
        _ => None,
    });
    let end = kept_from.and_then(|kept| items.iter().position(|item| item.id == *kept)).unwrap_or(0);
    items.iter().take(end).filter(|item| is_clearable(item)).map(|item| &item.id).collect()
}

/// Whether an item is a call with a result that is worth clearing. Results of edits are short and say what was done.
pub(crate) fn is_clearable(item: &Item) -> bool {
    let Content::ToolCall(call) = &item.content else { return false };
    let is_long = |envelope: &Envelope| {
        envelope.result.as_ref().is_some_and(|result| result.text().len() > SHORT_RESULT)
    };
    call.kind != ToolKind::Edit && (call.output.as_ref().is_some_and(is_long) || !call.images.is_empty())
}

/// Providers bound what one request may carry. When there is more than that to see, the older images give way, and
/// more of them than needed, so that the history does not change with every further one. Those of one item stay together,
/// and those of the newest one stay.
fn hide_old_images(prompt: &mut [PromptItem]) {
    let mut shown: VecDeque<(usize, usize)> = VecDeque::new();
    let mut hidden: usize = 0;
    for images in prompt.iter().map(PromptItem::images).filter(|images| !images.is_empty()) {
        shown.push_back((images.len(), images.iter().map(|image| image.data.text().len()).sum()));
        let exceeds = |shown: &VecDeque<(usize, usize)>, part: usize| {
            let (count, size) = shown.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            count > MAX_IMAGES_SHOWN / part || size > MAX_IMAGE_TEXT / part
        };
        if exceeds(&shown, 1) {
            while shown.len() > 1 && exceeds(&shown, 2) {
                hidden += shown.pop_front().map_or(0, |(count, _)| count);
            }
        }
    }
    for item in prompt {
        item.hide_images(|_| {
            let is_old = hidden > 0;
            hidden = hidden.saturating_sub(1);
            is_old
        });
    }
}

/// The items that the model sees, in the order in which it sees them. A compaction stands first and in the place of
/// everything before the items that it kept.
pub(crate) fn visible(items: &[Item]) -> Vec<&Item> {
    let compaction = items.iter().rposition(|item| matches!(item.content, Content::Compaction { .. }));
    let (summary, kept_from) = match compaction.and_then(|place| items.get(place)) {
        Some(item) => (Some(item), kept_from(item, items)),
        None => (None, 0),
    };
    let mut turns: HashMap<Option<&TurnId>, usize> = HashMap::new();
    let mut ordered: Vec<(HistoryPlace, &Item)> = Vec::with_capacity(items.len());
    for item in items.iter().skip(kept_from) {
        if matches!(item.content, Content::Compaction { .. }) {
            continue;
        }
        let next = turns.len();
        let turn = *turns.entry(item.turn.as_ref()).or_insert(next);
        let rank = match item.content {
            Content::Environment { .. } => Rank::Environment,
            Content::UserMessage { .. } | Content::Reminder { .. } => Rank::Message,
            Content::ToolCall(ref call) if call.caller.is_some() => Rank::Message,
            _ => Rank::Answer,
        };
        let step = item.step.unwrap_or(0);
        ordered.push((HistoryPlace { turn, step, rank, order: item.place.unwrap_or(0) }, item));
    }
    // A message of the user during a step belongs before the next step, where the model first saw it. The sort is
    // stable, so everything else keeps the order of the log.
    ordered.sort_by_key(|(place, _)| *place);
    summary.into_iter().chain(ordered.into_iter().map(|(_, item)| item)).collect()
}

/// The place of the first item that a compaction kept.
fn kept_from(compaction: &Item, items: &[Item]) -> usize {
    let Content::Compaction { kept_from, .. } = &compaction.content else { return 0 };
    let kept = kept_from.as_ref().and_then(|id| items.iter().position(|item| item.id == *id));
    kept.or_else(|| items.iter().position(|item| item.id == compaction.id)).unwrap_or(0)
}

/// One model call's worth of items: what was said, then all calls, then all results.
fn push_step<'a>(
    prompt: &mut Vec<PromptItem>,
    items: impl Iterator<Item = &'a Item>,
    cleared: &HashSet<&ItemId>,
    first_environment: Option<&ItemId>,
) {
    let mut results = Vec::new();
    for item in items {
        match &item.content {
            Content::UserMessage { ran: Some(ran), .. } => prompt.push(PromptItem::user(render_run(ran))),
            Content::UserMessage { text, images, .. } => {
                prompt.push(PromptItem::User { text: text.clone(), images: images.clone() });
            }
            Content::AgentMessage { text } if !text.is_empty() => prompt.push(replay_message(text, item)),
            Content::Reasoning { text } if item.status == ItemStatus::Completed => {
                prompt.push(PromptItem::Reasoning { text: text.clone(), private: item.private.clone() });
            }
            Content::ToolCall(call) if call.caller.is_some() => {
                let result = if cleared.contains(&item.id) { None } else { result_text(call) };
                let text = describe_client_call(call, result.as_deref().unwrap_or(CLEARED));
                prompt.push(PromptItem::User { text, images: call.images.clone() });
            }
            Content::ToolCall(call) => {
                prompt.push(called(call, item));
                results.push(if cleared.contains(&item.id) { without_result(call) } else { result(call) });
            }
            Content::Reminder { text, .. } => {
                prompt.push(PromptItem::user(reminder(text)));
            }
            Content::Environment { facts } => {
                let is_first = first_environment == Some(&item.id);
                prompt.push(PromptItem::user(if is_first { block(facts) } else { changes(facts) }));
            }
            Content::Compaction { summary, .. } => {
                let text = format!("<summary of the conversation so far>\n{summary}\n</summary>");
                prompt.push(PromptItem::user(text));
            }
            _ => {}
        }
    }
    prompt.append(&mut results);
}

fn replay_message(text: &str, item: &Item) -> PromptItem {
    let text = match item.status {
        ItemStatus::Completed => text.to_owned(),
        _ => format!("{text}\n[cut off here]"),
    };
    PromptItem::Assistant { text, private: item.private.clone() }
}

fn called(call: &ToolCall, item: &Item) -> PromptItem {
    PromptItem::ToolCall {
        id: call.call_id.clone(),
        name: call.name.clone(),
        arguments: call.input.text().to_owned(),
        private: item.private.clone(),
    }
}

fn without_result(call: &ToolCall) -> PromptItem {
    PromptItem::ToolResult {
        id: call.call_id.clone(),
        name: call.name.clone(),
        output: CLEARED.to_owned(),
        images: Vec::new(),
    }
}

fn result(call: &ToolCall) -> PromptItem {
    let output = result_text(call);
    PromptItem::ToolResult {
        id: call.call_id.clone(),
        name: call.name.clone(),
        output: output.unwrap_or_else(|| NO_RESULT.to_owned()),
        images: call.images.clone(),
    }
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{Base64, Image, ImageType};

    use super::*;

    fn shown(prompt: &[PromptItem]) -> Vec<usize> {
        prompt.iter().map(|item| item.images().len()).collect()
    }

    fn item(images: usize, bytes: usize) -> PromptItem {
        let data = Base64::from("A".repeat(bytes));
        let image = Image { name: None, media_type: ImageType::Png, width: 1, height: 1, data };
        PromptItem::User { text: "see".to_owned(), images: vec![image; images] }
    }

    #[test]
    fn older_images_give_way_together_and_the_newest_stay() {
        let mut prompt: Vec<PromptItem> = (0..MAX_IMAGES_SHOWN).map(|_| item(1, 1)).collect();
        hide_old_images(&mut prompt);
        assert!(shown(&prompt).iter().all(|count| *count == 1));
        let mut more = prompt.clone();
        more.push(item(1, 1));
        hide_old_images(&mut more);
        assert_eq!(shown(&more).iter().sum::<usize>(), MAX_IMAGES_SHOWN / 2);
        assert_eq!(shown(&more)[0], 0);
        let mut later: Vec<PromptItem> = (0..MAX_IMAGES_SHOWN + 5).map(|_| item(1, 1)).collect();
        hide_old_images(&mut later);
        assert_eq!(shown(&later)[..21], shown(&more)[..21], "what is hidden stays the same for a while");
        let mut large = vec![item(1, 10), item(20, MAX_IMAGE_TEXT / 20)];
        large.push(item(3, MAX_IMAGE_TEXT / 4));
        hide_old_images(&mut large);
        assert_eq!(shown(&large), [0, 0, 3]);
    }
}
