//! Whole screens of a conversation: finished rows with the live rows below them, in windows of every size.

use std::fmt::Write;

use buddy_protocol::{
    Envelope, Json, MicroUsd, PlanStep, PlanStepState, ToolCall, ToolFailure, ToolKind, Usage, UsageReported,
};
use serde_json::{Value, json};

use super::*;
use crate::text::{Colors, Theme, encode};

/// The windows that key scenes are shown in.
pub(super) const SIZES: [(usize, usize); 4] = [(40, 15), (80, 24), (100, 30), (200, 50)];

/// A conversation in a window.
pub(super) struct Stage {
    pub(super) seat: Seat,
    finished: Vec<Line>,
    look: Look,
}

pub(super) fn palette() -> Look {
    Look { colors: Colors::Palette, home: "/home/ann".to_owned(), ..Look::plain() }
}

impl Stage {
    /// A conversation in `~/app` in which nothing was said.
    pub(super) fn new(look: &Look, (columns, height): (usize, usize)) -> Self {
        let now = Instant::now();
        let console = Console::new(session(1), look.clone(), columns, Vec::new(), now);
        let painter = Painter::new(look.clone(), columns, height);
        let seat = Seat { console, painter, now, seq: 0 };
        let mut stage = Self { seat, finished: Vec::new(), look: look.clone() };
        let Fact::SessionStarted(started) = begun() else { unreachable!() };
        stage.fact(Fact::SessionStarted(SessionStarted { cwd: "/home/ann/app".to_owned(), ..started }));
        let surroundings = Surroundings {
            model: "sonnet-4.5".to_owned(),
            window: Some(200_000),
            branch: Some("main".to_owned()),
            ..Surroundings::default()
        };
        stage.seat.take(Input::Reply(Reply::Surroundings(surroundings)));
        stage
    }

    pub(super) fn fact(&mut self, fact: Fact) {
        self.seat.fact(1, fact);
        self.finished.extend(self.seat.console.take_rows());
    }

    pub(super) fn facts(&mut self, facts: impl IntoIterator<Item = Fact>) {
        facts.into_iter().for_each(|fact| self.fact(fact));
    }

    /// The user says something, and a turn begins with it.
    pub(super) fn prompt(&mut self, text: &str) {
        self.fact(Fact::TurnStarted(TurnStarted { turn: turn(), by: Principal::person("ann") }));
        self.fact(ended(900, said(text)));
    }

    /// The model has used so many tokens of its window, at this cost.
    pub(super) fn used(&mut self, input: u64, cost: u64) {
        let usage = Usage { input, ..Usage::default() };
        self.fact(Fact::UsageReported(UsageReported {
            turn: turn(),
            model: "sonnet-4.5".to_owned(),
            usage,
            cost: Some(MicroUsd(cost)),
            step: None,
        }));
    }

    pub(super) fn end_turn(&mut self) {
        self.seat.end_turn();
        self.finished.extend(self.seat.console.take_rows());
    }

    /// The window: as many of the finished rows as fit above the live ones.
    pub(super) fn window(&mut self) -> Vec<Line> {
        self.seat.paint();
        let height = self.seat.painter.height();
        let live = self.seat.console.frame(height).rows;
        let room = height.saturating_sub(live.len());
        let finished = self.finished.iter().skip(self.finished.len().saturating_sub(room)).cloned();
        let rows: Vec<Line> = finished.chain(live).collect();
        for row in &rows {
            assert!(row.width() <= self.seat.console.columns, "too wide: {}", row.text());
        }
        assert!(rows.len() <= height, "{} rows in a window of {height}", rows.len());
        rows
    }

