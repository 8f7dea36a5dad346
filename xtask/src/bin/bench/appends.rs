//! Durable events per second through the hub into a real store, next to the sync rate of the disk.
//!
//! "Each awaited": a session reports the next event only when the last one would survive a power cut.
//! "Pipelined": it reports all of them without waiting and waits once, at the end, until all are durable.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use buddy_protocol::EventSink;
use futures::future::try_join_all;
use tokio::runtime::Builder;

use crate::facts::fact;
use crate::house::House;
use crate::sample::{rate, timed};
use crate::table::{Row, Table};

const MANY: u32 = 32;
/// The required rate of the store over many sessions.
const GOAL: f64 = 5_000.0;
/// The approximate size of one event in bytes.
const EVENT: usize = 1_000;

/// Measures the rates with 1 and with 32 sessions.
pub(crate) fn measure(folder: &Path, table: &mut Table) -> Result<()> {
    let syncs = syncs(&folder.join("syncs"))?;
    let beside = format!("write and fdatasync {syncs:.0}/s");
    let mut add = |what, rate: f64, goal| {
        let goal: Option<(&'static str, bool)> = goal;
        table.add(Row {
            what,
            figure: format!("{rate:.0}/s"),
            beside: beside.clone(),
            ratio: Some(rate / syncs),
            goal,
        });
    };
    add("events, 1 session, each awaited", run(&folder.join("a"), 1, 1_000, awaited)?, None);
    add("events, 1 session, pipelined", run(&folder.join("b"), 1, 40_000, pipelined)?, None);
    let rate = run(&folder.join("c"), MANY, 500, awaited)?;
    add("events, 32 sessions, each awaited", rate, Some((">= 5000/s", rate >= GOAL)));
    let rate = run(&folder.join("d"), MANY, 1_500, pipelined)?;
    add("events, 32 sessions, pipelined", rate, Some((">= 5000/s", rate >= GOAL)));
    Ok(())
}

/// The number of events per second that the disk can write and sync.
fn syncs(path: &Path) -> Result<f64> {
    const TIMES: u32 = 500;
    let mut file = File::create(path)?;
    let event = [b'x'; EVENT];
    let (done, time) = timed(|| {
        (0..TIMES).try_for_each(|_| {
            file.write_all(&event)?;
            file.sync_data()
        })
    });
    done?;
    Ok(rate(TIMES, time))
}

fn run<F>(folder: &Path, sessions: u32, events: u32, report: fn(Arc<dyn EventSink>, u32) -> F) -> Result<f64>
where
    F: Future<Output = Result<()>>,
{
    // One thread, as in the binary.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let house = House::open(folder)?;
        let mut sinks = Vec::new();
        for _ in 0..sessions {
            sinks.push(house.session().await?.1);
        }
        let started = std::time::Instant::now();
        try_join_all(sinks.into_iter().map(|sink| report(sink, events))).await?;
        let time: Duration = started.elapsed();
        house.close().await?;
        Ok(rate(sessions * events, time))
    })
}

async fn awaited(sink: Arc<dyn EventSink>, events: u32) -> Result<()> {
    for number in 0..events {
        sink.commit(vec![fact(number.into())]).await?;
    }
    Ok(())
}

async fn pipelined(sink: Arc<dyn EventSink>, events: u32) -> Result<()> {
    for number in 0..events {
        sink.push(vec![fact(number.into())]).await?;
    }
    Ok(sink.commit(Vec::new()).await?)
}
