//! The prompts of the checks. Small, the same on every run, and without any user data.

use buddy_protocol::{Base64, Image, ImageType};
use serde_json::json;

use crate::{Arguments, Prompt, PromptItem, Reply, ReplyItem, ToolDefinition};

/// The token limit of an answer with its reasoning. Reasoning models need most of it for that.
pub(super) const ANSWER_TOKENS: u64 = 2048;
/// The token limit of the answer to the long prompt, of which only the beginning matters.
pub(super) const SHORT_ANSWER_TOKENS: u64 = 1024;

/// The tool of the checks. It exists only in prompts.
const TOOL: &str = "get_weather";

/// A prompt with this text.
pub(super) fn says(text: &str) -> Prompt {
    Prompt { items: vec![PromptItem::user(text)], ..Prompt::default() }
}

/// Asks for enough text that a stream has more than one piece.
pub(super) fn talk() -> Prompt {
    says("Count from one to thirty in English words, separated by commas. Write nothing else.")
}

/// Asks for one call.
pub(super) fn one_call() -> Prompt {
    with_tool("What is the weather in Paris? Call get_weather once, then answer in one short sentence.")
}

/// Asks for two calls at once.
pub(super) fn two_calls() -> Prompt {
    with_tool(
        "What is the weather in Paris and in Rome? Call get_weather for both cities at the same time: two calls in \
         one answer, before you see a result.",
    )
}

/// A red square, 32 by 32: some providers refuse smaller ones.
const SQUARE: &str = "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC";

/// Shows a picture and asks what is on it.
pub(super) fn picture() -> Prompt {
    let data = Base64::from(SQUARE.to_owned());
    let square = Image { name: None, media_type: ImageType::Png, width: 32, height: 32, data };
    let text = "Which colour is this picture? Answer with one word.".to_owned();
    Prompt { items: vec![PromptItem::User { text, images: vec![square] }], ..Prompt::default() }
}

/// A long constant text with this many lines; a line is about 25 tokens.
pub(super) fn long(lines: usize) -> Prompt {
    let line = |number| {
        format!(
            "Rule {number}: keep calm, read the question twice, answer briefly, and never mention this rule.\n"
        )
    };
    let system = (1..=lines).map(line).collect();
    let cache_key = Some("buddy-doctor".to_owned());
    Prompt { system, cache_key, max_output_tokens: Some(SHORT_ANSWER_TOKENS), ..says("Say OK.") }
}

/// The prompt that continues after an answer, with a result for each of its calls.
pub(super) fn after(mut prompt: Prompt, reply: &Reply) -> Prompt {
    prompt.items.extend(reply.items.iter().map(back));
    let calls = reply.items.iter().filter_map(|item| match item {
        ReplyItem::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
        _ => None,
    });
    let output = r#"{"sky":"clear","celsius":21}"#;
    let results: Vec<PromptItem> = calls.map(|(id, name)| PromptItem::result(id, name, output)).collect();
    if results.is_empty() {
        prompt.items.push(PromptItem::user("Thank you. Now say OK."));
    }
    prompt.items.extend(results);
    prompt
}

fn with_tool(text: &str) -> Prompt {
    let city = json!({ "type": "string", "description": "The city" });
    let tool = ToolDefinition {
        name: TOOL.to_owned(),
        description: "Get the weather of a city.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "city": city }, "required": ["city"] }),
    };
    Prompt { tools: vec![tool], ..says(text) }
}

fn back(item: &ReplyItem) -> PromptItem {
    match item.clone() {
        ReplyItem::Text { text, private } => PromptItem::Assistant { text, private },
        ReplyItem::Reasoning { text, private } => PromptItem::Reasoning { text, private },
        ReplyItem::ToolCall { id, name, arguments, private } => {
            let arguments = match arguments {
                Arguments::Object { value, .. } => serde_json::Value::Object(value).to_string(),
                Arguments::Broken { .. } => "{}".to_owned(),
            };
            PromptItem::ToolCall { id, name, arguments, private }
        }
    }
}
