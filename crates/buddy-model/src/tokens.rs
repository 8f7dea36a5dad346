//! Token counts if a provider does not report them: exact for models with a known vocabulary, else by a rough
//! rule.

use std::sync::OnceLock;

use buddy_protocol::Image;
use tiktoken_rs::CoreBPE;

use crate::{Encoding, Prompt, PromptItem, Reply, ReplyItem};

/// The tokens of every item in addition to its text: role, separators, ids.
const ITEM_OVERHEAD: u64 = 4;

/// The approximate number of pixels of an image per token.
const PIXELS_PER_TOKEN: u64 = 750;
/// The minimum number of tokens of an image.
const MIN_IMAGE_TOKENS: u64 = 85;
/// The maximum; servers scale larger images down.
const MAX_IMAGE_TOKENS: u64 = 1_600;

/// The tokens of a text.
///
/// The first exact count loads a vocabulary, which takes a moment and some memory, so callers count exactly
/// only if the provider has not.
pub fn count(text: &str, encoding: Option<Encoding>) -> u64 {
    match encoding.and_then(vocabulary) {
        Some(vocabulary) => vocabulary.encode_ordinary(text).len() as u64,
        None => rough(text),
    }
}

/// The approximate number of tokens of a text, for any model: words count by their length, every other
/// character by itself.
pub fn rough(text: &str) -> u64 {
    let mut tokens = 0;
    let mut word = 0;
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            word += 1;
            continue;
        }
        tokens += word_tokens(word);
        word = 0;
        // A space mostly belongs to the word after it. Signs, and letters of other scripts, are about a token
        // each.
        tokens += u64::from(character != ' ');
    }
    tokens + word_tokens(word)
}

/// A word of up to six letters is mostly one token; longer ones break into pieces of about four.
fn word_tokens(letters: u64) -> u64 {
    match letters {
        0 => 0,
        1..=6 => 1,
        _ => letters.div_ceil(4),
    }
}

/// The tokens of a whole prompt.
pub fn of_prompt(prompt: &Prompt, encoding: Option<Encoding>) -> u64 {
    let tools: u64 = prompt
        .tools
        .iter()
        .map(|tool| {
            count(&tool.description, encoding) + count(&tool.parameters.to_string(), encoding) + ITEM_OVERHEAD
        })
        .sum();
    count(&prompt.system, encoding) + tools + of_items(&prompt.items, encoding)
}

/// The tokens of items of a prompt.
pub fn of_items(items: &[PromptItem], encoding: Option<Encoding>) -> u64 {
    let texts = |item: &PromptItem| match item {
        PromptItem::User { text, .. }
        | PromptItem::Assistant { text, .. }
        | PromptItem::Reasoning { text, .. } => count(text, encoding),
        PromptItem::ToolCall { name, arguments, .. } => count(name, encoding) + count(arguments, encoding),
        PromptItem::ToolResult { output, .. } => count(output, encoding),
    };
    let images = |item: &PromptItem| item.images().iter().map(of_image).sum::<u64>();
    items.iter().map(|item| texts(item) + images(item) + ITEM_OVERHEAD).sum()
}

/// The approximate number of tokens of an image: providers count its area, between a minimum and a maximum.
fn of_image(image: &Image) -> u64 {
    let area = u64::from(image.width) * u64::from(image.height);
    (area / PIXELS_PER_TOKEN).clamp(MIN_IMAGE_TOKENS, MAX_IMAGE_TOKENS)
}

/// The tokens of an answer.
pub fn of_reply(reply: &Reply, encoding: Option<Encoding>) -> u64 {
    let texts = |item: &ReplyItem| match item {
        ReplyItem::Text { text, .. } | ReplyItem::Reasoning { text, .. } => count(text, encoding),
        ReplyItem::ToolCall { name, arguments, .. } => {
            count(name, encoding) + count(&serde_json::to_string(arguments).unwrap_or_default(), encoding)
        }
    };
    reply.items.iter().map(texts).sum()
}

fn vocabulary(encoding: Encoding) -> Option<&'static CoreBPE> {
    static O200K: OnceLock<Option<CoreBPE>> = OnceLock::new();
    static CL100K: OnceLock<Option<CoreBPE>> = OnceLock::new();
    // The vocabularies are compiled in; an unreadable one falls back to the rough rule.
    match encoding {
        Encoding::O200k => O200K.get_or_init(|| tiktoken_rs::o200k_base().ok()).as_ref(),
        Encoding::Cl100k => CL100K.get_or_init(|| tiktoken_rs::cl100k_base().ok()).as_ref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_vocabularies_count_exactly() {
        // Counts of OpenAI's own tokenizer.
        assert_eq!(count("hello world", Some(Encoding::O200k)), 2);
        assert_eq!(count("hello world", Some(Encoding::Cl100k)), 2);
        assert_eq!(count("", Some(Encoding::O200k)), 0);
    }

    #[test]
    fn the_rough_rule_stays_near_the_exact_count() {
        let prose = "The agent reads the file, runs the tests and tells you what it found. ".repeat(20);
        let code = "fn main() { let total: u64 = values.iter().map(|value| value.len() as u64).sum(); }\n"
            .repeat(20);
        for text in [prose, code] {
            let (rough, exact) = (rough(&text), count(&text, Some(Encoding::O200k)));
            assert!(rough * 10 >= exact * 7 && rough * 10 <= exact * 16, "{rough} against {exact}");
        }
    }
}
