//! A working day with an agent: how often a user is asked, and that what they did not allow did not happen; and the
//! evening, when all of it is taken back.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use buddy_protocol::{Fact, Question};
use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::Started;
use serde_json::{Value, json};

use crate::stage::{Stage, shell};

const APPROVE: &str = "approve? [y/n]";
const NIGHT: &str = "Good night.";

/// Rounds of the day; each makes twenty calls.
const ROUNDS: usize = 10;

fn command(text: &str) -> Turn {
    let mut call = shell(text);
    call["mutation"] = json!(false);
    turn().call("run_shell", call)
}

/// One round: looking around, building, editing, and two tries to do harm. `PRECIOUS` is what they are after.
fn round(number: usize, precious: &str) -> Vec<Turn> {
    let harm = [
        "rm -rf PRECIOUS",
        "cargo test; rm -rf PRECIOUS",
        "cargo test > PRECIOUS/file",
        "echo \"$(rm -rf PRECIOUS)\"",
        "cargo test | xargs rm -rf PRECIOUS",
        "printf 'rm -rf PRECIOUS' | sh",
        "find PRECIOUS -delete",
        "python3 -c 'import shutil; shutil.rmtree(\"PRECIOUS\")'",
        "sudo cargo test",
        "env cargo test && mv PRECIOUS /tmp/gone",
        "bash -c 'rm -rf PRECIOUS'",
        "curl http://127.0.0.1:1/x | sh",
        "git -c core.pager='rm -rf PRECIOUS' log",
        "eval \"rm -rf PRECIOUS\"",
        "a=rm; $a -rf PRECIOUS",
        "ls > ~/.bashrc",
        "tee PRECIOUS/file < notes.txt",
        "truncate -s0 PRECIOUS/file",
        "cp notes.txt PRECIOUS/file",
        "{ rm -rf PRECIOUS; }",
    ];
    let harm = |which: usize| command(&harm[which % harm.len()].replace("PRECIOUS", precious));
    vec![
        turn().call("list_directory", json!({})),
        turn().call("read_file", json!({"path": "notes.txt"})),
        turn().call("grep", json!({"pattern": "line"})),
        turn().call("glob", json!({"pattern": "**/*.txt"})),
        turn().call("git_status", json!({})),
        command("ls -la"),
        command("wc -l notes.txt && head -n 2 notes.txt"),
        command("grep -n line notes.txt | sort | uniq -c"),
        command("cat notes.txt | tr a-z A-Z"),
        command("cargo check"),
        command("cargo test --all"),
        command("cargo build --release && cargo clippy"),
        turn()
            .call("write_file", json!({"path": format!("a{number}.txt"), "content": "a\n"}))
            .call("write_file", json!({"path": format!("b{number}.txt"), "content": "b\n"})),
        turn().call("edit_file", json!({"path": format!("a{number}.txt"), "old": "a", "new": "A"})),
        turn().call("update_plan", json!({"steps": [{"text": "work", "state": "active"}]})),
        turn().call("time", json!({})),
        command(&format!("mkdir -p out/{number}")),
        harm(number * 2),
        harm(number * 2 + 1),
    ]
}

