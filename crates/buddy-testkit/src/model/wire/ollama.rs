//! Renders turns as Ollama's own wire: lines of a stream, or one document; and the pages for discovery.

use serde_json::{Map, Value, json};

use crate::model::seal::Seal;
use crate::model::turn::{Part, Turn, Usage};
use crate::model::wire::piece::{Piece, cut};
use crate::model::wire::server_side::{Asked, Complaint, Wire};

/// The maximum context of the scripted model.
const MODEL_CONTEXT: u64 = 131_072;

/// The context that it is loaded with.
const LOADED_CONTEXT: u64 = 8192;

/// The wire.
pub(super) struct Ollama;

impl Wire for Ollama {
    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn asked(&self, body: &Value) -> Asked {
        let messages = messages(body);
        Asked {
            model: body.get("model").and_then(Value::as_str).unwrap_or("scripted").to_owned(),
            stream: body.get("stream").and_then(Value::as_bool).unwrap_or(true),
            include_usage: true,
            sealed: false,
            items: messages.len(),
            answers: messages.iter().filter(|message| message["role"] == "assistant").count(),
        }
    }

    fn check(&self, body: &Value, _seal: &Seal) -> Result<(), Complaint> {
        Ok(check(body)?)
    }

    fn stream(&self, turn: &Turn, asked: &Asked, _seal: &Seal) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for part in &turn.parts {
            match part {
                Part::Text(text) | Part::Refusal(text) => {
                    let words = cut(turn, text);
                    pieces.extend(words.iter().map(|text| line(asked, &json!({ "content": text }))));
                }
                Part::Reasoning(text) => {
                    let thoughts = cut(turn, text);
                    let message = |text: &String| json!({ "content": "", "thinking": text });
                    pieces.extend(thoughts.iter().map(|text| line(asked, &message(text))));
                }
                Part::Gate(name) => pieces.push(Piece::Gate(name.clone())),
                Part::Hidden(_) | Part::Apart => {}
                Part::Call { name, arguments, .. } => {
                    let calls = [call(name, arguments)];
                    pieces.push(line(asked, &json!({ "content": "", "tool_calls": calls })));
                }
            }
        }
        let mut last = envelope(asked, &json!({ "role": "assistant", "content": "" }));
        end(&mut last, turn);
        pieces.push(Piece::Chunk(format!("{last}\n")));
        pieces
    }

    fn document(&self, turn: &Turn, asked: &Asked, _seal: &Seal) -> Value {
        let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
        for part in &turn.parts {
            match part {
                Part::Text(more) | Part::Refusal(more) => text.push_str(more),
                Part::Reasoning(more) => thinking.push_str(more),
                Part::Gate(_) | Part::Hidden(_) | Part::Apart => {}
                Part::Call { name, arguments, .. } => calls.push(call(name, arguments)),
            }
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), json!(text));
        if !thinking.is_empty() {
            message.insert("thinking".to_owned(), json!(thinking));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), json!(calls));
        }
        let mut document = envelope(asked, &Value::Object(message));
        end(&mut document, turn);
        document
    }

    fn stream_error(&self, _asked: &Asked, _code: &str, message: &str) -> String {
        format!("{}\n", json!({ "error": message }))
    }

    fn malformed(&self) -> &'static str {
        "{\"message\": [oops]}\n"
    }

    fn error(&self, _code: &str, message: &str) -> Value {
        json!({ "error": message })
    }

    fn problem(&self, complaint: &Complaint) -> Value {
        json!({ "error": complaint.message })
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn page(&self, path: &str, _body: &Value) -> Option<Value> {
        let model = json!({ "name": "scripted:latest", "model": "scripted:latest", "size": 1 });
        match path {
            "/api/version" => Some(json!({ "version": "0.0.0-scripted" })),
            "/api/tags" => Some(json!({ "models": [model] })),
            "/api/show" => Some(json!({
                "capabilities": ["completion", "tools", "thinking"],
                "details": { "family": "scripted" },
                "model_info": { "general.architecture": "scripted", "scripted.context_length": MODEL_CONTEXT },
            })),
            "/api/ps" => {
                let mut loaded = model;
                loaded["context_length"] = json!(LOADED_CONTEXT);
                Some(json!({ "models": [loaded] }))
            }
            _ => None,
        }
    }
}

fn messages(body: &Value) -> &[Value] {
    body.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice)
}

/// Stricter than the real server, which accepts nearly anything and leaves the model confused.
fn check(body: &Value) -> Result<(), String> {
    if body.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err("model is required".to_owned());
    }
    let mut waiting: Vec<&str> = Vec::new();
    for message in messages(body) {
        let role = message["role"].as_str().unwrap_or_default();
        if !message["content"].is_string() {
            return Err(format!("a message of role {role} has no content"));
        }
        if role == "tool" {
            let name = message["tool_name"].as_str().unwrap_or_default();
            let found = waiting.iter().position(|waits| *waits == name);
            waiting.remove(found.ok_or_else(|| format!("a result of `{name}`, which was not called"))?);
            continue;
        }
        nothing_waits(&waiting)?;
        match role {
            "assistant" => waiting = calls(message)?,
            "system" | "user" => {}
            other => return Err(format!("invalid role: {other:?}")),
        }
    }
    nothing_waits(&waiting)
}

fn calls(message: &Value) -> Result<Vec<&str>, String> {
    let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let name = |call: &&Value| call["function"]["arguments"].is_object();
    if let Some(call) = calls.iter().find(|call| !name(call)) {
        return Err(format!("json: cannot unmarshal arguments of {call} into an object"));
    }
    Ok(calls.iter().map(|call| call["function"]["name"].as_str().unwrap_or_default()).collect())
}

fn nothing_waits(waiting: &[&str]) -> Result<(), String> {
    if waiting.is_empty() { Ok(()) } else { Err(format!("calls without results: {}", waiting.join(", "))) }
}

fn envelope(asked: &Asked, message: &Value) -> Value {
    json!({ "model": asked.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false })
}

fn line(asked: &Asked, fields: &Value) -> Piece {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.extend(fields.as_object().cloned().unwrap_or_default());
    Piece::Chunk(format!("{}\n", envelope(asked, &Value::Object(message))))
}

fn call(name: &str, arguments: &str) -> Value {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
    json!({ "function": { "name": name, "arguments": arguments } })
}

fn end(line: &mut Value, turn: &Turn) {
    line["done"] = json!(true);
    line["done_reason"] = json!(match turn.stop.as_deref() {
        Some("tool_calls") | None => "stop",
        Some(reason) => reason,
    });
    line["total_duration"] = json!(1);
    if let Usage::Tokens { input, output } = turn.usage {
        line["prompt_eval_count"] = json!(input);
        line["eval_count"] = json!(output);
    }
}
