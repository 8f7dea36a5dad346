//! A turn at work: calls, a plan, an answer that streams, and what is said meanwhile.

use super::*;

const CLIPPY: &str = "    Checking parser v0.4.0\nerror: unused variable: `tail`\n  --> src/parser.rs:57:9\n   |\n57 |     let tail = 1;\n   |         ^^^^\n   = note: `-D unused-variables`\nerror: could not compile `parser` (lib)\n";

pub(super) fn tools(stage: &mut SceneStage) {
    stage.prompt("fix the overflow in parse_number and make sure clippy is clean");
    let found = json!({"matches": "a:1: x\na:2: x\nb:1: x", "files": 2});
    let process = json!({"id": "proc-1f00a2c4", "condition": "running"});
    let passed = "running 41 tests\n\ntest result: ok. 41 passed; 0 failed; 0 ignored\n";
    stage.facts([
        ended(1, message("I’ll look at the function and its callers first.")),
        read(2, "src/parser.rs", 280),
        read(3, "src/lexer.rs", 201),
        done(4, ToolKind::Search, "search /home/ann/app/src for parse_number", found),
        edited(5, "src/parser.rs", HUNK),
        running(6, ToolKind::Execute, "cargo test -p parser"),
    ]);
    stage.seat.wait(4_200);
    stage.facts([
        ran(6, "cargo test -p parser", 0, passed),
        ran(7, "cargo clippy -- -D warnings", 101, CLIPPY),
        done(8, ToolKind::Execute, "cargo watch -x check", process),
        running(9, ToolKind::Execute, "cargo build --release"),
        printed(9, "   Compiling lexer v0.2.0\n   Compiling parser v0.4.0\n   Compiling app v1.2.0\n"),
    ]);
    stage.used(76_000, 420_000);
    stage.seat.wait(9_000);
}

#[test]
fn calls() {
    check("tools", tools);
}

#[test]
fn reads_that_follow_each_other_are_one_row() {
    let mut stage = SceneStage::new(&palette(), (60, 20));
    stage.prompt("look around");
    stage.facts((1..6).map(|number| read(number, &format!("src/module_{number}.rs"), 10)));
    stage.fact(read(6, "src/module_1.rs", 4));
    let live = stage.texts();
    let row = "  ✓ Read    src/module_1.rs, 4 more  5 files, 54 lines";
    assert!(live.contains(&row.to_owned()), "{live:#?}");
    assert!(!stage.finished.iter().any(|row| row.text().contains("module")), "others may join it");
    stage.fact(ran(7, "true", 0, ""));
    let finished: Vec<String> = stage.finished.iter().map(StyledLine::text).collect();
    assert_eq!(finished[finished.len() - 2..], [row, "  ✓ Ran     true"], "{finished:#?}");
}

#[test]
fn a_read_that_failed_and_another_verb_have_rows_of_their_own() {
    let mut stage = SceneStage::new(&palette(), (80, 24));
    stage.prompt("look around");
    let failed = Err(ToolFailure::new("not_found", "there is no such file"));
    let output = Some(Envelope::new(UnixMillis(0), failed));
    let content = Content::ToolCall(Box::new(ToolCall { output, ..call(ToolKind::Read, "read b.rs") }));
    let found = json!({"matches": "a:1: x\na:2: x", "files": 1});
    stage.facts([
        read(1, "a.rs", 1),
        Fact::ItemEnded(ItemEnded { item: item(2, ItemStatus::Failed, content) }),
        read(3, "c.rs", 2),
        done(4, ToolKind::Search, "search /home/ann/app for x", found),
        started(5, message("")),
        delta(5, "So"),
    ]);
    let finished: Vec<String> = stage.finished.iter().map(StyledLine::text).collect();
    assert_eq!(
        finished[1..],
        [
            "",
            "  ✓ Read    a.rs  1 line",
            "  ✗ Read    b.rs  failed",
            "            there is no such file",
            "  ✓ Read    c.rs  2 lines",
            "  ✓ Found   “x” in .  2 matches in 1 file",
        ]
    );
}

