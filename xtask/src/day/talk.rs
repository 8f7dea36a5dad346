//! The conversation of the day: reads events and answers every ask with yes, for a host in the whole project.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::repository::Repository;
use crate::measure::model::ScriptedModel;

/// The limit of model answers in the day, more than it has steps.
const MOST_TURNS: &str = "100";

/// An ask that came up.
pub(crate) struct Question {
    /// The step in which it came up, from 0.
    pub(crate) step: usize,
    /// The reason why policy asks.
    pub(crate) reason: String,
}

/// Runs the day and returns the asks.
pub(crate) fn talk(
    repository: &Repository<'_>,
    model: &ScriptedModel,
    mode: Option<&str>,
) -> Result<Vec<Question>> {
    let mut command = repository.buddy();
    command
        .args(["exec", "--trust", "--json", "--input-format", "stream-json", "--max-turns", MOST_TURNS])
        .args(mode.into_iter().flat_map(|mode| ["--permission-mode", mode]))
        .env("BUDDY_BASE_URL", model.url())
        .env("BUDDY_API", "completions")
        .env("BUDDY_MODEL", "scripted");
    let mut buddy = command.stdin(Stdio::piped()).spawn().context("buddy does not start")?;
    let mut input = buddy.stdin.take().context("no input")?;
    let output = BufReader::new(buddy.stdout.take().context("no output")?);
    let mut errors = buddy.stderr.take().context("no errors")?;
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.read_to_string(&mut text);
        text
    });
    writeln!(input, "{}", json!({"type": "prompt", "text": "Do the day's work."}))?;
    let mut questions = Vec::new();
    let mut is_over = false;
    for line in output.lines() {
        let event: Value = serde_json::from_str(&line?)?;
        if event["type"] == "asked" {
            let ask = &event["data"]["ask"];
            questions.push(Question { step: model.turn(), reason: reason(ask) });
            writeln!(input, "{}", json!({"type": "answer", "ask": ask["id"], "answer": answer(ask)}))?;
        } else if event["type"] == "result" {
            is_over = true;
            break;
        }
    }
    drop(input);
    let status = buddy.wait()?;
    let complaints = complaints.join().unwrap_or_default();
    ensure!(is_over, "the day ended early with {status}: {complaints}");
    Ok(questions)
}

fn reason(ask: &Value) -> String {
    let question = &ask["question"];
    let reasons = question["reasons"].as_array().into_iter().flatten();
    let reasons: Vec<&str> = reasons.filter_map(Value::as_str).collect();
    if reasons.is_empty() {
        question["reason"].as_str().unwrap_or_default().to_owned()
    } else {
        reasons.join("; ")
    }
}

/// Yes; and for a host, yes for this project, as a user who works in it would answer.
fn answer(ask: &Value) -> Value {
    let question = &ask["question"];
    let is_host = question["action"].as_str().is_some_and(|action| action.contains("wants to reach"));
    if is_host && question["offers"][0].is_object() {
        json!({"type": "allow", "grant": {"offer": 0, "scope": "project", "seconds": 86_400}})
    } else {
        json!({"type": "allow"})
    }
}
