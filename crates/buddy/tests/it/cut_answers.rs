//! Answers that were cut off, and answers without end: nothing of them runs, and what they take has a bound.

use std::fs;
use std::time::Duration;

use buddy_protocol::{Content, ItemStatus, TurnOutcome};
use buddy_testkit::model::{Turn, turn};

use crate::stage::{Stage, shell};

/// Far above what any of these runs needs.
const BOUND: Duration = Duration::from_mins(1);

const MIB: u64 = 1024 * 1024;

/// The most that an endless answer may leave on the disk: its text in the log, in the index of words and in the log ahead.
const MAX_STORED: u64 = 64 * MIB;

fn write_sentinel() -> Turn {
    turn().call("run_shell", shell("touch sentinel"))
}

#[tokio::test]
async fn a_whole_call_in_an_answer_that_was_cut_does_not_run() {
    let cut = ["length", "content_filter", "refusal", "nobody_knows"];
    let cut = cut.map(|reason| (reason, write_sentinel().stop(reason)));
    let refused = ("a refusal beside it", write_sentinel().refusal("I will not."));
    for (reason, answer) in cut.into_iter().chain([refused]) {
        let stage = Stage::new([answer, turn().text("I stop here.")]).await;
        let finished = stage.exec(["go"]).within(BOUND).run().await.expect_code(0);
        assert_eq!(finished.stdout, b"I stop here.\n", "{reason}: {finished}");
        assert!(!stage.home.work().join("sentinel").exists(), "{reason}: {finished}");
        assert_eq!(stage.requests().len(), 2, "{reason}");
        assert_eq!(stage.results()[0]["error"]["code"], "answer_cut", "{reason}");
        let log = stage.only_log().await;
        let calls = log.transcript.items().iter().filter(|item| matches!(item.content, Content::ToolCall(_)));
        assert!(calls.clone().count() == 1 && calls.clone().all(|call| call.status == ItemStatus::Failed));
    }
}

#[tokio::test]
async fn the_same_call_in_a_whole_answer_runs() {
    let stage = Stage::new([write_sentinel().stop("stop"), turn().text("Done.")]).await;
    stage.exec(["go"]).within(BOUND).run().await.expect_code(0);
    assert!(stage.home.work().join("sentinel").exists());
}

#[tokio::test]
async fn a_model_whose_answers_are_always_cut_is_given_up() {
    let turns: Vec<Turn> = (0..9).map(|_| write_sentinel().stop("length")).collect();
    let stage = Stage::new(turns).await;
    let finished = stage.exec(["go"]).within(BOUND).run().await.expect_code(1);
    assert!(!stage.home.work().join("sentinel").exists(), "{finished}");
    assert_eq!(stage.requests().len(), 3, "{finished}");
    assert_eq!(stage.only_log().await.transcript.last_turn().unwrap().outcome, TurnOutcome::Failed);
}

#[tokio::test]
async fn an_answer_without_end_is_cut_and_runs_nothing() {
    let text = "word ".repeat(4096);
    for (what, endless) in [
        ("text", turn().text(text.clone())),
        ("reasoning", turn().reasoning(text.clone())),
        ("arguments", turn().call_raw("run_shell", text.clone())),
        ("after a call", turn().call("run_shell", shell("touch sentinel")).text(text.clone())),
    ] {
        let stage = Stage::new([endless.chunk_chars(4096).endless_after(5)]).await;
        let finished = stage.exec(["go"]).within(BOUND).run().await.expect_code(1);
        assert_eq!(stage.requests().len(), 1, "{what}: {finished}");
        assert!(!stage.home.work().join("sentinel").exists(), "{what}: {finished}");
        let files = fs::read_dir(stage.home.data()).unwrap().flatten();
        let stored: u64 = files.map(|file| file.metadata().map_or(0, |found| found.len())).sum();
        assert!(stored < MAX_STORED, "{what}: {stored} bytes are stored");
        assert!(finished.peak_memory < 400 * MIB, "{what}: {} bytes of memory", finished.peak_memory);
        let log = stage.only_log().await;
        assert_eq!(log.transcript.last_turn().unwrap().outcome, TurnOutcome::Failed, "{what}");
    }
}
