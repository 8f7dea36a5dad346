//! Production keeps buddy's own directories from commands that nobody was asked about: with bubblewrap, without it, and where no
//! mount can be made.

use std::fs;

use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::Program;
use serde_json::json;

use crate::stage::{Stage, done, shell};

/// What a machine has to hide files with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Machine {
    Bubblewrap,
    OnlyNamespaces,
    Nothing,
}

const WITHOUT_BUBBLEWRAP: &str = "mount --bind /dev/null /usr/bin/bwrap";
const WITHOUT_MOUNTS: &str = "echo 0 > /proc/sys/user/max_mnt_namespaces";

/// Buddy on such a machine, in production.
fn buddy(stage: &Stage, machine: Machine, words: &str) -> Program {
    let program = match machine {
        Machine::Bubblewrap => stage.in_bash(&format!("exec \"$BUDDY\" {words}")),
        Machine::OnlyNamespaces => stage.in_bash(&format!(
            "exec unshare --map-root-user --mount sh -c '{WITHOUT_BUBBLEWRAP} && exec \"$BUDDY\" {words}'"
        )),
        Machine::Nothing => stage.in_bash(&format!(
            "exec unshare --map-root-user --mount sh -c '{WITHOUT_BUBBLEWRAP} && {WITHOUT_MOUNTS} && exec \"$BUDDY\" {words}'"
        )),
    };
    program.env("BUDDY_ENV", "production")
}

async fn stage(commands: &[String]) -> Stage {
    let mut stage = Stage::apart(vec![done()]).await;
    fs::write(stage.home.work().join("plain.txt"), "plain\n").unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    let calls = commands.iter().map(|line| turn().call("run_shell", shell(line)));
    stage.server = ModelServer::start(calls.chain([done()]).collect::<Vec<Turn>>()).await;
    stage
}

/// A command that only reads, and a model that says so.
fn reader() -> Turn {
    let mut call = shell("cat plain.txt");
    call["mutation"] = json!(false);
    turn().call("run_shell", call)
}

/// Commands that would give themselves every right, for the next time that buddy starts.
fn planting(stage: &Stage) -> Vec<String> {
    let (data, config) = (stage.home.data(), stage.home.path().join(".config/buddy"));
    let (data, config) = (data.display(), config.display());
    vec![
        format!("echo all > {data}/grants.json"),
        format!(
            "sh -c 'echo all > {data}/trusted.json; mkdir -p {data}/config; echo all > {data}/config/guards.toml'"
        ),
        format!("mkdir -p {config}; echo all > {config}/rules.toml; echo all > {config}/config.toml"),
        format!("python3 -c 'open(\"{data}/grants.json\", \"w\").write(\"all\")'"),
        format!("python3 -c 'import os; os.rename(\"{data}\", \"{data}2\")'"),
        format!("rm -rf {data}/logs {data}/buddy.db"),
        "echo ran > ran.txt".to_owned(),
        format!("echo kept > {data}/shared/note.txt"),
    ]
}

#[tokio::test]
async fn no_unasked_command_makes_files_of_buddys_own() {
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces, Machine::Nothing] {
        let mut stage = stage(&[]).await;
        let commands = planting(&stage);
        let calls = commands.iter().map(|line| turn().call("run_shell", shell(line)));
        stage.server = ModelServer::start(calls.chain([reader(), done()]).collect::<Vec<Turn>>()).await;
        let config = stage.home.path().join(".config/buddy");
        let before = fs::read(stage.home.data().join("trusted.json")).unwrap();
        buddy(&stage, machine, "exec -c agent.max_iterations=200 go").run().await;
        let results = stage.results();
        assert_eq!(results.len(), commands.len() + 1, "{machine:?}: {results:?}");
        assert!(!stage.home.data().join("grants.json").exists(), "{machine:?}");
        assert!(!stage.home.data().join("config/guards.toml").exists(), "{machine:?}");
        assert_eq!(fs::read(stage.home.data().join("trusted.json")).unwrap(), before, "{machine:?}");
        assert!(!config.join("rules.toml").exists() && !config.join("config.toml").exists(), "{machine:?}");
        assert!(stage.home.data().join("buddy.db").exists() && stage.home.data().join("logs").exists());
        let (can_hide, work) = (machine != Machine::Nothing, stage.home.work());
        assert_eq!(work.join("ran.txt").exists(), can_hide, "{machine:?}: {results:?}");
        assert_eq!(stage.home.data().join("shared/note.txt").exists(), can_hide, "{machine:?}: {results:?}");
        let last = results.last().unwrap();
        assert_eq!(last["result"]["stdout"], "plain\n", "{machine:?}: {last}");
        let told = results.iter().any(|result| result.to_string().contains("install bubblewrap"));
        assert_eq!(told, !can_hide, "{machine:?}: {results:?}");
    }
}

