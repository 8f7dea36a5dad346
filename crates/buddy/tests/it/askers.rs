//! Programs that wait for a user whom nobody is there to be, through the whole of buddy: each call ends at its limit at
//! the latest, the next one gives exactly its output, and nothing is left running.

use std::time::Duration;

use buddy_testkit::model::{Turn, turn};
use buddy_testkit::processes;
use serde_json::{Value, json};

use crate::panes::PaneStage;
use crate::stage::{Stage, shell};

/// An account that owns nothing.
const NOBODY: &str = "65534";

/// Long enough for an editor to draw its screen.
const LIMIT: &str = "1s";

const MAKE_REPOSITORY: &str = "mkdir repository && cd repository && git init -q && touch new && git add new && \
                               git config user.name someone && git config user.email someone@example.org";

fn askers() -> Vec<String> {
    let without_rights = if rustix::process::geteuid().is_root() {
        format!("setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups ")
    } else {
        String::new()
    };
    vec![
        "cat".to_owned(),
        "read answer".to_owned(),
        "vi file".to_owned(),
        "cd repository && git commit".to_owned(),
        "cd repository && EDITOR=vi git commit".to_owned(),
        // Named in plain words it would be refused before it runs.
        format!("{without_rights}\"$(printf %s sudo)\" -k touch sudo-was-here"),
    ]
}

fn limited(command: &str) -> Value {
    let mut call = shell(command);
    call["wait"] = json!(LIMIT);
    call
}

/// Makes a repository, then has each asker run, and a command after each.
fn script() -> Vec<Turn> {
    let mut turns = vec![turn().call("run_shell", shell(MAKE_REPOSITORY))];
    for asker in askers() {
        turns.push(turn().call("run_shell", limited(&asker)));
        turns.push(turn().call("run_shell", shell("printf 'one\\n\\ttwo é\\n'")));
    }
    turns.push(turn().text("Done."));
    turns
}

/// Checks that hold wherever they ran.
fn check(stage: &Stage) -> Vec<Value> {
    let mut results = stage.results();
    assert_eq!(results.remove(0)["result"]["exit_code"], 0);
    let mut ends = Vec::new();
    for (asker, pair) in askers().iter().zip(results.chunks(2)) {
        let [asked, after] = pair else { panic!("a result is missing") };
        assert_eq!(asked["ok"], true, "{asker}: {asked}");
        assert_eq!(after["result"]["stdout"], "one\n\ttwo é\n", "{asker}: {after}");
        assert_eq!(after["result"]["exit_code"], 0, "{asker}: {after}");
        ends.push(asked["result"].clone());
    }
    assert_eq!(ends.len(), askers().len());
    for name in ["file", "sudo-was-here"] {
        assert!(!stage.home.work().join(name).exists(), "{name}");
    }
    assert!(!stage.home.work().join("repository/.git/refs/heads/master").exists());
    ends
}

/// Without a terminal nothing waits at all: the input has an end.
#[tokio::test]
async fn without_a_terminal_programs_that_ask_find_the_end_of_the_input() {
    for mode in ["development", "production"] {
        let stage = Stage::new(script()).await;
        let run = stage.exec(["go"]).env("BUDDY_ENV", mode).env_remove("EDITOR").run().await;
        run.expect_code(0);
        let ends = check(&stage);
        let code = |end: &Value| end["exit_code"].as_i64();
        assert_eq!((code(&ends[0]), code(&ends[1])), (Some(0), Some(1)), "{mode}: {ends:#?}");
        for (asker, end) in askers().iter().zip(&ends).skip(3) {
            assert!(code(end) != Some(0), "{mode}: {asker}: {end}");
        }
        assert!(!ends[5]["stderr"].as_str().unwrap().is_empty(), "{mode}: {}", ends[5]);
        assert_eq!(processes::of(stage.home.path()), [], "{mode}");
    }
}

#[tokio::test]
async fn in_a_shared_pane_a_program_that_asks_keeps_the_pane_and_holds_up_nothing() {
    let stage = PaneStage::new(script()).await;
    let mut started = stage.buddy(&["--tmux"]).within(Duration::from_secs(90)).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    started.finish().await.expect_code(0);
    let ends = check(&stage.0);
    assert_eq!(ends[0]["dispatched"], true, "{}", ends[0]);
    // The others run beside the pane, where the input has an end.
    for (asker, end) in askers().iter().zip(&ends).skip(1) {
        assert!(end["exit_code"].is_number() || end["condition"] == "running", "{asker}: {end}");
    }
    assert_eq!(processes::of(&stage.0.home.work().join("repository")), []);
}
