//! The status line: what works, where, in which mode, and what it has used.

use buddy_protocol::{ApprovalPolicy, MicroUsd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::state::Console;
use crate::editor::{Entry, Vim};
use crate::overview::short;
use crate::text::{Line, Look, Paint};
use crate::visible::one_line;

/// From which part of the context window on it is shown as a warning.
const FULL_PERCENT: u64 = 80;

/// What is shown where commands run with all rights of the account.
const PRODUCTION: &str = "production";

/// A part of the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusPart {
    /// The model.
    Model,
    /// The host, where it is another one.
    Host,
    /// The directory, with the branch of its repository.
    Directory,
    /// That it is production, and what becomes of calls that need an approval, where that is not to ask.
    Mode,
    /// How full the model's context is.
    Context,
    /// Tokens so far.
    Tokens,
    /// Cost so far.
    Cost,
    /// How many tasks and commands run in the background.
    Tasks,
    /// The title of the conversation.
    Title,
    /// Its id.
    Session,
}

impl StatusPart {
    /// The parts that are shown unless somebody wants others.
    pub const USUAL: [Self; 7] =
        [Self::Model, Self::Directory, Self::Mode, Self::Context, Self::Tokens, Self::Cost, Self::Tasks];
}

/// The status, in as many parts as fit; or the line of the person's own command.
pub(super) fn row(console: &Console, width: usize) -> Line {
    // A question has a line of its own where words are written.
    let entry = console.asking.as_ref().and_then(|asking| asking.stage.entry());
    let vim = || console.vim.as_ref().map(Vim::name);
    let mode = entry.map_or_else(vim, Entry::mode).map(str::to_owned);
    if let Some(line) = console.own_status.line() {
        let line = mode.into_iter().chain([line.to_owned()]).collect::<Vec<_>>().join(" ");
        let text = one_line(&line, width.saturating_mul(2));
        return Line::styled(&text, console.look.style(Paint::Dim))
            .cut(width, console.look.sign("…", "~"));
    }
    let parts = console.status_parts.iter().filter_map(|&name| part(console, name));
    let parts: Vec<String> = mode.into_iter().chain(parts).filter(|text| !text.is_empty()).collect();
    joined(&parts, &console.look, width)
}

fn part(console: &Console, name: StatusPart) -> Option<String> {
    let transcript = console.front().reader.transcript();
    let surroundings = &console.surroundings;
    match name {
        StatusPart::Model => Some(console.model().to_owned()),
        StatusPart::Host => surroundings.host.clone(),
        StatusPart::Directory => {
            let cwd = &transcript.started()?.cwd;
            let directory = cwd.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/");
            let branch =
                surroundings.branch.as_ref().map(|branch| format!(" ({branch})")).unwrap_or_default();
            Some(format!("{directory}{branch}"))
        }
        StatusPart::Mode => {
            let is_production = surroundings.is_production && !transcript.is_plan_only();
            let production = is_production.then(|| PRODUCTION.to_owned());
            let parts: Vec<String> = production.into_iter().chain(mode(console)).collect();
            (!parts.is_empty()).then(|| parts.join(", "))
        }
        StatusPart::Context => context(console),
        StatusPart::Tokens => {
            let tokens = transcript.bill().tokens();
            (tokens > 0).then(|| format!("{} tokens", short(tokens)))
        }
        StatusPart::Cost => transcript.bill().total().filter(|cost| cost.0 > 0).map(|cost| cost.to_string()),
        StatusPart::Tasks => {
            let others = tasks(console) + commands(console);
            (others > 0).then(|| format!("{others} in the background"))
        }
        StatusPart::Title => transcript.title().map(str::to_owned),
        StatusPart::Session => Some(console.front().session.to_string()),
    }
}

/// How many tasks run in the background.
fn tasks(console: &Console) -> usize {
    console.tasks.iter().skip(1).filter(|task| !task.is_idle()).count()
}

/// How many commands of the agent run in the background.
fn commands(console: &Console) -> usize {
    console.tasks.iter().map(|task| task.reader.left_running()).sum()
}

/// What a command of the person's own is told, as JSON.
pub(super) fn facts(console: &Console) -> Value {
    let transcript = console.front().reader.transcript();
    let surroundings = &console.surroundings;
    let usage = transcript.bill().usage;
    let state = match (console.asking.is_some(), console.front().is_idle()) {
        (true, _) => "waiting",
        (false, false) => "working",
        (false, true) => "idle",
    };
    let used = transcript.last_usage().map(|usage| usage.input + usage.output);
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "session": { "id": console.front().session.to_string(), "title": transcript.title() },
        "model": console.model(),
        "cwd": transcript.started().map(|started| &started.cwd),
        "branch": surroundings.branch,
        "host": surroundings.host,
        "mode": mode(console).unwrap_or_else(|| "ask".to_owned()),
        "production": surroundings.is_production,
        "state": state,
        "context": { "used": used, "window": surroundings.window },
        "usage": usage,
        "cost_usd": transcript.bill().total().map(MicroUsd::dollars),
        "tasks": tasks(console),
        "background_commands": commands(console),
        "columns": console.columns,
    })
}

fn mode(console: &Console) -> Option<String> {
    if console.front().reader.transcript().is_plan_only() {
        return Some("plan".to_owned());
    }
    match console.approvals() {
        ApprovalPolicy::All => Some("approves all".to_owned()),
        ApprovalPolicy::None => Some("approves nothing".to_owned()),
        ApprovalPolicy::Edits => Some("accepts edits".to_owned()),
        ApprovalPolicy::Auto => Some("auto".to_owned()),
        ApprovalPolicy::Ask => None,
        ApprovalPolicy::Window { .. } => Some("approves for a while".to_owned()),
    }
}

/// How full the context window is.
fn context(console: &Console) -> Option<String> {
    let window = console.surroundings.window.filter(|window| *window > 0)?;
    let usage = console.front().reader.transcript().last_usage()?;
    let percent = (usage.input + usage.output).saturating_mul(100) / window;
    let mark = if percent >= FULL_PERCENT { "!" } else { "" };
    Some(format!("{percent}% context{mark}"))
}

/// The first parts that fit.
fn joined(parts: &[String], look: &Look, width: usize) -> Line {
    let dim = look.style(Paint::Dim);
    let between = look.sign(" · ", " | ");
    let mut line = Line::default();
    for part in parts {
        let mut longer = line.clone();
        if !longer.is_empty() {
            longer = longer.and(between, dim);
        }
        longer = longer.and(part, dim);
        if longer.width() > width && !line.is_empty() {
            break;
        }
        line = longer;
    }
    line.cut(width, look.sign("…", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_left_out_from_the_end() {
        let parts = ["model", "work (main)", "34% context"].map(String::from);
        let check = |width, text: &str| assert_eq!(joined(&parts, &Look::plain(), width).text(), text);
        check(80, "model · work (main) · 34% context");
        check(25, "model · work (main)");
        check(4, "mod…");
    }
}
