//! The connections that a yes to a host opens: for every kind of card that involves a host and every key that allows, what goes on without a question
//! afterwards is no more than the label of the key promised. And what everybody is told of a host that could not be reached.

use std::fs;
use std::sync::{Arc, Mutex};

use buddy_protocol::Fact;
use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::stage::{APPROVE, Stage, done, run};

/// A program of the project that reaches the addresses in the file `urls`.
const PROGRAM: &str = "#!/usr/bin/env python3
import os, urllib.request
os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''
for url in open('urls').read().split():
    try:
        urllib.request.urlopen(url, timeout=30)
        print('reached', url)
    except Exception as error:
        print('failed', url, error)
";

/// The proxy of the network, which alone knows the names of far hosts. It answers every request, and records the first lines.
struct FarHosts {
    url: String,
    lines: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl FarHosts {
    async fn start(answer: impl Fn(&str) -> &'static str + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (lines, mut tasks) = (Arc::new(Mutex::new(Vec::new())), JoinSet::new());
        let seen = lines.clone();
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request).await.unwrap_or_default();
                let text = String::from_utf8_lossy(&request[..length]).into_owned();
                let line = text.lines().next().unwrap_or_default().to_owned();
                let head =
                    format!("HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", answer(&line));
                let _ = stream.write_all(head.as_bytes()).await;
                seen.lock().unwrap().push(line);
            }
        });
        Self { url, lines, _tasks: tasks }
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

async fn stage(turns: Vec<Turn>, files: &[(&str, &str)]) -> Stage {
    let mut stage = Stage::apart(Vec::new()).await;
    stage.server = ModelServer::start(turns).await;
    for (name, text) in
        files.iter().chain(&[("npm", PROGRAM), ("pip", PROGRAM), ("tool", PROGRAM), ("file", "x")])
    {
        fs::write(stage.home.work().join(name), text).unwrap();
    }
    stage.in_bash("chmod +x npm pip tool").run().await.expect_code(0);
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage
}

/// Talks in the default mode. The first question is answered like this, and every other one with no. Returns what was shown, and whether
/// a question was asked in each call.
async fn talk(stage: &Stage, far: &FarHosts, answer: &str) -> (String, Vec<bool>) {
    let mut started = stage.usual([]).env("HTTP_PROXY", &far.url).env("NO_PROXY", "127.0.0.1").converse();
    started.write(b"go\n").await;
    for count in 1.. {
        tokio::select! {
            () = started.stderr.wait_for(APPROVE, count) => {}
            () = started.stdout.wait_for("So be it.", 1) => break,
        }
        let line = if count == 1 { answer } else { "n" };
        started.write(format!("{line}\n").as_bytes()).await;
    }
    let shown = started.finish().await.expect_code(0).stderr;
    let log = stage.only_log().await;
    let asked: Vec<_> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Asked(asked) => asked.ask.items().next().cloned(),
            _ => None,
        })
        .collect();
    (shown, log.calls().iter().map(|(item, _)| asked.contains(&item.id)).collect())
}

/// The thing that the label of `a` names, which `p` offers first too.
fn promised(shown: &str) -> &str {
    let line = shown.lines().find_map(|line| line.trim().strip_prefix("a  Allow "));
    line.and_then(|line| line.split(" this session").next())
        .unwrap_or_else(|| panic!("`a` is offered: {shown}"))
}

/// A call, and the same question of every key: afterwards the same call, other commands that fetch or send, a program that wants the host, and
/// a fetch of the tool are tried.
async fn check(card: Turn, files: &[(&str, &str)]) {
    let probes = || {
        vec![
            card.clone(),
            run("curl -s http://far.test/b"),
            run("curl -s -T file http://far.test/c"),
            run("./tool"),
            turn().call("fetch_url", json!({"url": "http://far.test/e"})),
        ]
    };
    for key in ["y", "a", "p 2"] {
        let far = FarHosts::start(|_| "200 OK").await;
        let turns = [card.clone()].into_iter().chain(probes()).chain([done()]).collect();
        let mut all = vec![("urls", "http://far.test/a")];
        all.extend(files);
        let stage = stage(turns, &all).await;
        let (shown, asked) = talk(&stage, &far, key).await;
        assert!(asked[0], "{shown}");
        let unasked: Vec<bool> = asked[1..].iter().map(|is_asked| !is_asked).collect();
        let promise = match key {
            "y" => [false; 5],
            _ => match promised(&shown) {
                "far.test" => [true; 5],
                "exactly this" => [true, false, false, false, false],
                other => panic!("`{other}` says nothing that is known: {shown}"),
            },
        };
        assert_eq!(unasked, promise, "`{key}`: {shown} {:#?}", stage.results());
        let reached =
            |path: &str| far.lines().iter().any(|line| line.contains(&format!("http://far.test{path}")));
        assert_eq!([reached("/b"), reached("/c")], [promise[1], promise[2]], "`{key}`: {:?}", far.lines());
    }
}

