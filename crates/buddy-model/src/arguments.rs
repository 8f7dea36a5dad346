//! A call's arguments: parsed, repaired within bounds, or broken.
//!
//! Models and servers lose braces, add commas and wrap JSON in code fences. A text that can be closed without
//! inventing a value is repaired and marked; everything else is [`Arguments::Broken`] and must never run. A
//! repaired value may still lack its end (a cut string looks like a whole one once its quote is closed), so a
//! caller refuses it for tools that change things.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The maximum length of an argument text; a longer one is broken.
pub const MAX_ARGUMENTS_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of closers that repair adds: deeper damage is not a slip of the pen.
const MAX_CLOSERS: usize = 16;

/// The arguments with which a model calls a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Arguments {
    /// A JSON object.
    Object {
        /// The arguments by name.
        value: Map<String, Value>,
        /// True if the text was not JSON and was repaired: fit for reading, not for changing anything.
        repaired: bool,
    },
    /// Not a JSON object: do not run the call, and tell the model.
    Broken {
        /// The text as it came.
        raw: String,
        /// The problem, in words the model can use.
        error: String,
    },
}

impl Arguments {
    /// Parses a complete argument text; empty and `null` mean no arguments.
    pub fn parse(raw: &str) -> Self {
        let text = raw.trim();
        if text.is_empty() {
            return Self::whole(Map::new());
        }
        if text.len() > MAX_ARGUMENTS_BYTES {
            return Self::Broken { raw: raw.to_owned(), error: "the arguments are too long".to_owned() };
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(value)) => Self::whole(value),
            Ok(Value::Null) => Self::whole(Map::new()),
            Ok(Value::String(inner)) => Self::from_repaired(raw, serde_json::from_str(&inner)),
            Ok(_) => Self::not_an_object(raw),
            Err(error) => match repair(text) {
                Some(value) => Self::from_repaired(raw, Ok(value)),
                None => Self::broken(raw, &error),
            },
        }
    }

    /// Parses an argument text that may have been cut off: it repairs nothing, and empty is broken.
    pub fn parse_cut(raw: &str) -> Self {
        match serde_json::from_str(raw) {
            Ok(Value::Object(value)) => Self::whole(value),
            Ok(_) => Self::not_an_object(raw),
            Err(_) => Self::Broken {
                raw: raw.to_owned(),
                error: "the answer reached its length limit inside this call; make it again, shorter"
                    .to_owned(),
            },
        }
    }

    fn whole(value: Map<String, Value>) -> Self {
        Self::Object { value, repaired: false }
    }

    fn from_repaired(raw: &str, value: serde_json::Result<Value>) -> Self {
        match value {
            Ok(Value::Object(value)) => Self::Object { value, repaired: true },
            Ok(_) => Self::not_an_object(raw),
            Err(error) => Self::broken(raw, &error),
        }
    }

    fn not_an_object(raw: &str) -> Self {
        Self::Broken { raw: raw.to_owned(), error: "the arguments are not a JSON object".to_owned() }
    }

    fn broken(raw: &str, error: &serde_json::Error) -> Self {
        Self::Broken { raw: raw.to_owned(), error: format!("the arguments are not valid JSON: {error}") }
    }
}

/// Removes a code fence, then drops trailing commas and adds missing closers.
fn repair(text: &str) -> Option<Value> {
    let text = unfenced(text).unwrap_or(text);
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    serde_json::from_str(&mended(text)?).ok()
}

/// The inside of one ```` ``` ```` block, with or without a language word.
fn unfenced(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("```")?.trim_end();
    let inner = inner.strip_suffix("```").unwrap_or(inner);
    let inner = inner.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
    Some(inner.trim())
}

/// The text with commas before closers removed and open strings, arrays and objects closed.
fn mended(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 8);
    let mut open = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for letter in text.chars() {
        if in_string {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                _ => {}
            }
            out.push(letter);
            continue;
        }
        match letter {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                drop_trailing_comma(&mut out);
                if open.pop() != Some(letter) {
                    return None;
                }
            }
            _ => {}
        }
        out.push(letter);
    }
    if escaped || open.len() > MAX_CLOSERS {
        return None;
    }
    if in_string {
        out.push('"');
    }
    drop_trailing_comma(&mut out);
    out.extend(open.iter().rev());
    Some(out)
}

fn drop_trailing_comma(out: &mut String) {
    let kept = out.trim_end();
    let kept = kept.strip_suffix(',').map_or(out.len(), str::len);
    out.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str) -> String {
        match Arguments::parse(raw) {
            Arguments::Object { value, repaired: false } => Value::from(value).to_string(),
            Arguments::Object { value, repaired: true } => format!("repaired {}", Value::from(value)),
            Arguments::Broken { error, .. } => format!("broken: {error}"),
        }
    }

    #[test]
    fn whole_objects_and_nothing() {
        assert_eq!(check(r#"{"a": 1}"#), r#"{"a":1}"#);
        assert_eq!(check(""), "{}");
        assert_eq!(check(" \n"), "{}");
        assert_eq!(check("null"), "{}");
    }

    #[test]
    fn slips_are_mended_and_marked() {
        assert_eq!(check(r#"{"a": {"b": [1, 2"#), r#"repaired {"a":{"b":[1,2]}}"#);
        assert_eq!(check(r#"{"a": [1, 2,], }"#), r#"repaired {"a":[1,2]}"#);
        assert_eq!(check(r#"{"a": "x, }"#), r#"repaired {"a":"x, }"}"#);
        assert_eq!(check("```json\n{\"a\": 1}\n```"), r#"repaired {"a":1}"#);
        assert_eq!(check(r#""{\"a\": 1}""#), r#"repaired {"a":1}"#);
        assert_eq!(check(r#"{"a": "ä","#), r#"repaired {"a":"ä"}"#);
    }

    #[test]
    fn the_rest_is_broken() {
        assert_eq!(check("[1]"), "broken: the arguments are not a JSON object");
        assert_eq!(
            check("ls -la"),
            "broken: the arguments are not valid JSON: expected value at line 1 column 1"
        );
        assert!(check(r#"{"a": "#).starts_with("broken"));
        assert!(check(r#"{"a"}"#).starts_with("broken"));
        assert!(check(r#"{"a": [1}"#).starts_with("broken"));
        assert!(check(&"[".repeat(MAX_CLOSERS + 1)).starts_with("broken"));
    }

    #[test]
    fn a_cut_text_is_never_mended() {
        assert!(matches!(Arguments::parse_cut(r#"{"a": 1"#), Arguments::Broken { .. }));
        assert!(matches!(Arguments::parse_cut(""), Arguments::Broken { .. }));
        assert!(matches!(Arguments::parse_cut(r#"{"a": 1}"#), Arguments::Object { repaired: false, .. }));
    }

    proptest::proptest! {
        #[test]
        fn any_cut_of_an_object_is_safe(cut in 0_usize..60) {
            let whole = r#"{"path": "a\"b", "range": [1, {"x": "ü"}], "n": null}"#;
            let text: String = whole.chars().take(cut).collect();
            if let Arguments::Object { repaired, .. } = Arguments::parse(&text) {
                proptest::prop_assert!(repaired || text.is_empty() || text == whole);
            }
        }
    }
}
