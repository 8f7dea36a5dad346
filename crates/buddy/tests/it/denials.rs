//! Accesses that the jail stops are told to the user and the model, and can be run once outside by a user who is asked.

use std::fs;

use buddy_protocol::{Fact, Question};
use serde_json::Value;

use crate::stage::{Stage, done, run};

/// A script that writes beside the workspace, so that nobody can read off the command what it does.
fn scene(stage: &Stage) -> std::path::PathBuf {
    fs::write(stage.home.work().join("build.sh"), "touch ../beside/made\n").unwrap();
    let beside = stage.home.work().join("../beside");
    fs::create_dir(&beside).unwrap();
    beside.canonicalize().unwrap()
}

/// Each line about the jail in a result.
fn told(result: &Value) -> String {
    result["result"]["jail"].to_string()
}

/// A conversation line by line in which what the jail holds runs unasked.
fn converse(stage: &Stage, arguments: &[&str]) -> buddy_testkit::program::Started {
    stage.buddy(["--permission-mode", "auto"]).args(arguments).converse()
}

#[tokio::test]
async fn exec_says_what_the_jail_stopped_and_which_setting_opens_it() {
    let turns = (0..3).flat_map(|_| [run("sh build.sh"), done()]);
    let stage = Stage::apart(turns.collect::<Vec<_>>()).await;
    let beside = scene(&stage);
    let finished = stage.buddy(["exec", "--trust", "--permission-mode", "auto", "go"]).run().await;
    let [result] = &stage.results()[..] else { panic!("{:#?}", stage.results()) };
    assert!(told(result).contains("../beside/made"), "{result:#}");
    assert!(finished.stderr.contains("jail: ") && finished.stderr.contains("write = ["), "{finished}");
    assert!(!beside.join("made").exists());

    let configuration = stage.home.path().join(".config/buddy");
    fs::create_dir_all(&configuration).unwrap();
    let work = stage.home.work().canonicalize().unwrap();
    let text = format!("[projects.{work:?}]\nwrite = [{beside:?}]\n");
    fs::write(configuration.join("buddy.toml"), &text).unwrap();
    stage.buddy(["exec", "--trust", "--permission-mode", "auto", "again"]).run().await.expect_code(0);
    assert!(beside.join("made").exists(), "the setting that was named opens it");

    fs::remove_file(beside.join("made")).unwrap();
    fs::remove_file(configuration.join("buddy.toml")).unwrap();
    fs::write(work.join("buddy.toml"), format!("[jail]\nwrite = [{beside:?}]\n{text}")).unwrap();
    stage.buddy(["exec", "--trust", "--permission-mode", "auto", "once more"]).run().await;
    assert!(!beside.join("made").exists(), "a file of the project opens nothing");
}

#[tokio::test]
async fn a_missing_file_beside_the_project_is_no_setting() {
    let stage = Stage::apart(vec![run("sh build.sh"), done()]).await;
    fs::write(stage.home.work().join("build.sh"), "touch ../made.txt\n").unwrap();
    stage.buddy(["exec", "--trust", "--permission-mode", "auto", "go"]).run().await;
    let told = told(&stage.results()[0]);
    assert!(told.contains("directory of its own") && told.contains("DIRECTORY"), "{told}");
    assert!(!told.contains("made.txt\\\"]"), "{told}");
}

#[tokio::test]
async fn a_person_lets_a_command_run_once_outside_the_jail() {
    let stage = Stage::apart(vec![run("sh build.sh"), run("sh build.sh"), done()]).await;
    let beside = scene(&stage);
    let mut started = converse(&stage, &["--trust"]);
    started.write(b"build it\n").await;
    started.stderr.wait_for("run once outside the jail: sh build.sh", 1).await;
    assert!(!beside.join("made").exists(), "nothing runs outside before the answer");
    started.write(b"y\n").await;
    started.stderr.wait_for("run once outside the jail: sh build.sh", 2).await;
    assert!(beside.join("made").exists());
    fs::remove_file(beside.join("made")).unwrap();
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert!(!beside.join("made").exists(), "it was allowed once");
    let results = stage.results();
    assert_eq!(results[0]["result"]["exit_code"], 0, "{results:#?}");
    assert!(
        results[0]["result"]["outside_jail"].is_string() && results[1]["result"]["outside_jail"].is_null()
    );
}

