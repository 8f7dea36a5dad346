//! The stage of a test: a home, a scripted model server, and the ways to run buddy there and to look at the outcome.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use buddy_protocol::{
    Clock, Content, Event, Fact, Ids, Item, SessionId, SessionQuery, SessionStore, ToolCall, Transcript,
    UnixMillis,
};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};
use buddy_testkit::home::Home;
use buddy_testkit::model::{ModelServer, RecordedRequest, Script, Turn, check_history, turn};
use buddy_testkit::program::{ASKING, Finished, Program, Started};
use futures::StreamExt;
use serde_json::{Value, json};

/// The program under test.
pub(crate) const BUDDY: &str = env!("CARGO_BIN_EXE_buddy");

/// How long a command may take to make a file, and how often the directory is looked at.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(10);

/// The arguments that let a model finish without checking its changes, for scripts that have no turn for that.
pub(crate) const UNCHECKED: [&str; 2] = ["-c", "agent.gates.finish=false"];

/// A home and a model server.
pub(crate) struct Stage {
    pub(crate) server: ModelServer,
    pub(crate) home: Home,
}

impl Stage {
    /// A stage whose model answers like this.
    pub(crate) async fn new(script: impl Into<Script>) -> Self {
        Self { server: ModelServer::start(script).await, home: Home::new() }
    }

    /// The same in a home outside the directory for temporary files, which agents may write.
    pub(crate) async fn apart(script: impl Into<Script>) -> Self {
        let home = Home::apart(Path::new(env!("CARGO_TARGET_TMPDIR")));
        Self { server: ModelServer::start(script).await, home }
    }

    /// buddy on this stage.
    pub(crate) fn buddy<'a>(&self, arguments: impl AsRef<[&'a str]>) -> Program {
        buddy(&self.home, &self.server.url()).args(arguments.as_ref())
    }

    /// The same with the policy on approvals that people begin with.
    pub(crate) fn usual<'a>(&self, arguments: impl AsRef<[&'a str]>) -> Program {
        self.buddy(arguments).env_remove(ASKING.0)
    }

    /// A line of bash on this stage, in which `$BUDDY` is buddy.
    pub(crate) fn in_bash(&self, line: &str) -> Program {
        placed(Program::new("/bin/bash"), &self.home, &self.server.url())
            .args(["-c", line])
            .env("BUDDY", BUDDY)
    }

    /// `buddy exec` on this stage, with everything approved. The model may finish without checking its changes.
    pub(crate) fn exec<'a>(&self, arguments: impl AsRef<[&'a str]>) -> Program {
        self.exec_gated(UNCHECKED).args(arguments.as_ref())
    }

    /// The same with all gates of the loop as users have them.
    pub(crate) fn exec_gated<'a>(&self, arguments: impl AsRef<[&'a str]>) -> Program {
        self.buddy(["exec", "--approve", "all"]).args(arguments.as_ref())
    }

    /// Runs `buddy exec PROMPT --json`, which must end well, and returns what it printed.
    pub(crate) async fn completed(&self, prompt: &str) -> Printed {
        Printed::of(&self.exec([prompt, "--json"]).run().await.expect_code(0))
    }

    /// Fails unless each request had a history that a strict server takes.
    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        let requests = self.server.requests();
        for request in &requests {
            assert_eq!(check_history(&request.body), Ok(()), "{:#}", request.body);
        }
        requests
    }

    /// The results of the calls that the model was told of with its last request, in order, as the log of the session has them.
    pub(crate) fn results(&self) -> Vec<Value> {
        let requests = self.requests();
        let told = messages(&requests.last().expect("a request").body);
        let data = self.home.data();
        let reading = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(logs(&data))
        });
        let logs = reading.join().expect("the logs");
        // Scripted calls have the same ids in every session; the last one made the last request.
        let log = logs.iter().max_by_key(|log| log.events.last().map(|event| event.time)).expect("a session");
        let calls = log.calls();
        let result = |message: &Value| {
            let id = &message["tool_call_id"];
            let found = calls.iter().rev().find(|(_, call)| *id == call.call_id);
            let (_, call) = found.expect("the call is in the log");
            let result = serde_json::to_value(call.output.as_ref().expect("the call has ended")).unwrap();
            assert_told(&result, message["content"].as_str().expect("a text"));
            result
        };
        told.iter().filter(|message| message["role"] == "tool").map(result).collect()
    }

    /// Waits until a file is in the working directory.
    pub(crate) async fn wait_for_work(&self, file: &str) {
        let path = self.home.work().join(file);
        let seen = async {
            while !path.exists() {
                tokio::time::sleep(LOOK).await;
            }
        };
        let is_there = tokio::time::timeout(PATIENCE, seen).await.is_ok();
        assert!(is_there, "{file} is not made");
    }

    /// The content of the store.
    pub(crate) async fn log(&self) -> Vec<Log> {
        logs(&self.home.data()).await
    }

    /// Adds so many sessions that started as the only one in the store did.
    pub(crate) async fn add_sessions(&self, count: usize) {
        let Fact::SessionStarted(started) = self.only_log().await.events.remove(0).fact else {
            panic!("a log begins with the start of its session")
        };
        let store = open(&self.home.data());
        let adding = (0..count).map(|number| {
            let session = SessionId::new(&Counted(number as u128));
            let fact = Fact::SessionStarted(started.clone());
            // Later than the present, so that they are the ones used last.
            let time = UnixMillis(4_000_000_000_000);
            let event = Event { session: session.clone(), seq: Some(1), time, by: None, fact };
            let store = store.clone();
            async move { store.writer(&session).await?.append(vec![Arc::new(event)]).await }
        });
        // Many at a time, which the store writes out together.
        let mut added = futures::stream::iter(adding).buffer_unordered(100);
        while let Some(is_added) = added.next().await {
            is_added.unwrap();
        }
        store.close().await.unwrap();
    }

    /// The only session in the store.
    pub(crate) async fn only_log(&self) -> Log {
        let mut logs = self.log().await;
        assert_eq!(logs.len(), 1, "one session is expected");
        logs.remove(0)
    }
}

