//! Measures a store in a temporary directory: `cargo run --release -p buddy-store --example measure`.

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use buddy_protocol::{
    Clock, Content, Envelope, Event, Fact, Ids, Item, ItemEnded, ItemId, ItemStarted, ItemStatus, Principal,
    SessionId, SessionStarted, SessionStore, ToolCall, ToolKind, Transcript, TurnId, TurnStarted, UnixMillis,
};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};
use serde_json::json;

type Outcome<T> = Result<T, Box<dyn Error>>;

const LONG: u64 = 100_000;

/// Pages of this size stay in the processor's cache between reading and folding.
const PAGE: usize = 1000;

struct Fixed(u128);

impl Ids for Fixed {
    fn next(&self) -> u128 {
        self.0
    }
}

impl Clock for Fixed {
    fn now(&self) -> UnixMillis {
        UnixMillis(1)
    }
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let directory = tempfile::tempdir_in(".")?;
    let store = open(directory.path())?;
    one_session(&store).await?;
    many_sessions(&store).await?;
    long_session(&store).await?;
    store.close().await?;
    openings(directory.path()).await
}

fn open(directory: &Path) -> Outcome<SqliteStore> {
    let clock = Arc::new(Fixed(0));
    let directory = directory.to_owned();
    Ok(SqliteStore::open(StoreSettings { directory, role: StoreRole::Terminal, boot_id: None, clock })?)
}

fn session(number: u64) -> SessionId {
    SessionId::new(&Fixed(u128::from(number)))
}

/// An event of a session of tool calls: each call starts and ends, with about a kilobyte of output.
fn event(number: u64, seq: u64) -> Arc<Event> {
    let fact = match seq {
        1 => Fact::SessionStarted(SessionStarted {
            owner: Principal::person("ann"),
            agent: "buddy".to_owned(),
            cwd: "/home/ann".to_owned(),
            model: None,
            parent: None,
            targets: vec![],
            forked_from: None,
            began_with: None,
            terms: buddy_protocol::SessionTerms::default(),
        }),
        2 => Fact::TurnStarted(TurnStarted { turn: TurnId::new(&Fixed(2)) }),
        _ if seq % 2 == 1 => Fact::ItemStarted(ItemStarted { item: item(seq, ItemStatus::Running) }),
        _ => Fact::ItemEnded(ItemEnded { item: item(seq - 1, ItemStatus::Completed) }),
    };
    Arc::new(Event { session: session(number), seq: Some(seq), time: UnixMillis(seq), by: None, fact })
}

fn item(number: u64, status: ItemStatus) -> Item {
    let line = "a line of output that a command printed, \"quoted\" here and there\n";
    let output =
        status.is_final().then(|| Envelope::new(UnixMillis(1), Ok(json!({ "stdout": line.repeat(12) }))));
    let content = Content::ToolCall(Box::new(ToolCall {
        call_id: format!("call_{number}"),
        name: "shell".to_owned(),
        kind: ToolKind::Execute,
        title: "cargo test".to_owned(),
        input: json!({ "command": "cargo test --workspace", "timeout_ms": 120_000 }).into(),
        output,
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    }));
    let id = ItemId::new(&Fixed(u128::from(number)));
    Item {
        id,
        turn: Some(TurnId::new(&Fixed(2))),
        step: None,
        place: None,
        parent: None,
        status,
        content,
        private: None,
    }
}

async fn one_session(store: &SqliteStore) -> Outcome<()> {
    const APPENDS: u64 = 1000;
    let writer = store.writer(&session(1)).await?;
    let start = Instant::now();
    for seq in 1..=APPENDS {
        writer.append(vec![event(1, seq)]).await?;
    }
    tell("1 session, each append awaited", rate(APPENDS, start.elapsed()))
}

async fn many_sessions(store: &SqliteStore) -> Outcome<()> {
    const SESSIONS: u64 = 32;
    const APPENDS: u64 = 200;
    let before = store.stats().commits;
    let start = Instant::now();
    futures::future::try_join_all((100..100 + SESSIONS).map(|number| async move {
        let writer = store.writer(&session(number)).await?;
        for seq in 1..=APPENDS {
            writer.append(vec![event(number, seq)]).await?;
        }
        Ok::<_, Box<dyn Error>>(())
    }))
    .await?;
    tell("32 sessions, each append awaited", rate(SESSIONS * APPENDS, start.elapsed()))?;
    tell(
        "  appends a transaction",
        format!("{:.1}", count(SESSIONS * APPENDS) / count(store.stats().commits - before)),
    )
}

async fn long_session(store: &SqliteStore) -> Outcome<()> {
    let writer = store.writer(&session(2)).await?;
    let mut head = 0;
    let mut costs = Vec::new();
    while head < LONG {
        let start = Instant::now();
        writer.append((head + 1..=head + 1000).map(|seq| event(2, seq)).collect()).await?;
        costs.push(start.elapsed());
        head += 1000;
    }
    tell(
        "1000 events at the start, at the end",
        format!("{:.1?}, {:.1?}", mean(&costs[1..11]), mean(&costs[90..])),
    )?;
    for _ in 0..3 {
        let start = Instant::now();
        let mut transcript = Transcript::default();
        let mut after = 0;
        loop {
            let page = store.read(&session(2), after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq.unwrap_or(after);
            for event in page {
                transcript.take(event)?;
            }
        }
        tell("100,000 events read and folded", format!("{:.1?}", start.elapsed()))?;
    }
    let start = Instant::now();
    let mut after = 0;
    while after < LONG {
        after += store.read(&session(2), after, PAGE).await?.len() as u64;
    }
    tell("100,000 events read", format!("{:.1?}", start.elapsed()))?;
    let start = Instant::now();
    let report = store.check().await?;
    tell("check of everything", format!("{:.1?}, {} findings", start.elapsed(), report.findings.len()))
}

async fn openings(directory: &Path) -> Outcome<()> {
    let mut costs = Vec::new();
    let mut closings = Vec::new();
    for number in 1000..1020 {
        let start = Instant::now();
        let store = open(directory)?;
        costs.push(start.elapsed());
        store.writer(&session(number)).await?.append((1..20).map(|seq| event(number, seq)).collect()).await?;
        let start = Instant::now();
        store.close().await?;
        closings.push(start.elapsed());
    }
    tell("opening an existing store", format!("{:.2?}, at most {:.2?}", mean(&costs), costs.iter().max()))?;
    tell("closing it", format!("{:.2?}", mean(&closings)))
}

fn mean(costs: &[Duration]) -> Duration {
    costs.iter().sum::<Duration>() / u32::try_from(costs.len()).unwrap_or(1).max(1)
}

fn rate(events: u64, time: Duration) -> String {
    format!("{:.0}/s", count(events) / time.as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn count(number: u64) -> f64 {
    number as f64
}

fn tell(what: &str, figure: impl std::fmt::Display) -> Outcome<()> {
    Ok(writeln!(stdout(), "{what:40} {figure}")?)
}
