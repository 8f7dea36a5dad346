//! The budget: it is held against what was spent before each call, and a breach is never passed over.

use buddy_testkit::model::{Script, Turn, turn};

use crate::stage::{Stage, prompt, shell};

/// Two steps, of which each takes a thousand tokens.
fn two_steps() -> Vec<Turn> {
    let call = turn().call("run_shell", shell("echo ran >> effects")).usage(900, 100);
    vec![call, turn().text("Done.").usage(900, 100)]
}

async fn stage() -> Stage {
    Stage::new(Script::from(two_steps()).by_history().repeating_last()).await
}

/// Fails unless the second and last call only asked for a report.
fn assert_report(stage: &Stage) {
    let requests = stage.requests();
    assert_eq!(requests.len(), 2, "one report and no further call");
    assert_eq!(requests[1].body["tool_choice"], "none");
    assert!(prompt(&requests[1].body).contains("the budget is used up"), "{:#}", requests[1].body);
    assert_eq!(stage.home.text("effects"), "ran\n");
}

#[tokio::test]
async fn tokens_that_are_used_up_stop_the_next_call() {
    let tight = stage().await;
    let finished = tight.exec(["--max-tokens", "1000", "go"]).run().await.expect_code(4);
    finished.expect_stderr("the budget is used up");
    assert_report(&tight);
    let ample = stage().await;
    ample.exec(["--max-tokens", "1001", "go"]).run().await.expect_code(0);
    assert_eq!(ample.requests().len(), 2);
}

#[tokio::test]
async fn model_calls_that_are_used_up_stop_the_next_one_also_when_the_session_goes_on() {
    let stage = stage().await;
    let finished = stage.exec(["-c", "budget.max_turns=1", "go"]).run().await.expect_code(4);
    finished.expect_stderr("the budget is used up");
    assert_report(&stage);
    stage.exec(["-c", "budget.max_turns=1", "--last", "more"]).run().await.expect_code(4);
    assert_eq!(stage.requests().len(), 2, "a new turn does not get new calls, and no report");
    stage.exec(["-c", "budget.max_turns=3", "--last", "more"]).run().await.expect_code(0);
    assert_eq!(stage.requests().len(), 3, "the report counts too");
}

#[tokio::test]
async fn a_conversation_asks_before_a_model_call_beyond_the_budget() {
    let stage = stage().await;
    let mut started = stage.buddy(["-c", "budget.max_turns=1"]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("approve? [y/n]", 1).await;
    started.write(b"y\n").await;
    started.stderr.wait_for("1 of 1 model calls are made in this session", 1).await;
    assert_eq!(stage.requests().len(), 1);
    started.write(b"y\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
}

#[tokio::test]
async fn what_a_session_used_counts_when_it_goes_on() {
    let stage = stage().await;
    stage.exec(["go"]).run().await.expect_code(0);
    stage.exec(["--last", "--max-tokens", "1500", "more"]).run().await.expect_code(4);
    assert_eq!(stage.requests().len(), 2, "the session had used 2000 tokens");
}

#[tokio::test]
async fn money_is_counted_by_the_catalogue_and_never_guessed() {
    let priced = stage().await;
    let run =
        priced.exec(["--max-cost", "0.001", "go", "--output-format", "json"]).env("BUDDY_MODEL", "gpt-5");
    let finished = run.run().await.expect_code(4);
    let result: serde_json::Value = serde_json::from_str(&finished.text()).unwrap();
    // Twice 900 tokens at 1.25 and 100 at 10 dollars for a million: the report is paid for too.
    assert_eq!(result["cost"], 0.004_25);
    assert_report(&priced);
    let silent = stage().await;
    let run = silent.exec([
        "--max-cost",
        "0.001",
        "-c",
        "agent.gates.report=false",
        "go",
        "--output-format",
        "json",
    ]);
    let finished = run.env("BUDDY_MODEL", "gpt-5").run().await.expect_code(4);
    let result: serde_json::Value = serde_json::from_str(&finished.text()).unwrap();
    assert_eq!((&result["cost"], silent.requests().len()), (&0.002_125.into(), 1));
    assert_eq!(result["status"], "budget");
    let unpriced = stage().await;
    unpriced.exec(["--max-cost", "5", "go"]).run().await.expect_code(4);
    assert!(unpriced.requests().is_empty(), "a limit on money is not kept by guessing");
}

#[tokio::test]
async fn a_day_is_counted_over_all_sessions() {
    let stage = stage().await;
    let config = stage.home.path().join("buddy.toml");
    std::fs::write(&config, "[budget]\nmax_cost_per_day = 0.003\n").unwrap();
    let exec = || stage.exec(["--config", config.to_str().unwrap(), "go"]).env("BUDDY_MODEL", "gpt-5");
    exec().run().await.expect_code(0);
    exec().run().await.expect_code(4);
    assert_eq!(stage.requests().len(), 2, "a new session does not get a new day");
}

#[tokio::test]
async fn a_conversation_asks_and_goes_on_when_it_is_allowed() {
    let stage = stage().await;
    let config = stage.home.path().join("buddy.toml");
    std::fs::write(&config, "[budget]\nmax_tokens = 1000\n").unwrap();
    let mut started = stage.buddy(["--config", config.to_str().unwrap()]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("approve? [y/n]", 1).await;
    started.write(b"y\n").await;
    started.stderr.wait_for("go on beyond the budget", 1).await;
    assert_eq!(stage.requests().len(), 1);
    started.write(b"y\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
}

#[tokio::test]
async fn what_was_spent_today_counts_for_a_run_of_which_nothing_stays() {
    let stage = stage().await;
    let go = |flags: &[&str]| {
        let day = ["-c", "budget.max_cost_per_day=0.004"];
        stage.exec(["go"]).args(day).args(flags).env("BUDDY_MODEL", "gpt-5").run()
    };
    go(&["--ephemeral"]).await.expect_code(0);
    go(&[]).await.expect_code(0);
    go(&["--ephemeral"]).await.expect_code(4);
    assert_eq!(stage.requests().len(), 4, "the third run calls no model");
}
