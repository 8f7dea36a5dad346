//! Clipping: what the model is given of a result is bounded. Long texts keep their head and tail, long lists their
//! head, and each says how much was left out.

use std::sync::atomic::{AtomicU64, Ordering};

use buddy_protocol::ToolFailure;
use serde_json::Value;

/// Classes of text with a limit of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextClass {
    /// The output of commands.
    Command,
    /// Files and lists.
    File,
}

/// How many characters of a text the model is given.
#[derive(Debug, Clone, Copy)]
pub struct TextLimits {
    /// Of each text that a command printed.
    pub command: usize,
    /// Of files and lists.
    pub file: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self { command: 30_000, file: 50_000 }
    }
}

/// One text takes at most one part in so many of the context window, if that is less than its limit.
const WINDOW_PART: u64 = 8;
/// About how many characters a token has.
const TOKEN_CHARS: u64 = 4;

/// The room that texts have in the context window of the model in use.
#[derive(Debug)]
pub struct TextRoom {
    limits: TextLimits,
    /// The window in tokens; 0 if nobody knows it. The driver sets it before each model call, and calls read it.
    window: AtomicU64,
}

impl TextRoom {
    /// The room in a window that nobody knows yet.
    pub fn new(limits: TextLimits) -> Self {
        Self { limits, window: AtomicU64::new(0) }
    }

    /// Takes another window from now on.
    pub fn set_window(&self, tokens: Option<u64>) {
        self.window.store(tokens.unwrap_or(0), Ordering::Relaxed);
    }

    /// The most characters of one text of a class that the model is given.
    pub fn of(&self, class: TextClass) -> usize {
        let limit = match class {
            TextClass::Command => self.limits.command,
            TextClass::File => self.limits.file,
        };
        match self.window.load(Ordering::Relaxed) {
            0 => limit,
            window => limit.min(usize::try_from(window / WINDOW_PART * TOKEN_CHARS).unwrap_or(usize::MAX)),
        }
    }
}

/// Clips every text and list in a result. True when anything was left out.
pub(crate) fn clip(value: &mut Value, limit: usize) -> bool {
    match value {
        Value::String(text) => match clip_text(text, limit) {
            Some(clipped) => {
                *text = clipped;
                true
            }
            None => false,
        },
        Value::Array(elements) => clip_list(elements, limit),
        Value::Object(fields) => clip_each(fields.values_mut(), limit),
        _ => false,
    }
}

fn clip_each<'a>(values: impl Iterator<Item = &'a mut Value>, limit: usize) -> bool {
    values.map(|value| clip(value, limit)).filter(|&cut| cut).count() > 0
}

fn clip_list(elements: &mut Vec<Value>, limit: usize) -> bool {
    let mut cut = clip_each(elements.iter_mut(), limit);
    let mut size = 0;
    let fitting = elements.iter().take_while(|element| {
        size += element.to_string().len();
        size <= limit
    });
    let kept = fitting.count().max(1);
    if kept < elements.len() {
        let left_out = elements.len() - kept;
        elements.truncate(kept);
        elements.push(Value::String(format!("… {left_out} more left out …")));
        cut = true;
    }
    cut
}

/// The head and tail of a text that is longer than `limit` characters; none when it is not.
pub fn clip_text(text: &str, limit: usize) -> Option<String> {
    // A text has at most as many characters as bytes, so most texts need no counting.
    if text.len() <= limit {
        return None;
    }
    let count = text.chars().count();
    if count <= limit {
        return None;
    }
    let head = limit / 2;
    let left_out = count - limit;
    let kept_head: String = text.chars().take(head).collect();
    let kept_tail: String = text.chars().skip(head + left_out).collect();
    Some(format!("{kept_head}\n… {left_out} characters left out …\n{kept_tail}"))
}

/// A result whose texts have at most so many characters.
pub(crate) fn clipped(result: Result<Value, ToolFailure>, limit: usize) -> Result<Value, ToolFailure> {
    match result {
        Ok(mut value) => {
            if clip(&mut value, limit) && value.get("truncated").is_some() {
                value["truncated"] = Value::Bool(true);
            }
            Ok(value)
        }
        Err(failure) => Err(ToolFailure {
            message: clip_text(&failure.message, limit).unwrap_or(failure.message),
            ..failure
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_long_text_keeps_head_and_tail_and_says_what_is_missing() {
        let text = format!("{}{}{}", "é".repeat(50), "x".repeat(1_000), "ü".repeat(50));
        let clipped = clip_text(&text, 100).unwrap();
        assert_eq!(clipped, format!("{}\n… 1000 characters left out …\n{}", "é".repeat(50), "ü".repeat(50)));
        assert_eq!(clip_text(&"é".repeat(100), 100), None);
    }

    #[test]
    fn every_text_of_a_result_is_clipped() {
        let mut value = json!({"stdout": "a".repeat(300), "stderr": "short", "exit_code": 0});
        assert!(clip(&mut value, 100));
        assert!(value["stdout"].as_str().unwrap().contains("200 characters left out"));
        assert_eq!(value["stderr"], "short");
    }

    #[test]
    fn one_text_never_fills_a_small_window() {
        let room = TextRoom::new(TextLimits::default());
        assert_eq!(room.of(TextClass::Command), 30_000);
        room.set_window(Some(200_000));
        assert_eq!(room.of(TextClass::File), 50_000);
        room.set_window(Some(8_192));
        assert_eq!(room.of(TextClass::File), 4_096);
    }

    #[test]
    fn a_long_list_keeps_its_head() {
        let mut value = json!({"entries": (0..1_000).collect::<Vec<_>>()});
        assert!(clip(&mut value, 50));
        let entries = value["entries"].as_array().unwrap();
        assert!(entries.len() < 50);
        assert_eq!(entries.last().unwrap(), &json!(format!("… {} more left out …", 1_001 - entries.len())));
    }
}
