//! A summary by the model: the old part of a history is read in chunks that fit, each on top of the summary so far.

use std::sync::Arc;

use buddy_model::{Delta, Model, ModelFacts, Prompt, PromptItem, tokens};
use buddy_protocol::Usage;
use futures::StreamExt;

use crate::turn::Charge;

const INSTRUCTION: &str = include_str!("summary_prompt.md");
/// How much of the window one chunk may fill, in percent. The rest is for the instruction, the summary so far and the
/// answer.
const CHUNK: u64 = 50;
/// The window that is assumed when nobody knows it.
const ASSUMED_WINDOW: u64 = 16_000;
/// Chunks that are read at most. What is older is left out.
const MAX_CHUNKS: usize = 12;
/// Characters of one item.
const ITEM: usize = 4_000;
/// The longest summary, in tokens.
const MAX_SUMMARY: u64 = 4_000;
/// How much of the window a summary may fill, as one part in so many.
const SUMMARY_PART: u64 = 4;

/// The summary, none when the model could not make one, and what making it took.
pub(crate) async fn summarise(
    model: Arc<dyn Model>,
    facts: ModelFacts,
    old: Vec<PromptItem>,
) -> (Option<String>, Vec<Charge>) {
    let window = facts.context_window.unwrap_or(ASSUMED_WINDOW);
    let mut chunks = chunks(&old, window * CHUNK / 100);
    chunks.drain(..chunks.len().saturating_sub(MAX_CHUNKS));
    let mut summary = String::new();
    let mut charges = Vec::new();
    for chunk in chunks {
        let prompt = prompt(&summary, &chunk, MAX_SUMMARY.min(window / SUMMARY_PART));
        match ask(&*model, &facts, prompt).await {
            Some((text, charge)) => {
                summary = text;
                charges.push(charge);
            }
            None => return (None, charges),
        }
    }
    let is_empty = summary.trim().is_empty();
    (if is_empty { None } else { Some(summary) }, charges)
}

fn prompt(summary: &str, chunk: &str, limit: u64) -> Prompt {
    let so_far = if summary.is_empty() {
        String::new()
    } else {
        format!("<summary so far>\n{summary}\n</summary so far>\n\n")
    };
    Prompt {
        system: INSTRUCTION.trim().to_owned(),
        items: vec![PromptItem::user(format!("{so_far}<conversation>\n{chunk}</conversation>"))],
        max_output_tokens: Some(limit),
        is_text_only: true,
        ..Prompt::default()
    }
}

async fn ask(model: &dyn Model, facts: &ModelFacts, prompt: Prompt) -> Option<(String, Charge)> {
    let input = tokens::of_prompt(&prompt);
    let mut answer = model.call(prompt);
    loop {
        match answer.next().await? {
            Ok(Delta::Finished(reply)) => {
                let text: Vec<&str> = reply.items.iter().filter_map(text_of).collect();
                let text = text.concat();
                let estimated =
                    || Usage { input, output: tokens::estimate(&text), estimated: true, ..Usage::default() };
                let usage = reply.usage.unwrap_or_else(estimated);
                let model = reply.model.unwrap_or_else(|| model.name().to_owned());
                return Some((text, Charge { model, usage, cost: facts.cost(&usage) }));
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "the model could not sum up the conversation");
                return None;
            }
        }
    }
}

fn text_of(item: &buddy_model::ReplyItem) -> Option<&str> {
    match item {
        buddy_model::ReplyItem::Text { text, .. } => Some(text),
        _ => None,
    }
}

/// The history as text, in chunks of at most so many tokens.
fn chunks(items: &[PromptItem], limit: u64) -> Vec<String> {
    let mut chunks = vec![String::new()];
    let mut size = 0;
    for item in items {
        let line = rendered(item);
        let tokens = tokens::estimate(&line);
        if size + tokens > limit && size > 0 {
            chunks.push(String::new());
            size = 0;
        }
        size += tokens;
        if let Some(chunk) = chunks.last_mut() {
            chunk.push_str(&line);
        }
    }
    chunks
}

fn rendered(item: &PromptItem) -> String {
    let (who, text) = match item {
        PromptItem::User { text, images } => {
            let shown: Vec<String> =
                images.iter().map(|image| format!("[image: {}] ", image.label())).collect();
            return format!("person: {}{}\n", shown.concat(), cut(text));
        }
        PromptItem::Assistant { text, .. } => ("agent", text.as_str()),
        PromptItem::Reasoning { .. } => return String::new(),
        PromptItem::ToolCall { name, arguments, .. } => {
            return format!("agent calls {name}: {}\n", cut(arguments));
        }
        PromptItem::ToolResult { name, output, .. } => return format!("result of {name}: {}\n", cut(output)),
    };
    format!("{who}: {}\n", cut(text))
}

fn cut(text: &str) -> String {
    if text.chars().count() <= ITEM {
        return text.to_owned();
    }
    let head: String = text.chars().take(ITEM).collect();
    format!("{head}…")
}
