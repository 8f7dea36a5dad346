//! The files that an approved command runs are those that were there when the user was asked, although other commands try to swap them.

use std::fs;

use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::Started;
use serde_json::{Value, json};

use crate::stage::{APPROVE, Stage, done, shell};

/// Keeps buddy from bubblewrap, so that the jail is made of the other layers alone.
const WITHOUT_BUBBLEWRAP: &str = "mount --bind /dev/null /usr/bin/bwrap";

const GOOD: &str = "open('ran', 'a').write('good')\n";
const EVIL: &str = "open('ran', 'a').write('evil')\n";

/// Puts another file in the place of `x.py` as soon as it was read for the second time, which is after the answer.
const SWAP: &str = "import ctypes, os
libc = ctypes.CDLL(None)
fd = libc.inotify_init()
libc.inotify_add_watch(fd, b'x.py', 0x10)
open('ready', 'w')
seen = 0
while True:
    seen += len(os.read(fd, 65536)) // 16
    if seen >= 2 and os.path.exists('evil.py'):
        os.rename('evil.py', 'x.py')
";

/// Waits for a file of the test and changes the script then.
const LATER: &str = "until [ -e go ]; do sleep 0.05; done; cp evil.py x.py";

async fn stage(turns: Vec<Turn>) -> Stage {
    let mut stage = Stage::apart(vec![done()]).await;
    for (name, text) in [("x.py", GOOD), ("evil.py", EVIL), ("swap.py", SWAP)] {
        fs::write(stage.home.work().join(name), text).unwrap();
    }
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.server = ModelServer::start(turns).await;
    stage
}

/// The script, which asks as it runs on.
fn approved() -> Value {
    let mut call = shell("python3 x.py");
    call["wait"] = json!(false);
    call
}

async fn prompt(stage: &Stage, has_bubblewrap: bool) -> Started {
    let program = if has_bubblewrap {
        stage.in_bash("exec \"$BUDDY\" --approve auto")
    } else {
        let line = format!("{WITHOUT_BUBBLEWRAP} && exec \"$BUDDY\" --approve auto");
        stage.in_bash(&format!("exec unshare --map-root-user --mount sh -c '{line}'"))
    };
    let mut started = program.env("BUDDY_ENV", "development").converse();
    started.write(b"go\n").await;
    started
}

#[tokio::test]
async fn a_command_in_the_background_swaps_no_script_that_was_approved() {
    for has_bubblewrap in [true, false] {
        let mut swap = shell("python3 swap.py");
        swap["wait"] = json!("2s");
        let turns = vec![turn().call("run_shell", swap), turn().call("run_shell", approved()), done()];
        let stage = stage(turns).await;
        let mut started = prompt(&stage, has_bubblewrap).await;
        for count in 1.. {
            tokio::select! {
                () = started.stderr.wait_for(APPROVE, count) => {}
                () = started.stdout.wait_for("So be it.", 1) => break,
            }
            started.write(b"y\n").await;
        }
        let finished = started.finish().await.expect_code(0);
        assert!(stage.home.work().join("ready").exists(), "the other command ran: {finished}");
        let results = stage.results();
        let told = format!("{has_bubblewrap}: {finished} {results:#?}");
        assert_eq!(stage.home.text("ran"), "", "{told}");
        assert_eq!(results[1]["error"]["code"], "rival", "{told}");
        let message = results[1]["error"]["message"].as_str().unwrap();
        assert!(message.contains("`python3 swap.py`") && message.contains("x.py"), "{told}");
        assert!(!finished.stderr.contains(APPROVE), "{told}");
    }
}

#[tokio::test]
async fn a_call_of_the_same_answer_swaps_no_script_that_was_approved() {
    for is_said_to_change in [true, false] {
        let (mut later, mut script) = (shell(LATER), approved());
        later["mutation"] = json!(is_said_to_change);
        script["mutation"] = json!(is_said_to_change);
        let stage = stage(vec![turn().call("run_shell", later).call("run_shell", script), done()]).await;
        let mut started = prompt(&stage, true).await;
        started.stderr.wait_for(APPROVE, 1).await;
        started.write(b"y\n").await;
        fs::write(stage.home.work().join("go"), "").unwrap();
        started.stderr.wait_for(APPROVE, 2).await;
        assert_eq!(stage.home.text("ran"), "", "{is_said_to_change}: nothing ran that nobody saw");
        started.write(b"n\n").await;
        started.stdout.wait_for("So be it.", 1).await;
        started.finish().await.expect_code(0);
        assert_eq!(stage.home.text("ran"), "", "{is_said_to_change}");
    }
}

#[tokio::test]
async fn a_later_call_swaps_no_script_before_it_is_read() {
    let swap = shell("cp evil.py x.py");
    let stage = stage(vec![turn().call("run_shell", approved()).call("run_shell", swap), done()]).await;
    let mut started = prompt(&stage, true).await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"y\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(stage.home.text("x.py"), EVIL, "the script is free again: {finished}");
    assert_eq!(stage.home.text("ran"), "good", "{finished}");
}

/// Runs on without a question. It writes, so it is more than a command that reads and waits.
fn waiting() -> Turn {
    let mut call = shell("until [ -e stop ]; do touch alive; sleep 0.1; done");
    call["wait"] = json!("1s");
    turn().call("run_shell", call)
}

/// The first result of a file tool beside a command in the background that nobody was asked about, and whether a question was put.
async fn beside_a_command(path: &str, mode: &str) -> (Value, bool) {
    let write = turn().call("write_file", json!({"path": path, "content": "new\n"}));
    let stage = stage(vec![waiting(), write, done()]).await;
    fs::write(stage.home.work().join(path), "old\n").unwrap();
    let program = stage.in_bash("exec \"$BUDDY\" --approve auto");
    let mut started = program.env("BUDDY_ENV", mode).converse();
    started.write(b"go\n").await;
    let mut is_asked = false;
    loop {
        tokio::select! {
            () = started.stderr.wait_for(APPROVE, 1), if !is_asked => is_asked = true,
            () = started.stdout.wait_for("So be it.", 1) => break,
        }
        started.write(b"y\n").await;
    }
    started.finish().await.expect_code(0);
    let result = stage.results()[1].clone();
    let is_written = result["ok"] == true;
    assert_eq!(stage.home.text(path), if is_written { "new\n" } else { "old\n" }, "{result:#}");
    (result, is_asked)
}

#[tokio::test]
async fn a_file_that_runs_code_later_is_not_written_beside_a_command_that_could_replace_it() {
    let (result, is_asked) = beside_a_command(".envrc", "development").await;
    assert_eq!(result["error"]["code"], "rival", "{result:#}");
    assert!(!is_asked, "an answer would be about a file that can change at once");
    let message = result["error"]["message"].as_str().unwrap();
    assert!(message.contains("could change `.envrc`"), "{message}");
}

#[tokio::test]
async fn a_file_with_secrets_is_not_replaced_beside_a_command_that_is_kept_from_it() {
    for mode in ["development", "production"] {
        let (result, is_asked) = beside_a_command(".env", mode).await;
        assert_eq!(result["error"]["code"], "rival", "{mode}: {result:#}");
        assert!(!is_asked, "{mode}");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.contains("could read the new `.env`"), "{mode}: {message}");
    }
}
