//! The way out of a jailed command on the real program: how often a user is asked, what an answer covers, and what is reached.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use buddy_protocol::{Fact, Question};
use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::Started;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::stage::{APPROVE, Log, Stage, done, run, shell};

/// A stand-in for npm in the project: it connects to every address at the same time, as npm does, and says how that went.
const NPM: &str = "#!/usr/bin/env python3
import os, sys, threading, urllib.request
os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''
def reach(url):
    try:
        urllib.request.urlopen(url, timeout=30)
        print('reached', url)
    except Exception as error:
        print('failed', url, error)
threads = [threading.Thread(target=reach, args=[url]) for url in sys.argv[1:] or open('urls').read().split()]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
";

/// Three hosts on this machine: two that the settings of npm name, by an address and by a name, and one that nobody names.
struct Scene {
    stage: Stage,
    index: ModelServer,
    files: ModelServer,
    other: ModelServer,
}

impl Scene {
    async fn new(turns: impl FnOnce(&Self) -> Vec<Turn>) -> Self {
        let host = || ModelServer::start([turn().text("x")]);
        let stage = Stage::apart(Vec::new()).await;
        let mut scene = Self { stage, index: host().await, files: host().await, other: host().await };
        scene.stage.server = ModelServer::start(turns(&scene)).await;
        let settings = format!("registry={}/\n@own:registry={}/\n", scene.index.url(), scene.files());
        fs::write(scene.stage.home.path().join(".npmrc"), settings).unwrap();
        fs::write(scene.stage.home.work().join("npm"), NPM).unwrap();
        scene.stage.in_bash("chmod +x npm").run().await.expect_code(0);
        scene.stage.buddy(["trust"]).run().await.expect_code(0);
        scene
    }

    fn files(&self) -> String {
        self.files.url().replace("127.0.0.1", "localhost")
    }

    /// The addresses that the stand-in connects to if its words name none.
    fn wants(&self, urls: &str) {
        fs::write(self.stage.home.work().join("urls"), urls).unwrap();
    }

    fn configure(&self, text: &str) {
        let configuration = self.stage.home.path().join(".config/buddy");
        fs::create_dir_all(&configuration).unwrap();
        fs::write(configuration.join("buddy.toml"), text).unwrap();
    }

    /// How many connections the hosts have seen.
    fn connections(&self) -> [usize; 3] {
        [&self.index, &self.files, &self.other].map(ModelServer::connections)
    }

    fn authority(server: &ModelServer) -> String {
        server.url().trim_start_matches("http://").to_owned()
    }
}

async fn answered(started: &mut Started, count: usize, line: &str) {
    started.stderr.wait_for(APPROVE, count).await;
    started.write(format!("{line}\n").as_bytes()).await;
}

fn actions(log: &Log) -> Vec<String> {
    let questions = log.events.iter().filter_map(|event| match &event.fact {
        Fact::Asked(asked) => Some(&asked.ask.question),
        _ => None,
    });
    let action = |question: &Question| match question {
        Question::Approval(approval) => approval.action.clone(),
        other => format!("{other:?}"),
    };
    questions.map(action).collect()
}