#[test]
fn a_command_that_failed_shows_the_two_lines_that_say_why() {
    let rows = |output: &str, columns| {
        let mut stage = SceneStage::new(&palette(), (columns, 24));
        stage.prompt("go");
        stage.fact(ran(1, "make", 2, output));
        stage.finished.iter().skip(3).map(StyledLine::text).collect::<Vec<_>>()
    };
    assert_eq!(
        rows(CLIPPY, 80),
        [
            "            error: unused variable: `tail`",
            "              --> src/parser.rs:57:9",
            "            … 6 more lines  ctrl+o show",
        ]
    );
    assert_eq!(rows(CLIPPY, 40)[2], "    … 6 more lines");
    assert_eq!(rows("one\ntwo\nthree\n", 80)[..2], ["            one", "            two"]);
    assert_eq!(rows("one\ntwo\n", 80).len(), 2, "nothing is left out");
    let end = "1\n2\n3\n4\nfatal: it broke\n";
    assert_eq!(rows(end, 80)[..2], ["            4", "            fatal: it broke"]);
}

#[test]
fn a_silent_command_says_so_and_how_to_send_it_away() {
    let shown = |seconds: u64| {
        let mut stage = SceneStage::new(&palette(), (100, 30));
        stage.prompt("go");
        stage.fact(running(1, ToolKind::Execute, "make"));
        stage.seat.wait(seconds * 1000);
        stage.texts().into_iter().find(|row| row.contains("make")).unwrap()
    };
    assert_eq!(shown(1), "  ● Run     make");
    assert_eq!(shown(4), "  ● Run     make  4s");
    assert_eq!(shown(6), "  ● Run     make  6s   ctrl+b background");
    assert_eq!(shown(12), "  ● Run     make  12s, quiet 12s   ctrl+b background");
}

pub(super) fn planned(stage: &mut SceneStage) {
    stage.prompt("add rate limiting to the public API");
    stage.fact(Fact::SessionChanged(SessionChanged {
        approvals: Some(buddy_protocol::ApprovalPolicy::Edits),
        ..SessionChanged::default()
    }));
    stage.facts([
        ended(1, message("The routes are in one place, so this is small.")),
        read(2, "src/api/mod.rs", 400),
        read(3, "src/api/routes.rs", 240),
        edited(4, "src/api/limit.rs", "@@ -0,0 +1,2 @@\n+pub struct Bucket;\n+\n"),
        plan(
            5,
            &[
                ("Read the routes", PlanStepState::Done),
                ("Write a token bucket", PlanStepState::Done),
                ("Apply it to public routes", PlanStepState::Active),
                ("Return 429 with Retry-After", PlanStepState::Pending),
                ("Test under load", PlanStepState::Pending),
            ],
        ),
        done(6, ToolKind::Think, "plan: 2 of 5 done", json!({"steps": 5})),
    ]);
    stage.used(62_000, 270_000);
    stage.seat.wait(42_000);
}

#[test]
fn a_plan_is_a_card_above_the_input() {
    check("plan", planned);
}

#[test]
fn a_plan_is_finished_once_and_a_key_hides_it() {
    let mut stage = SceneStage::new(&palette(), (80, 24));
    planned(&mut stage);
    assert!(!stage.finished.iter().any(|row| row.text().contains("Plan")), "it may still change");
    stage.seat.press("ctrl-t");
    assert!(!stage.texts().iter().any(|row| row.contains("Plan  2 of 5")));
    stage.end_turn();
    let plans =
        |stage: &SceneStage| stage.finished.iter().filter(|row| row.text().contains("Plan  2 of 5")).count();
    assert_eq!(plans(&stage), 1);
    assert!(!stage.seat.console.frame(24).rows.iter().any(|row| row.text().contains("Plan  2")));
    stage.prompt("go on");
    stage.fact(plan(9, &[("Read", PlanStepState::Done)]));
    assert!(stage.finished.iter().any(|row| row.text().contains("Plan  1 of 1")), "it is done");
}

#[test]
fn a_long_plan_shows_the_steps_around_the_current_one() {
    let names: Vec<String> = (1..=12).map(|number| format!("Step {number}")).collect();
    let state = |at: usize| match at.cmp(&6) {
        std::cmp::Ordering::Less => PlanStepState::Done,
        std::cmp::Ordering::Equal => PlanStepState::Active,
        std::cmp::Ordering::Greater => PlanStepState::Pending,
    };
    let steps: Vec<(&str, PlanStepState)> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), state(at))).collect();
    let mut stage = SceneStage::new(&palette(), (80, 24));
    stage.prompt("go");
    stage.fact(plan(1, &steps));
    let texts = stage.texts();
    let first = texts.iter().position(|row| row.contains("Plan  6 of 12")).unwrap();
    assert_eq!(
        texts[first + 1..first + 7],
        ["  ✓ Step 6", "  ● Step 7", "  ○ Step 8", "  ○ Step 9", "  ○ Step 10", "    … 7 more"]
    );
}