/// buddy in a home, with a model server at this address and nothing from the environment of the test. It asks for all that changes
/// something; `usual` gives it the policy that people begin with.
pub(crate) fn buddy(home: &Home, url: &str) -> Program {
    placed(Program::new(BUDDY), home, url)
}

fn placed(program: Program, home: &Home, url: &str) -> Program {
    program
        .cwd(home.work())
        .env("HOME", home.path())
        .env("BUDDY_HOME", home.data())
        .env("BUDDY_BASE_URL", format!("{url}/v1"))
        .env("BUDDY_MODEL", "scripted")
        .env("BUDDY_API_KEY", "sk-test")
        .asking()
}

/// The arguments of a `run_shell` call that says it changes something.
pub(crate) fn shell(command: &str) -> Value {
    json!({"command": command, "why": "the test", "risk": "low", "mutation": true, "privesc": false})
}

/// The output of `--json`.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) events: Vec<Event>,
    pub(crate) result: Value,
}

impl Printed {
    /// Reads the output of a run that came to its end: events without a gap, then the result.
    pub(crate) fn of(finished: &Finished) -> Self {
        let text = finished.text();
        let mut lines: Vec<&str> = text.lines().collect();
        let result: Value = serde_json::from_str(lines.pop().expect("a last line")).unwrap();
        assert_eq!(result["type"], "result", "{finished}");
        Self { events: lines.into_iter().map(|line| Event::from_json(line).unwrap()).collect(), result }
    }

    pub(crate) fn session(&self) -> String {
        self.result["session_id"].as_str().expect("a session id").to_owned()
    }

    pub(crate) fn seqs(&self) -> Vec<u64> {
        self.events.iter().filter_map(|event| event.seq).collect()
    }
}

/// One session as the store has it.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) session: SessionId,
    pub(crate) events: Vec<Event>,
    pub(crate) transcript: Transcript,
}