#[tokio::test]
async fn one_question_covers_a_registry_and_no_host_that_its_settings_do_not_name() {
    let scene = Scene::new(|scene| {
        let (index, files, other) = (scene.index.url(), scene.files(), scene.other.url());
        vec![
            run(&format!("./npm {index}/a {files}/b {other}/c")),
            run(&format!("./npm {index}/d {files}/e")),
            done(),
        ]
    })
    .await;
    let mut started = scene.stage.usual([]).converse();
    started.write(b"go\n").await;
    for count in 1..=2 {
        started.stderr.wait_for(APPROVE, count).await;
        let shown = started.stderr.text();
        let last = shown.rsplit("wants to reach").next().unwrap();
        started.write(if last.contains("registry") { b"p 2\n" } else { b"n\n" }).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(finished.stderr.matches(APPROVE).count(), 2, "{finished}");
    let [index, files, other] = scene.connections();
    assert!((index, files, other) == (2, 2, 0), "{index} {files} {other}: {finished}");
    let actions = actions(&scene.stage.only_log().await);
    let about = actions.iter().find(|action| action.contains("its registry: ")).unwrap();
    let (one, two) =
        (Scene::authority(&scene.index), Scene::authority(&scene.files).replace("127.0.0.1", "localhost"));
    for text in [&*one, &*two, "on this machine (named in ~/.npmrc)", "npm wants to reach"] {
        assert!(about.contains(text), "{text}: {about}");
    }
    assert!(!about.contains(&Scene::authority(&scene.other)), "{about}");
    let results = scene.stage.results();
    let rows = results[0]["result"]["connections"].as_array().unwrap();
    let outcome = |port: &u16| {
        let row = rows.iter().find(|row| row["port"] == *port).unwrap();
        row["outcome"].as_str().unwrap().to_owned()
    };
    let port = |server: &ModelServer| server.url().rsplit(':').next().unwrap().parse::<u16>().unwrap();
    assert_eq!(
        [&scene.index, &scene.files, &scene.other].map(|server| outcome(&port(server))),
        ["made", "made", "refused"],
        "{results:#?}"
    );
}

#[tokio::test]
async fn an_answer_for_the_project_holds_in_its_next_session_until_it_is_revoked() {
    let scene = Scene::new(|scene| {
        let command = format!("./npm {}/a {}/b", scene.index.url(), scene.files());
        (0..3).flat_map(|_| [run(&command), done()]).collect()
    })
    .await;
    let mut started = scene.stage.usual([]).converse();
    started.write(b"go\n").await;
    answered(&mut started, 1, "p 2").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    scene.stage.usual(["exec", "go"]).run().await.expect_code(0);
    assert_eq!(scene.connections(), [2, 2, 0], "nobody had to be asked: {:#?}", scene.stage.results());
    let listed = scene.stage.buddy(["grants"]).run().await.expect_code(0).text();
    assert!(listed.contains(&format!("reach {}, localhost:", Scene::authority(&scene.index))), "{listed}");
    scene.stage.buddy(["grants", "--revoke", "1"]).run().await.expect_code(0);
    scene.stage.usual(["exec", "go"]).run().await;
    assert_eq!(scene.connections(), [2, 2, 0]);
}

#[tokio::test]
async fn an_answer_for_all_projects_holds_in_another_one() {
    for (line, is_everywhere) in [("p 2", false), ("p 3", true)] {
        let scene = Scene::new(|scene| {
            let command = format!("./npm {}/a {}/b", scene.index.url(), scene.files());
            (0..2).flat_map(|_| [run(&command), done()]).collect()
        })
        .await;
        let mut started = scene.stage.usual([]).converse();
        started.write(b"go\n").await;
        answered(&mut started, 1, line).await;
        started.stdout.wait_for("So be it.", 1).await;
        started.finish().await.expect_code(0);
        assert_eq!(scene.connections(), [1, 1, 0], "{line}");
        scene.stage.in_bash("mkdir ../other && cp -a npm ../other").run().await.expect_code(0);
        let other = scene.stage.home.path().join("other");
        scene.stage.usual(["exec", "--trust", "go"]).cwd(&other).run().await;
        let count = if is_everywhere { 2 } else { 1 };
        assert_eq!(scene.connections(), [count, count, 0], "{line}: {:#?}", scene.stage.results());
    }
}

#[tokio::test]
async fn a_project_names_hosts_but_the_question_says_so() {
    let scene = Scene::new(|scene| vec![run(&format!("./npm {}/c", scene.other.url())), done()]).await;
    let settings = format!("registry={}/\n", scene.other.url());
    fs::write(scene.stage.home.work().join(".npmrc"), settings).unwrap();
    let mut started = scene.stage.usual([]).converse();
    started.write(b"go\n").await;
    answered(&mut started, 1, "y").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let actions = actions(&scene.stage.only_log().await);
    let about = &actions[0];
    assert!(about.contains("on this machine (named in .npmrc of this project)"), "{about}");
    assert!(about.contains(&Scene::authority(&scene.index)), "the answer covers it, so it is shown: {about}");
    assert_eq!(scene.connections(), [0, 0, 1]);
}

#[tokio::test]
async fn the_proxy_of_the_network_is_used_after_the_verdict() {
    for is_allowed in [true, false] {
        // Nobody but the proxy knows the name.
        let scene = Scene::new(|_| vec![run("./npm"), done()]).await;
        scene.wants("http://far.test/a");
        scene.configure(if is_allowed { "[jail]\nhosts = [\"far.test\"]\n" } else { "" });
        let buddy = scene.stage.usual(["exec", "go"]).env("HTTP_PROXY", scene.other.url());
        // The model is on this machine, as those of tests are.
        buddy.env("NO_PROXY", "127.0.0.1").run().await;
        let results = scene.stage.results();
        let row = &results[0]["result"]["connections"][0];
        let expected = if is_allowed { ("made", 1) } else { ("refused", 0) };
        assert_eq!(
            (row["outcome"].as_str().unwrap_or_default(), scene.connections()[2]),
            expected,
            "{results:#?}"
        );
        assert_eq!((&row["host"], &row["port"]), (&"far.test".into(), &80.into()), "{results:#?}");
    }
}

#[tokio::test]
async fn connections_of_a_command_in_the_background_are_facts_too() {
    let scene = Scene::new(|scene| {
        let mut call = shell(&format!("sleep 2; ./npm {}/a", scene.other.url()));
        call["wait"] = "1s".into();
        let wait = turn().call("process_status", json!({"wait": "20s"}));
        vec![turn().call("run_shell", call), wait, run("sleep 4"), done()]
    })
    .await;
    scene.stage.usual(["exec", "go"]).run().await;
    let log = scene.stage.only_log().await;
    let notices: Vec<String> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Notice(notice) if notice.code == "connections" => Some(notice.text.clone()),
            _ => None,
        })
        .collect();
    let expected = format!("{} refused 1×", Scene::authority(&scene.other));
    assert!(notices.iter().any(|text| text.contains(&expected)), "{notices:?} {:#?}", scene.stage.results());
}

