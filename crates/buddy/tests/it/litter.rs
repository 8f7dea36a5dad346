//! Nothing of buddy's is in the working tree while commands run, nor after it was killed in whatever order.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use buddy_testkit::model::turn;
use buddy_testkit::processes;
use buddy_testkit::program::Started;
use rustix::process::Signal;
use serde_json::json;

use crate::panes::PaneStage;
use crate::stage::{APPROVE, Stage, done, run};

/// How long something may take that needs moments.
const PATIENCE: Duration = Duration::from_secs(30);

#[expect(clippy::disallowed_methods, reason = "this is git as the user runs it")]
fn git(at: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t.test"])
        .args(words)
        .current_dir(at)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Makes the working directory a repository with something to fetch.
fn repository(stage: &Stage) {
    let work = stage.home.work();
    git(&work, &["init", "-q"]);
    std::fs::write(work.join("file"), "x\n").unwrap();
    git(&work, &["add", "file"]);
    git(&work, &["commit", "-qm", "one"]);
    let other = stage.home.path().join("other.git");
    git(&work, &["clone", "-q", "--bare", ".", other.to_str().unwrap()]);
    git(&work, &["remote", "add", "origin", other.to_str().unwrap()]);
    git(&work, &["fetch", "-q", "origin"]);
}

/// The names in the working tree, and those directly in the repository's own directory.
fn names(stage: &Stage) -> BTreeSet<String> {
    let work = stage.home.work();
    let list = |at: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(at).unwrap().flatten();
        entries
            .map(|entry| entry.path().strip_prefix(&work).unwrap().to_string_lossy().into_owned())
            .collect()
    };
    let git = list(&work.join(".git"));
    // git writes these itself.
    let is_ours = |name: &String| !name.ends_with("FETCH_HEAD") && !name.ends_with("index");
    list(&work).into_iter().chain(git).filter(is_ours).collect()
}

/// Those in the working tree alone.
fn tree(stage: &Stage) -> BTreeSet<String> {
    names(stage).into_iter().filter(|name| !name.starts_with(".git/")).collect()
}

/// Waits without holding up the model server, which is in this process.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Kills every process of this stage whose command line has a word in it.
fn kill(stage: &Stage, word: &str) {
    for process in processes::of(stage.home.path()) {
        if process.command.contains(word) {
            process.kill();
        }
    }
}

/// A conversation whose command waits until it is killed.
async fn busy(stage: &Stage) -> Started {
    let mut started = stage.buddy(["--trust", "--permission-mode", "auto"]).converse();
    started.write(b"go\n").await;
    until("the command runs", || stage.home.work().join("begun").exists()).await;
    started
}

#[tokio::test]
async fn a_command_leaves_the_tree_alone_and_a_killed_buddy_leaves_nothing() {
    let stage = Stage::new(vec![run("touch begun; exec sleep 600"), done()]).await;
    repository(&stage);
    let mut before = names(&stage);
    let started = busy(&stage).await;
    before.insert("begun".to_owned());
    assert_eq!(tree(&stage), before.iter().filter(|name| !name.starts_with(".git/")).cloned().collect());
    assert_eq!(git(&stage.home.work(), &["status", "--porcelain"]), "?? begun\n");
    git(&stage.home.work(), &["fetch", "-q", "origin"]);
    started.signal(Signal::KILL);
    started.finish().await;
    assert_eq!(processes::wait_until_gone(stage.home.path(), PATIENCE), []);
    until("the supervisor removes what it put", || names(&stage) == before).await;
}

#[tokio::test]
async fn a_killed_supervisor_and_a_killed_buddy_leave_nothing_for_the_next_session() {
    let stage = Stage::new(vec![run("touch begun; exec sleep 600"), done(), done()]).await;
    repository(&stage);
    let mut before = names(&stage);
    let started = busy(&stage).await;
    before.insert("begun".to_owned());
    // Neither has the time to clean up after the other.
    started.signal(Signal::STOP);
    kill(&stage, "__supervise");
    started.signal(Signal::KILL);
    started.finish().await;
    assert_eq!(processes::wait_until_gone(stage.home.path(), PATIENCE), []);
    assert_eq!(tree(&stage), before.iter().filter(|name| !name.starts_with(".git/")).cloned().collect());
    stage.buddy(["exec", "hello"]).run().await.expect_code(0);
    assert_eq!(names(&stage), before);
}

#[tokio::test]
async fn buddy_a_pane_and_its_tmux_are_killed_in_every_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let stage = PaneStage::new([run("touch begun; exec sleep 600"), done(), done()]).await;
        repository(&stage.0);
        let before = names(&stage.0);
        let clean = || {
            before
                .iter()
                .filter(|name| !name.starts_with(".git/"))
                .cloned()
                .chain(["begun".to_owned()])
                .collect()
        };
        let mut started = stage.0.buddy(["--trust", "--tmux"]).env("BUDDY_APPROVE", "all").converse();
        started.write(b"go\n").await;
        until("the command runs", || stage.0.home.work().join("begun").exists()).await;
        assert_eq!(tree(&stage.0), clean(), "while a pane lives");
        git(&stage.0.home.work(), &["fetch", "-q", "origin"]);
        for victim in order {
            match victim {
                0 => started.signal(Signal::KILL),
                1 => kill(&stage.0, buddy_exec::warden::WARD),
                _ => kill(&stage.0, "tmux -"),
            }
        }
        started.finish().await;
        until("all of it is gone", || {
            kill(&stage.0, "sleep 600");
            processes::of(stage.0.home.path()).iter().all(|process| !process.command.contains("__"))
        })
        .await;
        assert_eq!(tree(&stage.0), clean(), "{order:?}");
        stage.0.buddy(["exec", "hello"]).run().await.expect_code(0);
        assert_eq!(tree(&stage.0), clean(), "{order:?}");
        let left: Vec<String> = names(&stage.0).difference(&before).cloned().collect();
        assert_eq!(left, ["begun"], "{order:?}");
    }
}

#[tokio::test]
async fn names_that_programs_take_orders_from_are_written_after_a_question() {
    for mode in ["auto", "edits"] {
        for is_there in [false, true] {
            let write = |path: &str| turn().call("write_file", json!({"path": path, "content": "{}\n"}));
            let turns = vec![
                run("echo 'export A=1' > .envrc"),
                write(".vscode/settings.json"),
                run("mkdir -p .vscode && echo '{}' > .vscode/tasks.json"),
                run("mkdir -p app/.vscode && cp .vscode/tasks.json app/.vscode/tasks.json"),
                done(),
            ];
            let stage = Stage::new(turns).await;
            let work = stage.home.work();
            if is_there {
                fs::create_dir(work.join(".vscode")).unwrap();
                for name in [".envrc", ".vscode/settings.json", ".vscode/tasks.json"] {
                    fs::write(work.join(name), "old\n").unwrap();
                }
            }
            let mut started = stage.buddy(["--trust", "--permission-mode", mode]).converse();
            started.write(b"go\n").await;
            for count in 1..=4 {
                started.stderr.wait_for(APPROVE, count).await;
                started.write(b"y\n").await;
            }
            started.stdout.wait_for("So be it.", 1).await;
            started.finish().await.expect_code(0);
            let results = stage.results();
            assert_eq!(stage.home.text(".envrc"), "export A=1\n", "{mode} {is_there}: {results:#?}");
            for name in [".vscode/settings.json", ".vscode/tasks.json", "app/.vscode/tasks.json"] {
                assert_eq!(stage.home.text(name), "{}\n", "{mode} {is_there} {name}: {results:#?}");
            }
        }
    }
}
