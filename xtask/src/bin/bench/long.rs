//! A session of 100,000 events: the cost of one more, the cost of folding, and the time to resume.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use buddy_protocol::{Event, EventSink, SessionId, SessionStore, Sessions, Transcript};
use tokio::runtime::Builder;

use crate::facts::fact;
use crate::house::House;
use crate::sample::{median, millis, shown, timed};
use crate::table::{Row, Table};

/// The number of facts of the long session after its first; even, so that every call in it has ended.
const LONG: u64 = 100_000;
/// The number of facts reported at once while filling the session.
const BATCH: u64 = 1_000;
/// The number of appends per window, alternating between the long session and a new one.
const WINDOW: u64 = 301;
/// The number of events of the short session before the measurement.
const SHORT: u64 = 9;
const PAGE: usize = 5_000;
const RUNS: usize = 7;
const GOAL: Duration = Duration::from_millis(300);

/// Measures the costs of a long session.
pub(crate) fn measure(folder: &Path, table: &mut Table) -> Result<()> {
    let folder = folder.join("long");
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let session = runtime.block_on(fill(&folder, table))?;
    let (mut reads, mut folds, mut resumes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (events, read) = runtime.block_on(read(&folder, &session))?;
        reads.push(read);
        folds.push(fold(&events)?);
        drop(events);
        resumes.push(runtime.block_on(resume(&folder, &session))?);
    }
    let (read, fold, resume) = (median(reads), median(folds), median(resumes));
    table.add(Row {
        what: "fold of 100,000 events",
        figure: shown(fold),
        beside: format!("reading them from the store {}", shown(read)),
        ratio: Some(millis(fold) / millis(read)),
        goal: Some(("< 300 ms", fold < GOAL)),
    });
    table.add(Row {
        what: "resume of 100,000 events, store opened to ready",
        figure: shown(resume),
        beside: format!("reading and folding {}", shown(read + fold)),
        ratio: Some(millis(resume) / millis(read + fold)),
        goal: Some(("< 300 ms", resume < GOAL)),
    });
    Ok(())
}

/// Fills the long session and measures its last appends next to the first ones of another.
async fn fill(folder: &Path, table: &mut Table) -> Result<SessionId> {
    let house = House::open(folder)?;
    let (session, long) = house.session().await?;
    let mut number = 0;
    while number < LONG - WINDOW {
        let end = (number + BATCH).min(LONG - WINDOW);
        long.commit((number..end).map(fact).collect()).await?;
        number = end;
    }
    let (_, short) = house.session().await?;
    short.commit((0..SHORT).map(fact).collect()).await?;
    let (mut late, mut early) = (Vec::new(), Vec::new());
    for place in 0..WINDOW {
        late.push(append(&*long, number + place).await?);
        early.push(append(&*short, SHORT + place).await?);
    }
    house.close().await?;
    let (late, early) = (median(late), median(early));
    let ratio = millis(late) / millis(early);
    table.add(Row {
        what: "the 100,000th append, awaited",
        figure: shown(late),
        beside: format!("the 10th of another session {}", shown(early)),
        ratio: Some(ratio),
        goal: Some(("ratio < 1.2", ratio < 1.2)),
    });
    Ok(session)
}

async fn append(sink: &dyn EventSink, number: u64) -> Result<Duration> {
    let fact = fact(number);
    let started = Instant::now();
    sink.commit(vec![fact]).await?;
    Ok(started.elapsed())
}

async fn read(folder: &Path, session: &SessionId) -> Result<(Vec<Event>, Duration)> {
    let house = House::open(folder)?;
    let started = Instant::now();
    let mut events: Vec<Event> = Vec::new();
    loop {
        let page = house.store.read(session, events.len() as u64, PAGE).await?;
        if page.is_empty() {
            break;
        }
        events.extend(page);
    }
    let time = started.elapsed();
    house.close().await?;
    anyhow::ensure!(events.len() as u64 == LONG + 1, "{} events were read", events.len());
    Ok((events, time))
}

fn fold(events: &[Event]) -> Result<Duration> {
    let mut transcript = Transcript::default();
    let (folded, time) = timed(|| events.iter().try_for_each(|event| transcript.apply(event)));
    folded?;
    Ok(time)
}

/// The time from opening the store until the session takes commands and serves subscriptions.
async fn resume(folder: &Path, session: &SessionId) -> Result<Duration> {
    let started = Instant::now();
    let house = House::open(folder)?;
    let subscription = house.hub.subscribe(&house.who, session, LONG + 1).await?;
    let time = started.elapsed();
    drop(subscription);
    house.close().await?;
    Ok(time)
}