/// The user named the host, so the command reaches it unasked, until the session reads a secret. Nobody but the proxy knows the name.
#[tokio::test]
async fn a_command_in_the_background_loses_its_hosts_when_a_secret_is_read() {
    for (file, connections) in [("plain.txt", 2), (".env", 1)] {
        let scene = Scene::new(|_| {
            let wait =
                |name: &str| format!("for i in $(seq 300); do [ -e {name} ] && break; sleep 0.1; done");
            let first = "./npm http://far.test/a; touch first";
            let second = "./npm http://far.test/b; touch second";
            let mut call = shell(&format!("{first}; {}; {second}", wait("leak")));
            call["wait"] = "1s".into();
            let read = turn().call("read_file", json!({"path": file}));
            let write = turn().call("write_file", json!({"path": "leak", "content": "x"}));
            let until_first = run(&wait("first"));
            let until_second = run(&format!("{}; ls", wait("second")));
            vec![turn().call("run_shell", call), until_first, read, write, until_second, done()]
        })
        .await;
        scene.configure("");
        let rules = scene.stage.home.path().join(".config/buddy/rules.toml");
        fs::write(rules, "allow = [{ read = \".env\" }]\n").unwrap();
        for name in [".env", "plain.txt"] {
            fs::write(scene.stage.home.work().join(name), "TOKEN=s3cr3t\n").unwrap();
        }
        let buddy =
            scene.stage.usual(["exec", "--permission-mode", "auto", "look at http://far.test/ for me"]);
        buddy.env("HTTP_PROXY", scene.other.url()).env("NO_PROXY", "127.0.0.1").run().await;
        let results = scene.stage.results();
        assert!(results[2].to_string().contains("s3cr3t"), "{results:#?}");
        let listed = results[4].to_string();
        assert!(listed.contains("first") && listed.contains("second"), "{results:#?}");
        assert_eq!(scene.connections()[2], connections, "{file}: {results:#?}");
    }
}