    pub(super) fn texts(&mut self) -> Vec<String> {
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

pub(super) fn said(text: &str) -> Content {
    Content::UserMessage { text: text.to_owned(), images: Vec::new(), ran: None }
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
    }
}

pub(super) fn done(number: u32, kind: ToolKind, title: &str, result: Value) -> Fact {
    let output = Some(Envelope::new(UnixMillis(0), Ok(result)));
    ended(number, Content::ToolCall(Box::new(ToolCall { output, ..call(kind, title) })))
}

pub(super) fn read(number: u32, path: &str, lines: u32) -> Fact {
    let result = json!({"content": "x", "first_line": 1, "lines": lines, "total_lines": lines});
    done(number, ToolKind::Read, &format!("read /home/ann/app/{path}"), result)
}

pub(super) fn edited(number: u32, path: &str, diff: &str) -> Fact {
    let result = json!({"path": path, "diff": format!("--- {path}\n+++ {path}\n{diff}")});
    done(number, ToolKind::Edit, &format!("edit /home/ann/app/{path}"), result)
}

pub(super) fn ran(number: u32, command: &str, code: i64, output: &str) -> Fact {
    done(number, ToolKind::Execute, command, json!({"exit_code": code, "stdout": output, "stderr": ""}))
}

pub(super) fn denied(number: u32, command: &str, words: &str) -> Fact {
    let error = ToolFailure::new("denied", format!("the user said no: {words}"));
    let output = Some(Envelope::new(UnixMillis(0), Err(error)));
    let content = Content::ToolCall(Box::new(ToolCall { output, ..call(ToolKind::Execute, command) }));
    Fact::ItemEnded(ItemEnded { item: item(number, ItemStatus::Denied, content) })
}

pub(super) fn running(number: u32, kind: ToolKind, title: &str) -> Fact {
    started(number, Content::ToolCall(Box::new(call(kind, title))))
}

pub(super) fn printed(number: u32, text: &str) -> Fact {
    let Fact::ItemDelta(delta) = delta(number, text) else { unreachable!() };
    Fact::ItemDelta(ItemDelta { stream: DeltaStream::Stdout, ..delta })
}

pub(super) fn plan(number: u32, steps: &[(&str, PlanStepState)]) -> Fact {
    let steps = steps.iter().map(|(text, state)| PlanStep { text: (*text).to_owned(), state: *state });
    ended(number, Content::Plan { steps: steps.collect() })
}

/// The scene in every window.
#[track_caller]
pub(super) fn check(name: &str, play: impl Fn(&mut Stage)) {
    let mut shown = String::new();
    for size in SIZES {
        let mut stage = Stage::new(&palette(), size);
        play(&mut stage);
        let _ = writeln!(shown, "{}x{}", size.0, size.1);
        shown.push_str(&stage.texts().join("\n"));
        shown.push_str("\n\n");
    }
    insta::assert_snapshot!(name, shown);
}

/// The scene in one window.
#[track_caller]
pub(super) fn check_once(name: &str, play: impl Fn(&mut Stage)) {
    let mut stage = Stage::new(&palette(), (100, 30));
    play(&mut stage);
    insta::assert_snapshot!(name, stage.texts().join("\n"));
}

const HUNK: &str = "@@ -41,2 +41,3 @@\n let digits = s.trim_start_matches('0');\n-let value = digits.parse::<i32>()?;\n+let value = digits.parse::<i64>()\n+    .map_err(|_| ParseError::TooLarge(span))?;\n";

fn turn_done(stage: &mut Stage) {
    stage.prompt("fix the overflow in parse_number");
    stage.facts([
        edited(1, "src/parser.rs", HUNK),
        ended(2, message("Fixed. `parse_number` now reads `i64`.")),
    ]);
    stage.used(76_000, 180_000);
    stage.seat.wait(134_000);
    stage.end_turn();
}

#[test]
fn the_end_of_a_turn() {
    check("turn_done", turn_done);
}

#[test]
fn the_end_of_a_turn_tells_only_what_is_true() {
    let last = |play: &dyn Fn(&mut Stage)| {
        let mut stage = Stage::new(&palette(), (100, 30));
        stage.prompt("go");
        play(&mut stage);
        stage.end_turn();
        stage.finished.last().map(Line::text).unwrap_or_default()
    };
    let short = |stage: &mut Stage| stage.fact(ended(1, message("Yes.")));
    assert_eq!(last(&short), "● Yes.", "a short answer needs no sum");
    let long = |stage: &mut Stage| stage.seat.wait(64_000);
    assert_eq!(last(&long), "  1m 04s");
    let quick_edit = |stage: &mut Stage| stage.fact(edited(1, "a.rs", HUNK));
    assert_eq!(last(&quick_edit), "  1 file +2 −1   /diff review   /undo take it back");
    let no_repository = |stage: &mut Stage| {
        stage.seat.take(Input::Reply(Reply::Surroundings(Surroundings::default())));
        stage.fact(edited(1, "a.rs", HUNK));
    };
    assert_eq!(last(&no_repository), "  1 file +2 −1   /undo take it back");
    let only_shown = |stage: &mut Stage| {
        let diff = json!({"diff": format!("--- a\n+++ a\n{HUNK}")});
        stage.fact(done(1, ToolKind::Read, "git diff", diff));
    };
    assert!(!last(&only_shown).contains("/undo"), "a diff that is read changes nothing");
    let twice = |stage: &mut Stage| stage.facts([edited(1, "a.rs", HUNK), edited(2, "a.rs", HUNK)]);
    assert!(last(&twice).starts_with("  1 file +4 −2"));
}

#[test]
fn the_cost_of_a_turn_is_its_own() {
    let mut stage = Stage::new(&palette(), (100, 30));
    stage.prompt("one");
    stage.used(1_000, 500_000);
    stage.end_turn();
    stage.prompt("two");
    stage.used(1_000, 20_000);
    stage.seat.wait(20_000);
    stage.end_turn();
    assert_eq!(stage.finished.last().map(Line::text).unwrap(), "  20s   $0.02");
}

#[test]
fn leaving_sums_up_the_conversation() {
    let mut stage = Stage::new(&palette(), (80, 24));
    assert_eq!(stage.seat.console.farewell_rows().len(), 1, "nothing was said");
    turn_done(&mut stage);
    let title = Some("Fix the overflow in parse_number".to_owned());
    stage.fact(Fact::SessionChanged(SessionChanged { title, ..SessionChanged::default() }));
    let commit = json!({"commit": "0123456789abcdef", "subject": "parser: read i64"});
    stage.fact(done(3, ToolKind::Edit, "git commit", commit));
    let rows: Vec<String> = stage.seat.console.farewell_rows().iter().map(Line::text).collect();
    assert_eq!(
        rows,
        [
            "",
            "  Fix the overflow in parse_number",
            "  time      2m 14s",
            "  changes   1 file +2 −1, 1 commit",
            "  cost      $0.18  76.0k tokens in, 0 out",
        ]
    );
}
