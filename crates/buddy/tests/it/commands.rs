//! Commands of every awkward kind, and what is left of them.

use std::time::Duration;

use buddy_protocol::ItemStatus;
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::processes;
use serde_json::{Value, json};

use crate::stage::{Stage, shell};

fn waiting(command: &str, wait: &str) -> Value {
    let mut arguments = shell(command);
    arguments["wait"] = json!(wait);
    arguments
}

/// Runs the call; the run ends well and nothing of it lives.
async fn ran(call: Value) -> (Stage, Value) {
    let stage = Stage::new([turn().call("run_shell", call), turn().text("Done.")]).await;
    let finished = stage.exec(["go"]).run().await.expect_code(0);
    assert_eq!(processes::of(stage.home.path()), [], "{finished}");
    let result = stage.results().remove(0);
    (stage, result)
}

#[tokio::test]
async fn a_command_that_never_ends_ends_with_the_run() {
    let (_, result) = ran(waiting("echo begun; sleep 60", "1s")).await;
    assert_eq!(
        (&result["ok"], &result["result"]["condition"]),
        (&json!(true), &json!("running")),
        "{result}"
    );
    assert_eq!(result["result"]["output"], "begun\n");
}

#[tokio::test]
async fn a_command_that_reads_gets_nothing() {
    for command in ["cat", "read line; echo \"[$line]\"", "cat </dev/tty || echo none"] {
        let (_, result) = ran(shell(command)).await;
        assert_ne!(result["result"]["timed_out"], true, "{command}: {result}");
    }
}

#[tokio::test]
async fn what_forks_away_does_not_stay() {
    let command =
        "(setsid sh -c 'trap \"\" TERM HUP; sleep 60 & exec sleep 61' >/dev/null 2>&1 &) ; echo gone";
    let (_, result) = ran(shell(command)).await;
    assert_eq!(result["result"]["stdout"], "gone\n");
    assert!(result["result"]["note"].as_str().unwrap().contains("left running"), "{result}");
}

