//! A run on a terminal: the rows of its calls on the status stream, as a conversation has them.

use std::collections::HashMap;
use std::time::Duration;

use anstyle::Style;
use buddy_protocol::{Content, Event, Fact, Item, ItemId, ItemStatus, MicroUsd, UnixMillis};

use crate::amounts::describe_elapsed;
use crate::console::{render_running_call, render_session_notice, render_watched_call};
use crate::exit::Exit;
use crate::text::{Paint, StyledLine, TerminalLook, encode};

/// Goes to the start of the row and clears it.
const CLEAR: &str = "\r\u{1b}[K";

/// How a run is watched.
#[derive(Debug, Clone)]
pub struct ExecWatch {
    /// How things look.
    pub look: TerminalLook,
    /// The width of the terminal.
    pub columns: usize,
    /// The model, for people.
    pub model: String,
}

/// The rows shown so far.
#[derive(Debug)]
pub(super) struct WatchedRun {
    watch: ExecWatch,
    cwd: String,
    /// When calls that run began.
    began: HashMap<ItemId, UnixMillis>,
    /// Whether a row is there that the next one takes the place of.
    is_row_open: bool,
}

impl WatchedRun {
    pub(super) fn new(watch: ExecWatch) -> Self {
        Self { watch, cwd: String::new(), began: HashMap::new(), is_row_open: false }
    }

    /// The bytes that an event adds to the terminal.
    pub(super) fn event(&mut self, event: &Event) -> Option<String> {
        let call = |item: &Item| match &item.content {
            Content::ToolCall(call) => Some((**call).clone()),
            _ => None,
        };
        match &event.fact {
            Fact::SessionStarted(started) => {
                self.cwd.clone_from(&started.cwd);
                let head = self.head(event.session.as_str());
                Some(self.written(&[head]))
            }
            Fact::ItemChanged(changed) if changed.item.status == ItemStatus::Running => {
                self.began.insert(changed.item.id.clone(), event.time);
                let row = render_running_call(&call(&changed.item)?, self.surface())?;
                let mut text = self.cleared();
                encode(&row, &self.watch.look, &mut text);
                self.is_row_open = true;
                Some(text)
            }
            Fact::ItemEnded(ended) => {
                let call = call(&ended.item)?;
                let began = self.began.remove(&ended.item.id).unwrap_or(event.time);
                let ran = Duration::from_millis(event.time.0.saturating_sub(began.0));
                let rows = render_watched_call(&call, ended.item.status, ran, self.surface());
                Some(self.written(&rows))
            }
            Fact::Notice(notice) => {
                let rows = render_session_notice(
                    &notice.text,
                    notice.level,
                    &self.watch.look,
                    self.watch.columns.max(4),
                );
                Some(self.written(&rows))
            }
            _ => None,
        }
    }

    /// How the run ended: in words, its time, its cost and its exit code.
    pub(super) fn end(&mut self, exit: Exit, denied: u32, time: Duration, cost: Option<MicroUsd>) -> String {
        let look = &self.watch.look;
        let (sign, ascii, paint, words) = match exit {
            Exit::Ok => ("✓", "+", Paint::Dim, "Done.".to_owned()),
            Exit::ApprovalNeeded => {
                let calls =
                    if denied == 1 { "one call was".to_owned() } else { format!("{denied} calls were") };
                ("▲", "!", Paint::Warning, format!("Done, but {calls} denied."))
            }
            Exit::Interrupted => ("▲", "!", Paint::Warning, "Stopped.".to_owned()),
            Exit::Timeout => ("✗", "x", Paint::Bad, "The time limit was reached.".to_owned()),
            _ => ("✗", "x", Paint::Bad, "The run failed.".to_owned()),
        };
        let cost = cost.filter(|cost| cost.dollars() > 0.0).map(|cost| cost.to_string());
        let code = (exit != Exit::Ok).then(|| format!("exit {}", exit.code()));
        let mut tail: Vec<String> =
            [Some(describe_elapsed(time)), cost, code].into_iter().flatten().collect();
        // The exit code is told in any window.
        while tail.len() > 1 && words.len() + 4 + tail.join("   ").len() > self.watch.columns {
            tail.remove(0);
        }
        let tail = format!("  {}", tail.join("   "));
        let row = StyledLine::styled(look.sign(sign, ascii), look.style(paint))
            .and(" ", Style::new())
            .and(&words, look.style(Paint::Strong))
            .and(&tail, look.style(Paint::Dim));
        let row = row.cut(self.watch.columns, "");
        self.written(&[row])
    }

    /// Takes away the row of a command that runs, before something else is written.
    pub(super) fn cleared(&mut self) -> String {
        if std::mem::take(&mut self.is_row_open) { CLEAR.to_owned() } else { String::new() }
    }

    fn head(&self, session: &str) -> StyledLine {
        let look = &self.watch.look;
        let (soft, dim) = (look.style(Paint::Soft), look.style(Paint::Dim));
        StyledLine::styled(look.sign("●", "*"), look.style(Paint::Agent))
            .and(" ", Style::new())
            .and("buddy", look.style(Paint::Strong))
            .and(&format!("  {}  {}", self.watch.model, look.path(&self.cwd)), soft)
            .and(&format!("  {session}"), dim)
            .cut(self.watch.columns, look.sign("…", "..."))
    }

    fn surface(&self) -> (&TerminalLook, usize, &str) {
        (&self.watch.look, self.watch.columns, &self.cwd)
    }

    fn written(&mut self, rows: &[StyledLine]) -> String {
        let mut text = self.cleared();
        for row in rows {
            encode(row, &self.watch.look, &mut text);
            text.push('\n');
        }
        text
    }
}