#[tokio::test]
async fn a_server_of_this_machine_is_reached_after_one_question() {
    for host in ["127.0.0.1", "localhost"] {
        let scene = Scene::new(|scene| {
            let url = scene.other.url().replace("127.0.0.1", host);
            vec![run(&format!("curl -s -S {url}/a | head -5; echo ended")), done()]
        })
        .await;
        let mut started = scene.stage.usual([]).converse();
        started.write(b"go\n").await;
        answered(&mut started, 1, "y").await;
        started.stdout.wait_for("So be it.", 1).await;
        let finished = started.finish().await.expect_code(0);
        assert_eq!(finished.stderr.matches(APPROVE).count(), 1, "{host}: {finished}");
        assert_eq!(scene.connections()[2], 1, "{host}: {finished}");
    }
}

/// A program that speaks SOCKS finds the broker at the address of its proxy, by a name and by an address.
#[tokio::test]
async fn a_program_that_speaks_socks_is_asked_about_too() {
    let scene = Scene::new(|_| vec![run("sh socks.sh"), run("sh socks.sh"), done()]).await;
    let port = scene.other.url().rsplit(':').next().unwrap().to_owned();
    let curl = "curl -s -S -m 20 --noproxy ''";
    let script = format!(
        "{curl} --socks5-hostname \"${{ALL_PROXY#http://}}\" http://localhost:{port}/name
         {curl} --socks5 \"${{ALL_PROXY#http://}}\" http://127.0.0.1:{port}/address
         {curl} --proxy \"socks5h${{ALL_PROXY#http}}\" http://localhost:{port}/scheme"
    );
    fs::write(scene.stage.home.work().join("socks.sh"), script).unwrap();
    let mut started = scene.stage.usual([]).converse();
    started.write(b"go\n").await;
    // One call: the name, and the address. The other call: neither.
    for (count, line) in (1..).zip(["y", "y", "n", "n"]) {
        answered(&mut started, count, line).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(finished.stderr.matches(APPROVE).count(), 4, "{finished}");
    assert_eq!(scene.connections(), [0, 0, 3], "{finished}");
    let results = scene.stage.results();
    let rows = |at: usize| -> Vec<(String, String)> {
        let rows = results[at]["result"]["connections"].as_array().unwrap();
        let text = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
        rows.iter().map(|row| (text(row, "host"), text(row, "outcome"))).collect()
    };
    for (at, outcome) in [(0, "made"), (1, "refused")] {
        let rows = rows(at);
        assert!(rows.iter().all(|(_, told)| told == outcome), "{at}: {results:#?}");
        for host in ["localhost", "127.0.0.1"] {
            assert!(rows.iter().any(|(told, _)| told == host), "{at} {host}: {results:#?}");
        }
    }
}

#[tokio::test]
async fn a_command_with_the_whole_network_leaves_a_fact_that_nobody_watched() {
    let scene = Scene::new(|scene| {
        let far = "ssh -o BatchMode=yes -o ConnectTimeout=1 far.test true";
        let start = json!({
            "command": far, "why": "the test", "risk": "low", "mutation": true, "privesc": false
        });
        let unasked = run("echo inside > file");
        vec![
            run(far),
            turn().call("process_start", start),
            unasked,
            run(&format!("curl -s {}/a", scene.index.url())),
            done(),
        ]
    })
    .await;
    let mut started = scene.stage.usual([]).converse();
    started.write(b"go\n").await;
    for count in 1..=3 {
        answered(&mut started, count, "y").await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(finished.stderr.matches(APPROVE).count(), 3, "{finished}");
    let results = scene.stage.results();
    let told: Vec<_> = results.iter().map(|result| result["result"]["direct_network"].as_str()).collect();
    // The proxy lists what the last one did.
    assert_eq!(told, [Some("not observed"), Some("not observed"), None, None], "{results:#?}");
    assert_eq!(results[3]["result"]["connections"][0]["outcome"], "made", "{results:#?}");
}

#[tokio::test]
async fn a_host_that_the_user_named_is_reached_by_the_proxy_and_opens_no_other() {
    for mode in ["auto", "all"] {
        let scene = Scene::new(|scene| {
            let (good, other) = (scene.index.url(), scene.other.url());
            vec![
                run(&format!("curl -s {good}/a")),
                run(&format!("http_proxy={other} curl -s {good}/b")),
                run(&format!("HOME=. curl -s {good}/c")),
                run(&format!("curl -s {good}/d {other}/e")),
                run(&format!("RSYNC_CONNECT_PROG='curl -s {other}/f' rsync rsync://127.0.0.1/x .")),
                done(),
            ]
        })
        .await;
        let settings = format!("proxy = \"{}\"\n", scene.other.url());
        fs::write(scene.stage.home.work().join(".curlrc"), settings).unwrap();
        let prompt = format!("look at {}/ for me", scene.index.url());
        let finished =
            scene.stage.usual(["exec", "--permission-mode", mode, &prompt]).run().await.expect_code(5);
        let results = scene.stage.results();
        let [good, _, other] = scene.connections();
        assert_eq!((good, other), (2, 0), "{mode}: {finished} {results:#?}");
        assert_eq!(results[0]["result"]["connections"][0]["outcome"], "made", "{results:#?}");
        let message = results[4]["error"]["message"].as_str().unwrap();
        assert!(message.contains("gives the command the whole network"), "{message}");
        assert!(message.contains("network = true"), "{message}");
    }
}

#[tokio::test]
async fn a_package_manager_goes_out_by_the_broker_although_its_words_name_an_allowed_host() {
    let scene = Scene::new(|_| vec![run("./npm http://far.test/a"), done()]).await;
    scene.configure("[jail]\nhosts = [\"far.test\"]\n");
    scene.stage.usual(["exec", "go"]).run().await;
    let results = scene.stage.results();
    let row = &results[0]["result"]["connections"][0];
    assert_eq!((&row["host"], &row["outcome"]), (&"far.test".into(), &"failed".into()), "{results:#?}");
}

#[tokio::test]
async fn a_run_whose_command_was_kept_from_a_host_counts_a_denied_call() {
    for (command, code) in [("./npm | cat", 5), ("./npm", 0)] {
        let scene = Scene::new(|_| vec![run(command), done()]).await;
        scene.wants("http://far.test/a");
        let finished =
            scene.stage.usual(["exec", "--output-format", "json", "go"]).run().await.expect_code(code);
        let result: serde_json::Value = serde_json::from_slice(&finished.stdout).unwrap();
        let (status, denied) = if code == 5 { ("approval_needed", 1) } else { ("completed", 0) };
        assert_eq!(
            (&result["status"], &result["calls"]["denied"]),
            (&json!(status), &json!(denied)),
            "{result}"
        );
    }
}

#[tokio::test]
async fn a_refusal_that_a_command_takes_for_the_page_counts_as_denied() {
    // Without `--fail`, curl ends well and keeps the proxy's refusal.
    let page = |scene: &Scene| format!("curl -s -o page.html {}/", scene.files());
    let scene = Scene::new(|scene| vec![run(&page(scene)), done()]).await;
    let finished = scene.stage.usual(["exec", "--output-format", "json", "go"]).run().await.expect_code(5);
    let result: serde_json::Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!(result["calls"]["denied"], json!(1), "{result}");
    assert_eq!(scene.connections(), [0, 0, 0]);
    // A list of hosts opens no port of this machine, so it is not what helps.
    assert!(
        finished.stderr.contains("fetch = \"localhost\"") && !finished.stderr.contains("hosts = ["),
        "{finished}"
    );
}

#[tokio::test]
async fn a_headless_run_names_the_option_that_opens_an_address_of_this_machine() {
    for host in ["localhost", "127.0.0.1"] {
        let page =
            |scene: &Scene| format!("curl -s -o page.html {}/", scene.files().replace("localhost", host));
        let turns = |scene: &Scene| vec![run(&page(scene)), done(), run(&page(scene)), done()];
        let scene = Scene::new(turns).await;
        let refused = scene.stage.usual(["exec", "go"]).run().await.expect_code(5);
        let rule = format!("{{ fetch = \"{host}\" }}");
        assert!(refused.stderr.contains(&format!("--allow '{rule}'")), "{refused}");
        assert!(refused.stderr.contains("✗ Run") && refused.stderr.contains("host denied"), "{refused}");
        assert_eq!(scene.connections(), [0, 0, 0]);
        scene.stage.usual(["exec", "--allow", &rule, "again"]).run().await.expect_code(0);
        assert_eq!(scene.connections().iter().sum::<usize>(), 1, "the advice was followed");
    }
}

#[tokio::test]
async fn a_headless_run_prints_what_opens_a_host_whole() {
    let long = format!("{}.test", "far-away".repeat(7));
    let (fetch, page) =
        (format!("--allow '{{ fetch = \"{long}\" }}'"), format!("http://{long}/{}", "x".repeat(400)));
    for turns in [
        vec![run("./npm | cat"), done()],
        vec![turn().call("fetch_url", json!({ "url": page })), done()],
        vec![run(&format!("curl -s {page}")), done()],
    ] {
        let scene = Scene::new(|_| turns).await;
        scene.wants(&page);
        let finished = scene.stage.usual(["exec", "go"]).run().await.expect_code(5);
        assert!(finished.stderr.contains(&fetch), "{finished}");
    }
}

#[tokio::test]
async fn an_answer_counts_for_the_next_run_if_the_command_gave_up_before_it() {
    for is_far in [false, true] {
        let scene = Scene::new(|_| vec![run("timeout 2 ./npm"), run("timeout 2 ./npm"), done()]).await;
        let url = if is_far { "http://far.test".to_owned() } else { scene.other.url() };
        scene.wants(&format!("{url}/a"));
        // Only the proxy knows the name of the far host.
        let buddy = scene.stage.usual([]).env("HTTP_PROXY", scene.other.url()).env("NO_PROXY", "127.0.0.1");
        let mut started = buddy.converse();
        started.write(b"go\n").await;
        started.stderr.wait_for(APPROVE, 1).await;
        started.stderr.wait_for("You can still answer", 1).await;
        started.write(b"y\n").await;
        started.stdout.wait_for("So be it.", 1).await;
        let finished = started.finish().await.expect_code(0);
        let results = scene.stage.results();
        let first = &results[0]["result"];
        assert!(first["jail"].to_string().contains("allowed now"), "{first:#}");
        assert_eq!(first["connections"][0]["outcome"], "given_up", "{first:#}");
        assert_eq!(actions(&scene.stage.only_log().await).len(), 1, "{finished}");
        assert_eq!(
            (results[1]["result"]["exit_code"].as_i64(), scene.connections()),
            (Some(0), [0, 0, 1]),
            "{results:#?}"
        );
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_withdrawn_with_a_word() {
    let scene = Scene::new(|_| vec![run("timeout 1 ./npm"), done()]).await;
    scene.wants(&scene.other.url());
    scene.configure("[approvals]\ntimeout = \"4s\"\n");
    let mut started = scene.stage.usual([]).converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("You can still answer", 1).await;
    started.stderr.wait_for("withdrew the question whether npm may reach 127.0.0.1:", 1).await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert!(finished.stderr.contains("nobody answered, and the command has ended"), "{finished}");
    assert_eq!(scene.connections(), [0, 0, 0]);
}

/// A server that answers every request with the same page, and counts them.
pub(crate) struct PageServer {
    pub(crate) port: u16,
    served: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl PageServer {
    pub(crate) async fn start(page: impl Fn() -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, served) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
        let (count, mut tasks) = (served.clone(), JoinSet::new());
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 4096];
                let _ = stream.read(&mut request).await;
                count.fetch_add(1, Ordering::SeqCst);
                let (page, kind) = (page(), "Content-Type: text/html\r\nConnection: close");
                let head = format!("HTTP/1.1 200 OK\r\n{kind}\r\nContent-Length: {}\r\n\r\n", page.len());
                let _ = stream.write_all(format!("{head}{page}").as_bytes()).await;
            }
        });
        Self { port, served, _tasks: tasks }
    }

    fn served(&self) -> usize {
        self.served.load(Ordering::SeqCst)
    }
}

