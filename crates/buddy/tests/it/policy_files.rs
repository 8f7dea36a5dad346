//! Grants, trust and rules are read once, and a change by another process takes effect at the next call.

use std::collections::BTreeMap;
use std::fs;

use buddy_testkit::model::{Turn, turn};
use serde_json::json;

use crate::stage::{Stage, UNCHECKED, done, run};

/// The calls of a run in which nothing but the first look-up may read.
const CALLS: usize = 50;

/// Files that every judgement depends on.
const FILES: [&str; 4] = ["grants.json", "trusted.json", "rules.toml", "boot_id"];

/// The calls of one answer; the tracer makes each answer slow.
const CALLS_AT_ONCE: usize = 10;

/// An answer with calls from this number on.
fn look(first: usize, calls: usize) -> Turn {
    let numbers = first..calls.min(first + CALLS_AT_ONCE);
    numbers.fold(turn(), |turn, number| turn.call("list_directory", json!({"path": format!("d{number}")})))
}

/// How often each of the files was opened while so many calls were judged.
async fn opens(calls: usize) -> BTreeMap<&'static str, usize> {
    let answers = (0..calls).step_by(CALLS_AT_ONCE).map(|first| look(first, calls));
    let stage = Stage::apart(answers.chain([done()]).collect::<Vec<_>>()).await;
    for number in 0..calls {
        fs::create_dir(stage.home.work().join(format!("d{number}"))).unwrap();
    }
    fs::create_dir(stage.home.work().join(".buddy")).unwrap();
    fs::write(stage.home.work().join(".buddy/rules.toml"), "ask = [\"touch *\"]\n").unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.buddy(["grants", "--allow", "mkdir *"]).run().await.expect_code(0);
    let trace = stage.home.path().join("trace");
    let (trace, gates) = (trace.to_str().unwrap(), UNCHECKED.join(" "));
    let line = format!(
        "strace -f --seccomp-bpf -qqq -o {trace} -e trace=open,openat,openat2 \"$BUDDY\" exec --approve all {gates} 'look around'"
    );
    stage.in_bash(&line).run().await.expect_code(0);
    assert_eq!(stage.only_log().await.calls().len(), calls, "all calls were made");
    let opened = fs::read_to_string(trace).unwrap();
    let count = |name: &str| opened.lines().filter(|line| line.contains(&format!("{name}\""))).count();
    FILES.into_iter().map(|name| (name, count(name))).collect()
}

#[tokio::test]
async fn files_of_the_policy_are_read_for_the_first_call_only() {
    let (one, many) = (opens(1).await, opens(CALLS).await);
    assert!(one["grants.json"] > 0 && one["trusted.json"] > 0, "{one:?}");
    assert_eq!(one, many);
}

#[tokio::test]
async fn another_terminal_s_grant_and_its_end_hold_for_the_next_call() {
    let gated = |gate: &str, name: &str| run(&format!("mkdir {name}")).gate(gate);
    let stage =
        Stage::apart([run("mkdir one"), gated("granted", "two"), gated("revoked", "three"), done()]).await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    let started = stage.buddy(["exec", "make them"]).args(UNCHECKED).start();
    stage.server.gate("granted").reached().await;
    stage.buddy(["grants", "--allow", "mkdir *"]).run().await.expect_code(0);
    stage.server.gate("granted").open();
    stage.server.gate("revoked").reached().await;
    stage.buddy(["grants", "--revoke", "1"]).run().await.expect_code(0);
    stage.server.gate("revoked").open();
    started.finish().await;
    let is_made = |name: &&str| stage.home.work().join(name).exists();
    let made: Vec<&str> = ["one", "two", "three"].into_iter().filter(is_made).collect();
    assert_eq!(made, ["two"]);
}

#[tokio::test]
async fn trust_that_another_terminal_takes_back_is_gone_for_the_next_call() {
    let gated = |gate: &str, name: &str| run(&format!("mkdir {name}")).gate(gate);
    let turns = [run("mkdir one"), gated("removed", "two"), gated("trusted", "three"), done()];
    let stage = Stage::apart(turns).await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    let started = stage.exec(["make them"]).start();
    stage.server.gate("removed").reached().await;
    stage.buddy(["trust", "--remove"]).run().await.expect_code(0);
    stage.server.gate("removed").open();
    stage.server.gate("trusted").reached().await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.server.gate("trusted").open();
    started.finish().await;
    let is_made = |name: &&str| stage.home.work().join(name).exists();
    let made: Vec<&str> = ["one", "two", "three"].into_iter().filter(is_made).collect();
    assert_eq!(made, ["one", "three"]);
}
