//! A session as Markdown that people read: prompts, answers, calls with their commands and folded output, diffs, costs.

use std::fmt::Write;

use buddy_protocol::{
    Content, Item, ItemStatus, Json, PlanStep, PlanStepState, Ran, SessionSummary, ToolCall, Transcript,
};
use serde_json::Value;

use crate::list_time::describe_local_time;
use crate::show::{describe_decision, describe_unknown, find_decider, find_proposed_command, label_image};
use crate::visible::one_line;

/// Characters of a call's title above its folded output.
const TITLE: usize = 160;

/// The session as one document.
pub fn markdown(summary: &SessionSummary, transcript: &Transcript) -> String {
    let mut text = head(summary, transcript);
    for item in transcript.items() {
        if let Some(part) = part(item, transcript) {
            let _ = write!(text, "\n{}\n", part.trim_end());
        }
    }
    text.push_str(&bill(transcript));
    text
}

fn head(summary: &SessionSummary, transcript: &Transcript) -> String {
    let title = one_line(summary.title.as_deref().unwrap_or("A session without a title"), TITLE);
    let mut text = format!("# {title}\n\n");
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "- {name}: {value}");
    };
    line("session", &format!("`{}`", summary.id));
    line(
        "time",
        &format!("{} to {}", describe_local_time(summary.created), describe_local_time(summary.updated)),
    );
    line("directory", &code(&summary.cwd));
    if let Some(model) = &summary.model {
        line("model", &code(model));
    }
    let targets: Vec<String> = transcript.targets().iter().map(|target| code(&target.name)).collect();
    if !targets.is_empty() {
        line("targets", &targets.join(", "));
    }
    if let Some(origin) = transcript.started().and_then(|started| started.forked_from.as_ref()) {
        line("forked from", &format!("`{}` after event {}", origin.session, origin.seq));
    }
    text
}

fn part(item: &Item, transcript: &Transcript) -> Option<String> {
    let cut = if item.status == ItemStatus::Interrupted { "\n\n*(interrupted)*" } else { "" };
    match &item.content {
        Content::UserMessage { ran: Some(ran), .. } if ran.background.is_some() => {
            Some(format!("## End of a background command\n\n{}", own_command(ran)))
        }
        Content::UserMessage { ran: Some(ran), .. } => Some(format!("## Command\n\n{}", own_command(ran))),
        Content::UserMessage { text, images, ran: None, .. } => {
            let lines = text.lines().map(str::to_owned).chain(images.iter().map(label_image));
            Some(format!("## Prompt\n\n{}", quoted(&lines.collect::<Vec<_>>().join("\n"))))
        }
        Content::AgentMessage { text } if text.trim().is_empty() => None,
        Content::AgentMessage { text } => Some(format!("{}{cut}", text.trim_end())),
        Content::Reasoning { text } if text.trim().is_empty() => None,
        Content::Reasoning { text } => Some(folded("Reasoning", &quoted(text))),
        Content::ToolCall(call) => Some(tool_call(call, item, transcript)),
        Content::FileChange(change) => {
            Some(format!("{}\n\n{}", code(&change.path), fenced("diff", &change.diff)))
        }
        Content::Plan { steps } => Some(plan(steps)),
        Content::SubSession { session, title } => Some(format!("Session `{session}`: {title}")),
        Content::Compaction { summary, .. } => {
            Some(folded("buddy summarised the earlier conversation for the model", &quoted(summary)))
        }
        Content::Reminder { text, .. } => Some(folded("buddy reminded the model", &quoted(text))),
        Content::Environment { facts } => {
            let lines: Vec<String> =
                facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect();
            Some(folded("buddy described the environment to the model", &fenced("", &lines.join("\n"))))
        }
        Content::Unknown(unknown) => Some(format!("*{}*", escaped(&describe_unknown(unknown)))),
        Content::ResultsCleared { .. } | Content::Canvas { .. } => None,
    }
}

/// A command that the user ran, with its output.
fn own_command(ran: &Ran) -> String {
    let mut text = fenced("sh", &ran.command);
    if let Some(outcome) = &ran.outcome {
        let output = format!("{}{}", outcome.stdout, outcome.stderr);
        if !output.trim().is_empty() {
            text = format!("{text}\n\n{}", folded("Output", &fenced("", &output)));
        }
    }
    text
}