#[tokio::test]
async fn a_yes_to_a_command_that_names_a_host_is_about_that_command() {
    let line = "curl -s http://far.test/a";
    check(run(line), &[]).await;
}

#[tokio::test]
async fn a_yes_to_an_upload_is_about_that_command() {
    let line = "curl -s -T file http://far.test/up";
    check(run(line), &[]).await;
}

#[tokio::test]
async fn a_yes_to_a_clone_is_about_that_command() {
    let line = "git clone -q http://far.test/x.git";
    check(run(line), &[]).await;
}

#[tokio::test]
async fn a_yes_to_a_host_that_a_program_wants_is_about_what_its_label_says() {
    check(run("./tool"), &[]).await;
}

#[tokio::test]
async fn a_yes_to_a_registry_is_about_what_its_label_says() {
    check(run("./npm"), &[(".npmrc", "registry=http://far.test/\n")]).await;
}

#[tokio::test]
async fn a_yes_to_a_fetch_is_about_what_its_label_says() {
    let card = turn().call("fetch_url", json!({"url": "http://far.test/a"}));
    check(card, &[]).await;
}

#[tokio::test]
async fn a_yes_of_an_earlier_sitting_opens_no_host() {
    let far = FarHosts::start(|_| "200 OK").await;
    let curl = || run("curl -s http://far.test/a");
    let stage = stage(vec![curl(), done(), curl(), done()], &[]).await;
    let (_, asked) = talk(&stage, &far, "y").await;
    assert_eq!((asked, far.lines().len()), (vec![true], 1));
    let again =
        stage.usual(["exec", "--last", "again"]).env("HTTP_PROXY", &far.url).env("NO_PROXY", "127.0.0.1");
    again.run().await.expect_code(5);
    assert_eq!(far.lines().len(), 1, "{:#?}", stage.results());
}

#[tokio::test]
async fn a_host_card_shows_the_command_as_it_was_written() {
    let far = FarHosts::start(|_| "200 OK").await;
    let line = "cd . && ./tool || echo 'a  b' | cat";
    let stage = stage(vec![run(line), run("cd .\n./tool\n"), done()], &[("urls", "http://far.test/a")]).await;
    let (shown, _) = talk(&stage, &far, "n").await;
    assert!(shown.contains(&format!("runs   {line}\n")), "{shown}");
    assert!(shown.contains("runs   cd .\n") && !shown.contains("cd .; ./tool"), "{shown}");
}

#[tokio::test]
async fn a_question_says_that_an_index_could_not_be_read() {
    for (status, is_unread) in [("404 Not Found", true), ("200 OK", false)] {
        let far =
            FarHosts::start(move |line| if line.contains("/simple/pip/") { status } else { "200 OK" }).await;
        let urls = "http://index.test/x http://files.test/y";
        let stage = stage(vec![run("./pip install a"), done()], &[("urls", urls)]).await;
        let (shown, _) = talk(&stage, &far, "y").await;
        let told = "the index could not be read, so download hosts ask separately";
        assert_eq!(shown.matches(APPROVE).count(), 2, "{shown}");
        assert_eq!(shown.contains(told), is_unread, "{shown}");
        assert_eq!(shown.contains("`index.test` answered with status 404"), is_unread, "{shown}");
    }
}

/// The lines of a result about connections that failed.
fn failures(result: &Value) -> String {
    result["result"]["network"].to_string()
}

#[tokio::test]
async fn a_failed_connection_is_told_with_its_host_and_why() {
    // Nothing listens at the first port of a machine.
    let urls = "https://127.0.0.1:1/a";
    let turns = vec![run("curl -s -S http://nowhere.invalid/x"), run("./tool"), done()];
    let stage = stage(turns, &[("urls", urls)]).await;
    let mut started = stage.usual([]).converse();
    started.write(b"look at http://nowhere.invalid/ and https://127.0.0.1:1/\n").await;
    tokio::select! {
        () = started.stderr.wait_for(APPROVE, 1) => started.write(b"y\n").await,
        () = started.stdout.wait_for("So be it.", 1) => {}
    }
    started.stdout.wait_for("So be it.", 1).await;
    let shown = started.finish().await.expect_code(0).stderr;
    let results = stage.results();
    assert!(
        failures(&results[0]).contains("no connection to `nowhere.invalid:80`: its name was not found"),
        "{results:#?}"
    );
    assert!(
        failures(&results[1]).contains("no connection to `127.0.0.1:1`: connection refused"),
        "{results:#?}"
    );
    for result in &results {
        assert!(result["result"]["jail"].is_null(), "the jail stopped nothing: {result:#}");
    }
    assert!(!shown.contains("jail: "), "{shown}");
    // The program itself is told by the proxy.
    let said = results[1]["result"]["stdout"].to_string();
    assert!(said.contains("127.0.0.1:1 cannot be reached: connection refused"), "{said}");
    assert!(shown.contains("network: no connection to `127.0.0.1:1`: connection refused"), "{shown}");
}
