//! Protected places hold for the real program, in every mode: secrets reach no model unless a user was asked, and changes
//! land on what was judged.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::ASKING;
use serde_json::json;

use crate::stage::{APPROVE, Stage, done, run, shell};

/// The text in every secret.
const VALUE: &str = "sesame-4711";

/// Secrets in the home, and in the workspace.
const IN_HOME: &[&str] = &[
    ".npmrc",
    ".git-credentials",
    ".docker/config.json",
    ".aws/credentials",
    ".ssh/id_ed25519",
    ".config/buddy/auth.json",
    ".config/gh/hosts.yml",
];
const IN_WORK: &[&str] = &[".env", "app/.env.local", "app/credentials.json", "deploy/.npmrc"];

#[tokio::test]
async fn own_files_at_the_usual_place_are_closed_if_variables_name_another_one() {
    let names = [".config/buddy/buddy.toml", ".buddy/history"];
    let reads = names.map(|name| {
        [
            run(&format!("cat ~/{name}")),
            run(&format!("python3 -c 'import os; print(open(os.path.expanduser(\"~/{name}\")).read())'")),
        ]
    });
    let stage = Stage::apart(reads.into_iter().flatten().chain([done()]).collect::<Vec<_>>()).await;
    for name in names {
        let path = stage.home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("# {VALUE}\n")).unwrap();
    }
    let elsewhere = stage.home.path().join("elsewhere");
    let program = stage.buddy(["exec", "--trust", "--permission-mode", "auto", "go"]);
    program
        .env("XDG_CONFIG_HOME", &elsewhere)
        .env("BUDDY_HOME", elsewhere.join("data"))
        .run()
        .await
        .expect_code(5);
    let requests = stage.requests();
    assert_eq!(requests.len(), 5);
    assert!(requests.iter().all(|request| !request.body.to_string().contains(VALUE)), "{requests:#?}");
}

/// A home with secrets, and a trusted workspace with secrets and links to those of the home.
async fn stage() -> Stage {
    let stage = Stage::apart(vec![done()]).await;
    let plant = |path: PathBuf| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, VALUE).unwrap();
    };
    for name in IN_HOME {
        plant(stage.home.path().join(name));
    }
    for name in IN_WORK {
        plant(stage.home.work().join(name));
    }
    symlink(stage.home.path(), stage.home.work().join("home")).unwrap();
    symlink(stage.home.path().join(".npmrc"), stage.home.work().join("notes.txt")).unwrap();
    symlink("/proc/self/environ", stage.home.work().join("process.txt")).unwrap();
    fs::hard_link(stage.home.path().join(".ssh/id_ed25519"), stage.home.work().join("twin.txt")).unwrap();
    fs::hard_link(stage.home.work().join(".env"), stage.home.work().join("second.txt")).unwrap();
    fs::write(stage.home.work().join("plain.txt"), "nothing to hide").unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage
}

fn read(path: impl Into<PathBuf>) -> Turn {
    turn().call("read_file", json!({"path": path.into()}))
}

