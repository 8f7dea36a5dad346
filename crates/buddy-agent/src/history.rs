//! The history as a model is given it, made from the items of a session.
//!
//! The same items always give the same history, and more items only add to its end, so that a provider's prompt cache
//! holds from call to call and after a restart.

use std::collections::{HashMap, VecDeque};

use buddy_model::PromptItem;
use buddy_protocol::{Content, Item, ItemStatus, ToolCall, TurnId};

use crate::person_run::told;

/// What a call is answered with when it has no result. Every call must have one before the model is called again.
const NO_RESULT: &str =
    r#"{"ok":false,"error":{"code":"interrupted","message":"the call was not finished"}}"#;

/// The most images in a history.
const MAX_IMAGES_SHOWN: usize = 40;
/// The most text of images in a history. The strictest provider takes 32 MB in all.
const MAX_IMAGE_TEXT: usize = 20 * 1024 * 1024;

/// Where an item stands in the history. Fields count in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    turn: usize,
    step: u32,
    is_answer: bool,
    order: u32,
}

/// The items of a session as a prompt.
pub(crate) fn history(items: &[Item]) -> Vec<PromptItem> {
    let mut prompt = Vec::new();
    for step in
        visible(items).chunk_by(|first, second| (&first.turn, first.step) == (&second.turn, second.step))
    {
        push_step(&mut prompt, step.iter().copied());
    }
    hide_old_images(&mut prompt);
    prompt
}

/// Providers bound what one request may carry. When there is more than that to see, the older images give way, and
/// more of them than needed, so that the history does not change with every further one.
fn hide_old_images(prompt: &mut [PromptItem]) {
    let sizes = prompt.iter().flat_map(PromptItem::images).map(|image| image.data.text().len());
    let mut shown: VecDeque<usize> = VecDeque::new();
    let mut hidden: usize = 0;
    for size in sizes {
        shown.push_back(size);
        if shown.len() <= MAX_IMAGES_SHOWN && shown.iter().sum::<usize>() <= MAX_IMAGE_TEXT {
            continue;
        }
        while shown.len() > 1
            && (shown.len() > MAX_IMAGES_SHOWN / 2 || shown.iter().sum::<usize>() > MAX_IMAGE_TEXT / 2)
        {
            shown.pop_front();
            hidden += 1;
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
    let mut ordered: Vec<(Place, &Item)> = Vec::with_capacity(items.len());
    for item in items.iter().skip(kept_from) {
        if matches!(item.content, Content::Compaction { .. }) {
            continue;
        }
        let next = turns.len();
        let turn = *turns.entry(item.turn.as_ref()).or_insert(next);
        let is_answer = !matches!(item.content, Content::UserMessage { .. });
        let step = item.step.unwrap_or(0);
        ordered.push((Place { turn, step, is_answer, order: item.place.unwrap_or(0) }, item));
    }
    // What a person said while a step ran belongs before the next step, where the model first saw it. The sort is
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
fn push_step<'a>(prompt: &mut Vec<PromptItem>, items: impl Iterator<Item = &'a Item>) {
    let mut results = Vec::new();
    for item in items {
        match &item.content {
            Content::UserMessage { ran: Some(ran), .. } => prompt.push(PromptItem::user(told(ran))),
            Content::UserMessage { text, images, .. } => {
                prompt.push(PromptItem::User { text: text.clone(), images: images.clone() });
            }
            Content::AgentMessage { text } if !text.is_empty() => prompt.push(said(text, item)),
            Content::Reasoning { text } if item.status == ItemStatus::Completed => {
                prompt.push(PromptItem::Reasoning { text: text.clone(), private: item.private.clone() });
            }
            Content::ToolCall(call) => {
                prompt.push(called(call, item));
                results.push(result(call));
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

fn said(text: &str, item: &Item) -> PromptItem {
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

fn result(call: &ToolCall) -> PromptItem {
    let output = call.output.as_ref().and_then(|envelope| serde_json::to_string(envelope).ok());
    PromptItem::ToolResult {
        id: call.call_id.clone(),
        name: call.name.clone(),
        output: output.unwrap_or_else(|| NO_RESULT.to_owned()),
        images: call.images.clone(),
    }
}
