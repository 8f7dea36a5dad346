//! Items of this wire: out of an answer, and back into a request.
//!
//! An item becomes a neutral one. Its private data is the provider's own item without the fields that the
//! neutral one has (so that a long text or a long argument is not stored twice). [`Replay`] puts the two
//! together again.

use serde_json::{Map, Value, json};

use crate::protocol::DecoderContext;
use crate::protocol::call_list::{CallList, UNNAMED, nameless};
use crate::protocol::history::{safe_arguments, safe_id, safe_name};
use crate::protocol::wire_name::RESPONSES_WIRE;
use crate::{Arguments, Options, Private, ReasoningForm, ReplyItem};

/// Calls that wait for an output of a kind we never offered; sent back without one they break the history.
const FOREIGN_CALLS: [&str; 6] = [
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
];

/// Fields of an item that the provider sets for reading only.
const UNSENT: [&str; 2] = ["created_by", "parsed_arguments"];

/// The items of one answer.
#[derive(Debug, Default)]
pub(super) struct ResponsesAnswer {
    pub(super) items: Vec<ReplyItem>,
    pub(super) calls: CallList,
    pub(super) refused: bool,
    /// Whether an item is marked as incomplete.
    pub(super) is_cut: bool,
}

impl ResponsesAnswer {
    /// Takes a whole item; `cut` means that the answer ended inside it.
    pub(super) fn take(&mut self, item: Value, cut: bool, context: &mut DecoderContext) {
        let Value::Object(mut item) = item else { return };
        item.retain(|name, value| !value.is_null() && !UNSENT.contains(&name.as_str()));
        let cut = cut || matches!(text_at(&item, "status"), "incomplete" | "in_progress");
        self.is_cut |= cut;
        match text_at(&item, "type") {
            "message" => self.take_message(item, context),
            "reasoning" => self.take_reasoning(item, context),
            "function_call" => self.take_call(item, cut, context),
            kind if FOREIGN_CALLS.contains(&kind) => {
                tracing::warn!(kind, "the model used a tool of the provider's that was not offered");
            }
            // An item that only the provider understands: it just has to go back in its place.
            _ => {
                let private = Some(context.private(RESPONSES_WIRE, Value::Object(item)));
                self.items.push(ReplyItem::Reasoning { text: String::new(), private });
            }
        }
    }

    fn take_message(&mut self, mut item: Map<String, Value>, context: &DecoderContext) {
        self.refused |= has_refusal(&item);
        let text = message_text(&item);
        if text.is_empty() {
            return;
        }
        if item.get("content").is_some_and(is_plain) {
            item.shift_remove("content");
        }
        let private = Some(context.private(RESPONSES_WIRE, Value::Object(item)));
        self.items.push(ReplyItem::Text { text, private });
    }

    fn take_reasoning(&mut self, mut item: Map<String, Value>, context: &DecoderContext) {
        let text = reasoning_text(&item);
        let is_sealed = !text_at(&item, "encrypted_content").is_empty();
        if text.is_empty() && !is_sealed {
            return;
        }
        if is_sealed {
            item.shift_remove("content");
        }
        let private = Some(context.private(RESPONSES_WIRE, Value::Object(item)));
        self.items.push(ReplyItem::Reasoning { text, private });
    }

    fn take_call(&mut self, mut item: Map<String, Value>, cut: bool, context: &mut DecoderContext) {
        let raw = match item.shift_remove("arguments") {
            Some(Value::String(text)) => text,
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => String::new(),
        };
        let name = taken_text(&mut item, "name");
        let arguments = match name {
            None => nameless(raw.clone()),
            Some(_) if cut => Arguments::parse_cut(&raw),
            Some(_) => Arguments::parse(&raw),
        };
        // The model's own spelling is kept where ours would differ, because the provider's cache has it.
        if let Arguments::Object { value, repaired: false } = &arguments
            && !raw.is_empty()
            && serde_json::to_string(value).is_ok_and(|ours| ours != raw)
        {
            item.insert("arguments".to_owned(), json!(raw));
        }
        let id = taken_text(&mut item, "call_id").or_else(|| Some(text_at(&item, "id").to_owned()));
        if cut {
            item.shift_remove("status");
        }
        let name = name.unwrap_or_else(|| UNNAMED.to_owned());
        let private = Some(context.private(RESPONSES_WIRE, Value::Object(item)));
        self.items.extend(self.calls.admit(id, name, arguments, private, context));
    }
}

/// Converts items of a prompt into items of a request to this model.
#[derive(Clone, Copy)]
pub(super) struct Replay<'a> {
    pub(super) model: &'a str,
    pub(super) options: &'a Options,
}

