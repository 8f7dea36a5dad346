//! The result of a run, as a program reads it: also of a run that did not begin.

use buddy_protocol::{Fact, MicroUsd};
use buddy_testkit::home::Home;
use buddy_testkit::model::turn;
use buddy_testkit::program::{Finished, Program};
use serde_json::{Value, json};

use crate::stage::{BUDDY, Printed, Stage, run, shell};

fn result(finished: &Finished) -> Value {
    let text = finished.text();
    serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_else(|_| panic!("{finished}"))
}

/// buddy in an empty home, with nothing configured.
fn bare(home: &Home) -> Program {
    Program::new(BUDDY).cwd(home.work()).env("HOME", home.path()).env("BUDDY_HOME", home.data())
}

#[tokio::test]
async fn a_run_without_any_model_ends_with_6_and_makes_no_session() {
    let home = Home::new();
    let finished = bare(&home).args(["exec", "hello"]).run().await.expect_code(6);
    assert!(finished.stdout.is_empty(), "{finished}");
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{finished}");
    assert!(lines[0].contains("buddy login") && lines[1].contains("--model demo"), "{finished}");
    assert!(!home.data().join("buddy.db").exists());
    for format in ["json", "stream-json"] {
        let program = bare(&home).args(["exec", "hello", "--output-format", format]);
        let result = result(&program.run().await.expect_code(6));
        assert_eq!((&result["status"], &result["error"]["kind"]), (&json!("auth"), &json!("model_missing")));
        assert_eq!(result["session_id"], Value::Null);
    }
    let finished = bare(&home).args(["exec", "--model", "demo", "hello"]).run().await.expect_code(0);
    assert!(finished.text().starts_with("[demo]"), "{finished}");
}

#[tokio::test]
async fn bad_usage_is_told_in_json_to_whoever_wants_json() {
    let stage = Stage::new([]).await;
    for arguments in [
        ["exec", "--json", "--nonsense", "go"].as_slice(),
        &["-p", "--output-format=json", "--max-turns", "0", "go"],
        &["exec", "--json", "--fork", "go"],
        &["exec", "--json", "-C", "/nowhere", "go"],
        &["exec", "--json", "-c", "agent.max_iterations=many", "go"],
    ] {
        let finished = stage.buddy(arguments).run().await.expect_code(2);
        let result = result(&finished);
        assert_eq!((&result["type"], &result["status"]), (&json!("result"), &json!("usage")), "{finished}");
        assert_eq!(result["error"]["kind"], "usage");
        assert!(!result["error"]["message"].as_str().unwrap().is_empty() && !finished.stderr.is_empty());
    }
    let finished = stage.buddy(["exec", "--nonsense", "go"]).run().await.expect_code(2);
    assert!(finished.stdout.is_empty(), "{finished}");
}

#[tokio::test]
async fn a_result_tells_why_the_answer_ended() {
    let long = || turn().text("Do").stop("length");
    for (answers, expected) in [
        (vec![turn().text("Done.")], "completed"),
        // An answer that was cut is asked for once more.
        (vec![long(), long()], "length"),
        (vec![turn().text("Do").stop("content_filter")], "filtered"),
        (vec![turn().refusal("No.")], "refused"),
    ] {
        let printed = Stage::new(answers).await.completed("go").await;
        assert_eq!(printed.result["stop_reason"], expected, "{:#}", printed.result);
    }
}

#[tokio::test]
async fn calls_are_counted_by_how_they_ended() {
    let calls = turn()
        .call("run_shell", shell("touch one"))
        .call("read_file", json!({"path": "nowhere"}))
        .call("time", json!({}));
    let stage = Stage::new([calls, turn().text("Done.")]).await;
    let finished = stage.buddy(["exec", "--approve", "none", "go", "--json"]).run().await.expect_code(5);
    assert_eq!(result(&finished)["calls"], json!({"total": 3, "failed": 1, "denied": 1}), "{finished}");
}

#[tokio::test]
async fn a_rate_limit_is_told_apart_from_an_overload_with_the_status() {
    for (status, kind) in [(429, "rate_limited"), (503, "unavailable"), (529, "unavailable")] {
        let stage = Stage::new([turn().error(status, "no", "not now")]).await;
        let program = stage.exec(["go", "--json", "-c", "network.retries=0"]);
        let result = result(&program.run().await.expect_code(1));
        assert_eq!(
            (&result["error"]["kind"], &result["error"]["http_status"]),
            (&json!(kind), &json!(status))
        );
        assert_eq!(result["stop_reason"], Value::Null);
    }
}

#[tokio::test]
async fn the_first_event_tells_the_conditions_and_usage_its_step() {
    let stage = Stage::new([run("echo one"), turn().text("Done.")]).await;
    let program = stage.exec(["go", "--json", "-c", "tools.web_search=false"]);
    let printed = Printed::of(&program.run().await.expect_code(0));
    let Fact::SessionStarted(started) = &printed.events[0].fact else { panic!("{:?}", printed.events[0]) };
    let began_with = started.began_with.as_ref().unwrap();
    assert_eq!(began_with.version, env!("CARGO_PKG_VERSION"));
    assert_eq!((began_with.model.as_deref(), began_with.mode.as_str()), (Some("scripted"), "development"));
    let requests = stage.requests();
    let offered = requests[0].body["tools"].as_array().unwrap();
    let offered: Vec<&str> = offered.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(began_with.tools, offered, "the tools are those that the model is told of");
    assert!(!offered.contains(&"web_search"));
    let steps = printed.events.iter().filter_map(|event| match &event.fact {
        Fact::UsageReported(report) => Some(report.step),
        _ => None,
    });
    assert_eq!(steps.collect::<Vec<_>>(), [Some(1), Some(2)]);
}

