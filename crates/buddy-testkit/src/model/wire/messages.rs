//! Renders turns as Anthropic's Messages: named events of a stream, or one document.

mod history;
mod request;

use serde_json::{Value, json};

use crate::model::seal::Seal;
use crate::model::turn::{Part, Turn, Usage};
use crate::model::wire::piece::{Piece, cut};
use crate::model::wire::server_side::{Asked, Complaint, Wire};

/// The wire.
pub(super) struct Messages;

impl Wire for Messages {
    fn path(&self) -> &'static str {
        "/messages"
    }

    fn required_header(&self) -> Option<&'static str> {
        Some("anthropic-version")
    }

    fn asked(&self, body: &Value) -> Asked {
        let messages = body.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        Asked {
            model: body.get("model").and_then(Value::as_str).unwrap_or("scripted").to_owned(),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
            include_usage: true,
            sealed: false,
            items: messages.len(),
            answers: messages.iter().filter(|message| message["role"] == "assistant").count(),
        }
    }

    fn check(&self, body: &Value, seal: &Seal) -> Result<(), Complaint> {
        request::check(body)?;
        Ok(history::check(body, seal)?)
    }

    fn stream(&self, turn: &Turn, asked: &Asked, seal: &Seal) -> Vec<Piece> {
        let start = envelope(turn, asked);
        let mut pieces = vec![event(&json!({ "type": "message_start", "message": start })), ping()];
        let mut index = 0;
        for block in blocks(turn, asked, seal) {
            block.stream(turn, index, &mut pieces);
            index += usize::from(!matches!(block, Block::Gate(_)));
        }
        let delta = json!({ "stop_reason": stop_reason(turn), "stop_sequence": null });
        pieces.push(event(&json!({ "type": "message_delta", "delta": delta, "usage": usage(turn) })));
        pieces.push(event(&json!({ "type": "message_stop" })));
        pieces
    }

    fn document(&self, turn: &Turn, asked: &Asked, seal: &Seal) -> Value {
        let mut document = envelope(turn, asked);
        document["content"] = blocks(turn, asked, seal).iter().filter_map(Block::document).collect();
        document["stop_reason"] = json!(stop_reason(turn));
        document
    }

    fn stream_error(&self, _asked: &Asked, code: &str, message: &str) -> String {
        let error = json!({ "type": code, "message": message });
        format!("event: error\ndata: {}\n\n", json!({ "type": "error", "error": error }))
    }

    fn error(&self, code: &str, message: &str) -> Value {
        let error = json!({ "type": code, "message": message });
        json!({ "type": "error", "error": error, "request_id": "req_scripted" })
    }

    fn malformed(&self) -> &'static str {
        "event: content_block_delta\ndata: {\"type\": [oops\n\n"
    }

    fn problem(&self, complaint: &Complaint) -> Value {
        let kind = match complaint.code {
            Some("invalid_api_key") => "authentication_error",
            _ => "invalid_request_error",
        };
        self.error(kind, &complaint.message)
    }

    fn page(&self, path: &str, body: &Value) -> Option<Value> {
        // Four bytes are about a token; a test needs a number, not the exact one.
        let tokens = || body.to_string().len() / 4;
        path.ends_with("/messages/count_tokens").then(|| json!({ "input_tokens": tokens() }))
    }
}

/// A content block with the gates inside it.
enum Block<'a> {
    Text(Vec<&'a Part>),
    Thinking { text: &'a str, signature: String },
    Redacted(String),
    Call { id: String, name: &'a str, arguments: &'a str },
    Gate(&'a str),
}

/// The parts of a turn as blocks; adjacent texts are one block, unless they are kept apart.
fn blocks<'a>(turn: &'a Turn, asked: &Asked, seal: &Seal) -> Vec<Block<'a>> {
    let (mut blocks, mut calls, mut is_apart) = (Vec::new(), 0, false);
    for part in &turn.parts {
        let begins = std::mem::replace(&mut is_apart, matches!(part, Part::Apart));
        match part {
            Part::Text(_) | Part::Refusal(_) => match blocks.last_mut() {
                Some(Block::Text(parts)) if !begins => parts.push(part),
                _ => blocks.push(Block::Text(vec![part])),
            },
            Part::Apart => {}
            Part::Gate(name) => match blocks.last_mut() {
                Some(Block::Text(parts)) => parts.push(part),
                _ => blocks.push(Block::Gate(name)),
            },
            Part::Reasoning(text) => {
                blocks.push(Block::Thinking { text, signature: seal.sign(&asked.model, text) });
            }
            Part::Hidden(text) => blocks.push(Block::Redacted(seal.close(&asked.model, text))),
            Part::Call { id, name, arguments } => {
                let id = id.clone().unwrap_or_else(|| asked.call_id(calls));
                blocks.push(Block::Call { id, name, arguments });
                calls += 1;
            }
        }
    }
    blocks
}