#[tokio::test]
async fn a_child_that_holds_the_output_holds_up_nothing() {
    let (_, result) = ran(shell("sleep 60 & echo here")).await;
    assert_eq!(result["result"]["stdout"], "here\n");
    assert!(result["result"]["duration_ms"].as_u64().unwrap() < 3_000, "{result}");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_shown() {
    let (stage, result) = ran(shell(r"printf 'a\377\376b\303'; printf '\200' >&2")).await;
    assert_eq!(result["result"]["stdout"], "a\u{fffd}\u{fffd}b\u{fffd}");
    assert_eq!(result["result"]["stderr"], "\u{fffd}");
    let log = result["result"]["log"].as_str().unwrap();
    assert_eq!(std::fs::read(log).unwrap().iter().filter(|byte| **byte >= 0x80).count(), 4);
    drop(stage);
}

#[tokio::test]
async fn a_code_and_a_signal_are_told() {
    let (_, result) = ran(shell("echo out; echo err >&2; exit 3")).await;
    let result = &result["result"];
    assert_eq!((&result["exit_code"], &result["stdout"]), (&json!(3), &json!("out\n")));
    assert_eq!(result["stderr"], "err\n");
    let (_, result) = ran(shell("kill -SEGV $$")).await;
    assert_eq!(result["result"]["signal"], 11, "{result}");
}

#[tokio::test]
async fn a_command_that_kills_its_supervisor_is_told() {
    // In a jail it is out of reach.
    let stage = Stage::new(vec![
        turn().call("run_shell", shell("sleep 60 & kill -9 $PPID; sleep 61")),
        turn().text("Done."),
    ])
    .await;
    stage.exec(["go"]).env("BUDDY_ENV", "production").run().await.expect_code(0);
    let result = stage.results().remove(0);
    assert_eq!(result["ok"], false, "{result}");
}

#[tokio::test]
async fn a_command_that_stops_itself_is_stopped() {
    let (_, result) = ran(waiting("kill -STOP $PPID; kill -STOP $$", "1s")).await;
    assert_eq!(result["result"]["condition"], "running", "{result}");
}

fn on_terminal(command: &str, wait: &str) -> Value {
    let mut call = waiting(command, wait);
    call["terminal"] = json!(true);
    call
}

#[tokio::test]
async fn a_command_gets_a_terminal_where_it_asks_for_one() {
    let (_, result) = ran(on_terminal("test -t 0 && test -t 1 && stty size && echo $TERM", "20s")).await;
    assert_eq!(result["result"]["stdout"], "40 120\nxterm\n", "{result}");
    let (_, result) = ran(shell("test -t 0 || test -t 1 || test -t 2 || echo none")).await;
    assert_eq!(result["result"]["stdout"], "none\n", "{result}");
}

#[tokio::test]
async fn a_program_that_wants_a_person_comes_to_an_end() {
    // A prompt finds the end of the input, and a program that waits for keys ends with the run.
    let (_, result) = ran(on_terminal("read -p 'Password: ' word; echo \"[$word]\"", "20s")).await;
    assert!(result["result"]["stdout"].as_str().unwrap().contains("[]"), "{result}");
    let (_, result) = ran(on_terminal("trap '' INT HUP TERM; stty raw; head -c 9 >/dev/null", "1s")).await;
    assert_eq!(result["result"]["condition"], "running", "{result}");
    let commit = "git init -q . && GIT_EDITOR=cat git -c user.name=a -c user.email=b commit --allow-empty -q";
    let (_, result) = ran(shell(commit)).await;
    assert_ne!(result["result"]["timed_out"], true, "{result}");
}

#[tokio::test]
async fn a_request_to_end_with_ten_commands_under_way_ends_them_all() {
    let call = |number: u8| {
        let mut call = shell(&format!("trap '' TERM; touch began-{number}; sleep 60; :"));
        call["mutation"] = json!(false);
        call
    };
    let answer = (0..10).fold(turn(), |turn, number| turn.call("run_shell", call(number)));
    let stage = Stage::new([answer, turn().text("Well.")]).await;
    let running = stage.exec(["go"]).start();
    let until = std::time::Instant::now() + Duration::from_secs(30);
    while (0..10).any(|number| !stage.home.work().join(format!("began-{number}")).exists()) {
        assert!(std::time::Instant::now() < until, "not all commands began");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let asked = std::time::Instant::now();
    running.signal(rustix::process::Signal::TERM);
    running.finish().await.expect_code(130);
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    assert_eq!(processes::of(stage.home.path()), []);
    let log = stage.only_log().await;
    assert_eq!((log.calls().len(), log.transcript.open_items().count()), (10, 0));
}

#[tokio::test]
async fn a_command_that_opens_files_without_end_fails_alone() {
    let open = "exec python3 -c 'import os
files = []
try:
    while len(files) < 100000: files.append(os.open(\"/dev/null\", 0))
except OSError: print(\"refused\")'";
    let (_, result) = ran(shell(open)).await;
    assert_eq!(result["result"]["stdout"], "refused\n", "{result}");
}

/// The call fails; made three times in a row, it is not run the third time.
async fn check_repeated(call: impl Fn() -> Turn, code: &str) {
    let stage = Stage::new([call(), call(), call(), turn().text("I give up.")]).await;
    stage.exec(["go"]).run().await.expect_code(0);
    let codes: Vec<Value> = stage.results().iter().map(|result| result["error"]["code"].clone()).collect();
    assert_eq!(codes, [code, code, "repeated_failure"]);
}

#[tokio::test]
async fn the_third_same_failure_is_not_run() {
    check_repeated(|| turn().call("read_file", json!({"path": "missing"})), "not_found").await;
    let nowhere = || {
        let mut call = shell("true");
        call["cwd"] = json!("nowhere");
        turn().call("run_shell", call)
    };
    let stage = Stage::new([nowhere(), nowhere(), nowhere(), turn().text("I give up.")]).await;
    stage.exec(["go"]).run().await.expect_code(0);
    assert_eq!(stage.results()[2]["error"]["code"], "repeated_failure");
}

/// Two calls in one answer, each telling when it began and ended.
async fn spans(mutation: bool) -> [(u128, u128); 2] {
    // The same call twice in one answer would be taken for one.
    let call = |number: u8| {
        let mut call = shell(&format!("date +%s%N; sleep 0.7; date +%s%N # {number}"));
        call["mutation"] = json!(mutation);
        call
    };
    let answer = turn().call("run_shell", call(1)).call("run_shell", call(2));
    let stage = Stage::new([answer, turn().text("Done.")]).await;
    stage.exec(["go"]).run().await.expect_code(0);
    let span = |result: &Value| {
        let times = result["result"]["stdout"].as_str().unwrap();
        let times: Vec<u128> = times.lines().map(|line| line.parse().unwrap()).collect();
        (times[0], times[1])
    };
    let results = stage.results();
    [span(&results[0]), span(&results[1])]
}

#[tokio::test]
async fn calls_that_change_nothing_run_beside_each_other() {
    let [first, second] = spans(false).await;
    assert!(first.0 < second.1 && second.0 < first.1, "{first:?} {second:?}");
}

#[tokio::test]
async fn calls_that_change_something_run_in_order() {
    let [first, second] = spans(true).await;
    assert!(first.1 <= second.0, "{first:?} {second:?}");
}

#[tokio::test]
async fn sixty_calls_in_one_answer_each_have_their_result() {
    let answer =
        (0..60).fold(turn(), |turn, number| turn.call("read_file", json!({"path": format!("{number}")})));
    let stage = Stage::new([answer, turn().text("Done.")]).await;
    std::fs::write(stage.home.work().join("7"), "seven").unwrap();
    stage.exec(["go"]).run().await.expect_code(0);
    let results = stage.results();
    assert_eq!((results.len(), &results[7]["result"]["content"]), (60, &json!("seven")));
    let log = stage.only_log().await;
    assert!(log.calls().iter().all(|(item, _)| item.status != ItemStatus::Running));
}