#[tokio::test]
async fn usage_has_the_cost_of_its_call_if_the_price_is_known() {
    for (model, is_priced) in [("gpt-5", true), ("scripted", false)] {
        let stage = Stage::new([run("echo one"), turn().text("Done.")]).await;
        let program = stage.exec(["go", "--json"]).env("BUDDY_MODEL", model);
        let printed = Printed::of(&program.run().await.expect_code(0));
        let costs = printed.events.iter().filter_map(|event| match &event.fact {
            Fact::UsageReported(report) => Some(report.cost),
            _ => None,
        });
        let costs: Vec<_> = costs.collect();
        assert_eq!(costs.iter().map(Option::is_some).collect::<Vec<_>>(), [is_priced; 2], "{model}");
        let sum = MicroUsd(costs.iter().flatten().map(|cost| cost.0).sum());
        let total = printed.result["cost"].as_f64().and_then(MicroUsd::from_dollars);
        assert_eq!(total, is_priced.then_some(sum), "{model}");
        assert!(!is_priced || sum > MicroUsd(0));
    }
}

#[tokio::test]
async fn a_prompt_may_begin_with_a_dash() {
    let stage = Stage::new([turn().text("Done.")]).await;
    stage.exec(["- fix this\n- and that", "--json"]).run().await.expect_code(0);
    let body = stage.requests()[0].body.to_string();
    assert!(body.contains(r"- fix this\n- and that"), "{body}");
}

/// Ends a process that a test left running, whatever comes.
struct Daemon(i32);

impl Drop for Daemon {
    fn drop(&mut self) {
        buddy_testkit::processes::signal(self.0, rustix::process::Signal::KILL);
    }
}

#[tokio::test]
async fn in_a_throwaway_place_nothing_is_asked_or_jailed_and_daemons_stay() {
    let stage = Stage::apart([
        run("echo secret > ~/.netrc && cat ~/.netrc && id -u && mkdir -p ~/elsewhere && touch ~/elsewhere/file"),
        run("cat ~/.netrc > copy; setsid sleep 600 >/dev/null 2>&1 </dev/null & echo $! > pid"),
        turn().text("Done."),
    ])
    .await;
    let finished = stage.buddy(["exec", "--throwaway", "go", "--json"]).run().await.expect_code(0);
    let printed = Printed::of(&finished);
    let Fact::SessionStarted(started) = &printed.events[0].fact else { panic!("{finished}") };
    assert_eq!(started.began_with.as_ref().unwrap().mode, "throwaway");
    assert_eq!(printed.result["calls"], json!({"total": 2, "failed": 0, "denied": 0}), "{finished}");
    let pid = std::fs::read_to_string(stage.home.work().join("pid")).unwrap().trim().parse().unwrap();
    let daemon = Daemon(pid);
    let line = std::fs::read_to_string(format!("/proc/{}/cmdline", daemon.0)).unwrap();
    assert!(line.contains("sleep"), "it runs on: {line:?}");
    assert!(stage.home.path().join("elsewhere/file").exists());
    assert_eq!(std::fs::read_to_string(stage.home.work().join("copy")).unwrap(), "secret\n");
}

#[tokio::test]
async fn throwaway_goes_with_no_other_policy_and_deny_rules_hold() {
    let stage = Stage::new([run("touch one"), turn().text("Done.")]).await;
    for other in [["--approve", "ask"], ["--permission-mode", "plan"], ["--ssh", "atlas"]] {
        let program = stage.buddy(["exec", "--throwaway", "go"]).args(other);
        program.run().await.expect_code(2).expect_stderr("--throwaway");
    }
    stage.buddy(["exec", "--throwaway", "go", "--deny", "touch *"]).run().await.expect_code(5);
    assert!(!stage.home.work().join("one").exists());
}

#[tokio::test]
async fn a_command_that_failed_is_told_in_one_line() {
    let stage = Stage::new([run("echo so what; echo no beans >&2; exit 3"), turn().text("Done.")]).await;
    let finished = stage.exec(["go"]).run().await.expect_code(0);
    let lines: Vec<&str> =
        finished.stderr.lines().filter(|line| line.trim_start().starts_with('✗')).collect();
    assert!(matches!(lines[..], [line] if line.contains("no beans") && line.contains('3')), "{finished}");
}

#[tokio::test]
async fn an_overload_of_many_tries_is_one_line_and_passes() {
    let busy = || turn().error(529, "overloaded_error", "Overloaded").header("retry-after-ms", "1");
    let turns: Vec<_> = (0..9).map(|_| busy()).chain([turn().text("Here I am.")]).collect();
    let stage = Stage::new(turns).await;
    let finished = stage.exec(["go"]).run().await.expect_code(0);
    assert_eq!(finished.text(), "Here I am.\n");
    let told = finished.stderr.lines().filter(|line| line.contains("Overloaded")).count();
    assert_eq!((told, stage.requests().len()), (1, 10), "{finished}");
}
