//! The status line: what works, where, in which mode, and what it has used.

use anstyle::Style;
use buddy_protocol::{ApprovalPolicy, MicroUsd};
use serde_json::{Value, json};

use super::card::WIDEST;
use super::effect::Errand;
use super::state::Console;
use super::status_part::StatusPart;
use crate::amounts::{describe_price, shorten_number};
use crate::editor::{LineEntry, Vim};
use crate::text::{Paint, StyledLine};
use crate::visible::one_line;

/// From which part of the context window on it is shown as a warning.
const FULL_PERCENT: u64 = 80;

/// Columns of the bar that shows how full it is.
const BAR: usize = 10;
/// Columns that stay free between the left and the right, and at both ends.
const GAP: usize = 8;
/// How many ways there are to make it shorter.
const LEVELS: usize = 5;

/// The status, in as many parts as fit; or the line of the user's own command. The mode is in it where no rule tells it.
pub(super) fn render_status(console: &Console, width: usize, has_mode: bool) -> StyledLine {
    let width = width.min(WIDEST);
    // A question has a line of its own where words are written.
    let entry = console.asking.as_ref().and_then(|asking| asking.stage.entry());
    let vim = || console.vim.as_ref().map(Vim::name);
    let mode = entry.map_or_else(vim, LineEntry::mode).map(str::to_owned);
    if let Some(line) = console.own_status.line() {
        let line = mode.into_iter().chain([line.to_owned()]).collect::<Vec<_>>().join(" ");
        let text = one_line(&line, width.saturating_mul(2));
        return StyledLine::styled(&text, console.look.style(Paint::Dim))
            .cut(width, console.look.sign("…", "~"));
    }
    let vim = StyledLine::styled(&mode.unwrap_or_default(), console.look.style(Paint::Soft));
    let candidate = |shortness: usize| {
        let shown = Shortness { level: shortness, has_mode };
        let parts = |is_right: bool| {
            let names = console.status_parts.iter().filter(move |name| name.is_right() == is_right);
            names.filter_map(|&name| part(console, name, &shown)).collect::<Vec<_>>()
        };
        let left = std::iter::once(vim.clone()).chain(parts(false)).filter(|part| !part.is_empty());
        (joined(left.collect()), joined(parts(true)))
    };
    let fits = |(left, right): &(StyledLine, StyledLine)| left.width() + right.width() + GAP <= width;
    let (left, right) = (0..LEVELS).map(candidate).find(fits).unwrap_or_else(|| candidate(LEVELS));
    let mark = console.look.sign("…", "~");
    let left =
        StyledLine::plain("  ").and_line(left).cut(width.saturating_sub(right.width() + 2).max(2), mark);
    let gap = width.saturating_sub(left.width() + right.width() + 2);
    left.and(&" ".repeat(gap), Style::new()).and_line(right).cut(width, mark)
}

/// How short the parts are: from the first level on the branch goes, then the bar, the model, the word `context`, the directory.
struct Shortness {
    level: usize,
    has_mode: bool,
}

fn part(console: &Console, name: StatusPart, shown: &Shortness) -> Option<StyledLine> {
    let transcript = console.front().reader.transcript();
    let surroundings = &console.surroundings;
    let look = &console.look;
    let soft = |text: &str| StyledLine::styled(text, look.style(Paint::Soft));
    let level = shown.level;
    match name {
        StatusPart::Model => (level < 3).then(|| soft(console.model())),
        StatusPart::Host => surroundings.host.as_deref().map(soft),
        StatusPart::Directory if level >= 5 => None,
        StatusPart::Directory => {
            let line = soft(&look.path(&transcript.started()?.cwd));
            let branch = surroundings.branch.as_ref().filter(|_| level < 1);
            Some(
                line.and(
                    &branch.map(|branch| format!(" {branch}")).unwrap_or_default(),
                    look.style(Paint::Dim),
                ),
            )
        }
        StatusPart::Mode => shown.has_mode.then(|| {
            let mode = console.mode_label();
            soft(if level < 4 { &mode.text } else { &mode.short })
        }),
        StatusPart::Context => context(console, level),
        StatusPart::Tokens => {
            let tokens = transcript.bill().tokens();
            (tokens > 0).then(|| soft(&format!("{} tokens", shorten_number(tokens))))
        }
        StatusPart::Cost => {
            let cost = transcript.bill().total().filter(|cost| cost.0 > 0)?;
            Some(soft(&describe_price(cost)))
        }
        StatusPart::Tasks => {
            let others = tasks(console) + commands(console);
            (others > 0).then(|| soft(&format!("{others} in the background")))
        }
        StatusPart::Title => transcript.title().filter(|_| level < 1).map(soft),
        StatusPart::Session => Some(soft(&console.front().session.to_string())),
    }
}

/// Parts beside each other.
fn joined(parts: Vec<StyledLine>) -> StyledLine {
    let mut line = StyledLine::default();
    for part in parts {
        if !line.is_empty() {
            line = line.and("   ", Style::new());
        }
        line = line.and_line(part);
    }
    line
}

/// How many tasks run in the background.
fn tasks(console: &Console) -> usize {
    console.tasks.iter().skip(1).filter(|task| !task.is_idle()).count()
}

/// How many commands of the agent run in the background.
fn commands(console: &Console) -> usize {
    console.tasks.iter().map(|task| task.reader.left_running()).sum()
}

/// The facts for the user's own command, as JSON.
pub(super) fn collect_status_facts(console: &Console) -> Value {
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
    if console.surroundings.is_untrusted {
        return Some("read-only".to_owned());
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

/// How full the context window is, with a bar where there is room for it; how much is in it where its size is not known.
fn context(console: &Console, level: usize) -> Option<StyledLine> {
    let look = &console.look;
    let usage = console.front().reader.transcript().last_usage()?;
    let used = usage.input + usage.output;
    if used == 0 {
        return None;
    }
    let name = StyledLine::styled(if level < 4 { "context " } else { "" }, look.style(Paint::Dim));
    let Some(window) = console.surroundings.window.filter(|window| *window > 0) else {
        return Some(name.and(&shorten_number(used), look.style(Paint::Soft)));
    };
    let percent = used.saturating_mul(100) / window;
    let paint = match percent {
        95.. => Paint::Bad,
        FULL_PERCENT.. => Paint::Warning,
        _ => Paint::Soft,
    };
    let mut line = name;
    if level < 2 {
        let filled = usize::try_from(percent.saturating_add(5) / 10)
            .unwrap_or(BAR)
            .clamp(usize::from(percent > 0), BAR);
        line = line
            .and(&look.sign("━", "=").repeat(filled), look.style(paint))
            .and(&look.sign("─", "-").repeat(BAR - filled), look.style(Paint::Edge))
            .and(" ", Style::new());
    }
    let full = if percent >= FULL_PERCENT && level < 4 { " full" } else { "" };
    Some(line.and(&format!("{percent}%{full}"), look.style(paint)))
}

impl Console {
    /// Has the user's own status line made anew where what it tells has changed.
    pub(super) fn ask_status(&mut self) {
        if self.own_status.is_wanted() {
            let facts = collect_status_facts(self);
            if self.own_status.wants(&facts, self.now) {
                self.errand(Errand::AskStatus(facts.to_string()));
            }
        }
    }

    /// Whether the user's own status line is to be made anew because what it tells has changed.
    pub(super) fn is_own_status_due(&self) -> bool {
        self.own_status.is_wanted() && self.own_status.is_due(&collect_status_facts(self))
    }
}
