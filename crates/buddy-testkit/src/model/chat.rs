//! Turns as Chat Completions: chunks of a stream, or one document.

use serde_json::{Map, Value, json};

use crate::model::turn::{Part, Turn, Usage};

/// Characters per chunk unless the turn says otherwise.
const CHUNK_CHARS: usize = 16;

/// What the request decides about the answer.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) model: String,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
    /// Makes call ids unique in a conversation without the server remembering it.
    pub(super) messages: usize,
    pub(super) assistant_messages: usize,
}

impl Asked {
    pub(super) fn read(body: &Value) -> Self {
        let messages = body.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_assistant =
            |message: &&Value| message.get("role").and_then(Value::as_str) == Some("assistant");
        let usage = body.get("stream_options").and_then(|options| options.get("include_usage"));
        Self {
            model: body.get("model").and_then(Value::as_str).unwrap_or("scripted").to_owned(),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            include_usage: usage.and_then(Value::as_bool).unwrap_or(false),
            messages: messages.len(),
            assistant_messages: messages.iter().filter(is_assistant).count(),
        }
    }

    fn call_id(&self, position: usize) -> String {
        format!("call_{}_{position}", self.messages)
    }
}

/// One piece of a streamed answer.
#[derive(Debug)]
pub(super) enum Piece {
    /// An event with this payload.
    Chunk(String),
    /// A point to wait at.
    Gate(String),
}

/// The whole stream.
pub(super) fn stream(turn: &Turn, asked: &Asked) -> Vec<Piece> {
    let size = turn.chunk_chars.unwrap_or(CHUNK_CHARS);
    let mut pieces = vec![delta(asked, &json!({ "role": "assistant", "content": null }))];
    let mut position = 0;
    for part in &turn.parts {
        match part {
            Part::Text(text) => {
                pieces.extend(cut(text, size).map(|text| delta(asked, &json!({ "content": text }))));
            }
            Part::Reasoning(text) => {
                pieces
                    .extend(cut(text, size).map(|text| delta(asked, &json!({ "reasoning_content": text }))));
            }
            Part::Gate(name) => pieces.push(Piece::Gate(name.clone())),
            Part::Call { id, name, arguments } => {
                let id = id.clone().unwrap_or_else(|| asked.call_id(position));
                let function = json!({ "name": name, "arguments": "" });
                let head = json!({ "index": position, "id": id, "type": "function", "function": function });
                pieces.push(delta(asked, &json!({ "tool_calls": [head] })));
                pieces.extend(cut(arguments, size).map(|text| {
                    let piece = json!({ "index": position, "function": { "arguments": text } });
                    delta(asked, &json!({ "tool_calls": [piece] }))
                }));
                position += 1;
            }
        }
    }
    let last = json!([{ "index": 0, "delta": {}, "finish_reason": finish_reason(turn) }]);
    pieces.push(Piece::Chunk(envelope(asked, "chat.completion.chunk", &last).to_string()));
    if let (true, Some(usage)) = (asked.include_usage, usage(turn)) {
        let mut chunk = envelope(asked, "chat.completion.chunk", &json!([]));
        chunk["usage"] = usage;
        pieces.push(Piece::Chunk(chunk.to_string()));
    }
    pieces.push(Piece::Chunk("[DONE]".to_owned()));
    pieces
}

/// The same as one document.
pub(super) fn document(turn: &Turn, asked: &Asked) -> Value {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for part in &turn.parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Reasoning(more) => reasoning.push_str(more),
            Part::Gate(_) => {}
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
    let id = format!("chatcmpl-{}", asked.messages);
    json!({ "id": id, "object": object, "created": 0, "model": asked.model, "choices": choices })
}

fn delta(asked: &Asked, delta: &Value) -> Piece {
    let choices = json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
    Piece::Chunk(envelope(asked, "chat.completion.chunk", &choices).to_string())
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

/// The text in pieces of so many characters.
fn cut(text: &str, size: usize) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}