/// A stand-in for pip: it reaches one address after the other.
const PIP: &str = "#!/usr/bin/env python3
import urllib.request
for url in open('urls').read().split():
    try:
        urllib.request.urlopen(url, timeout=30)
        print('reached', url)
    except Exception as error:
        print('failed', url, error)
";

#[tokio::test]
async fn one_question_covers_an_index_and_the_hosts_that_it_names_for_downloads() {
    let files = PageServer::start(|| "x".to_owned()).await;
    let other = PageServer::start(|| "x".to_owned()).await;
    let port = files.port;
    let index = PageServer::start(move || format!("<a href=\"http://files.test:{port}/a.whl\">a</a>")).await;
    // Hosts that the configuration names are asked about only after a secret was read.
    let secret = turn().call("read_file", json!({"path": "~/.npmrc"}));
    let scene = Scene::new(|_| vec![secret, run("./pip install a"), run("./pip install b"), done()]).await;
    let work = scene.stage.home.work();
    fs::write(work.join("pip"), PIP).unwrap();
    fs::write(work.join("hosts"), "127.0.0.1 index.test files.test other.test localhost\n").unwrap();
    scene.stage.in_bash("chmod +x pip").run().await.expect_code(0);
    let addresses = [("index", &index), ("files", &files), ("other", &other)];
    let authority = |(name, server): &(&str, &PageServer)| format!("{name}.test:{}", server.port);
    scene.configure(&format!(
        "[web]\nallowed_hosts = {:?}\n",
        addresses.iter().map(authority).collect::<Vec<_>>()
    ));
    let urls: Vec<String> = addresses.iter().map(|one| format!("http://{}/x", authority(one))).collect();
    scene.wants(&urls.join(" "));
    let line = "mount --bind hosts /etc/hosts && exec \"$BUDDY\" --approve auto";
    let buddy = scene.stage.in_bash(&format!("exec unshare --map-root-user --mount sh -c '{line}'"));
    let mut started = buddy.env("BUDDY_ENV", "development").converse();
    started.write(b"go\n").await;
    for (count, answer) in (1..).zip(["y", "p 2", "n", "n"]) {
        answered(&mut started, count, answer).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let actions = actions(&scene.stage.only_log().await);
    assert!(
        actions[1].contains("pip wants to reach index.test, and hosts that this index names"),
        "{actions:?}"
    );
    assert!(actions[2..].iter().all(|action| action.contains("reach other.test")), "{actions:?}");
    assert_eq!((files.served(), other.served(), index.served()), (2, 0, 3), "{finished}");
    let listed = scene.stage.buddy(["grants"]).run().await.expect_code(0).text();
    assert!(listed.contains("reach index.test, files.test"), "the grant says what it covers: {listed}");
}

#[tokio::test]
async fn behind_the_proxy_of_the_network_one_question_covers_an_index_too() {
    // Nobody but the proxy knows the names. It answers every request with the page of the index.
    let proxy = PageServer::start(|| "<a href=\"http://files.test/a.whl\">a</a>".to_owned()).await;
    let scene = Scene::new(|_| vec![run("./pip install a"), done()]).await;
    fs::write(scene.stage.home.work().join("pip"), PIP).unwrap();
    scene.stage.in_bash("chmod +x pip").run().await.expect_code(0);
    scene.wants("http://index.test/x http://files.test/x http://other.test/x");
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let buddy = scene.stage.usual([]).env("HTTP_PROXY", address).env("NO_PROXY", "127.0.0.1");
    let mut started = buddy.converse();
    started.write(b"go\n").await;
    for (count, answer) in (1..).zip(["y", "n"]) {
        answered(&mut started, count, answer).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let actions = actions(&scene.stage.only_log().await);
    assert_eq!(actions.len(), 2, "{actions:?}");
    assert!(actions[0].contains("reach index.test, and hosts that this index names"), "{actions:?}");
    assert!(actions[1].contains("reach other.test"), "{actions:?}");
    // The page of the index for buddy and for pip, and the file.
    assert_eq!(proxy.served(), 3, "{finished}");
}
