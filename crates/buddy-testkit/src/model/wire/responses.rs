//! Renders turns as Responses: typed events of a stream, or one document.
//!
//! Reasoning is encrypted if the request asks for it (`include`), and plain otherwise.

mod history;

use serde_json::{Value, json};

use crate::model::seal::Seal;
use crate::model::turn::{Part, Turn, Usage};
use crate::model::wire::piece::{Piece, cut};
use crate::model::wire::server_side::{Asked, Complaint, Wire};

/// The wire.
pub(super) struct Responses;

impl Wire for Responses {
    fn path(&self) -> &'static str {
        "/responses"
    }

    fn asked(&self, body: &Value) -> Asked {
        let input = history::input(body);
        let is_answer = |item: &Value| history::is_answer(item);
        let starts = |position: &usize| {
            let before = position.checked_sub(1).and_then(|before| input.get(before));
            input.get(*position).is_some_and(is_answer) && !before.is_some_and(is_answer)
        };
        Asked {
            model: body.get("model").and_then(Value::as_str).unwrap_or("scripted").to_owned(),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            include_usage: true,
            sealed: history::is_sealed(body),
            items: input.len(),
            answers: (0..input.len()).filter(starts).count(),
        }
    }

    fn check(&self, body: &Value, seal: &Seal) -> Result<(), Complaint> {
        history::check(body, seal)
    }

    fn stream(&self, turn: &Turn, asked: &Asked, seal: &Seal) -> Vec<Piece> {
        Scribe::new(turn, asked, seal).write().pieces
    }

    fn document(&self, turn: &Turn, asked: &Asked, seal: &Seal) -> Value {
        Scribe::new(turn, asked, seal).write().ended()
    }

    fn stream_error(&self, asked: &Asked, code: &str, message: &str) -> String {
        let error = json!({ "code": code, "message": message });
        let mut response = response(asked, "failed");
        response["error"] = error;
        let event = json!({ "type": "response.failed", "sequence_number": 0, "response": response });
        format!("event: response.failed\ndata: {event}\n\n")
    }

    fn malformed(&self) -> &'static str {
        "event: response.output_text.delta\ndata: {\"type\": [oops\n\n"
    }
}

/// Writes an answer, item by item.
struct Scribe<'a> {
    turn: &'a Turn,
    asked: &'a Asked,
    seal: &'a Seal,
    pieces: Vec<Piece>,
    /// The items that are complete.
    output: Vec<Value>,
    /// The item that is being written.
    open: Option<Open>,
    sequence: usize,
}

/// An item that can still grow.
struct Open {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Refusal,
    Reasoning,
}

impl<'a> Scribe<'a> {
    fn new(turn: &'a Turn, asked: &'a Asked, seal: &'a Seal) -> Self {
        Self { turn, asked, seal, pieces: Vec::new(), output: Vec::new(), open: None, sequence: 0 }
    }

    fn write(mut self) -> Self {
        for name in ["response.created", "response.in_progress"] {
            let response = response(self.asked, "in_progress");
            self.event(name, json!({ "response": response }));
        }
        for part in &self.turn.parts {
            match part {
                Part::Text(text) => self.add(Kind::Text, text),
                Part::Refusal(text) => self.add(Kind::Refusal, text),
                Part::Reasoning(text) => self.add(Kind::Reasoning, text),
                Part::Gate(name) => self.pieces.push(Piece::Gate(name.clone())),
                Part::Hidden(_) => {}
                Part::Apart => self.close(),
                Part::Call { id, name, arguments } => self.call(id.clone(), name, arguments),
            }
        }
        self.close();
        let response = self.ended();
        let is_incomplete = response["status"] == "incomplete";
        let name = if is_incomplete { "response.incomplete" } else { "response.completed" };
        self.event(name, json!({ "response": response }));
        self
    }

    fn add(&mut self, kind: Kind, text: &str) {
        if self.open.as_ref().is_none_or(|open| open.kind != kind) {
            self.close();
            self.begin(kind);
            self.open = Some(Open { kind, text: String::new() });
        }
        let name = match kind {
            Kind::Text => "response.output_text.delta",
            Kind::Refusal => "response.refusal.delta",
            Kind::Reasoning if self.asked.sealed => "response.reasoning_summary_text.delta",
            Kind::Reasoning => "response.reasoning_text.delta",
        };
        for piece in cut(self.turn, text) {
            self.event(name, self.place(kind, json!({ "delta": piece })));
        }
        if let Some(open) = &mut self.open {
            open.text.push_str(text);
        }
    }

    /// Begins an item without its part, and the part without its text.
    fn begin(&mut self, kind: Kind) {
        let mut item = self.item(kind, "", "in_progress");
        if kind == Kind::Reasoning {
            item["summary"] = json!([]);
        }
        if item.get("content").is_some() {
            item["content"] = json!([]);
        }
        self.event("response.output_item.added", json!({ "item": item }));
        let name = if self.is_summary(kind) {
            "response.reasoning_summary_part.added"
        } else {
            "response.content_part.added"
        };
        self.event(name, self.place(kind, json!({ "part": self.part(kind, "") })));
    }

