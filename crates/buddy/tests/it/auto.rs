//! `auto`: what the jail holds and undo takes back runs unasked, also where nobody can be asked; everything else is denied there.

use std::fs;

use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::Value;

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
async fn what_leaves_the_workspace_is_denied_where_nobody_can_be_asked() {
    let commands = ["touch ../outside", "sudo true", "echo x > .git/hooks/pre-commit", "echo x > .envrc"];
    let turns = commands.iter().map(|command| run(command)).chain([done()]);
    let stage = Stage::apart(turns.collect::<Vec<_>>()).await;
    fs::create_dir_all(stage.home.work().join(".git/hooks")).unwrap();
    let results = results(&stage).await;
    for (command, result) in commands.iter().zip(&results) {
        assert_eq!(result["error"]["code"], "approval_needed", "{command}: {result:#}");
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
