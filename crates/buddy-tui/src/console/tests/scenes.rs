//! Whole screens of a conversation: finished rows with the live rows below them, in windows of every size.

mod endings;
mod looks;
mod reading;
mod working;

use std::fmt::Write;

use buddy_protocol::{
    Envelope, Json, MicroUsd, PlanStep, PlanStepState, ToolCall, ToolFailure, ToolKind, Usage, UsageReported,
};
use serde_json::{Value, json};

use super::*;
use crate::text::{Colors, encode};

/// The windows that key scenes are shown in.
const SIZES: [(usize, usize); 4] = [(40, 15), (80, 24), (100, 30), (200, 50)];

/// A conversation in a window.
struct SceneStage {
    seat: Seat,
    finished: Vec<StyledLine>,
    look: TerminalLook,
}

fn palette() -> TerminalLook {
    TerminalLook { colors: Colors::Palette, home: "/home/ann".to_owned(), ..TerminalLook::plain() }
}

impl SceneStage {
    /// A conversation in `~/app` in which nothing was said.
    fn new(look: &TerminalLook, (columns, height): (usize, usize)) -> Self {
        let now = Instant::now();
        let console = Console::new(session(1), look.clone(), columns, Vec::new(), now);
        let painter = ScreenPainter::new(look.clone(), columns, height);
        let seat = Seat { console, painter, now, seq: 0 };
        let mut stage = Self { seat, finished: Vec::new(), look: look.clone() };
        let Fact::SessionStarted(started) = begun() else { unreachable!() };
        stage.fact(Fact::SessionStarted(SessionStarted { cwd: "/home/ann/app".to_owned(), ..started }));
        let surroundings = SessionSurroundings {
            model: "sonnet-4.5".to_owned(),
            window: Some(200_000),
            branch: Some("main".to_owned()),
            ..SessionSurroundings::default()
        };
        stage.seat.take(ConsoleInput::Reply(EffectReply::Surroundings(surroundings)));
        stage
    }

    fn fact(&mut self, fact: Fact) {
        self.seat.fact(1, fact);
        self.finished.extend(self.seat.console.take_rows());
    }

    fn facts(&mut self, facts: impl IntoIterator<Item = Fact>) {
        facts.into_iter().for_each(|fact| self.fact(fact));
    }

    /// The user says something, and a turn begins with it.
    fn prompt(&mut self, text: &str) {
        self.fact(Fact::TurnStarted(TurnStarted { turn: turn() }));
        self.fact(ended(900, said(text)));
    }

    /// The model has used so many tokens of its window, at this cost.
    fn used(&mut self, input: u64, cost: u64) {
        let usage = Usage { input, ..Usage::default() };
        self.fact(Fact::UsageReported(UsageReported {
            turn: turn(),
            model: "sonnet-4.5".to_owned(),
            usage,
            cost: Some(MicroUsd(cost)),
            step: None,
        }));
    }

    fn end_turn(&mut self) {
        self.seat.end_turn();
        self.seat.take(ConsoleInput::Reply(EffectReply::CountedChanges(turn(), Some(0))));
        self.finished.extend(self.seat.console.take_rows());
    }

    /// The window: as many of the finished rows as fit above the live ones.
    fn window(&mut self) -> Vec<StyledLine> {
        self.seat.console.now = self.seat.now;
        self.seat.paint();
        let height = self.seat.painter.height();
        let live = self.seat.console.frame(height).rows;
        let room = height.saturating_sub(live.len());
        let finished = self.finished.iter().skip(self.finished.len().saturating_sub(room)).cloned();
        let rows: Vec<StyledLine> = finished.chain(live).collect();
        for row in &rows {
            assert!(row.width() <= self.seat.console.columns, "too wide: {}", row.text());
        }
        assert!(rows.len() <= height, "{} rows in a window of {height}", rows.len());
        rows
    }