impl Replay<'_> {
    /// The provider's item in private data, if it came from this provider, model and wire.
    pub(super) fn own<'item>(&self, private: Option<&'item Private>) -> Option<&'item Map<String, Value>> {
        private
            .filter(|own| own.belongs_to(&self.options.provider, self.model, RESPONSES_WIRE))?
            .data
            .as_object()
    }

    /// Whether this is reasoning rather than another item without a neutral form.
    pub(super) fn is_thought(&self, private: Option<&Private>) -> bool {
        self.own(private).is_none_or(|item| text_at(item, "type") == "reasoning")
    }

    /// Reasoning, in the form that the server accepts.
    pub(super) fn thought(&self, text: &str, private: Option<&Private>) -> Option<Value> {
        let mut item = self.own(private)?.clone();
        match self.options.reasoning_form {
            ReasoningForm::Omitted => return None,
            ReasoningForm::Sealed if text_at(&item, "encrypted_content").is_empty() => return None,
            ReasoningForm::Sealed => {
                item.shift_remove("content");
            }
            ReasoningForm::Plain if text.is_empty() => return None,
            ReasoningForm::Plain => {
                item.shift_remove("encrypted_content");
                item.insert("content".to_owned(), json!([{ "type": "reasoning_text", "text": text }]));
            }
        }
        item.entry("summary").or_insert_with(|| json!([]));
        Some(self.sent(item))
    }

    /// An item without a neutral form, as it came.
    pub(super) fn verbatim(&self, private: Option<&Private>) -> Option<Value> {
        Some(self.sent(self.own(private)?.clone()))
    }

    /// A message of the model, in the provider's own parts as long as they still say the same.
    pub(super) fn message(&self, text: &str, private: Option<&Private>) -> Option<Value> {
        if text.is_empty() {
            return None;
        }
        let mut item = self.own(private).cloned().unwrap_or_default();
        item.entry("type").or_insert_with(|| json!("message"));
        item.entry("role").or_insert_with(|| json!("assistant"));
        if message_text(&item) != text {
            item.insert("content".to_owned(), json!([{ "type": "output_text", "text": text }]));
        }
        Some(self.sent(item))
    }

    /// A call, in the model's own spelling as long as it still means the same.
    pub(super) fn call(&self, id: &str, name: &str, arguments: &str, private: Option<&Private>) -> Value {
        let mut item = self.own(private).cloned().unwrap_or_default();
        item.entry("type").or_insert_with(|| json!("function_call"));
        item.insert("call_id".to_owned(), json!(safe_id(id)));
        item.insert("name".to_owned(), json!(safe_name(name)));
        if !is_same_json(text_at(&item, "arguments"), arguments) {
            item.insert("arguments".to_owned(), json!(safe_arguments(arguments)));
        }
        self.sent(item)
    }

    /// The result of a call.
    pub(super) fn result(id: &str, output: &str) -> Value {
        json!({ "type": "function_call_output", "call_id": safe_id(id), "output": output })
    }

    fn sent(&self, mut item: Map<String, Value>) -> Value {
        if !self.options.item_ids {
            item.shift_remove("id");
        }
        Value::Object(item)
    }
}

fn is_same_json(kept: &str, ours: &str) -> bool {
    let parse = |text| serde_json::from_str::<Value>(text).ok();
    !kept.is_empty() && parse(kept).is_some_and(|kept| Some(kept) == parse(ours))
}

fn text_at<'a>(item: &'a Map<String, Value>, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn taken_text(item: &mut Map<String, Value>, name: &str) -> Option<String> {
    match item.shift_remove(name) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn parts(item: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    item.get("content").and_then(Value::as_array).into_iter().flatten()
}

/// Whether a message has a part that refuses.
pub(super) fn has_refusal(item: &Map<String, Value>) -> bool {
    parts(item).any(is_refusal)
}

/// Whether a part of a message is a refusal.
pub(super) fn is_refusal(part: &Value) -> bool {
    part.get("type").and_then(Value::as_str) == Some("refusal")
}

/// The text of a message: its text parts and refusals. A plain string is accepted too.
pub(super) fn message_text(item: &Map<String, Value>) -> String {
    if let Some(Value::String(text)) = item.get("content") {
        return text.clone();
    }
    let text = |part: &'_ Value| Some(part.get("text").or_else(|| part.get("refusal"))?.as_str()?.to_owned());
    parts(item).filter_map(text).collect()
}

/// The readable part of reasoning: the summary, else the reasoning itself.
pub(super) fn reasoning_text(item: &Map<String, Value>) -> String {
    let texts = |name: &str| -> String {
        let parts = item.get(name).and_then(Value::as_array).into_iter().flatten();
        let texts: Vec<&str> = parts.filter_map(|part| part.get("text")?.as_str()).collect();
        texts.join("\n\n")
    };
    [texts("summary"), texts("content")].into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// Whether content has nothing beyond its text, so that it can be rebuilt from it.
fn is_plain(content: &Value) -> bool {
    let is_noise = |name: &str, value: &Value| match name {
        "type" => value == "output_text",
        "text" => true,
        _ => value.is_null() || value.as_array().is_some_and(Vec::is_empty),
    };
    match content.as_array().map(Vec::as_slice) {
        Some([Value::Object(part)]) => part.iter().all(|(name, value)| is_noise(name, value)),
        Some(_) => false,
        None => content.is_string(),
    }
}