/// Lets the model make these calls in a run without a user, and gives back everything that it was told.
async fn told(stage: &mut Stage, mode: &str, calls: Vec<Turn>) -> String {
    let count = calls.len();
    stage.server = ModelServer::start(calls.into_iter().chain([done()]).collect::<Vec<_>>()).await;
    let program = stage.buddy(["exec", "-c", "agent.max_iterations=200", "look around"]);
    program.env("BUDDY_ENV", mode).run().await;
    let results = stage.results();
    assert_eq!(results.len(), count);
    results.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn no_tool_tells_a_secret_that_nobody_was_asked_about() {
    for mode in ["development", "production"] {
        let mut stage = stage().await;
        let home = stage.home.path().to_owned();
        let mut calls: Vec<Turn> = Vec::new();
        for name in IN_HOME {
            calls.push(read(home.join(name)));
            calls.push(read(format!("home/{name}")));
        }
        calls.extend(IN_WORK.iter().map(|name| read(*name)));
        calls.extend(
            ["notes.txt", "process.txt", "twin.txt", "second.txt", "app/../.ENV", "plain.txt"].map(read),
        );
        for path in [".", "home", "notes.txt", "twin.txt", home.to_str().unwrap()] {
            calls.push(turn().call("grep", json!({"pattern": ".", "path": path, "all": true})));
        }
        calls.push(turn().call("edit_file", json!({"path": ".env", "old": "a", "new": "b"})));
        let told = told(&mut stage, mode, calls).await;
        assert!(!told.contains(VALUE) && !told.contains("BUDDY_API_KEY"), "{mode}: {told}");
        assert!(told.contains("nothing to hide"), "{mode}: ordinary files are read: {told}");
        assert!(told.contains("that can hold secrets"), "{mode}: the search tells what it left out: {told}");
    }
}

#[tokio::test]
async fn no_command_reads_the_home_unasked() {
    let mut stage = stage().await;
    let home = stage.home.path().display().to_string();
    let lines = [
        "grep -r sesame ~".to_owned(),
        "cat ~/*/credentials".to_owned(),
        "cat ~/.npmrc".to_owned(),
        format!("cat {home}/.aws/*"),
        "find ~ -type f -exec cat {} +".to_owned(),
        "cat notes.txt".to_owned(),
        "cat home/.git-credentials".to_owned(),
        "tar c ~".to_owned(),
        "head .env".to_owned(),
    ];
    let calls = lines.iter().map(|line| run(line)).collect();
    let told = told(&mut stage, "development", calls).await;
    assert!(!told.contains(VALUE), "{told}");
}

#[tokio::test]
async fn a_command_that_is_refused_a_secret_is_told_why() {
    for mode in ["development", "production"] {
        let mut stage = stage().await;
        fs::write(stage.home.work().join("peek.sh"), "cat second.txt; cat app/.env.local\n").unwrap();
        stage.server = ModelServer::start(vec![run("sh peek.sh"), done()]).await;
        let program = stage.buddy(["exec", "--approve", "10m", "look"]);
        program.env("BUDDY_ENV", mode).run().await;
        let told = stage.results()[0].to_string();
        assert!(!told.contains(VALUE), "{mode}: {told}");
        assert!(told.contains("`app/.env.local` can hold secrets, so the jail"), "{mode}: {told}");
    }
}

#[tokio::test]
async fn buddys_own_files_are_hidden_from_commands_in_production_too() {
    let mut stage = stage().await;
    let (home, data) = (stage.home.path().to_owned(), stage.home.data());
    let calls = [
        format!("python3 -c 'print(open(\"{}/.config/buddy/auth.json\").read())'", home.display()),
        format!("tar c {}/.config/buddy | cat", home.display()),
        format!("cp -r {} copied; grep -r . copied", data.display()),
        format!("sh -c 'cd {}; strings buddy.db; cat trusted.json'", data.display()),
        "echo ran > ran.txt".to_owned(),
    ];
    let calls = calls.iter().map(|line| turn().call("run_shell", shell(line))).collect();
    let told = told(&mut stage, "production", calls).await;
    let work = stage.home.work().display().to_string();
    assert!(!told.contains(VALUE), "{told}");
    assert!(
        !told.contains("SQLite format 3") && !told.contains(&format!("\\\"path\\\":\\\"{work}")),
        "{told}"
    );
    assert!(!stage.home.work().join("copied/trusted.json").exists());
    assert_eq!(fs::read_to_string(stage.home.work().join("ran.txt")).unwrap(), "ran\n");
}

/// The keys of a user to allow the question that was put last: a key, or its word.
fn yes_to(asked: &str) -> String {
    let (_, last) = asked.rsplit_once("-- approve? [").unwrap();
    last.split_once("/n]").unwrap().0.to_owned()
}

#[tokio::test]
async fn an_approved_read_of_a_secret_gives_its_content_once() {
    for mode in ["development", "production"] {
        let mut stage = stage().await;
        let calls = vec![read(".env"), read(".env"), read("app/.env.local"), done()];
        stage.server = ModelServer::start(calls).await;
        let mut started = stage.buddy(["--trust"]).env("BUDDY_ENV", mode).converse();
        started.write(b"read it\n").await;
        started.stderr.wait_for("-- approve? [", 1).await;
        if mode == "production" {
            // A key is not enough there.
            started.write(b"y\n").await;
            started.stderr.wait_for("-- approve? [", 2).await;
        }
        let before = if mode == "production" { 2 } else { 1 };
        started.stderr.wait_for("/n] ", before).await;
        let yes = yes_to(&started.stderr.text());
        started.write(format!("{yes}\n").as_bytes()).await;
        for count in [before + 1, before + 2] {
            started.stderr.wait_for("-- approve? [", count).await;
            started.write(b"n\n").await;
        }
        started.stdout.wait_for("So be it.", 1).await;
        started.finish().await.expect_code(0);
        let results = stage.results();
        let has_value: Vec<bool> = results.iter().map(|result| result.to_string().contains(VALUE)).collect();
        assert_eq!(has_value, [true, false, false], "{mode}: {results:?}");
    }
}

#[tokio::test]
async fn a_change_does_not_go_through_a_link_in_any_mode() {
    for mode in ["development", "production"] {
        let mut stage = stage().await;
        let (home, work) = (stage.home.path().to_owned(), stage.home.work());
        let outside = home.join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "kept").unwrap();
        fs::create_dir_all(work.join(".git/hooks")).unwrap();
        symlink(outside.join("file"), work.join("link")).unwrap();
        symlink(&outside, work.join("folder")).unwrap();
        symlink(".git/hooks/pre-commit", work.join("near")).unwrap();
        let patch = "*** Begin Patch\n*** Add File: folder/new\n+x\n*** End Patch";
        let mut calls = vec![
            turn().call("apply_patch", json!({"patch": patch})),
            turn().call("edit_file", json!({"path": "link", "old": "kept", "new": "lost"})),
            turn().call("delete_path", json!({"path": "folder/file"})),
            turn().call("make_directory", json!({"path": "folder/deep/down"})),
        ];
        for path in ["link", "folder/file", "near"] {
            calls.push(turn().call("write_file", json!({"path": path, "content": "lost"})));
            calls.push(run(&format!("echo lost > {path}")));
            calls.push(run(&format!("cp plain.txt {path}")));
        }
        calls.push(run("rm folder/file"));
        calls.push(turn().call("write_file", json!({"path": "made.txt", "content": "x"})));
        let count = calls.len();
        calls.push(done());
        stage.server = ModelServer::start(calls).await;
        let program = stage.buddy(["exec", "--approve", "10m", "-c", "agent.max_iterations=200", "write"]);
        program.env("BUDDY_ENV", mode).run().await;
        assert_eq!(stage.results().len(), count);
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "kept", "{mode}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "{mode}");
        assert!(!work.join(".git/hooks/pre-commit").exists(), "{mode}");
        assert!(work.join("made.txt").exists(), "{mode}: ordinary files are written");
    }
}

