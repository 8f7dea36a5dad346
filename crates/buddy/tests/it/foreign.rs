//! A server that is not ours: the Python mock as the OpenAI-compatible endpoint. Nothing of it is skipped when Python is
//! missing; the test then fails and says so.

use std::path::PathBuf;

use buddy_testkit::home::Home;
use buddy_testkit::model::check_history;
use buddy_testkit::package;
use buddy_testkit::program::{Program, Started};
use serde_json::Value;

use crate::stage::{UNCHECKED, buddy, said};

struct Foreign {
    home: Home,
    url: String,
    server: Started,
}

impl Foreign {
    async fn start(script: &str) -> Self {
        let version = Program::new("/usr/bin/env").args(["python3", "--version"]).run().await;
        assert_eq!(version.code, Some(0), "these tests need `python3`: {version}");
        let home = Home::new();
        let fixtures = package().join("../../fixtures/mockllm");
        let mut server = Program::new("/usr/bin/env")
            .args(["python3", "-u"])
            .arg(fixtures.join("mockllm.py"))
            .args(["--port", "0", "--api-key", "sk-test", "--log-bodies", "--log"])
            .arg(log(&home))
            .arg("--script")
            .arg(fixtures.join("scripts").join(format!("{script}.json")))
            .arg("--var")
            .arg(format!("repo={}", home.work().display()))
            .start();
        server.stdout.wait_for("\n", 1).await;
        let line = server.stdout.text();
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).expect("its address");
        Self { url: url.to_owned(), home, server }
    }

    /// The bodies of the requests that it logged.
    fn bodies(&self) -> Vec<Value> {
        let lines = std::fs::read_to_string(log(&self.home)).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["body"].clone()).filter(|body| body["messages"].is_array()).collect()
    }

    async fn check(self, answer: &str) -> (Home, Vec<Value>) {
        let program =
            buddy(&self.home, &self.url).args(["exec", "--approve", "all", "please"]).args(UNCHECKED);
        let finished = program.run().await.expect_code(0);
        assert_eq!(finished.text(), format!("{answer}\n"), "{finished}");
        let bodies = self.bodies();
        assert_eq!(bodies.len(), 2, "{bodies:#?}");
        for body in &bodies {
            assert_eq!(check_history(body), Ok(()), "{body:#}");
            assert_eq!((&body["stream"], &body["model"]), (&Value::Bool(true), &Value::from("scripted")));
            assert!(body["tools"].as_array().is_some_and(|tools| tools.len() >= 3), "{body:#}");
        }
        self.server.signal(rustix::process::Signal::KILL);
        self.server.finish().await;
        (self.home, bodies)
    }
}

fn log(home: &Home) -> PathBuf {
    home.path().join("requests.jsonl")
}

#[tokio::test]
async fn a_command_runs() {
    let (home, bodies) = Foreign::start("shell-write").await.check("Finished after the tool call.").await;
    assert!(home.work().join("made-by-tool.txt").exists());
    assert_eq!(said(&bodies[1], "tool"), ["exit code: 0\nstdout:\nmade"]);
}

#[tokio::test]
async fn a_file_is_written() {
    let (home, bodies) = Foreign::start("write").await.check("notes.txt is written.").await;
    assert_eq!(home.text("notes.txt"), "first line\nsecond line\n");
    assert!(said(&bodies[1], "tool")[0].contains("changed: +2 −0"), "{:?}", said(&bodies[1], "tool"));
}

#[tokio::test]
async fn two_calls_run() {
    let (_, bodies) = Foreign::start("parallel").await.check("Both ran.").await;
    assert_eq!(said(&bodies[1], "tool"), ["exit code: 0\nstdout:\none", "exit code: 0\nstdout:\ntwo"]);
}