impl Block<'_> {
    fn stream(&self, turn: &Turn, index: usize, pieces: &mut Vec<Piece>) {
        let start = |block: Value| {
            event(&json!({ "type": "content_block_start", "index": index, "content_block": block }))
        };
        let delta =
            |delta: Value| event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        match self {
            Self::Gate(name) => return pieces.push(Piece::Gate((*name).to_owned())),
            Self::Text(parts) => {
                pieces.push(start(json!({ "type": "text", "text": "" })));
                for part in parts {
                    match part {
                        Part::Gate(name) => pieces.push(Piece::Gate(name.clone())),
                        Part::Text(text) | Part::Refusal(text) => pieces.extend(
                            cut(turn, text)
                                .iter()
                                .map(|text| delta(json!({ "type": "text_delta", "text": text }))),
                        ),
                        Part::Reasoning(_) | Part::Hidden(_) | Part::Call { .. } | Part::Apart => {}
                    }
                }
            }
            Self::Thinking { text, signature } => {
                pieces.push(start(json!({ "type": "thinking", "thinking": "", "signature": "" })));
                let thoughts = cut(turn, text);
                pieces.extend(
                    thoughts.iter().map(|text| delta(json!({ "type": "thinking_delta", "thinking": text }))),
                );
                pieces.push(delta(json!({ "type": "signature_delta", "signature": signature })));
            }
            Self::Redacted(data) => {
                pieces.push(start(json!({ "type": "redacted_thinking", "data": data })));
            }
            Self::Call { id, name, arguments } => {
                pieces.push(start(json!({ "type": "tool_use", "id": id, "name": name, "input": {} })));
                let inputs = cut(turn, arguments);
                pieces.extend(
                    inputs
                        .iter()
                        .map(|text| delta(json!({ "type": "input_json_delta", "partial_json": text }))),
                );
            }
        }
        pieces.push(event(&json!({ "type": "content_block_stop", "index": index })));
    }

    fn document(&self) -> Option<Value> {
        Some(match self {
            Self::Gate(_) => return None,
            Self::Text(parts) => {
                let words = parts.iter().filter_map(|part| match part {
                    Part::Text(text) | Part::Refusal(text) => Some(text.as_str()),
                    _ => None,
                });
                json!({ "type": "text", "text": words.collect::<String>() })
            }
            Self::Thinking { text, signature } => {
                json!({ "type": "thinking", "thinking": text, "signature": signature })
            }
            Self::Redacted(data) => json!({ "type": "redacted_thinking", "data": data }),
            Self::Call { id, name, arguments } => {
                let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
                json!({ "type": "tool_use", "id": id, "name": name, "input": input })
            }
        })
    }
}

fn envelope(turn: &Turn, asked: &Asked) -> Value {
    json!({
        "id": format!("msg_{}", asked.items),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(turn),
    })
}

fn stop_reason(turn: &Turn) -> &str {
    let has = |wanted: fn(&Part) -> bool| turn.parts.iter().any(wanted);
    match turn.stop.as_deref() {
        Some("length") => "max_tokens",
        Some("content_filter") => "refusal",
        Some("stop") => "end_turn",
        Some("tool_calls") => "tool_use",
        Some(other) => other,
        // The only sign of a refusal, whatever else came.
        None if has(|part| matches!(part, Part::Refusal(_))) => "refusal",
        None if has(|part| matches!(part, Part::Call { .. })) => "tool_use",
        None => "end_turn",
    }
}

/// This wire always reports counts; a turn without any reports zero.
fn usage(turn: &Turn) -> Value {
    let (input, output) = match turn.usage {
        Usage::Absent => (0, 0),
        Usage::Tokens { input, output } => (input, output),
    };
    json!({
        "input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": output,
    })
}

fn ping() -> Piece {
    event(&json!({ "type": "ping" }))
}

/// An event with its name in its head too.
fn event(event: &Value) -> Piece {
    let name = event["type"].as_str().unwrap_or_default();
    Piece::Chunk(format!("event: {name}\ndata: {event}\n\n"))
}
