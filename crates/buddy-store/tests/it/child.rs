//! A second process that uses the store: this test program again, controlled through its stdin.

use std::io::{BufRead, BufReader, Lines, Write, stdin, stdout};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use buddy_protocol::{SessionStore, StoreError};
use buddy_store::{Integrity, SqliteStore, StoreRole};

use crate::support::{assert_whole, events, open, session, settings};

/// The task of the second process.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Task {
    /// Append to the sessions with these numbers concurrently, this many appends each, and print the
    /// acknowledged events.
    Write { first: u64, sessions: u64, appends: u64 },
    /// Hold the lease of session 1 until told to go on.
    Hold,
    /// Be a server until told to go on.
    Serve,
    /// Append to session 1 with a umask of 0.
    Umask,
    /// Open the store and wait until told to go on.
    Open,
    /// Append to session 1 until that fails, then once more.
    Fail,
    /// Append to session 1 until the disk is full, then make room and go on.
    Fill,
    /// Check everything, and print the last event of the sessions up to this number.
    Inspect { sessions: u64 },
}

/// A running second process.
pub(crate) struct Other {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Other {
    pub(crate) fn start(directory: &Path, task: Task) -> Self {
        Self::start_under(&[], directory, task)
    }

    /// Starts it through another program, which is given its command line.
    #[expect(clippy::disallowed_methods, reason = "what is tested is what happens between processes")]
    pub(crate) fn start_under(wrapper: &[&str], directory: &Path, task: Task) -> Self {
        let program = std::env::current_exe().unwrap().display().to_string();
        let mut words = wrapper.to_vec();
        words.extend([&*program, "--exact", "child::child", "--ignored", "--nocapture", "--test-threads=1"]);
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        writeln!(input, "{}\n{}", directory.display(), encode(task)).unwrap();
        Self { child, input, output }
    }

    /// The next line it prints; `None` if it has ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        self.output.by_ref().map_while(Result::ok).find_map(|line| {
            // The test harness may have printed at the start of the line.
            line.split_once("says: ").map(|(_, said)| said.to_owned())
        })
    }

    /// The next acknowledged event: the numbers of the session and of the event.
    pub(crate) fn acknowledged(&mut self) -> Option<(u64, u64)> {
        let said = self.hear()?;
        let (number, seq) = said.split_once(' ').unwrap();
        Some((number.parse().unwrap(), seq.parse().unwrap()))
    }

    pub(crate) fn go_on(&mut self) {
        writeln!(self.input).unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Stops it in the middle of its work, and returns when all its threads stand still.
    pub(crate) fn freeze(&self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::STOP).unwrap();
        let states = || {
            let threads = std::fs::read_dir(format!("/proc/{}/task", self.id())).unwrap();
            threads.map_while(|thread| std::fs::read_to_string(thread.ok()?.path().join("stat")).ok())
        };
        // A system call such as a sync goes on to its end first. The process table has no events.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !states().all(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))) {
            assert!(std::time::Instant::now() < end, "it does not stop");
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
    }

    /// Waits for its end and returns whether it succeeded.
    pub(crate) fn end(mut self) -> bool {
        drop(self.input);
        self.child.wait().unwrap().success()
    }
}

fn encode(task: Task) -> String {
    match task {
        Task::Write { first, sessions, appends } => format!("write {first} {sessions} {appends}"),
        Task::Hold => "hold".to_owned(),
        Task::Serve => "serve".to_owned(),
        Task::Umask => "umask".to_owned(),
        Task::Open => "open".to_owned(),
        Task::Fail => "fail".to_owned(),
        Task::Fill => "fill".to_owned(),
        Task::Inspect { sessions } => format!("inspect {sessions}"),
    }
}

#[test]
#[ignore = "other tests run it as a process of its own"]
fn child() {
    let mut lines = stdin().lines();
    let (Some(Ok(directory)), Some(Ok(task))) = (lines.next(), lines.next()) else { return };
    let words: Vec<&str> = task.split(' ').collect();
    let number = |index: usize| words[index].parse::<u64>().unwrap();
    let directory = Path::new(&directory);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        match words[0] {
            "write" => write(&open(directory), number(1)..number(1) + number(2), number(3)).await,
            "hold" => {
                let store = open(directory);
                let _writer = store.writer(&session(1)).await.unwrap();
                say("held");
                lines.next();
            }
            "serve" => {
                let _store = SqliteStore::open(settings(directory, StoreRole::Server)).unwrap();
                say("open");
                lines.next();
            }
            "umask" => {
                rustix::process::umask(rustix::fs::Mode::empty());
                write(&open(directory), 1..2, 3).await;
            }
            "open" => {
                let store = open(directory);
                say(&format!("{:?}", store.report().integrity));
                lines.next();
            }
            "fail" => fail(&open(directory)).await,
            "fill" => fill(directory).await,
            "inspect" => inspect(&open(directory), number(1)).await,
            other => panic!("{other}"),
        }
    });
}

async fn write(store: &SqliteStore, numbers: std::ops::Range<u64>, appends: u64) {
    futures::future::join_all(numbers.map(|number| async move {
        let writer = store.writer(&session(number)).await.unwrap();
        let mut head = store.find(&session(number)).await.unwrap().map_or(0, |summary| summary.head);
        for round in 0..appends {
            let next = head + 1 + round % 3;
            writer.append(events(number, head + 1..=next)).await.unwrap();
            head = next;
            say(&format!("{number} {head}"));
        }
    }))
    .await;
}

async fn inspect(store: &SqliteStore, sessions: u64) {
    for number in 1..=sessions {
        let head = store.find(&session(number)).await.unwrap().map_or(0, |summary| summary.head);
        assert_whole(store, number, head).await;
        say(&format!("{number} {head}"));
    }
    assert_eq!(store.check().await.unwrap().findings, []);
    store.close().await.unwrap();
}

async fn fail(store: &SqliteStore) {
    let writer = store.writer(&session(1)).await.unwrap();
    let mut seq = 1;
    let first = loop {
        match writer.append(events(1, [seq])).await {
            Ok(()) => say(&format!("1 {seq}")),
            Err(error) => break error,
        }
        seq += 1;
    };
    say(&format!("first {first}"));
    let second = writer.append(events(1, [seq])).await.unwrap_err();
    say(&format!("second {second}"));
}

async fn fill(directory: &Path) {
    const EVENTS: u64 = 100;
    let filler = directory.join("filler");
    std::fs::write(&filler, vec![1; 1 << 20]).unwrap();
    let store = open(directory);
    let writer = store.writer(&session(1)).await.unwrap();
    let mut head = 0;
    let error = loop {
        match writer.append(events(1, head + 1..=head + EVENTS)).await {
            Ok(()) => head += EVENTS,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full), "{error}");
    assert_whole(&store, 1, head).await;
    std::fs::remove_file(&filler).unwrap();
    writer.append(events(1, head + 1..=head + EVENTS)).await.unwrap();
    drop(writer);
    store.close().await.unwrap();
    let store = open(directory);
    assert_eq!(store.report().integrity, Integrity::Clean);
    assert_whole(&store, 1, head + EVENTS).await;
    assert_eq!(store.check().await.unwrap().findings, []);
    say("recovered");
}

fn say(text: &str) {
    let mut output = stdout().lock();
    writeln!(output, "says: {text}").unwrap();
    output.flush().unwrap();
}
