//! Renders turns as Chat Completions: chunks of a stream, or one document.

mod history;

use serde_json::{Map, Value, json};

use crate::model::seal::Seal;
use crate::model::turn::{Part, Turn, Usage};
use crate::model::wire::piece::{Piece, cut};
use crate::model::wire::server_side::{Asked, Complaint, Wire};

pub use history::check_history;

/// The wire.
pub(super) struct Chat;

impl Wire for Chat {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn asked(&self, body: &Value) -> Asked {
        let messages = body.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_assistant =
            |message: &&Value| message.get("role").and_then(Value::as_str) == Some("assistant");
        let usage = body.get("stream_options").and_then(|options| options.get("include_usage"));
        Asked {
            model: body.get("model").and_then(Value::as_str).unwrap_or("scripted").to_owned(),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            include_usage: usage.and_then(Value::as_bool).unwrap_or(false),
            sealed: false,
            items: messages.len(),
            answers: messages.iter().filter(is_assistant).count(),
        }
    }

    fn check(&self, body: &Value, _seal: &Seal) -> Result<(), Complaint> {
        Ok(check_history(body)?)
    }

    fn stream(&self, turn: &Turn, asked: &Asked, _seal: &Seal) -> Vec<Piece> {
        stream(turn, asked)
    }

    fn document(&self, turn: &Turn, asked: &Asked, _seal: &Seal) -> Value {
        document(turn, asked)
    }

    fn stream_error(&self, _asked: &Asked, code: &str, message: &str) -> String {
        let error = json!({ "message": message, "type": code, "param": null, "code": code });
        format!("data: {}\n\n", json!({ "error": error }))
    }
}

fn stream(turn: &Turn, asked: &Asked) -> Vec<Piece> {
    let mut pieces = vec![delta(asked, &json!({ "role": "assistant", "content": null }))];
    let mut position = 0;
    for part in &turn.parts {
        match part {
            Part::Text(text) => {
                pieces.extend(cut(turn, text).iter().map(|text| delta(asked, &json!({ "content": text }))));
            }
            Part::Refusal(text) => {
                pieces.extend(cut(turn, text).iter().map(|text| delta(asked, &json!({ "refusal": text }))));
            }
            Part::Reasoning(text) => {
                let chunks = cut(turn, text);
                pieces.extend(chunks.iter().map(|text| delta(asked, &json!({ "reasoning_content": text }))));
            }
            Part::Gate(name) => pieces.push(Piece::Gate(name.clone())),
            Part::Hidden(_) | Part::Apart => {}
            Part::Call { id, name, arguments } => {
                let id = id.clone().unwrap_or_else(|| asked.call_id(position));
                let function = json!({ "name": name, "arguments": "" });
                let head = json!({ "index": position, "id": id, "type": "function", "function": function });
                pieces.push(delta(asked, &json!({ "tool_calls": [head] })));
                pieces.extend(cut(turn, arguments).iter().map(|text| {
                    let piece = json!({ "index": position, "function": { "arguments": text } });
                    delta(asked, &json!({ "tool_calls": [piece] }))
                }));
                position += 1;
            }
        }
    }
    let last = json!([{ "index": 0, "delta": {}, "finish_reason": finish_reason(turn) }]);
    pieces.push(Piece::data(envelope(asked, "chat.completion.chunk", &last)));
    if let (true, Some(usage)) = (asked.include_usage, usage(turn)) {
        let mut chunk = envelope(asked, "chat.completion.chunk", &json!([]));
        chunk["usage"] = usage;
        pieces.push(Piece::data(chunk));
    }
    pieces.push(Piece::data("[DONE]"));
    pieces
}

fn document(turn: &Turn, asked: &Asked) -> Value {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    let mut refusal = String::new();
    for part in &turn.parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Refusal(more) => refusal.push_str(more),
            Part::Reasoning(more) => reasoning.push_str(more),
            Part::Gate(_) | Part::Hidden(_) | Part::Apart => {}
            Part::Call { id, name, arguments } => {
                let id = id.clone().unwrap_or_else(|| asked.call_id(calls.len()));
                let function = json!({ "name": name, "arguments": arguments });
                calls.push(json!({ "id": id, "type": "function", "function": function }));
            }
        }
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), if text.is_empty() { Value::Null } else { json!(text) });
    if !refusal.is_empty() {
        message.insert("refusal".to_owned(), json!(refusal));
    }
    if !reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), json!(calls));
    }
    let choices = json!([{ "index": 0, "message": message, "finish_reason": finish_reason(turn) }]);
    let mut document = envelope(asked, "chat.completion", &choices);
    if let Some(usage) = usage(turn) {
        document["usage"] = usage;
    }
    document
}

fn envelope(asked: &Asked, object: &str, choices: &Value) -> Value {
    let id = format!("chatcmpl-{}", asked.items);
    json!({ "id": id, "object": object, "created": 0, "model": asked.model, "choices": choices })
}

fn delta(asked: &Asked, delta: &Value) -> Piece {
    let choices = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
    Piece::data(envelope(asked, "chat.completion.chunk", &choices))
}

fn finish_reason(turn: &Turn) -> String {
    let calls = turn.parts.iter().any(|part| matches!(part, Part::Call { .. }));
    turn.stop.clone().unwrap_or_else(|| if calls { "tool_calls" } else { "stop" }.to_owned())
}

fn usage(turn: &Turn) -> Option<Value> {
    match turn.usage {
        Usage::Absent => None,
        Usage::Tokens { input, output } => Some(json!({
            "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        })),
    }
}