#[tokio::test]
async fn files_that_settings_of_git_name_are_not_changed_unasked() {
    for mode in ["development", "production"] {
        let mut stage = stage().await;
        let work = stage.home.work();
        let settings =
            "[core]\n\thooksPath = scripts/hooks\n\tfsmonitor = tools/watch\n[include]\n\tpath = ../more\n";
        for (name, text) in
            [(".git/config", settings), ("more", "kept"), ("tools/watch", "kept"), ("tools/x", "kept")]
        {
            fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
            fs::write(work.join(name), text).unwrap();
        }
        fs::write(
            stage.home.path().join(".gitconfig"),
            format!("[include]\n\tpath = {}\n", work.join("own").display()),
        )
        .unwrap();
        let names = ["more", "own", "tools/watch", "scripts/hooks/pre-commit"];
        let mut calls: Vec<Turn> = Vec::new();
        for path in names {
            calls.push(turn().call("write_file", json!({"path": path, "content": "lost"})));
            calls.push(run(&format!("mkdir -p scripts/hooks; echo lost > {path}")));
        }
        calls.push(turn().call("write_file", json!({"path": "tools/x", "content": "changed"})));
        let count = calls.len();
        calls.push(done());
        stage.server = ModelServer::start(calls).await;
        let approve = if mode == "production" { "none" } else { "edits" };
        let program = stage.buddy(["exec", "--approve", approve, "-c", "agent.max_iterations=200", "write"]);
        program.env("BUDDY_ENV", mode).run().await;
        assert_eq!(stage.results().len(), count);
        for path in names {
            let there = fs::read_to_string(work.join(path)).unwrap_or_else(|_| "kept".into());
            assert_eq!(there, "kept", "{mode}: {path}");
        }
        assert_eq!(
            fs::read_to_string(work.join("tools/x")).unwrap(),
            "changed",
            "{mode}: {:?}",
            stage.results()
        );
    }
}

