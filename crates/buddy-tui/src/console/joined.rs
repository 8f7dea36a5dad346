//! Reads and searches that follow each other, joined into one row.
//!
//! An agent reads many files at a time, and a row for each would push what matters off the screen. The row stays among the
//! live rows until something else is finished.

use std::time::Duration;

use anstyle::Style;
use buddy_protocol::{ItemStatus, Json, ToolCall};
use serde_json::Value;

use super::call_trouble::list_stopped;
use super::calls::{CallOutcome, CallWords, Paper, describe_result, render_call_row, verb_columns};
use crate::counting::counted;
use crate::text::{Paint, Span, StyledLine, TerminalLook};

/// The most calls in one row.
const MOST: usize = 200;
/// The verbs of calls that are joined, and what is counted of each.
const JOINED: [(&str, &str); 2] = [("Read", "file"), ("Found", "search")];

/// Calls in one row.
#[derive(Debug)]
pub(super) struct JoinedCalls {
    verb: &'static str,
    noun: &'static str,
    /// Their objects, each once.
    objects: Vec<String>,
    /// The result of the first.
    result: String,
    /// How many lines were read; none where that is not known of each.
    lines: Option<u64>,
    ran: Duration,
}

impl JoinedCalls {
    /// A call that others may be joined to; none where it has a row of its own.
    pub(super) fn of(call: &ToolCall, status: ItemStatus, ran: Duration, paper: &Paper<'_>) -> Option<Self> {
        let outcome = CallOutcome::of(call, status);
        let words = CallWords::of(call, true, paper.look, paper.cwd);
        let (verb, noun) = JOINED.into_iter().find(|(verb, _)| *verb == words.verb)?;
        let is_plain = !outcome.is_bad && outcome.diff.is_none() && outcome.text.is_empty();
        let has_more =
            !call.images.is_empty() || !list_stopped(call).is_empty() || !paper.answered.is_empty();
        let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
        let lines = result.as_ref().and_then(|result| result.get("lines")).and_then(Value::as_u64);
        let objects = vec![words.object];
        (is_plain && !has_more).then_some(Self { verb, noun, objects, result: outcome.result, lines, ran })
    }

    /// Takes in another call; gives it back where it does not belong here.
    pub(super) fn join(&mut self, other: Self) -> Option<Self> {
        if other.verb != self.verb || self.objects.len() >= MOST {
            return Some(other);
        }
        for object in other.objects {
            if !self.objects.contains(&object) {
                self.objects.push(object);
            }
        }
        self.lines = self.lines.zip(other.lines).map(|(some, more)| some + more);
        self.ran = self.ran.max(other.ran);
        None
    }

    pub(super) fn row(&self, look: &TerminalLook, width: usize) -> StyledLine {
        let count = self.objects.len() as u64;
        let result = match self.lines {
            _ if count == 1 => self.result.clone(),
            Some(lines) => format!("{}, {}", counted(count, self.noun), counted(lines, "line")),
            None if self.noun == "search" => format!("{count} searches"),
            None => counted(count, self.noun),
        };
        let result = describe_result(&result, self.ran, width);
        let result = StyledLine::styled(&result, look.style(Paint::Dim));
        let room = width.saturating_sub(verb_columns(width) + result.width() + 2);
        let words = CallWords { verb: self.verb, object: self.listed(room), more_lines: 0 };
        let mark = Span::new(look.sign("✓", "+"), look.style(Paint::Dim));
        render_call_row(mark, &words, &result, Style::new(), look, width)
    }

    /// As many objects as fit, and how many more there are.
    fn listed(&self, room: usize) -> String {
        let all = self.objects.join(", ");
        if StyledLine::plain(&all).width() <= room {
            return all;
        }
        let first = |count: usize| {
            let shown = self.objects.iter().take(count).map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("{shown}, {} more", self.objects.len() - count)
        };
        let fits =
            (1..self.objects.len()).rev().map(first).find(|text| StyledLine::plain(text).width() <= room);
        fits.unwrap_or_else(|| if self.objects.len() > 1 { first(1) } else { all })
    }
}