pub(super) fn steered(stage: &mut SceneStage) {
    stage.prompt("add an integration test for the limiter");
    stage.facts([
        ended(1, message("I’ll start a server on a free port and send it a burst.")),
        read(2, "tests/common/mod.rs", 88),
        ran(
            3,
            "cargo test --test limit",
            101,
            "thread 'burst' panicked: expected 429, got 200\ntest result: FAILED. 0 passed; 1 failed\n",
        ),
        running(4, ToolKind::Edit, "edit /home/ann/app/src/api/limit.rs"),
    ]);
    stage.used(88_000, 510_000);
    stage.seat.write("use the fixture in tests/common, don’t start a server");
    stage.seat.press("enter");
    stage.seat.write("then add a line to the changelog");
    stage.seat.press("tab");
    stage.seat.write("and keep the burst at 50 requests");
    stage.seat.wait(4_000);
}

#[test]
fn steering() {
    check("steering", steered);
}

#[test]
fn what_steers_is_gone_once_it_is_read_and_what_is_queued_can_be_edited() {
    let mut stage = SceneStage::new(&palette(), (100, 30));
    steered(&mut stage);
    let is_shown = |stage: &mut SceneStage, text: &str| stage.texts().iter().any(|row| row.starts_with(text));
    assert!(is_shown(&mut stage, "  steer   use the fixture"));
    stage.fact(ended(20, said("use the fixture in tests/common, don’t start a server")));
    assert!(!is_shown(&mut stage, "  steer"));
    stage.seat.console.draft.set("");
    stage.seat.press("up");
    assert_eq!(stage.seat.draft(), "then add a line to the changelog");
    assert!(!is_shown(&mut stage, "  next"));
}

const ANSWER: &str = "Two places copy the whole input. The profile of a 40 MB file:\n\n| function | time | share | cause |\n|---|---|---|---|\n| `Lexer::new` | 1.84 s | 61% | clones the source into a String |\n| `Parser::peek` | 0.71 s | 24% | allocates a token per look-ahead |\n\nBorrow the source instead of owning it:\n\n```rust\npub struct Lexer<'a> {\n    source: &'a str,   // was: String\n    offset: usize,\n}\n```\n\n1. Change `Lexer::new` to take `&str`\n2. Return `Option<&Token>` from `peek`\n   - callers that need to keep a token clone it\n3. Cache line starts once, so `Span::line` is a binary sear";

pub(super) fn streaming(stage: &mut SceneStage) {
    stage.prompt("why is the parser slow on large files?");
    stage.fact(started(1, message("")));
    for word in ANSWER.split_inclusive(' ') {
        stage.fact(delta(1, word));
    }
    stage.used(44_000, 110_000);
    stage.seat.wait(9_000);
}

#[test]
fn an_answer_that_streams() {
    check("streaming", streaming);
}

#[test]
fn answered_questions_are_rows_of_calls() {
    check_once("answered", |stage| {
        stage.prompt("fix the overflow, test it and publish the branch");
        stage.fact(ended(1, message("The fix is in. Next I want to check it.")));
        let grant = GrantWish { offer: 0, words: None, scope: GrantScope::Session, seconds: 60 };
        for (number, command, answer) in [
            (2, "cargo test -p parser", Answer::allow()),
            (4, "git push origin parser-fix", Answer::grant(grant)),
        ] {
            let Fact::Asked(Asked { ask }) = asked(command) else { unreachable!() };
            let id = item(number, ItemStatus::Pending, message("")).id;
            stage.fact(Fact::Asked(Asked { ask: Ask { item: Some(id), ..ask } }));
            stage.fact(Fact::Answered(Answered { ask: ask_id(), answer }));
            let output = if number == 2 { "a\ntest result: ok. 41 passed; 0 failed\n" } else { "" };
            stage.fact(ran(number, command, 0, output));
            if number == 2 {
                stage.fact(denied(
                    3,
                    "git push --force origin main",
                    "push a branch instead, and open a pull request",
                ));
            }
        }
        stage.fact(ended(5, message("Pushed parser-fix. I left main alone.")));
        stage.used(78_000, 440_000);
        stage.end_turn();
    });
}