#[tokio::test]
async fn where_nothing_can_be_hidden_a_command_runs_once_a_person_allowed_it() {
    let commands = ["echo ran > ran.txt".to_owned(), "echo more > more.txt".to_owned()];
    let stage = stage(&commands).await;
    let mut started = buddy(&stage, Machine::Nothing, "").converse();
    started.write(b"go\n").await;
    for count in 1..=2 {
        started.stderr.wait_for("-- approve? [", count).await;
        started.stderr.wait_for("/n] ", count).await;
        let said = started.stderr.text();
        assert!(said.contains("install bubblewrap"), "{said}");
        let yes = said.rsplit_once("approve? [").unwrap().1.split('/').next().unwrap().to_owned();
        started.write(format!("{}\n", if count == 1 { &yes } else { "n" }).as_bytes()).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(fs::read_to_string(stage.home.work().join("ran.txt")).unwrap(), "ran\n");
    assert!(!stage.home.work().join("more.txt").exists());
}

#[tokio::test]
async fn where_nothing_can_be_hidden_all_means_all() {
    let stage = stage(&["echo ran > ran.txt".to_owned()]).await;
    buddy(&stage, Machine::Nothing, "exec --approve all go").run().await.expect_code(0);
    assert_eq!(fs::read_to_string(stage.home.work().join("ran.txt")).unwrap(), "ran\n");
}

/// A repository in the workspace whose history holds a secret.
const TRACKED: &str = "git init -q && echo KEY=s3cr3t > .env && echo x > a.txt && mkdir sub && echo y > sub/b.txt && git add -f . \
     && git -c user.email=x@example.org -c user.name=x commit -qm first && git clone -q . plain && rm plain/.env \
     && git -C plain -c user.email=x@example.org -c user.name=x commit -qam second";

#[tokio::test]
async fn a_secret_that_git_tracks_does_not_come_out_of_its_store_unasked() {
    let asked = [
        "git show HEAD:.env",
        "git show",
        "git log -p",
        "git grep KEY HEAD",
        "git cat-file -p $(git rev-parse HEAD:.env)",
        "git archive HEAD | tar xO .env",
        "git blame .env",
        "git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD",
        "git format-patch --root --stdout HEAD",
        "git checkout-index --prefix=x -a; cat x.env",
        "git bundle create all HEAD",
        "git -C sub show HEAD:.env",
        "cd sub && git log -p",
        "npm exec -c 'git show HEAD:.env'",
    ];
    let unasked = [
        "git status --short",
        "git log --oneline",
        "git show HEAD:a.txt",
        "git log -p -- sub",
        "git show --stat",
    ];
    for machine in [Machine::Bubblewrap, Machine::OnlyNamespaces] {
        let lines: Vec<String> = asked.iter().chain(&unasked).map(|line| (*line).to_owned()).collect();
        let stage = stage(&lines).await;
        stage.in_bash(TRACKED).run().await.expect_code(0);
        buddy(&stage, machine, "exec -c agent.max_iterations=200 go").run().await;
        let results = stage.results();
        assert_eq!(results.len(), lines.len(), "{machine:?}: {results:?}");
        for (line, result) in lines.iter().zip(&results) {
            assert!(!result.to_string().contains("s3cr3t"), "{machine:?} {line}: {result}");
        }
        assert!(!stage.home.work().join("all").exists() && !stage.home.work().join("x.env").exists());
        for (line, result) in unasked.iter().zip(results.iter().skip(asked.len())) {
            assert_eq!(result["result"]["exit_code"], 0, "{machine:?} {line}: {result}");
        }
    }
}

#[tokio::test]
async fn a_repository_that_tracks_no_secret_is_read_unasked() {
    let lines = ["git -C plain show --format= HEAD:a.txt", "git -C plain log -p", "git -C plain grep x"];
    let stage = stage(&lines.map(str::to_owned)).await;
    stage.in_bash(TRACKED).run().await.expect_code(0);
    buddy(&stage, Machine::Bubblewrap, "exec -c agent.max_iterations=200 go").run().await;
    let results = stage.results();
    assert_eq!(results.len(), lines.len(), "{results:?}");
    for (line, result) in lines.iter().zip(&results) {
        assert_eq!(result["result"]["exit_code"], 0, "{line}: {result}");
    }
}

#[tokio::test]
async fn once_a_person_allowed_it_the_secret_is_read_and_the_session_is_marked() {
    let lines = ["git show HEAD:.env", "curl -s http://127.0.0.1:9/"];
    let stage = stage(&lines.map(str::to_owned)).await;
    stage.in_bash(TRACKED).run().await.expect_code(0);
    let mut started = buddy(&stage, Machine::Bubblewrap, "").converse();
    started.write(b"go\n").await;
    for count in 1..=2 {
        started.stderr.wait_for("-- approve? [", count).await;
        started.stderr.wait_for("/n] ", count).await;
        let said = started.stderr.text();
        assert!(said.contains(".env`, which can hold secrets"), "{said}");
        assert_eq!(said.contains("this session has read a secret"), count == 2, "{said}");
        let yes = said.rsplit_once("approve? [").unwrap().1.split('/').next().unwrap().to_owned();
        started.write(format!("{}\n", if count == 1 { &yes } else { "n" }).as_bytes()).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.results()[0].to_string().contains("s3cr3t"), "{:?}", stage.results());
}
