//! Sessions in which no tool touches this machine.

use buddy_protocol::Fact;
use buddy_testkit::model::turn;
use serde_json::json;

use super::yard::{Machine, shell_on};
use crate::stage::Stage;

#[tokio::test]
async fn without_another_host_it_is_refused_with_the_way_out() {
    let stage = Stage::new([turn().text("Never.")]).await;
    for arguments in
        [vec!["--remote-only"], vec!["-c", "tools.local=false"], vec!["--remote-only", "--local"]]
    {
        let finished = stage.exec([&["work"], &arguments[..]].concat()).run().await;
        assert_eq!(finished.code, Some(1), "{finished}");
        finished.expect_stderr("--ssh").expect_stderr("tools.local = false");
    }
    assert!(stage.requests().is_empty());
    assert!(stage.log().await.is_empty());
}

#[tokio::test]
async fn a_session_that_knows_no_other_host_does_not_go_on() {
    let stage = Stage::new([turn().text("Begun."), turn().text("Never.")]).await;
    let session = stage.completed("hi").await.session();
    let refused = stage.exec(["more", "--resume", &session, "--remote-only"]).run().await;
    assert_ne!(refused.code, Some(0), "{refused}");
    refused.expect_stderr("--ssh");
    assert_eq!(stage.requests().len(), 1);
}

#[tokio::test]
async fn nothing_here_is_touched_or_asked_for() {
    let machine = Machine::new();
    let stage = Stage::new([
        turn().call("run_shell", shell_on("ssh:machine", "touch made")),
        turn().text("There."),
        turn()
            .call("run_shell", shell_on("local", "touch made"))
            .call("write_file", json!({"path": "made", "content": "x", "target": "local"}))
            .call("read_file", json!({"path": "/etc/hostname", "target": "local"}))
            .call("grep", json!({"pattern": "x", "target": "local"}))
            .call("git_status", json!({"target": "local"}))
            .call("run_shell", shell_on("ssh:machine", "touch more")),
        turn().text("Done."),
    ])
    .await;
    let first = machine.known_to(stage.exec(["work", "--local", "--ssh", &machine.flag()]));
    first.run().await.expect_code(0);
    let session = stage.only_log().await.session.to_string();
    let mut talk = machine.known_to(stage.buddy(["resume", &session, "--remote-only"])).converse();
    talk.stderr.wait_for("`local` is not used", 1).await;
    talk.write(b"/target add local /\n").await;
    talk.stderr.wait_for("already", 1).await;
    talk.write(b"/target use local\n").await;
    talk.stderr.wait_for("no tool may touch this machine", 2).await;
    talk.write(b"work\n").await;
    talk.stdout.wait_for("Done.", 1).await;
    talk.finish().await.expect_code(0);
    assert!(machine.path("made").exists() && machine.path("more").exists());
    assert!(!stage.home.work().join("made").exists(), "nothing happened here");
    let results = stage.results();
    for result in &results[1..6] {
        assert_eq!(result["error"]["code"], "forbidden", "{result:#}");
    }
    assert_eq!(results[6]["ok"], true, "{results:#?}");
    let log = stage.only_log().await;
    assert!(!log.events.iter().any(|event| matches!(event.fact, Fact::Asked(_))), "nobody was asked");
}