/// A fact about an item of this step.
fn of_step(step: u32, fact: Fact) -> Fact {
    match fact {
        Fact::ItemStarted(ItemStarted { item }) => {
            Fact::ItemStarted(ItemStarted { item: Item { step: Some(step), ..item } })
        }
        Fact::ItemEnded(ItemEnded { item }) => {
            Fact::ItemEnded(ItemEnded { item: Item { step: Some(step), ..item } })
        }
        other => other,
    }
}

#[test]
fn a_prompt_that_steers_stands_below_the_answer_that_was_under_way() {
    let mut stage = SceneStage::new(&palette(), (100, 30));
    stage.fact(Fact::TurnStarted(TurnStarted { turn: turn() }));
    stage.fact(of_step(1, ended(900, said("count the files"))));
    assert!(stage.finished.iter().any(|row| row.text() == "› count the files"), "the first one begins");
    stage.facts([of_step(1, started(1, message(""))), delta(1, "There are\n\nmany of them, ")]);
    // Another face sent it.
    stage.fact(of_step(2, ended(901, said("only the tests"))));
    let is_waiting =
        |stage: &mut SceneStage| stage.texts().iter().any(|row| row.starts_with("  steer   only the"));
    assert!(is_waiting(&mut stage));
    stage.facts([
        delta(1, "about forty."),
        of_step(1, ended(1, message("There are\n\nmany of them, about forty."))),
    ]);
    stage.fact(of_step(1, ran(2, "ls tests", 0, "a\n")));
    assert!(is_waiting(&mut stage), "it is read after the calls of the step");
    stage.facts([of_step(2, started(3, message(""))), delta(3, "Three tests.")]);
    assert!(!is_waiting(&mut stage));
    stage.fact(of_step(2, ended(3, message("Three tests."))));
    let rows: Vec<String> =
        stage.finished.iter().map(StyledLine::text).filter(|row| !row.is_empty()).collect();
    assert_eq!(
        rows[1..],
        [
            "● There are",
            "  many of them, about forty.",
            "  ✓ Ran     ls tests  a",
            "› only the tests",
            "● Three tests.",
        ]
    );
}

#[test]
fn a_prompt_that_nobody_read_is_shown_when_the_turn_ends() {
    let mut stage = SceneStage::new(&palette(), (100, 30));
    stage.fact(Fact::TurnStarted(TurnStarted { turn: turn() }));
    stage.fact(of_step(1, ended(900, said("go"))));
    stage.facts([
        of_step(1, started(1, message(""))),
        delta(1, "Well"),
        of_step(2, ended(901, said("stop"))),
    ]);
    stage.end_turn();
    let rows: Vec<String> =
        stage.finished.iter().map(StyledLine::text).filter(|row| !row.is_empty()).collect();
    assert_eq!(rows, ["› go", "● Well", "› stop"]);
    assert!(!stage.texts().iter().any(|row| row.starts_with("  steer")));
}

#[test]
fn folded_output_has_its_call_as_heading_and_another_press_goes_further_back() {
    let mut stage = SceneStage::new(&palette(), (100, 30));
    stage.prompt("go");
    stage.facts([ran(1, "make", 2, "a\nb\nc\nd\n"), ran(2, "ls", 0, "x\ny\n")]);
    let press = |stage: &mut SceneStage| {
        stage.finished.clear();
        stage.seat.press("ctrl-o");
        stage.finished.extend(stage.seat.console.take_rows());
        stage.finished.iter().map(StyledLine::text).filter(|row| !row.is_empty()).collect::<Vec<String>>()
    };
    assert_eq!(press(&mut stage), ["  Ran ls", "  x", "  y"]);
    assert_eq!(press(&mut stage), ["  Ran make", "  a", "  b", "  c", "  d"]);
    assert_eq!(
        press(&mut stage),
        ["  There is no earlier folded output. The next press starts again with the newest."]
    );
    assert_eq!(press(&mut stage)[0], "  Ran ls");
    stage.fact(ran(3, "pwd", 0, "x\nz\n"));
    assert_eq!(press(&mut stage)[0], "  Ran pwd", "what is new comes first");
}