#[tokio::test]
async fn when_the_workspace_is_replaced_nothing_is_done_there() {
    for mode in ["development", "production"] {
        let mut stage = stage().await;
        let (work, moved) = (stage.home.work(), stage.home.path().join("moved"));
        let other = stage.home.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("plain.txt"), "another one").unwrap();
        let calls = vec![
            read("plain.txt"),
            done(),
            read("plain.txt"),
            turn().call("write_file", json!({"path": "new.txt", "content": "x"})),
            run("touch new.txt"),
            turn().call("run_shell", shell("cat plain.txt")),
            done(),
        ];
        stage.server = ModelServer::start(calls).await;
        let program = stage.buddy(["--trust", "--approve", "all"]).env("BUDDY_ENV", mode);
        let mut started = program.converse();
        started.write(b"read it\n").await;
        started.stdout.wait_for("So be it.", 1).await;
        fs::rename(&work, &moved).unwrap();
        symlink(&other, &work).unwrap();
        started.write(b"again\n").await;
        started.stdout.wait_for("So be it.", 2).await;
        started.finish().await.expect_code(0);
        let results = stage.results();
        assert_eq!(results.len(), 5);
        let told: String = results.iter().skip(1).map(ToString::to_string).collect();
        assert!(!told.contains("another one"), "{mode}: {told}");
        assert!(!other.join("new.txt").exists() && !moved.join("new.txt").exists(), "{mode}");
    }
}

#[tokio::test]
async fn logs_of_other_sessions_are_not_looked_through() {
    for mode in ["development", "production"] {
        let mut stage = stage().await;
        let logs = stage.home.data().join("logs");
        fs::create_dir_all(&logs).unwrap();
        fs::write(logs.join("exec-itm_another.log"), VALUE).unwrap();
        let at = logs.display().to_string();
        let calls = vec![
            turn().call("grep", json!({"pattern": ".", "path": at, "all": true})),
            turn().call("list_directory", json!({"path": at, "all": true})),
            run(&format!("cat {at}/*")),
            run(&format!("grep -r . {at}")),
            turn().call("run_shell", shell(&format!("sh -c 'cat {at}/exec-*'"))),
            read(logs.join("exec-itm_another.log")),
        ];
        let told = told(&mut stage, mode, calls).await;
        assert!(!told.contains(VALUE), "{mode}: {told}");
    }
}

#[tokio::test]
async fn a_file_with_secrets_is_not_changed_unasked_in_any_mode() {
    let call = |name: &str, input: serde_json::Value| vec![turn().call(name, input), done()];
    let patch = "*** Begin Patch\n*** Add File: sub/.env\n+x\n*** End Patch";
    for (name, input) in [
        ("write_file", json!({"path": ".env", "content": "x\n"})),
        ("edit_file", json!({"path": ".env", "old": "topsecret", "new": "x"})),
        ("apply_patch", json!({ "patch": patch })),
        ("delete_path", json!({"path": ".env"})),
    ] {
        for (environment, mode) in [("development", "edits"), ("development", "all"), ("production", "ask")] {
            let stage = Stage::new(call(name, input.clone())).await;
            let env = stage.home.work().join(".env");
            fs::write(&env, "key = topsecret\n").unwrap();
            let buddy = stage.buddy(["exec", "--trust", "--permission-mode", mode, "go"]);
            buddy.env("BUDDY_ENV", environment).run().await.expect_code(5);
            assert_eq!(fs::read_to_string(&env).unwrap(), "key = topsecret\n", "{name} {environment} {mode}");
            assert!(!stage.home.work().join("sub/.env").exists(), "{name} {environment} {mode}");
        }
    }
}