    fn texts(&mut self) -> Vec<String> {
        self.window().iter().map(|row| row.text().trim_end().to_owned()).collect()
    }

    fn encoded(&mut self) -> String {
        let look = self.look.clone();
        let mut shown = String::new();
        for row in self.window() {
            encode(&row, &look, &mut shown);
            shown.push('\n');
        }
        shown
    }
}

fn said(text: &str) -> Content {
    Content::UserMessage { text: text.to_owned(), images: Vec::new(), ran: None, typed: None }
}

/// A call without a result.
pub(super) fn call(kind: ToolKind, title: &str) -> ToolCall {
    ToolCall {
        call_id: String::new(),
        name: "tool".to_owned(),
        kind,
        title: title.to_owned(),
        input: Json::from(json!({})),
        output: None,
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    }
}

fn done(number: u32, kind: ToolKind, title: &str, result: Value) -> Fact {
    let output = Some(Envelope::new(UnixMillis(0), Ok(result)));
    ended(number, Content::ToolCall(Box::new(ToolCall { output, ..call(kind, title) })))
}

fn read(number: u32, path: &str, lines: u32) -> Fact {
    let result = json!({"content": "x", "first_line": 1, "lines": lines, "total_lines": lines});
    done(number, ToolKind::Read, &format!("read /home/ann/app/{path}"), result)
}

fn edited(number: u32, path: &str, diff: &str) -> Fact {
    let result = json!({"path": path, "diff": format!("--- {path}\n+++ {path}\n{diff}")});
    done(number, ToolKind::Edit, &format!("edit /home/ann/app/{path}"), result)
}

fn ran(number: u32, command: &str, code: i64, output: &str) -> Fact {
    done(number, ToolKind::Execute, command, json!({"exit_code": code, "stdout": output, "stderr": ""}))
}

fn denied(number: u32, command: &str, words: &str) -> Fact {
    let error = ToolFailure::new("denied", format!("the user said no: {words}"));
    let output = Some(Envelope::new(UnixMillis(0), Err(error)));
    let content = Content::ToolCall(Box::new(ToolCall { output, ..call(ToolKind::Execute, command) }));
    Fact::ItemEnded(ItemEnded { item: item(number, ItemStatus::Denied, content) })
}

fn running(number: u32, kind: ToolKind, title: &str) -> Fact {
    started(number, Content::ToolCall(Box::new(call(kind, title))))
}

fn printed(number: u32, text: &str) -> Fact {
    let Fact::ItemDelta(delta) = delta(number, text) else { unreachable!() };
    Fact::ItemDelta(ItemDelta { stream: DeltaStream::Stdout, ..delta })
}

fn plan(number: u32, steps: &[(&str, PlanStepState)]) -> Fact {
    let steps = steps.iter().map(|(text, state)| PlanStep { text: (*text).to_owned(), state: *state });
    ended(number, Content::Plan { steps: steps.collect() })
}

/// The scene in every window.
#[track_caller]
fn check(name: &str, play: impl Fn(&mut SceneStage)) {
    let mut shown = String::new();
    for size in SIZES {
        let mut stage = SceneStage::new(&palette(), size);
        play(&mut stage);
        let _ = writeln!(shown, "{}x{}", size.0, size.1);
        shown.push_str(&stage.texts().join("\n"));
        shown.push_str("\n\n");
    }
    insta::assert_snapshot!(name, shown);
}

/// The scene in one window.
#[track_caller]
fn check_once(name: &str, play: impl Fn(&mut SceneStage)) {
    let mut stage = SceneStage::new(&palette(), (100, 30));
    play(&mut stage);
    insta::assert_snapshot!(name, stage.texts().join("\n"));
}

const HUNK: &str = "@@ -41,2 +41,3 @@\n let digits = s.trim_start_matches('0');\n-let value = digits.parse::<i32>()?;\n+let value = digits.parse::<i64>()\n+    .map_err(|_| ParseError::TooLarge(span))?;\n";
