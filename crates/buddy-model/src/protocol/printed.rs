//! Calls that a model printed as text because its server does not parse them.
//!
//! Small local models answer with one or more objects `{"name": "read_file", "arguments": {…}}`, or with objects in
//! `<tool_call>` or `<tools>` blocks. Those are calls only if tools were offered, every object names one of them, and the
//! answer consists of nothing but the objects, or has them in blocks: an answer that merely quotes such an object stays text.

use serde_json::{Map, Value};

use crate::Arguments;

/// The tags of blocks. Templates list the tools in `<tools>`, and Qwen2.5-Coder answers in the same tag.
const BLOCKS: [(&str, &str); 2] = [("<tool_call>", "</tool_call>"), ("<tools>", "</tools>")];

/// A text with printed calls, taken apart.
#[derive(Debug, PartialEq)]
pub(crate) struct Printed {
    /// The text around the calls; may be empty.
    pub(crate) text: String,
    /// The calls, at least one.
    pub(crate) calls: Vec<(String, Arguments)>,
}

/// Finds the calls in a whole answer, given the names of the available tools.
pub(crate) fn printed_calls(text: &str, tools: &[String]) -> Option<Printed> {
    if tools.is_empty() {
        return None;
    }
    BLOCKS.iter().find_map(|tags| in_blocks(text, tags, tools)).or_else(|| alone(text, tools))
}

/// The calls if the whole answer is objects, with or without a code fence.
fn alone(text: &str, tools: &[String]) -> Option<Printed> {
    let text = text.trim();
    let text = match text.strip_prefix("```") {
        Some(rest) => rest.strip_prefix("json").unwrap_or(rest).strip_suffix("```")?.trim(),
        None => text,
    };
    let objects = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    let calls = objects.map(|object| call(&object.ok()?, tools)).collect::<Option<Vec<_>>>()?;
    (!calls.is_empty()).then(|| Printed { text: String::new(), calls })
}

/// The calls in blocks. Every block must name a tool; one that does not makes the whole answer text.
fn in_blocks(text: &str, (open, close): &(&str, &str), tools: &[String]) -> Option<Printed> {
    let (mut said, mut rest) = text.split_once(open).map(|(head, tail)| (head.to_owned(), tail))?;
    let mut calls = Vec::new();
    loop {
        let (block, tail) = rest.split_once(close)?;
        calls.push(block_call(block, tools)?);
        let Some((between, next)) = tail.split_once(open) else {
            said.push_str(tail);
            break;
        };
        said.push_str(between);
        rest = next;
    }
    Some(Printed { text: said.trim().to_owned(), calls })
}

/// The call in a block; a block that had to be repaired gives repaired arguments.
fn block_call(block: &str, tools: &[String]) -> Option<(String, Arguments)> {
    let Arguments::Object { value, repaired } = Arguments::parse(block) else { return None };
    let (name, mut arguments) = call(&value, tools)?;
    if let Arguments::Object { repaired: mended, .. } = &mut arguments {
        *mended |= repaired;
    }
    Some((name, arguments))
}

fn call(object: &Map<String, Value>, tools: &[String]) -> Option<(String, Arguments)> {
    let object = object.get("function").and_then(Value::as_object).unwrap_or(object);
    let name = object.get("name")?.as_str()?;
    // An object with a description is a tool of the list that the model was given, and not a call.
    if object.contains_key("description") || !tools.iter().any(|tool| tool == name) {
        return None;
    }
    let arguments = match object.get("arguments").or_else(|| object.get("parameters"))? {
        Value::Object(value) => Arguments::Object { value: value.clone(), repaired: false },
        Value::String(text) => Arguments::parse(text),
        _ => return None,
    };
    Some((name.to_owned(), arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        let tools = ["now".to_owned(), "read_file".to_owned()];
        let Some(printed) = printed_calls(text, &tools) else { return "text".to_owned() };
        let calls = printed.calls.iter().map(|(name, arguments)| match arguments {
            Arguments::Object { value, repaired } => {
                format!("{name}{}{}", Value::from(value.clone()), if *repaired { " repaired" } else { "" })
            }
            Arguments::Broken { error, .. } => format!("{name} broken: {error}"),
        });
        format!("{}|{}", printed.text, calls.collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn lone_objects_that_name_a_tool() {
        assert_eq!(check(r#" {"name": "now", "arguments": {}} "#), "|now{}");
        assert_eq!(check(r#"{"name": "now", "parameters": {"zone": "UTC"}}"#), r#"|now{"zone":"UTC"}"#);
        let nested = r#"{"type": "function", "function": {"name": "now", "arguments": "{\"a\": 1}"}}"#;
        assert_eq!(check(nested), r#"|now{"a":1}"#);
        assert_eq!(check("```json\n{\"name\": \"now\", \"arguments\": {}}\n```"), "|now{}");
    }

    #[test]
    fn several_objects_are_several_calls() {
        let text = "{\"name\": \"now\", \"arguments\": {}}\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n";
        assert_eq!(check(text), r#"|now{}|read_file{"path":"a"}"#);
        assert_eq!(check(&format!("```json\n{text}```")), r#"|now{}|read_file{"path":"a"}"#);
        for other in ["{\"name\": \"rm\", \"arguments\": {}}", "{\"name\": \"now\", \"argum", "That is all."]
        {
            assert_eq!(check(&format!("{text}{other}")), "text", "{other}");
        }
    }

    #[test]
    fn blocks() {
        let text = "Let me see.\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n\
            <tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}</tool_call>";
        assert_eq!(check(text), r#"Let me see.|now{}|read_file{"path":"a"}"#);
        assert_eq!(
            check(r#"<tool_call>{"name": "now", "arguments": {"a": 1}</tool_call>"#),
            r#"|now{"a":1} repaired"#
        );
        let copied = "<tools>\n{\"name\": \"now\", \"arguments\": {}}\n</tools>";
        assert_eq!(check(&format!("Let me see.\n{copied}")), "Let me see.|now{}");
        let listed = r#"{"name": "now", "description": "Tells the time.", "parameters": {"type": "object"}}"#;
        assert_eq!(check(&format!("<tools>{listed}</tools>")), "text");
        assert_eq!(check(listed), "text");
        assert_eq!(check(r#"<tool_call>{"name": "now", "argum"#), "text");
        assert_eq!(check(r#"<tool_call>{"name": "rm", "arguments": {}}</tool_call>"#), "text");
    }

    #[test]
    fn everything_else_is_text() {
        for text in [
            "",
            "now",
            r#"{"name": "rm", "arguments": {}}"#,
            r#"{"name": "now"}"#,
            r#"{"name": "now", "arguments": [1]}"#,
            r#"Use {"name": "now", "arguments": {}} for that."#,
            r#"{"name": "now", "arguments": {}"#,
            r#"[{"name": "now", "arguments": {}}]"#,
        ] {
            assert_eq!(check(text), "text", "{text}");
        }
        assert_eq!(printed_calls(r#"{"name": "now", "arguments": {}}"#, &[]), None);
    }
}