#[tokio::test]
async fn a_question_about_a_link_names_the_file_that_it_leads_to() {
    let stage = Stage::new(vec![
        turn().call("read_file", json!({"path": "notes"})),
        turn().call("read_file", json!({"path": "other"})),
        done(),
    ])
    .await;
    let work = stage.home.work();
    fs::write(work.join(".env"), "key = topsecret\n").unwrap();
    fs::write(work.join("plain"), "plain\n").unwrap();
    symlink(".env", work.join("notes")).unwrap();
    symlink("plain", work.join("other")).unwrap();
    let mut started = stage.buddy(["--trust"]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    let shown = started.stderr.text();
    assert!(shown.contains("Read notes, which leads to .env"), "{shown}");
    started.write(b"y\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let results = stage.results();
    assert!(results[0].to_string().contains("topsecret"), "{:#}", results[0]);
    for (result, name) in results.iter().zip([".env", "plain"]) {
        let to = result["result"]["leads_to"].as_str().unwrap_or_default();
        assert!(to.ends_with(name), "{result:#}");
    }
}

#[tokio::test]
async fn a_directory_with_protected_files_is_removed_only_after_a_question_about_them() {
    for (name, asked) in [
        ("old/deep/.env", Some("removes `old/deep/.env`, which can hold secrets")),
        ("old/.git/hooks/pre-commit", Some("removes `old/.git/hooks/pre-commit`")),
        ("old/src/lib.rs", None),
    ] {
        for answer in ["n", "y"] {
            let call = turn().call("delete_path", json!({"path": "old", "recursive": true}));
            let stage = Stage::apart(vec![call, done()]).await;
            let file = stage.home.work().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, VALUE).unwrap();
            stage.buddy(["trust"]).run().await.expect_code(0);
            let mut started = stage.usual([]).converse();
            started.write(b"go\n").await;
            tokio::select! {
                () = started.stderr.wait_for(APPROVE, 1) => started.write(format!("{answer}\n").as_bytes()).await,
                () = started.stdout.wait_for("So be it.", 1) => {}
            }
            started.stdout.wait_for("So be it.", 1).await;
            let finished = started.finish().await.expect_code(0);
            let count = finished.stderr.matches(APPROVE).count();
            assert_eq!(count, usize::from(asked.is_some()), "{name}: {finished}");
            let told = finished.stderr.replace(&format!("{}/", stage.home.work().display()), "");
            assert!(asked.is_none_or(|reason| told.contains(reason)), "{name}: {finished}");
            assert_eq!(file.exists(), asked.is_some() && answer == "n", "{name}: {finished}");
        }
    }
}

/// The layers of the jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layers {
    All,
    WithoutBubblewrap,
}

