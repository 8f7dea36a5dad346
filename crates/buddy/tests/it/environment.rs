//! The environment of commands: that of the user, without secrets, orders and ways to other sessions.

use std::collections::BTreeMap;
use std::fs;

use buddy_testkit::model::turn;
use buddy_testkit::program::Program;

use crate::stage::{Stage, done, run, shell};

const GIVEN: &[(&str, &str)] = &[
    ("NODE_ENV", "test"),
    ("PYTHONPATH", "/lib/mine"),
    ("RUST_LOG", "debug"),
    ("CI", "true"),
    ("CC", "clang"),
    ("DATABASE_URL", "postgres://ann:pw@localhost/shop"),
    ("PLAIN_DATABASE_URL", "postgres://localhost/shop"),
    ("GITHUB_TOKEN", "token-of-ann"),
    ("MODEL_ACCESS", "key-of-the-model"),
    ("LD_PRELOAD", "/lib/evil.so"),
    ("BASH_ENV", "/lib/evil.sh"),
    ("GIT_DIR", "/elsewhere/.git"),
    ("TMUX", "/tmp/tmux-0/default,1,0"),
    ("SSH_AUTH_SOCK", "/tmp/agent"),
];

fn given(program: Program) -> Program {
    GIVEN.iter().fold(program, |program, (name, value)| program.env(name, value))
}

/// The variables in a file that `env -0` wrote.
fn variables(stage: &Stage, name: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(stage.home.work().join(name)).unwrap();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn configure(stage: &Stage, text: &str) {
    let directory = stage.home.path().join(".config/buddy");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("buddy.toml"), text).unwrap();
}

const PASSED: &[&str] = &["NODE_ENV", "PYTHONPATH", "RUST_LOG", "CI", "CC", "PLAIN_DATABASE_URL"];
const KEY_OF_A_MODEL: &str = "[models.mine]\napi_key_env = \"MODEL_ACCESS\"\n";

#[tokio::test]
async fn commands_and_processes_get_what_the_person_has_without_secrets() {
    let mut process = shell("env -0 > by-process; echo ready; exec sleep 600");
    process["ready_line"] = "ready".into();
    let turns = vec![run("env -0 > by-command"), turn().call("process_start", process), done()];
    let stage = Stage::apart(turns).await;
    configure(&stage, KEY_OF_A_MODEL);
    given(stage.exec(["--trust", "go"])).run().await.expect_code(0);
    let id = stage.results()[1]["result"]["id"].as_str().unwrap().to_owned();
    stage.buddy(["kill", &id]).run().await.expect_code(0);
    for file in ["by-command", "by-process"] {
        let found = variables(&stage, file);
        for (name, value) in GIVEN {
            let expected = PASSED.contains(name).then_some(*value);
            assert_eq!(found.get(*name).map(String::as_str), expected, "{file}: {name}");
        }
        // A managed process is found again by a mark of its own.
        let is_own = |name: &&String| name.starts_with("BUDDY_") && *name != "BUDDY_PROCESS";
        assert_eq!(found.keys().filter(is_own).collect::<Vec<_>>(), Vec::<&String>::new(), "{file}");
    }
}

#[tokio::test]
async fn a_person_passes_variables_and_a_project_only_hides_them() {
    let stage = Stage::apart(vec![run("env -0 > seen"), done()]).await;
    configure(&stage, "[environment]\npass = [\"DATABASE_URL\", \"SSH_*\", \"TMUX\"]\nhide = [\"CI\"]\n");
    let project = "[environment]\npass = [\"*\"]\nhide = [\"RUST_*\"]\n";
    fs::write(stage.home.work().join("buddy.toml"), project).unwrap();
    given(stage.exec(["--trust", "go"])).run().await.expect_code(0);
    let found = variables(&stage, "seen");
    let has = |name: &str| found.contains_key(name);
    assert!(has("DATABASE_URL") && has("SSH_AUTH_SOCK") && has("NODE_ENV"), "{found:?}");
    for name in ["CI", "RUST_LOG", "GITHUB_TOKEN", "LD_PRELOAD", "TMUX"] {
        assert!(!has(name), "{name}");
    }
}

#[tokio::test]
async fn a_failed_command_is_told_which_of_the_variables_that_it_names_it_did_not_get() {
    let turns = [
        "echo $DATABASE_URL; false",
        "bash run.sh",
        "echo 'KeyError: GITHUB_TOKEN' >&2; exit 3",
        "echo $DATABASE_URL",
        "false",
    ];
    let stage = Stage::apart(turns.iter().map(|line| run(line)).chain([done()]).collect::<Vec<_>>()).await;
    fs::write(stage.home.work().join("run.sh"), "test -n \"$DATABASE_URL\"\n").unwrap();
    let finished = given(stage.exec(["--trust", "go"])).run().await.expect_code(0);
    let results = stage.results();
    let told = |at: usize| results[at]["result"]["jail"].to_string();
    for (at, name) in [(0, "DATABASE_URL"), (1, "DATABASE_URL"), (2, "GITHUB_TOKEN")] {
        assert!(told(at).contains(&format!("did not get `{name}` (")), "{at}: {:#}", results[at]);
        assert!(
            told(at).contains(&format!("pass = [\\\"{name}\\\"]` under `[environment]`")),
            "{}",
            told(at)
        );
    }
    assert_eq!((told(3), told(4)), ("null".to_owned(), "null".to_owned()), "nothing is told without need");
    let line = "because their values contain a password or a key: DATABASE_URL. ";
    assert_eq!(finished.stderr.matches(line).count(), 1, "{finished}");
}

#[tokio::test]
async fn an_editor_fails_at_once_and_says_what_to_do() {
    let git = "git -c user.name=ann -c user.email=ann@example.com";
    let stage = Stage::new([
        run(&format!("git init -q . && {git} commit --allow-empty")),
        run(&format!("{git} commit -q --allow-empty -m first && GIT_EDITOR=true {git} commit -q --amend --allow-empty && {git} rebase -i --root")),
        done(),
    ])
    .await;
    stage.exec(["go"]).env("TERM", "xterm").env("EDITOR", "vi").run().await.expect_code(0);
    let results = stage.results();
    let said = |place: usize| results[place]["result"].clone();
    for place in [0, 1] {
        let result = said(place);
        let stderr = result["stderr"].as_str().unwrap();
        assert!(
            result["exit_code"] != 0 && stderr.contains("There is no terminal for an editor"),
            "{result:#}"
        );
        assert!(stderr.contains("git commit -m") && stderr.contains("GIT_EDITOR=true"), "{result:#}");
    }
}
