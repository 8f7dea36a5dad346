//! Sessions that work on another host.

use std::path::Path;

use buddy_testkit::model::turn;
use buddy_testkit::program::Program;
use buddy_testkit::ssh_host::SshHost;
use serde_json::json;

use crate::stage::{Stage, shell};

fn over_ssh(host: &SshHost, program: Program) -> Program {
    let path = format!("{}:/usr/bin:/bin", host.client_folder().unwrap().display());
    program.env("PATH", path)
}

#[tokio::test]
async fn a_session_works_on_the_host_and_the_model_is_told_so() {
    let host = SshHost::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    let stage = Stage::new([
        turn().call("run_shell", shell("pwd; echo $HOME; echo made > by-command")),
        turn().call("write_file", json!({"path": "by-tool", "content": "written\n"})),
        turn().call("read_file", json!({"path": "by-command"})),
        turn().text("Done."),
    ])
    .await;
    let program = stage.exec(["work", "--ssh", "machine", "-C", there]).env("BUDDY_ENV", "production");
    over_ssh(&host, program).run().await.expect_code(0);
    let results = stage.results();
    let expected = format!("{there}\n{}\n", host.home().display());
    assert_eq!(results[0]["result"]["stdout"], expected, "{results:#?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("by-tool")).unwrap(), "written\n");
    assert!(results[2]["result"].to_string().contains("made"), "{results:#?}");
    let first = stage.requests()[0].body.to_string();
    assert!(first.contains("# Another machine") && first.contains("ssh:machine"), "{first}");
    assert!(first.contains(&format!("working directory: {there}")), "{first}");
}

#[tokio::test]
async fn without_a_jail_over_there_commands_ask_and_files_are_kept_to_their_bounds() {
    let host = SshHost::start().unwrap();
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let there = folder.path().to_str().unwrap();
    let stage = Stage::new([
        turn().call("run_shell", shell("echo made > by-command")),
        turn().call("write_file", json!({"path": "by-tool", "content": "x"})),
        turn().text("Done."),
    ])
    .await;
    over_ssh(&host, stage.exec(["work", "--ssh", "machine", "-C", there])).run().await;
    let results = stage.results();
    assert_eq!(
        results[0]["error"]["code"], "approval_needed",
        "what holds in a jail holds not here: {results:#?}"
    );
    assert_eq!(results[1]["ok"], false, "{results:#?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "Nothing changed.");
    let trusting = Stage::new([
        turn().call("write_file", json!({"path": "by-tool", "content": "x"})),
        turn().text("Done."),
    ])
    .await;
    over_ssh(&host, trusting.exec(["work", "--ssh", "machine", "-C", there, "--trust"]))
        .run()
        .await
        .expect_code(0);
    assert_eq!(std::fs::read(folder.path().join("by-tool")).unwrap(), b"x");
    assert!(
        !trusting.home.data().join("trusted.json").exists(),
        "a directory of another host is not trusted here"
    );
}

#[tokio::test]
async fn a_session_goes_on_where_it_was() {
    let host = SshHost::start().unwrap();
    let stage =
        Stage::new([turn().call("run_shell", shell("true")), turn().text("Done."), turn().text("More.")])
            .await;
    let production = |program: Program| program.env("BUDDY_ENV", "production");
    over_ssh(&host, production(stage.exec(["work", "--ssh", "machine"]))).run().await.expect_code(0);
    let session = stage.only_log().await.session.to_string();
    let there = production(stage.exec(["more", "--resume", &session]));
    let there = over_ssh(&host, there).run().await.expect_code(0);
    assert_eq!(there.text(), "More.\n");
    let told = stage.requests().last().unwrap().body.to_string();
    assert!(told.contains("# Another machine") && told.contains("ssh:machine"), "{told}");
}

#[tokio::test]
async fn a_host_that_is_none_is_told_before_anything_is_asked() {
    let stage = Stage::new([turn().text("Never.")]).await;
    for (arguments, reason) in [
        (["--ssh", "-oProxyCommand=touch owned"], "not the name of a host"),
        (["--container", "-v/:/h"], "not the name of a container"),
        (["--container", "no-such-container"], "no-such-container"),
    ] {
        let joined = format!("{}={}", arguments[0], arguments[1]);
        let finished = stage.exec(["work", &joined]).run().await;
        assert_eq!(finished.code, Some(1), "{finished}");
        finished.expect_stderr(reason);
    }
    assert!(stage.requests().is_empty());
    assert!(!Path::new("owned").exists());
}

/// A call of a command that only reads, as the model says.
fn look(command: &str) -> buddy_testkit::model::Turn {
    let mut call = shell(command);
    call["mutation"] = json!(false);
    turn().call("run_shell", call)
}

#[tokio::test]
async fn in_the_usual_mode_what_only_reads_runs_there_and_its_log_can_be_read() {
    let host = SshHost::start().unwrap();
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::write(folder.path().join("there.txt"), "found over there\n").unwrap();
    let there = folder.path().to_str().unwrap();
    let stage = Stage::new([look("cat there.txt"), turn().text("Done.")]).await;
    let program = stage.buddy(["exec", "look", "--ssh", "machine", "-C", there, "--trust"]);
    let finished = over_ssh(&host, program).run().await.expect_code(0);
    assert!(finished.stderr.contains("has no jail"), "what protects the user is told: {finished}");
    let result = stage.results().remove(0)["result"].clone();
    assert_eq!(result["stdout"], "found over there\n", "{result:#}");
    let prompt = stage.requests()[0].body.to_string();
    assert!(prompt.contains("There is no jail"), "the model is told");

    let log = result["log"].as_str().unwrap();
    let later = Stage {
        server: buddy_testkit::model::ModelServer::start([
            turn().call("read_file", json!({"path": log})),
            turn().call("read_file", json!({"path": "log:../secret"})),
            turn().text("Done."),
        ])
        .await,
        home: stage.home,
    };
    let program = later.buddy(["exec", "read it", "--last", "--ssh", "machine", "-C", there, "--trust"]);
    over_ssh(&host, program).run().await.expect_code(0);
    let results = later.results();
    assert_eq!(results[1]["result"]["content"], "found over there\n", "{results:#?}");
    assert_eq!(results[2]["ok"], false, "{results:#?}");
}

#[tokio::test]
async fn in_the_usual_mode_every_other_command_asks_there_each_time() {
    let host = SshHost::start().unwrap();
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let there = folder.path().to_str().unwrap();
    let stage = Stage::new([
        turn().call("run_shell", shell("touch one")),
        turn().call("run_shell", shell("touch two")),
        turn().text("Done."),
    ])
    .await;
    let arguments = ["--ssh", "machine", "-C", there, "--trust", "--permission-mode", "auto"];
    let mut started = over_ssh(&host, stage.buddy(arguments)).converse();
    started.write(b"make them\n").await;
    started.stderr.wait_for(crate::stage::APPROVE, 1).await;
    started.write(b"y\n").await;
    started.stderr.wait_for(crate::stage::APPROVE, 2).await;
    assert!(folder.path().join("one").exists(), "it ran once it was allowed");
    started.write(b"n\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    assert!(!folder.path().join("two").exists());
}