/// The same with the policy on approvals that people begin with, where commands in the jail run unasked.
async fn told_unasked(stage: &mut Stage, mode: &str, layers: Layers, calls: Vec<Turn>) -> String {
    let count = calls.len();
    stage.server = ModelServer::start(calls.into_iter().chain([done()]).collect::<Vec<_>>()).await;
    let words = ["exec", "-c", "agent.max_iterations=200", "-c", "agent.gates.finish=false", "go"].join(" ");
    let program = match layers {
        Layers::All => stage.in_bash(&format!("exec \"$BUDDY\" {words}")),
        Layers::WithoutBubblewrap => {
            let line = format!("mount --bind /dev/null /usr/bin/bwrap && exec \"$BUDDY\" {words}");
            stage.in_bash(&format!("exec unshare --map-root-user --mount sh -c '{line}'"))
        }
    };
    program.env("BUDDY_ENV", mode).env_remove(ASKING.0).run().await;
    let results = stage.results();
    assert_eq!(results.len(), count);
    results.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A link in the home, as people make who keep their dotfiles or keys in a folder of their own.
fn link_in_home(stage: &Stage, name: &str, target: PathBuf) {
    let at = stage.home.path().join(name);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    fs::write(&target, VALUE).unwrap();
    symlink(target, at).unwrap();
}

#[tokio::test]
async fn no_command_and_no_tool_changes_dotfiles_that_the_home_links_to() {
    let links = [
        (".config/git/config", "gitconfig"),
        (".config/systemd/user/x.service", "units/x.service"),
        (".config/fish/config.fish", "fish/config.fish"),
        (".config/autostart/x.desktop", "x.desktop"),
        (".config/nvim/lua/deep/init.lua", "init.lua"),
        (".config/tmux/tmux.conf", "tmux"),
        (".tmux.conf", "old-tmux"),
        (".local/bin/tool", "tool"),
    ];
    for layers in [Layers::All, Layers::WithoutBubblewrap] {
        check_dotfiles(&links, layers).await;
    }
}

async fn check_dotfiles(links: &[(&str, &str)], layers: Layers) {
    let mut stage = Stage::apart(vec![done()]).await;
    for (name, target) in links {
        link_in_home(&stage, name, stage.home.work().join(target));
    }
    fs::write(stage.home.work().join("plain"), "").unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    let targets: Vec<&str> = links.iter().map(|(_, target)| *target).collect();
    let script =
        format!("for f in {} plain; do echo evil >> $f; rm -f $f.x; mv $f $f.x; done", targets.join(" "));
    fs::write(stage.home.work().join("change.sh"), script).unwrap();
    let mut calls = vec![run("sh change.sh")];
    calls.extend(targets.iter().map(|at| turn().call("write_file", json!({"path": at, "content": "evil"}))));
    let told = told_unasked(&mut stage, "development", layers, calls).await;
    for target in targets {
        let text = fs::read_to_string(stage.home.work().join(target)).unwrap_or_default();
        assert_eq!(text, VALUE, "{layers:?}: {target}: {told}");
    }
    // Without mounts no name beside the dotfiles can be changed either.
    let plain = if layers == Layers::All { "plain.x" } else { "plain" };
    let plain = fs::read_to_string(stage.home.work().join(plain)).unwrap_or_default();
    assert_eq!(plain, "evil\n", "{layers:?}: {told}");
}

#[tokio::test]
async fn no_command_and_no_tool_reads_keys_that_links_lead_to() {
    for (mode, layers) in [
        ("development", Layers::All),
        ("development", Layers::WithoutBubblewrap),
        ("production", Layers::All),
    ] {
        let mut stage = Stage::apart(vec![done()]).await;
        let (home, work) = (stage.home.path().to_owned(), stage.home.work());
        link_in_home(&stage, ".ssh/id_work", home.join("Sync/key"));
        link_in_home(&stage, ".aws/credentials", work.join("awsc"));
        link_in_home(&stage, ".npmrc", home.join("Sync/npm"));
        fs::create_dir(work.join("conf")).unwrap();
        fs::write(work.join("conf/live"), VALUE).unwrap();
        symlink("conf/live", work.join(".env")).unwrap();
        for (directory, file, link) in [
            ("dk", "config.json", ".docker"),
            ("c2/gh", "hosts.yml", ".config"),
            ("c2/gcloud", "x.db", "app/.config"),
        ] {
            fs::create_dir_all(work.join(directory)).unwrap();
            fs::write(work.join(directory).join(file), VALUE).unwrap();
            fs::create_dir_all(work.join(link).parent().unwrap()).unwrap();
            let target = work.join(directory.split('/').next().unwrap());
            symlink(target, work.join(link)).unwrap();
        }
        for name in ["terraform.tfstate.backup", "x.auto.tfvars.json", "server.key.bak", ".dev.vars"] {
            fs::write(work.join(name), VALUE).unwrap();
        }
        fs::write(work.join("plain.txt"), "nothing to hide").unwrap();
        stage.buddy(["trust"]).run().await.expect_code(0);
        let all =
            "cat ../Sync/* ~/Sync/* awsc conf/live dk/* c2/*/* *.backup *.json *.bak .dev.vars plain.txt";
        fs::write(work.join("peek.sh"), all).unwrap();
        let mut calls = vec![run("sh peek.sh"), run("cat awsc"), run("cat conf/live"), read("plain.txt")];
        calls.extend(["awsc", "conf/live", "server.key.bak", ".dev.vars"].map(read));
        calls.extend(["dk/config.json", "c2/gh/hosts.yml", "c2/gcloud/x.db"].map(read));
        calls.push(run("cat dk/config.json c2/gh/hosts.yml"));
        calls.extend([read(home.join("Sync/key")), read(home.join("Sync/npm"))]);
        calls.push(turn().call("grep", json!({"pattern": ".", "path": ".", "all": true})));
        let told = told_unasked(&mut stage, mode, layers, calls).await;
        assert!(!told.contains(VALUE), "{mode} {layers:?}: {told}");
        assert!(told.contains("nothing to hide"), "{mode} {layers:?}: {told}");
    }
}

/// A link of yours at the start of a protected name, or of a place that settings of git name: the rest of the name is behind it.
#[tokio::test]
async fn no_command_and_no_tool_changes_orders_behind_links_in_the_workspace() {
    for layers in [Layers::All, Layers::WithoutBubblewrap] {
        let mut stage = Stage::apart(vec![done()]).await;
        let work = stage.home.work();
        stage.in_bash("git init -q . && git config core.hooksPath gh && git init -q sub").run().await;
        for name in [".git/hooks", "sub/.git/hooks"] {
            let _ = fs::remove_dir_all(work.join(name));
        }
        let there = [
            "conf/cargo/config.toml",
            "githooks/pre-commit",
            "sc/pc.sh",
            "sub/hk/pre-commit",
            "c2/fish/a.fish",
            "one/x.sh",
            "two/run.sh",
            "three.fish",
        ];
        let missing = ["conf/app/config.toml", "conf/app/config", "c2/sway/config", "sc/new.sh"];
        for name in there.iter().chain(&["conf/app/x", "plain/x"]) {
            fs::create_dir_all(work.join(name).parent().unwrap()).unwrap();
            fs::write(work.join(name), VALUE).unwrap();
        }
        for (target, link) in [
            ("conf/cargo", ".cargo"),
            ("../../conf/app", "sub/app/.cargo"),
            ("c2", ".config"),
            ("../githooks", ".git/hooks"),
            ("../hk", "sub/.git/hooks"),
            ("../sc/pc.sh", "gh/pre-commit"),
            ("../sc/new.sh", "gh/post-commit"),
            ("conf/h", ".husky"),
            ("../../one/x.sh", "conf/h/pre-commit"),
            ("../lib", "gh/_"),
            ("../two/run.sh", "lib/run.sh"),
            ("../../three.fish", "c2/fish/b.fish"),
            ("../..", "conf/h/all"),
        ] {
            fs::create_dir_all(work.join(link).parent().unwrap()).unwrap();
            symlink(target, work.join(link)).unwrap();
        }
        stage.buddy(["trust"]).run().await.expect_code(0);
        let names = [&there[..], &missing[..]].concat();
        let script =
            format!("mkdir -p c2/sway; for f in {} plain/x; do echo evil >> $f; done", names.join(" "));
        fs::write(work.join("change.sh"), script).unwrap();
        let mut calls = vec![run("sh change.sh")];
        calls
            .extend(names.iter().map(|at| turn().call("write_file", json!({"path": at, "content": "evil"}))));
        calls.push(turn().call("write_file", json!({"path": "conf/app/x", "content": "changed"})));
        let told = told_unasked(&mut stage, "development", layers, calls).await;
        for name in there {
            assert_eq!(fs::read_to_string(work.join(name)).unwrap(), VALUE, "{layers:?}: {name}: {told}");
        }
        for name in missing {
            assert!(!work.join(name).exists(), "{layers:?}: {name}: {told}");
        }
        let text = |name: &str| fs::read_to_string(work.join(name)).unwrap();
        assert!(text("plain/x").contains("evil"), "{layers:?}: {told}");
        assert_eq!(text("conf/app/x"), "changed", "{layers:?}: {told}");
    }
}
