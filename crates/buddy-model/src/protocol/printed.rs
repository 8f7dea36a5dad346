//! Calls that a model printed as text because its server does not parse them.
//!
//! Small local models answer with `{"name": "read_file", "arguments": {…}}` or with `<tool_call>` blocks.
//! That is a call only if tools were offered, the object names one of them and the answer consists of nothing
//! but the object (or the blocks): an answer that merely quotes such an object stays text.

use serde_json::{Map, Value};

use crate::Arguments;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

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
    in_blocks(text, tools).or_else(|| alone(text, tools))
}

/// The call if the whole answer is one object, with or without a code fence.
fn alone(text: &str, tools: &[String]) -> Option<Printed> {
    let text = text.trim();
    let text = match text.strip_prefix("```") {
        Some(rest) => rest.strip_prefix("json").unwrap_or(rest).strip_suffix("```")?.trim(),
        None => text,
    };
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return None };
    Some(Printed { text: String::new(), calls: vec![call(&object, tools)?] })
}

/// The calls in blocks. Every block must name a tool; one that does not makes the whole answer text.
fn in_blocks(text: &str, tools: &[String]) -> Option<Printed> {
    let (mut said, mut rest) = text.split_once(OPEN).map(|(head, tail)| (head.to_owned(), tail))?;
    let mut calls = Vec::new();
    loop {
        let (block, tail) = rest.split_once(CLOSE)?;
        calls.push(block_call(block, tools)?);
        let Some((between, next)) = tail.split_once(OPEN) else {
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
    if !tools.iter().any(|tool| tool == name) {
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
    fn blocks() {
        let text = "Let me see.\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n\
            <tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}</tool_call>";
        assert_eq!(check(text), r#"Let me see.|now{}|read_file{"path":"a"}"#);
        assert_eq!(
            check(r#"<tool_call>{"name": "now", "arguments": {"a": 1}</tool_call>"#),
            r#"|now{"a":1} repaired"#
        );
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
