//! A session that goes on has its targets again, and goes on without those that are away.

use buddy_protocol::{Fact, NoticeLevel};
use buddy_testkit::model::turn;
use serde_json::json;

use super::yard::{Machine, container, shell_on, with_engine};
use crate::stage::Stage;

#[tokio::test]
async fn targets_are_there_again_without_being_named() {
    let machine = Machine::new();
    let stage = Stage::new([
        turn().text("Begun."),
        turn()
            .call("run_shell", shell_on("ssh:machine", "pwd"))
            .call("write_file", json!({"path": "made", "content": "x"})),
        turn().text("Done."),
    ])
    .await;
    let flag = machine.flag();
    machine.known_to(stage.exec(["hi", "--ssh", &flag, "--local"])).run().await.expect_code(0);
    let session = stage.only_log().await.session.to_string();
    machine.known_to(stage.exec(["work", "--resume", &session])).run().await.expect_code(0);
    let results = stage.results();
    let cwd = results[0]["result"]["stdout"].as_str().unwrap().trim_end().to_owned();
    assert_eq!(std::path::Path::new(&cwd).join("made"), machine.path("made"), "{results:#?}");
    assert!(machine.path("made").exists(), "the default is what it was");
}

#[tokio::test]
async fn a_directory_of_this_machine_is_not_added_to_a_session_elsewhere() {
    let machine = Machine::new();
    let stage = Stage::new([turn().text("Begun."), turn().text("Here too.")]).await;
    machine.known_to(stage.exec(["hi", "--ssh", &machine.flag()])).run().await.expect_code(0);
    let session = stage.only_log().await.session.to_string();
    let more = ["more", "--resume", &session, "--add-dir", "."];
    let refused = machine.known_to(stage.exec(more)).run().await.expect_code(1);
    refused.expect_stderr("works on other hosts alone");
    assert_eq!(stage.requests().len(), 1);
    machine.known_to(stage.exec(more).args(["--local"])).run().await.expect_code(0);
}

#[tokio::test]
async fn a_host_that_is_named_when_a_session_goes_on_comes_first() {
    let machine = Machine::new();
    let stage = Stage::new([
        turn().text("Begun."),
        turn()
            .call("write_file", json!({"path": "made", "content": "x"}))
            .call("write_file", json!({"path": "made", "content": "y", "target": "local"})),
        turn().text("Done."),
        turn().text("Back."),
    ])
    .await;
    machine.known_to(stage.exec(["hi"])).run().await.expect_code(0);
    let session = stage.only_log().await.session.to_string();
    let more = stage.exec(["work", "--resume", &session, "--ssh", &machine.flag()]);
    machine.known_to(more).run().await.expect_code(0);
    assert_eq!(std::fs::read_to_string(machine.path("made")).unwrap(), "x");
    assert_eq!(std::fs::read_to_string(stage.home.work().join("made")).unwrap(), "y");
    let log = stage.only_log().await;
    let names: Vec<&str> = log.transcript.targets().iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["ssh:machine", "local"]);
    let back = stage.exec(["and here", "--resume", &session, "--local"]);
    machine.known_to(back).run().await.expect_code(0);
    let log = stage.only_log().await;
    assert_eq!(log.transcript.targets()[0].name, "local", "the log says which one is the default");
    let shown = stage.buddy(["show", &session]).run().await.expect_code(0).text();
    assert!(shown.contains("✓ Wrote   made on ssh:machine"), "{shown}");
}

#[tokio::test]
async fn a_target_that_is_away_is_told_and_does_not_end_the_session() {
    let (machine, web) = (Machine::new(), container());
    let inside = format!("container:{}", web.name());
    let stage = Stage::new([
        turn().text("Begun."),
        turn()
            .call("run_shell", shell_on(&inside, "true"))
            .call("run_shell", shell_on("ssh:machine", "touch made")),
        turn().text("Done."),
    ])
    .await;
    let (ssh, name) = (machine.flag(), web.name().to_owned());
    let begun = stage.exec(["hi", "--container", &name, "--ssh", &ssh]);
    with_engine(&web, machine.known_to(begun)).run().await.expect_code(0);
    web.stop().unwrap();
    let session = stage.only_log().await.session.to_string();
    let more = stage.exec(["work", "--resume", &session]);
    let more = with_engine(&web, machine.known_to(more)).run().await.expect_code(0);
    more.expect_stderr(&format!("warning: `{inside}` cannot be reached"));
    let results = stage.results();
    assert_eq!(results[0]["error"]["code"], "unreachable", "{results:#?}");
    assert_eq!(results[1]["ok"], true, "{results:#?}");
    assert!(machine.path("made").exists());
    let log = stage.only_log().await;
    let is_told = |fact: &Fact| {
        matches!(fact, Fact::Notice(notice)
        if notice.code == "target_unreachable" && notice.level == NoticeLevel::Warning)
    };
    assert!(log.events.iter().any(|event| is_told(&event.fact)));
    assert_eq!(log.transcript.targets().len(), 2, "it is still one of its targets");
}

#[tokio::test]
async fn a_container_that_stops_in_mid_session_fails_its_calls_alone() {
    let web = container();
    let inside = format!("container:{}", web.name());
    let stage = Stage::new([
        turn().call("run_shell", shell_on(&inside, "echo up")),
        turn().text("Up."),
        turn()
            .call("run_shell", shell_on(&inside, "echo down"))
            .call("run_shell", shell_on("local", "touch made")),
        turn().text("Done."),
    ])
    .await;
    let program = stage
        .buddy(["--approve", "all", "--container", web.name(), "--local"])
        .env("BUDDY_ENV", "production");
    let program = program.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    let mut talk = with_engine(&web, program).converse();
    talk.write(b"first\n").await;
    talk.stdout.wait_for("Up.", 1).await;
    web.stop().unwrap();
    talk.write(b"second\n").await;
    talk.stdout.wait_for("Done.", 1).await;
    talk.finish().await.expect_code(0);
    let results = stage.results();
    assert_eq!(results[0]["result"]["stdout"], "up\n", "{results:#?}");
    assert_eq!(results[1]["ok"], false, "{results:#?}");
    assert!(stage.home.work().join("made").exists());
}