#[tokio::test]
async fn code_on_a_command_line_is_not_offered_because_it_loads_files_of_commands() {
    for code in [
        r#"python3 -c 'import json; open("../beside/made", "w").write(json.dumps({}))'"#,
        r#"perl -e 'open(F, ">", "../beside/made") or die "cannot open ../beside/made: $!"'"#,
        r"x=build; sh ./$x.sh",
    ] {
        let stage = Stage::apart(vec![run(code), done()]).await;
        let beside = scene(&stage);
        let planted =
            format!("try: open({:?}, 'w')\nexcept OSError: pass\ndumps = str\n", beside.join("planted"));
        fs::write(stage.home.work().join("json.py"), planted).unwrap();
        let mut started = converse(&stage, &["--trust"]);
        started.write(b"write it\n").await;
        started.stdout.wait_for("So be it.", 1).await;
        started.finish().await.expect_code(0);
        let log = stage.only_log().await;
        assert!(!log.events.iter().any(|event| matches!(event.fact, Fact::Asked(_))), "{code}");
        assert!(!beside.join("made").exists() && !beside.join("planted").exists(), "{code}");
        assert!(told(&stage.results()[0]).contains("../beside/made"), "{:#?}", stage.results());
    }
}

#[tokio::test]
async fn the_offer_names_the_files_that_it_runs_and_the_rights_that_it_has() {
    let stage = Stage::apart(vec![run("sh build.sh"), done()]).await;
    scene(&stage);
    fs::write(stage.home.work().join("build.sh"), "touch ../beside/made; sudo -n true\n").unwrap();
    let mut started = converse(&stage, &["--trust"]);
    started.write(b"build it\n").await;
    started.stderr.wait_for("run once outside the jail: sh build.sh", 1).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let log = stage.only_log().await;
    let reasons = log.events.iter().find_map(|event| match &event.fact {
        Fact::Asked(asked) => match &asked.ask.question {
            Question::Approval(approval) => Some(approval.reasons.join("; ")),
            _ => None,
        },
        _ => None,
    });
    let reasons = reasons.expect("an offer");
    for expected in ["no `sudo`", "`build.sh` and the files that it loads, which the agent may have written"]
    {
        assert!(reasons.contains(expected), "{expected}: {reasons}");
    }
    assert!(!reasons.contains("all rights"), "{reasons}");
}

#[tokio::test]
async fn what_was_turned_down_is_not_offered_again() {
    let stage = Stage::apart(vec![run("sh build.sh"), run("sh build.sh"), done()]).await;
    scene(&stage);
    let mut started = converse(&stage, &["--trust"]);
    started.write(b"build it\n").await;
    started.stderr.wait_for("run once outside the jail: sh build.sh", 1).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let log = stage.only_log().await;
    assert_eq!(log.events.iter().filter(|event| matches!(event.fact, Fact::Asked(_))).count(), 1);
}

#[tokio::test]
async fn nothing_is_offered_for_what_is_flagged_and_in_folders_that_are_not_trusted() {
    for (command, arguments) in
        [("rm -rf / --no-preserve-root; touch ../beside/made", &["--trust"][..]), ("cat ../secret.txt", &[])]
    {
        let stage = Stage::apart(vec![run(command), done()]).await;
        scene(&stage);
        let mut started = converse(&stage, arguments);
        started.write(b"go\n").await;
        // Where a question is put at all it is one about the command itself, which is not answered with yes.
        started.write(b"n\n").await;
        started.finish().await;
        let log = stage.only_log().await;
        let is_offer = |event: &&buddy_protocol::Event| match &event.fact {
            Fact::Asked(asked) => match &asked.ask.question {
                Question::Approval(approval) => approval.action.contains("outside the jail"),
                _ => false,
            },
            _ => false,
        };
        assert_eq!(log.events.iter().filter(is_offer).count(), 0, "{command}");
    }
}

#[tokio::test]
async fn a_failure_that_is_not_the_jails_doing_is_told_as_what_it_is() {
    let stage = Stage::apart(vec![run("cat missing.txt"), run("sh -c 'exit 3'"), done()]).await;
    let finished = stage.buddy(["exec", "--trust", "--permission-mode", "auto", "go"]).run().await;
    for result in stage.results() {
        assert!(result["result"]["jail"].is_null(), "{result:#}");
    }
    assert!(finished.stderr.contains("exit 3") && !finished.stderr.contains("jail: "), "{finished}");
}
