//! Interrupts and steering at every moment of a turn, made certain with gates; then a further prompt, whose history a
//! strict server must take.

use std::time::Duration;

use buddy_protocol::{ItemStatus, TurnOutcome};
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::processes;
use buddy_testkit::program::Started;
use rustix::process::Signal;

use crate::stage::{Log, Stage, said, shell};

/// When the signal comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    BeforeFirstByte,
    MidReasoning,
    MidText,
    MidArguments,
    DuringTool,
    DuringAsk,
}

impl Moment {
    fn answer(self) -> Turn {
        match self {
            Self::BeforeFirstByte => turn().hang_after(0),
            Self::MidReasoning => turn().reasoning("Let me think").gate("here").text("Never said."),
            Self::MidText => turn().text("Half of").gate("here").text(" it."),
            Self::MidArguments => turn()
                .text("I will.")
                .call("run_shell", shell("touch sentinel"))
                .chunk_chars(8)
                .gate_after(6, "here"),
            Self::DuringTool => turn().call("run_shell", shell("touch began; sleep 60; touch sentinel")),
            Self::DuringAsk => turn().text("May I?").call("run_shell", shell("touch sentinel")),
        }
    }

    async fn wait(self, stage: &Stage, started: &mut Started) {
        match self {
            Self::BeforeFirstByte => drop(stage.server.wait_for_requests(1).await),
            Self::MidReasoning | Self::MidText | Self::MidArguments => {
                stage.server.gate("here").reached().await;
            }
            Self::DuringTool => {
                while !stage.home.work().join("began").exists() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            Self::DuringAsk => started.stderr.wait_for("approve? [y/n]", 1).await,
        }
    }

    /// Checks of the log whatever face it was.
    fn check(self, log: &Log) {
        assert_eq!(log.transcript.open_items().count(), 0, "{self:?}");
        assert!(log.transcript.asks().is_empty(), "{self:?}");
        let statuses: Vec<ItemStatus> = log.calls().iter().map(|(item, _)| item.status).collect();
        let expected: &[ItemStatus] = match self {
            Self::DuringTool | Self::DuringAsk => &[ItemStatus::Interrupted],
            _ => &[],
        };
        assert_eq!(statuses, expected, "{self:?}");
    }
}

async fn stage(moment: Moment) -> Stage {
    Stage::new([moment.answer(), turn().text("Going on.")]).await
}

async fn check_exec(moment: Moment) {
    let stage = stage(moment).await;
    let mut started = stage.exec(["go"]).start();
    moment.wait(&stage, &mut started).await;
    started.signal(Signal::INT);
    started.finish().await.expect_code(130);
    let log = stage.only_log().await;
    moment.check(&log);
    assert_eq!(log.transcript.last_turn().unwrap().outcome, TurnOutcome::Interrupted);
    let resumed = stage.exec(["go on", "--resume", log.session.as_str()]).run().await.expect_code(0);
    assert_eq!(resumed.stdout, b"Going on.\n");
    check_after(&stage, moment);
}

async fn check_repl(moment: Moment) {
    let stage = stage(moment).await;
    let program = stage.buddy([]);
    let mut started = program.converse();
    started.write(b"go\n").await;
    if moment == Moment::DuringTool {
        started.stderr.wait_for("approve? [y/n]", 1).await;
        started.write(b"y\n").await;
    }
    moment.wait(&stage, &mut started).await;
    started.signal(Signal::INT);
    started.stderr.wait_for("interrupted\n", 1).await;
    assert_eq!(processes::of(stage.home.path()).len(), 1, "buddy alone");
    started.write(b"go on\n").await;
    started.stdout.wait_for("Going on.", 1).await;
    started.finish().await.expect_code(0);
    moment.check(&stage.only_log().await);
    check_after(&stage, moment);
}

/// The next request has a whole history and what was said of the turn that was cut off.
fn check_after(stage: &Stage, moment: Moment) {
    assert!(!stage.home.work().join("sentinel").exists(), "{moment:?}");
    let requests = stage.requests();
    assert_eq!(requests.len(), 2, "{moment:?}");
    let body = &requests[1].body;
    assert_eq!(said(body, "user"), ["go", "go on"], "{moment:?}");
    let assistant = said(body, "assistant").concat();
    match moment {
        Moment::MidText => assert!(assistant.starts_with("Half of"), "{assistant}"),
        Moment::DuringTool | Moment::DuringAsk => assert_eq!(said(body, "tool").len(), 1),
        _ => assert!(said(body, "tool").is_empty()),
    }
}

#[tokio::test]
async fn before_the_first_byte() {
    check_exec(Moment::BeforeFirstByte).await;
    check_repl(Moment::BeforeFirstByte).await;
}

#[tokio::test]
async fn in_the_middle_of_reasoning() {
    check_exec(Moment::MidReasoning).await;
    check_repl(Moment::MidReasoning).await;
}

#[tokio::test]
async fn in_the_middle_of_text() {
    check_exec(Moment::MidText).await;
    check_repl(Moment::MidText).await;
}

#[tokio::test]
async fn in_the_middle_of_arguments() {
    check_exec(Moment::MidArguments).await;
    check_repl(Moment::MidArguments).await;
}

#[tokio::test]
async fn while_a_tool_runs() {
    check_exec(Moment::DuringTool).await;
    check_repl(Moment::DuringTool).await;
}

#[tokio::test]
async fn while_a_person_is_asked() {
    check_repl(Moment::DuringAsk).await;
}

#[tokio::test]
async fn with_nothing_under_way_the_conversation_ends() {
    let stage = Stage::new([]).await;
    let mut started = stage.buddy([]).converse();
    started.stderr.wait_for("> ", 1).await;
    started.signal(Signal::INT);
    started.finish_with_open_input().await.expect_code(130);
}

#[tokio::test]
async fn the_model_is_let_go_at_once() {
    let stage = stage(Moment::MidText).await;
    let mut started = stage.exec(["go"]).start();
    Moment::MidText.wait(&stage, &mut started).await;
    started.signal(Signal::INT);
    stage.server.wait_for_departures(1).await;
    started.finish().await.expect_code(130);
}

#[tokio::test]
async fn a_line_in_the_middle_of_an_answer_steers() {
    let stage = Stage::new([
        turn().text("First half").gate("here").text(", second half."),
        turn().text("As you wish."),
    ])
    .await;
    let mut started = stage.buddy([]).converse();
    started.write(b"go\n").await;
    stage.server.gate("here").reached().await;
    started.stdout.wait_for("First half", 1).await;
    started.write(b"but in blue\n").await;
    while stage.only_log().await.transcript.items().len() < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stage.server.gate("here").open();
    started.stdout.wait_for("As you wish.", 1).await;
    started.finish().await.expect_code(0);
    let requests = stage.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(said(&requests[1].body, "assistant"), ["First half, second half."]);
    assert_eq!(said(&requests[1].body, "user"), ["go", "but in blue"]);
    assert_eq!(stage.only_log().await.transcript.turns(), 1);
}

#[tokio::test]
async fn a_line_while_a_tool_runs_steers() {
    let wait = "touch began; while ! [ -e go ]; do sleep 0.02; done; echo went";
    let stage = Stage::new([turn().call("run_shell", shell(wait)), turn().text("As you wish.")]).await;
    let mut started = stage.buddy([]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("approve? [y/n]", 1).await;
    started.write(b"y\n").await;
    Moment::DuringTool.wait(&stage, &mut started).await;
    started.write(b"but in blue\n").await;
    while stage.only_log().await.transcript.items().len() < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    std::fs::write(stage.home.work().join("go"), "").unwrap();
    started.stdout.wait_for("As you wish.", 1).await;
    started.finish().await.expect_code(0);
    let body = stage.requests().pop().unwrap().body;
    let roles: Vec<&str> =
        body["messages"].as_array().unwrap().iter().filter_map(|m| m["role"].as_str()).collect();
    assert_eq!(roles[roles.len() - 4..], ["user", "assistant", "tool", "user"]);
    assert_eq!(said(&body, "user").pop().unwrap(), "but in blue");
    assert_eq!(stage.results()[0]["result"]["stdout"], "went\n");
}

#[tokio::test]
async fn a_call_that_was_interrupted_is_counted_by_an_estimate() {
    let stage = Stage::new([Moment::MidText.answer()]).await;
    let mut started = stage.exec(["go", "--json"]).start();
    Moment::MidText.wait(&stage, &mut started).await;
    started.signal(Signal::INT);
    let finished = started.finish().await.expect_code(130);
    let text = finished.text();
    let result: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(result["usage"]["estimated"], true, "{result}");
    assert!(result["usage"]["input"].as_u64().unwrap() > 100, "{result}");
    assert!(stage.only_log().await.transcript.bill().usage.estimated);
}
