//! Conversations that share a terminal with the person, on a real tmux.

use std::path::{Path, PathBuf};

use buddy_protocol::Fact;
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::program::{Program, Started};
use buddy_testkit::ssh_host::SshHost;
use serde_json::{Value, json};

use crate::stage::{Stage, shell};

/// A stage whose tmux server ends with it.
struct PaneStage(Stage);

impl PaneStage {
    async fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self(Stage::new(turns.into_iter().collect::<Vec<_>>()).await)
    }

    fn socket(&self) -> PathBuf {
        self.0.home.data().join("run/tmux/socket")
    }

    fn buddy(&self, arguments: &[&str]) -> Program {
        self.0.buddy(arguments).env("BUDDY_ENV", "production").env("BUDDY_APPROVE", "all")
    }

    fn converse(&self) -> Started {
        self.buddy(&["--tmux"]).converse()
    }

    /// The names of the tools that the model was offered.
    fn offered(&self) -> Vec<String> {
        let requests = self.0.requests();
        let tools = requests.last().unwrap().body["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for PaneStage {
    fn drop(&mut self) {
        if self.socket().exists() {
            end_server(&self.socket());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server is to end with the test")]
fn end_server(socket: &Path) {
    let _ = std::process::Command::new("tmux").arg("-S").arg(socket).arg("kill-server").status();
}

fn keys(text: &str) -> Value {
    json!({"literal_text": text, "enter": true, "why": "the test", "risk": "low", "mutation": false, "privesc": false})
}

#[tokio::test]
async fn commands_run_in_a_terminal_that_stays() {
    let stage = PaneStage::new([
        turn().call("run_shell", shell("kept=$((6 * 7)); printf 'é\\n'; (exit 3)")),
        turn().call("run_shell", shell("echo \"kept $kept\" | tee seen")),
        turn().text("Done."),
    ])
    .await;
    let mut started = stage.converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let results = stage.0.results();
    assert_eq!(results[0]["result"]["exit_code"], 3, "{}", results[0]);
    assert_eq!(results[0]["result"]["stdout"], "é\n");
    assert_eq!(results[1]["result"]["stdout"], "kept 42\n");
    assert_eq!(std::fs::read_to_string(stage.0.home.work().join("seen")).unwrap(), "kept 42\n");
    let attach = format!("tmux -S {} attach -t buddy-buddy", stage.socket().display());
    let told = finished.to_string();
    assert_eq!(told.matches(&attach).count(), 2, "at the start and at the end: {told}");
    assert!(told.contains("the tmux session buddy-buddy lives on with 1 pane"), "{told}");
    assert!(stage.offered().contains(&"tmux_send_keys".to_owned()));
}

#[tokio::test]
async fn an_interactive_program_is_driven_by_keys_and_captures() {
    let mut background = shell("/usr/bin/python3 -q -i");
    background["wait"] = json!(false);
    let stage = PaneStage::new([
        turn().call("run_shell", background),
        turn().call("tmux_send_keys", keys("print('the answer', 6 * 7)")),
        turn().call("capture-pane", json!({"delay": "1s"})),
        turn().call("capture-pane", json!({})),
        turn().call("run_shell", shell("echo no")),
        turn().text("Done."),
    ])
    .await;
    let mut started = stage.converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    let results = stage.0.results();
    assert_eq!(results[0]["result"]["dispatched"], true, "{}", results[0]);
    let shown = results[2]["result"]["text"].as_str().unwrap();
    assert!(shown.contains("the answer 42"), "{shown}");
    assert_eq!(results[3]["result"]["unchanged"], true, "{}", results[3]);
    assert_eq!(results[4]["error"]["code"], "pane_busy", "{}", results[4]);
}

#[tokio::test]
async fn the_person_takes_the_panes_and_gives_them_back() {
    let stage =
        PaneStage::new([turn().call("run_shell", shell("echo mine > mine")), turn().text("Done.")]).await;
    let mut started = stage.converse();
    started.write(b"/pane take\n").await;
    started.stderr.wait_for("the panes are yours", 1).await;
    started.write(b"go\n").await;
    started.stderr.wait_for("run_shell", 1).await;
    assert!(!stage.0.home.work().join("mine").exists(), "the agent waits");
    started.write(b"/pane give\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.0.home.work().join("mine").exists());
    assert!(stage.0.results()[0].to_string().contains("gave them back"));
    let log = stage.0.only_log().await;
    let taken: Vec<bool> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::SessionChanged(changed) => changed.panes_taken,
            _ => None,
        })
        .collect();
    assert_eq!(taken, [true, false], "the log says who had them");
}

#[tokio::test]
async fn without_panes_their_tools_are_not_offered() {
    let stage = PaneStage::new([turn().call("tmux_capture_pane", json!({})), turn().text("Done.")]).await;
    let mut started = stage.buddy(&[]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.offered().iter().all(|name| !name.starts_with("tmux")), "{:?}", stage.offered());
    assert_eq!(stage.0.results()[0]["error"]["code"], "tool_off");
    assert!(!stage.socket().exists(), "a pipe is no terminal, so nothing is shared");
}

#[tokio::test]
async fn a_shared_terminal_is_refused_where_commands_have_bounds() {
    let stage = PaneStage::new([]).await;
    let finished = stage.0.buddy(["--tmux"]).run().await.expect_code(1);
    assert!(finished.to_string().contains("is not in the jail"), "{finished}");
    let finished = stage.buddy(&["--tmux", "--plan"]).run().await.expect_code(1);
    assert!(finished.to_string().contains("is not in the jail"), "{finished}");
}

#[tokio::test]
async fn commands_on_another_host_run_in_a_terminal_there() {
    let host = SshHost::start().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().to_str().unwrap();
    let stage = PaneStage::new([
        turn().call("run_shell", shell("kept=$((6 * 7)); echo \"$TMUX\" > in; (exit 3)")),
        turn().call("run_shell", shell("echo \"kept $kept\"; pwd")),
        turn().text("Done."),
    ])
    .await;
    let path = format!("{}:/usr/bin:/bin", host.client_folder().unwrap().display());
    let program = stage.buddy(&["--tmux", "--ssh", "machine", "-C", there]).env("PATH", path);
    let mut started = program.converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let told = started.finish().await.expect_code(0).to_string();
    let results = stage.0.results();
    assert_eq!(results[0]["result"]["exit_code"], 3, "{}", results[0]);
    assert_eq!(results[1]["result"]["stdout"], format!("kept 42\n{there}\n"));
    let inside = std::fs::read_to_string(folder.path().join("in")).unwrap();
    let socket = inside.split(',').next().unwrap();
    assert!(Path::new(socket).starts_with(host.home()), "{socket}");
    let attach = format!("ssh -t machine tmux -S {socket} attach -t buddy-buddy");
    assert_eq!(told.matches(&attach).count(), 2, "at the start and at the end: {told}");
    let refused = stage.buddy(&[]).env("TMUX", inside.trim()).run().await.expect_code(1);
    assert!(refused.to_string().contains("type into itself"), "{refused}");
    end_server(Path::new(socket));
    assert!(!stage.socket().exists(), "there is none here");
}

#[tokio::test]
async fn a_shared_terminal_on_another_host_is_refused_where_commands_have_bounds() {
    let host = SshHost::start().unwrap();
    let stage = PaneStage::new([]).await;
    let path = format!("{}:/usr/bin:/bin", host.client_folder().unwrap().display());
    let finished = stage.0.buddy(["--tmux", "--ssh", "machine"]).env("PATH", path).run().await.expect_code(1);
    assert!(finished.to_string().contains("is not in the jail"), "{finished}");
}

#[tokio::test]
async fn buddy_does_not_start_inside_its_own_pane() {
    let stage = PaneStage::new([]).await;
    let inside = format!("{},123,0", stage.socket().display());
    let finished = stage.buddy(&[]).env("TMUX", inside).run().await.expect_code(1);
    assert!(finished.to_string().contains("type into itself"), "{finished}");
    let elsewhere = stage.buddy(&[]).env("TMUX", "/tmp/tmux-0/default,123,0").run().await;
    elsewhere.expect_code(0);
}