    /// The position of an event within an item.
    fn place(&self, kind: Kind, mut fields: Value) -> Value {
        let index = if self.is_summary(kind) { "summary_index" } else { "content_index" };
        fields["item_id"] = json!(self.id(kind));
        fields[index] = json!(0);
        if kind == Kind::Text && fields.get("part").is_none() {
            fields["logprobs"] = json!([]);
        }
        fields
    }

    fn is_summary(&self, kind: Kind) -> bool {
        kind == Kind::Reasoning && self.asked.sealed
    }

    fn call(&mut self, id: Option<String>, name: &str, arguments: &str) {
        self.close();
        let calls = self.output.iter().filter(|item| item["type"] == "function_call").count();
        let call_id = id.unwrap_or_else(|| self.asked.call_id(calls));
        let id = format!("fc_{}_{}", self.asked.items, self.output.len());
        let mut item = json!({
            "id": id, "type": "function_call", "status": "in_progress",
            "call_id": call_id, "name": name, "arguments": "",
        });
        self.event("response.output_item.added", json!({ "item": item }));
        for piece in cut(self.turn, arguments) {
            self.event("response.function_call_arguments.delta", json!({ "item_id": id, "delta": piece }));
        }
        self.event("response.function_call_arguments.done", json!({ "item_id": id, "arguments": arguments }));
        item["arguments"] = json!(arguments);
        item["status"] = json!("completed");
        self.done(item);
    }

    fn close(&mut self) {
        if let Some(Open { kind, text }) = self.open.take() {
            let (name, field, part) = match kind {
                Kind::Text => ("response.output_text.done", "text", "response.content_part.done"),
                Kind::Refusal => ("response.refusal.done", "refusal", "response.content_part.done"),
                Kind::Reasoning if self.asked.sealed => {
                    ("response.reasoning_summary_text.done", "text", "response.reasoning_summary_part.done")
                }
                Kind::Reasoning => ("response.reasoning_text.done", "text", "response.content_part.done"),
            };
            self.event(name, self.place(kind, json!({ field: text })));
            self.event(part, self.place(kind, json!({ "part": self.part(kind, &text) })));
            let item = self.item(kind, &text, "completed");
            self.done(item);
        }
    }

    fn done(&mut self, item: Value) {
        self.event("response.output_item.done", json!({ "item": item }));
        self.output.push(item);
    }

    fn item(&self, kind: Kind, text: &str, status: &str) -> Value {
        let id = self.id(kind);
        let part = self.part(kind, text);
        match kind {
            Kind::Reasoning if self.asked.sealed => {
                let blob = self.seal.close(&self.asked.model, text);
                json!({ "id": id, "type": "reasoning", "summary": [part], "encrypted_content": blob })
            }
            Kind::Reasoning => json!({ "id": id, "type": "reasoning", "summary": [], "content": [part] }),
            Kind::Text | Kind::Refusal => {
                json!({ "id": id, "type": "message", "status": status, "role": "assistant", "content": [part] })
            }
        }
    }

    fn part(&self, kind: Kind, text: &str) -> Value {
        match kind {
            Kind::Text => json!({ "type": "output_text", "annotations": [], "logprobs": [], "text": text }),
            Kind::Refusal => json!({ "type": "refusal", "refusal": text }),
            Kind::Reasoning if self.asked.sealed => json!({ "type": "summary_text", "text": text }),
            Kind::Reasoning => json!({ "type": "reasoning_text", "text": text }),
        }
    }

    fn id(&self, kind: Kind) -> String {
        let prefix = if kind == Kind::Reasoning { "rs" } else { "msg" };
        format!("{prefix}_{}_{}", self.asked.items, self.output.len())
    }

    fn event(&mut self, name: &str, fields: Value) {
        let mut event = json!({ "type": name, "sequence_number": self.sequence });
        if fields.get("response").is_none() {
            event["output_index"] = json!(self.output.len());
        }
        if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
            event.extend(fields);
        }
        self.sequence += 1;
        self.pieces.push(Piece::event(name, event));
    }

    /// The response object at the end.
    fn ended(&self) -> Value {
        let reason = match self.turn.stop.as_deref() {
            None | Some("stop" | "tool_calls") => None,
            Some("length") => Some("max_output_tokens"),
            Some(other) => Some(other),
        };
        let mut response = response(self.asked, if reason.is_some() { "incomplete" } else { "completed" });
        if let Some(reason) = reason {
            response["incomplete_details"] = json!({ "reason": reason });
        }
        response["output"] = json!(self.output);
        if let Usage::Tokens { input, output } = self.turn.usage {
            response["usage"] = json!({
                "input_tokens": input, "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens": output, "output_tokens_details": { "reasoning_tokens": 0 },
                "total_tokens": input + output,
            });
        }
        response
    }
}

fn response(asked: &Asked, status: &str) -> Value {
    json!({
        "id": format!("resp_{}", asked.items), "object": "response", "created_at": 0, "status": status,
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {}, "model": asked.model,
        "output": [], "parallel_tool_calls": true, "temperature": null, "tool_choice": "auto", "tools": [],
        "top_p": null, "usage": null,
    })
}