impl Log {
    /// The tool calls with their items, in order.
    pub(crate) fn calls(&self) -> Vec<(&Item, &ToolCall)> {
        let calls = self.transcript.items().iter().filter_map(|item| match &item.content {
            Content::ToolCall(call) => Some((item, &**call)),
            _ => None,
        });
        calls.collect()
    }
}

struct Counted(u128);

impl Ids for Counted {
    fn next(&self) -> u128 {
        self.0
    }
}

struct StandingClock;

impl Clock for StandingClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_700_000_000_000)
    }
}

fn open(directory: &Path) -> SqliteStore {
    let clock = Arc::new(StandingClock);
    let directory = directory.to_owned();
    SqliteStore::open(StoreSettings { directory, role: StoreRole::Terminal, boot_id: None, clock }).unwrap()
}

/// All sessions of a store, which must pass its check, folded.
pub(crate) async fn logs(directory: &Path) -> Vec<Log> {
    let store = open(directory);
    let report = store.check().await.unwrap();
    assert!(report.is_clean(), "{report:?}");
    let mut logs = Vec::new();
    for summary in store.list(SessionQuery::default()).await.unwrap() {
        let events = store.read(&summary.id, 0, 10_000).await.unwrap();
        let mut transcript = Transcript::default();
        for event in &events {
            transcript.apply(event).unwrap();
        }
        // A session that is live may have grown since the list was read.
        assert!(transcript.head() >= summary.head, "{}: {}", transcript.head(), summary.head);
        logs.push(Log { session: summary.id, events, transcript });
    }
    store.close().await.unwrap();
    logs
}

/// The messages of a request.
pub(crate) fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().expect("messages")
}

/// The texts that a request has in a role, in order, without those about the environment.
pub(crate) fn said(body: &Value, role: &str) -> Vec<String> {
    sent(body, role).into_iter().filter(|text| !text.starts_with("<environment")).collect()
}

/// All texts that a request has in a role, in order.
pub(crate) fn sent(body: &Value, role: &str) -> Vec<String> {
    let texts = messages(body).iter().filter(|message| message["role"] == role);
    texts.filter_map(|message| message["content"].as_str().map(str::to_owned)).collect()
}

/// The last thing that the user said in a request.
pub(crate) fn prompt(body: &Value) -> String {
    said(body, "user").pop().expect("a prompt")
}

/// Fails unless the text that the model got says the same as the result in the log.
fn assert_told(result: &Value, text: &str) {
    if let Some(error) = result["error"].as_object() {
        let [code, message] = ["code", "message"].map(|name| error[name].as_str().expect("a text"));
        // The model reads of the user where the log speaks to them.
        let is_for_user = |part: &&str| ["you", "your", "yourself"].iter().any(|word| part.contains(word));
        let mut parts = message.split("; ").filter(|part| !is_for_user(part));
        let is_told = text.starts_with(&format!("error {code}: ")) && parts.all(|part| text.contains(part));
        assert!(is_told, "{text}: {result:#}");
    } else {
        assert!(!text.starts_with("error "), "{text}: {result:#}");
        let texts = ["stdout", "stderr", "content"].map(|name| result["result"][name].as_str());
        for part in texts.into_iter().flatten() {
            assert!(text.contains(part.trim_end_matches('\n')), "{text}: {result:#}");
        }
    }
}

/// How a question in a conversation line by line ends.
pub(crate) const APPROVE: &str = "approve? [y/n]";

/// A conversation line by line, in a trusted directory.
pub(crate) async fn conversation(turns: impl IntoIterator<Item = Turn>) -> (Stage, Started) {
    let stage = Stage::new(turns.into_iter().collect::<Vec<_>>()).await;
    let started = stage.buddy(["--trust"]).converse();
    (stage, started)
}

/// A model that wants to run a command.
pub(crate) fn run(command: &str) -> Turn {
    turn().call("run_shell", shell(command))
}

/// A model that is content.
pub(crate) fn done() -> Turn {
    turn().text("So be it.")
}