fn tool_call(call: &ToolCall, item: &Item, transcript: &Transcript) -> String {
    let outcome = match item.status {
        ItemStatus::Completed => String::new(),
        ItemStatus::Failed => ", failed".to_owned(),
        ItemStatus::Denied => format!(", not allowed{}", escaped(&describe_decision(item, transcript))),
        ItemStatus::Interrupted => ", interrupted".to_owned(),
        ItemStatus::Pending | ItemStatus::Running => ", open".to_owned(),
    };
    let is_allowed = matches!(item.status, ItemStatus::Completed | ItemStatus::Failed);
    let allowed = find_decider(item, transcript).filter(|_| is_allowed);
    let allowed = allowed.map(|name| match find_proposed_command(item, transcript) {
        Some(command) => {
            let command = escaped(&one_line(&command, TITLE));
            format!(", changed by {} from <code>{command}</code>", escaped(&name))
        }
        None => format!(", allowed by {}", escaped(&name)),
    });
    let outcome = allowed.unwrap_or_default() + &outcome;
    let target = call.target.as_ref().filter(|_| transcript.targets().len() > 1);
    let on = target.map(|target| format!(" on {}", escaped(target))).unwrap_or_default();
    let name = escaped(&call.name);
    let title = escaped(&one_line(&call.title, TITLE));
    let summary = format!("<code>{name}</code>{on}: {title}{outcome}");
    let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
    let ran = transcript.decision(&item.id).and_then(|decision| decision.edit.as_deref());
    let mut body = ran.map_or_else(|| input(call), |command| vec![fenced("sh", command)]);
    if let Some(error) = call.output.as_ref().and_then(|output| output.error.as_ref()) {
        body.push(fenced("text", &format!("{}: {}", error.code, error.message)));
    }
    let diff = result.as_ref().and_then(|result| result.get("diff")).and_then(Value::as_str);
    match (&result, diff.filter(|diff| !diff.is_empty())) {
        // A change is what a reader looks for, so it is not folded away.
        (_, Some(diff)) => {
            return format!("{}\n\n{}", folded(&summary, &body.join("\n\n")), fenced("diff", diff));
        }
        (Some(result), None) => body.extend(output(result)),
        (None, None) => {}
    }
    folded(&summary, &body.join("\n\n"))
}

/// The input of the call: its command, or its arguments.
fn input(call: &ToolCall) -> Vec<String> {
    let input = call.input.value();
    match input.get("command").and_then(Value::as_str) {
        Some(command) => vec![fenced("sh", command)],
        None if input.as_object().is_some_and(serde_json::Map::is_empty) => Vec::new(),
        None => vec![fenced("json", &pretty(&input))],
    }
}

/// The output of the call: its printed text, or its result.
fn output(result: &Value) -> Option<String> {
    let part = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut printed = format!("{}{}", part("stdout"), part("stderr"));
    if let Some(code) = result.get("exit_code").and_then(Value::as_i64).filter(|code| *code != 0) {
        printed = format!("exit code {code}\n{printed}");
    }
    let has_streams = result.get("stdout").is_some() || result.get("stderr").is_some();
    match (has_streams, printed.is_empty()) {
        (true, true) => None,
        (true, false) => Some(fenced("text", &printed)),
        (false, _) => Some(fenced("json", &pretty(result))),
    }
}

fn plan(steps: &[PlanStep]) -> String {
    let line = |step: &PlanStep| match step.state {
        PlanStepState::Done => format!("- [x] {}", step.text),
        PlanStepState::Active => format!("- [ ] **{}**", step.text),
        PlanStepState::Pending => format!("- [ ] {}", step.text),
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn bill(transcript: &Transcript) -> String {
    let bill = transcript.bill();
    if bill.calls == 0 {
        return String::new();
    }
    let cost = bill.total().map_or_else(|| "not known".to_owned(), |cost| cost.to_string());
    format!(
        "\n## Cost\n\n| turns | model calls | input tokens | of them cached | output tokens | cost |\n|---|---|---|---|---|---|\n| {} | {} | {} | {} | {} | {cost} |\n",
        transcript.turns(),
        bill.calls,
        bill.usage.input,
        bill.usage.cached_input,
        bill.usage.output,
    )
}

fn folded(summary: &str, body: &str) -> String {
    format!("<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>")
}

fn quoted(text: &str) -> String {
    let lines = text.trim_end().lines().map(|line| format!("> {line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// A block of text as it is. Its fence is longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// A piece of text as it is, within a line.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
