//! The rows of calls in a run that a user watches on a terminal, but cannot answer.

use std::time::Duration;

use anstyle::Style;
use buddy_protocol::{ItemStatus, ToolCall, ToolKind};

use super::calls::{CallWords, Paper, indent_below, render_call_row, render_finished_call, room_below};
use crate::text::{Paint, Span, StyledLine, TerminalLook, wrap_text};

/// The class of failure of a call that needed an approval.
const APPROVAL_NEEDED: &str = "approval_needed";
/// The beginning of the line of a refusal that names options and settings.
const WAYS: &str = "The user can allow it with ";
/// Letters that mean something to a shell, or in a pattern. A command with one of them has no pattern that is worth offering.
const SPECIAL: &str = "|&;<>()$`\\\"'*?[]#~=%!{}\n";

/// In a narrower window the reason stands below.
const NARROW: usize = 60;

/// The rows of a call that has ended.
pub(crate) fn render_watched_call(
    call: &ToolCall,
    status: ItemStatus,
    ran: Duration,
    (look, width, cwd): (&TerminalLook, usize, &str),
) -> Vec<StyledLine> {
    let error = call.output.as_ref().and_then(|output| output.error.as_ref());
    if error.is_none_or(|error| error.code != APPROVAL_NEEDED) {
        return render_finished_call(call, status, ran, &Paper { look, width, cwd, answered: "" }).rows;
    }
    let words = CallWords::of(call, false, look, cwd);
    let mark = Span::new(look.sign("✗", "x"), look.style(Paint::Bad));
    let bad = look.style(Paint::Bad);
    let is_narrow = width < NARROW;
    let result = StyledLine::styled(if is_narrow { "denied" } else { "denied: exec never prompts" }, bad);
    let line = render_call_row(mark, &words, &result, look.style(Paint::Strong), look, width);
    let none = StyledLine::default();
    let text_below =
        |text: &str, style| indent_below(wrap_text(text, style, room_below(width), &none, &none), width);
    let dim = look.style(Paint::Dim);
    let mut rows = vec![line.clone()];
    rows.extend(is_narrow.then(|| text_below("exec never prompts", bad)).into_iter().flatten());
    let Some(way) = way(call) else {
        let reason = error.and_then(|error| error.message.split_once(": ")).map(|(_, reason)| reason);
        rows.extend(text_below(reason.unwrap_or_default(), dim));
        return rows;
    };
    let hint = StyledLine::styled(&format!("allow it with {way}"), dim);
    if !is_narrow && line.width() + 2 + hint.width() <= width {
        return vec![line.and("  ", Style::new()).and_line(hint)];
    }
    rows.extend(text_below(&hint.text(), dim));
    rows
}

/// The options and settings that would have allowed a call: those that its refusal names, or else a pattern for its command.
fn way(call: &ToolCall) -> Option<String> {
    let error = call.output.as_ref().and_then(|output| output.error.as_ref());
    let named = error.and_then(|error| error.message.lines().find_map(|line| line.strip_prefix(WAYS)));
    named.map(str::to_owned).or_else(|| pattern(call).map(|pattern| format!("--allow \"{pattern}\"")))
}

/// The row of a command that runs, as wide as leaves the cursor in it.
pub(crate) fn render_running_call(
    call: &ToolCall,
    (look, width, cwd): (&TerminalLook, usize, &str),
) -> Option<StyledLine> {
    (call.kind == ToolKind::Execute).then(|| {
        let words = CallWords::of(call, false, look, cwd);
        let mark = Span::new(look.sign("●", "*"), look.style(Paint::Agent));
        render_call_row(mark, &words, &StyledLine::default(), Style::new(), look, width.saturating_sub(1))
    })
}

/// The pattern that would have allowed a command: its program and subcommand, with anything behind them.
fn pattern(call: &ToolCall) -> Option<String> {
    let command = call.title.trim();
    if call.kind != ToolKind::Execute
        || command.is_empty()
        || command.contains(|letter| SPECIAL.contains(letter))
    {
        return None;
    }
    let words: Vec<&str> = command.split_whitespace().collect();
    match words.as_slice() {
        [program, subcommand, ..] if !subcommand.starts_with('-') && !subcommand.contains(['/', '.']) => {
            Some(format!("{program} {subcommand} *"))
        }
        [_] => Some(command.to_owned()),
        _ => Some(format!("{} *", words.first()?)),
    }
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{Envelope, ToolFailure, UnixMillis};

    use super::*;

    fn denied(command: &str) -> ToolCall {
        let failure = ToolFailure::new(APPROVAL_NEEDED, "it needs an approval");
        ToolCall {
            call_id: String::new(),
            name: "run_shell".to_owned(),
            kind: ToolKind::Execute,
            title: command.to_owned(),
            input: serde_json::json!({}).into(),
            output: Some(Envelope::new(UnixMillis(0), Err(failure))),
            images: Vec::new(),
            target: None,
            had_secrets: false,
            caller: None,
        }
    }

    #[test]
    fn a_denied_call_says_how_to_allow_it() {
        let look = TerminalLook::plain();
        let rows = |command: &str, width| -> Vec<String> {
            let rows = render_watched_call(
                &denied(command),
                ItemStatus::Denied,
                Duration::ZERO,
                (&look, width, "/w"),
            );
            assert!(rows.iter().all(|row| row.width() <= width), "{command} in {width}");
            rows.iter().map(StyledLine::text).collect()
        };
        let whole = "  ✗ Run     git push  denied: exec never prompts  allow it with --allow \"git push *\"";
        assert_eq!(rows("git push", 100), [whole]);
        assert_eq!(rows("git push", 60)[1], "            allow it with --allow \"git push *\"");
        assert_eq!(rows("git push", 40)[..2], ["  ✗ Run   git push  denied", "    exec never prompts"]);
        assert_eq!(rows("make", 100)[0].split("--allow ").nth(1), Some("\"make\""));
        assert_eq!(rows("rm -r a", 100)[0].split("--allow ").nth(1), Some("\"rm *\""));
        assert!(!rows("a | b", 100)[0].contains("--allow"), "a pattern would not match it");
    }
}
