//! What the checks ask. Small, the same on every run, and without anything of the person's.

use serde_json::json;

use crate::{Arguments, Prompt, PromptItem, Reply, ReplyItem, ToolDefinition};

/// Room for an answer with its thoughts. Models that think first need most of it for that.
pub(super) const ANSWER_TOKENS: u64 = 2048;
/// Room for the answer to the long prompt, of which only the beginning is wanted.
pub(super) const SHORT_ANSWER_TOKENS: u64 = 1024;

/// The tool of the checks. It only exists in prompts.
const TOOL: &str = "get_weather";

/// A prompt with these words.
pub(super) fn says(text: &str) -> Prompt {
    Prompt { items: vec![PromptItem::User { text: text.to_owned() }], ..Prompt::default() }
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

/// Asks what is in the picture that the wire adds.
pub(super) fn picture() -> Prompt {
    says("Which colour is this picture? Answer with one word.")
}

/// A long text that stays the same, with so many lines; a line is about 25 tokens.
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

/// The prompt that goes on after an answer, with a result for each of its calls.
pub(super) fn after(mut prompt: Prompt, reply: &Reply) -> Prompt {
    prompt.items.extend(reply.items.iter().map(back));
    let calls = reply.items.iter().filter_map(|item| match item {
        ReplyItem::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
        _ => None,
    });
    let output = r#"{"sky":"clear","celsius":21}"#;
    let results: Vec<PromptItem> =
        calls.map(|(id, name)| PromptItem::ToolResult { id, name, output: output.to_owned() }).collect();
    if results.is_empty() {
        prompt.items.push(PromptItem::User { text: "Thank you. Now say OK.".to_owned() });
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