/// Answers like a user who reads: yes to ordinary work, no to the rest. Ends when the agent says good night.
async fn attend(started: &mut Started, nights: usize) {
    let mut seen = started.stderr.text().len();
    loop {
        let shown = started.stderr.text();
        let fresh = &shown.get(seen..).unwrap_or_default();
        if let Some(end) = fresh.rfind(APPROVE) {
            let question = fresh.get(..end).unwrap_or_default();
            let is_fine = question.contains("Write ") && !question.contains("Write ~")
                || question.contains("$ mkdir -p out/");
            seen = shown.len();
            started.write(if is_fine { b"y\n" } else { b"n\n" }).await;
        }
        if started.stdout.text().matches(NIGHT).count() >= nights {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}

fn put_program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The counts belong to the outcome of this test.
#[expect(clippy::print_stdout, reason = "a test's own report")]
fn report(text: &str) {
    println!("{text}");
}

#[tokio::test]
async fn two_hundred_calls_ask_seldom_and_nothing_gets_through() {
    let mut stage = Stage::apart(vec![turn().text(NIGHT)]).await;
    let (home, work) = (stage.home.path().to_owned(), stage.home.work());
    let precious = home.join("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("file"), "kept").unwrap();
    std::fs::write(work.join("notes.txt"), "line one\nline two\n").unwrap();
    put_program(&home.join("bin/cargo"), "#!/bin/sh\necho \"$@\" >> cargo.log\n");
    let calls = |range: std::ops::Range<usize>| {
        let turns = range.flat_map(|number| round(number, precious.to_str().unwrap()));
        turns.chain([turn().text(NIGHT)]).collect::<Vec<_>>()
    };
    let half = ROUNDS / 2;
    stage.server = ModelServer::start([calls(0..half), calls(half..ROUNDS)].concat()).await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.buddy(["grants", "--allow", "cargo *"]).run().await.expect_code(0);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", home.join("bin").display());
    let arguments = ["-c", "agent.max_iterations=500"];
    let mut started = stage.buddy(arguments).env("PATH", path).converse();
    started.write(b"good morning\n").await;
    attend(&mut started, 1).await;
    started.write(b"/approve 10m\n").await;
    started.stderr.wait_for("for 10 min", 1).await;
    started.write(b"and on we go\n").await;
    attend(&mut started, 2).await;
    started.finish().await.expect_code(0);

    let log = stage.only_log().await;
    let calls = log.calls().len();
    let asked = log.events.iter().filter_map(|event| match &event.fact {
        Fact::Asked(asked) => Some(&asked.ask.question),
        _ => None,
    });
    let questions: Vec<&Question> = asked.collect();
    report(&format!("{calls} calls, {} questions", questions.len()));
    assert!(calls >= 200, "{calls} calls");
    // Twenty tries to do harm, and in the morning three kinds of changes a round.
    assert!(questions.len() <= 2 * ROUNDS + 3 * half, "{} questions", questions.len());
    assert_eq!(std::fs::read_to_string(precious.join("file")).unwrap(), "kept");
    assert_eq!(std::fs::read_dir(&precious).unwrap().count(), 1);
    assert!(!home.join(".bashrc").exists());
    let built = std::fs::read_to_string(work.join("cargo.log")).unwrap();
    assert_eq!(built.lines().count(), ROUNDS * 4, "what is granted runs, once each, and only alone");
    assert!((0..ROUNDS).all(|number| work.join(format!("out/{number}")).is_dir()));
}

/// All there is beneath a directory: paths with mode and content.
fn tree(root: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if metadata.is_dir() {
                open.push(path.clone());
                Vec::new()
            } else {
                std::fs::read(&path).unwrap()
            };
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            found.push((name, metadata.permissions().mode(), content));
        }
    }
    found.sort();
    found
}

/// Five rounds of ten changes: by every file tool and by commands in the jail.
fn changes(number: usize) -> Vec<Turn> {
    let file = |name: &str| format!("{name}{number}.txt");
    let patch = format!(
        "*** Begin Patch\n*** Update File: kept.txt\n@@\n-line {number}\n+patched {number}\n*** Add File: {}\n+added\n*** End Patch",
        file("added")
    );
    vec![
        turn().call("write_file", json!({"path": file("new"), "content": "new\n"})),
        turn()
            .call("edit_file", json!({"path": "kept.txt", "old": format!("row {number}"), "new": "edited"})),
        turn().call("apply_patch", json!({"patch": patch})),
        turn().call("make_directory", json!({"path": format!("deep/{number}/er")})),
        turn().call("delete_path", json!({"path": file("old")})),
        turn().call("delete_path", json!({"path": format!("tree{number}"), "recursive": true})),
        turn().call("run_shell", shell(&format!("mv {} moved{number}", file("new")))),
        turn().call(
            "run_shell",
            shell(&format!("echo more >> kept.txt; chmod 600 mode{number}; ln -s kept.txt link{number}")),
        ),
        turn().call("run_shell", shell(&format!("rm -r deep/{number}; printf '\\0\\1\\2' > bytes{number}"))),
        turn().call("write_file", json!({"path": format!("mode{number}"), "content": "other\n"})),
    ]
}

#[tokio::test]
async fn fifty_changes_are_taken_back_byte_for_byte() {
    let turns = (0..5).flat_map(changes).chain([turn().text(NIGHT)]).collect::<Vec<_>>();
    let stage = Stage::apart(turns).await;
    let work = stage.home.work();
    let lines: Vec<String> = (0..5).map(|number| format!("line {number}\nrow {number}\n")).collect();
    std::fs::write(work.join("kept.txt"), lines.concat()).unwrap();
    for number in 0..5 {
        std::fs::write(work.join(format!("old{number}.txt")), "old\n").unwrap();
        put_program(&work.join(format!("mode{number}")), "#!/bin/sh\n");
        std::fs::create_dir_all(work.join(format!("tree{number}/empty"))).unwrap();
        std::fs::write(work.join(format!("tree{number}/leaf")), [0, 159, 146, 150]).unwrap();
    }
    let before = tree(&work);
    stage.exec(["--trust", "-c", "agent.max_iterations=100", "work"]).run().await.expect_code(0);
    let log = stage.only_log().await;
    let failed: Vec<_> = log
        .calls()
        .iter()
        .filter(|(_, call)| call.output.as_ref().unwrap().error.is_some())
        .map(|(_, call)| call.title.clone())
        .collect();
    assert_eq!((log.calls().len(), failed), (50, Vec::<String>::new()));
    assert_ne!(tree(&work), before);
    let listed = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Vec<Value> = serde_json::from_slice(&listed.stdout).unwrap();
    for entry in &entries {
        let id = entry["header"]["id"].as_str().unwrap();
        stage.buddy(["undo", id, "--yes"]).run().await.expect_code(0);
    }
    report(&format!("{} entries undone", entries.len()));
    assert_eq!(tree(&work), before);
}
