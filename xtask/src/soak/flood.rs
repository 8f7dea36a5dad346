//! One command with endless output, and memory that does not grow with it.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::stage::{Stage, peak_kilobytes};

/// The maximum peak memory of a run, in kilobytes. An idle run takes about half of it.
const MOST: u64 = 48 * 1024;
/// The interval at which the memory is measured.
const TICK: Duration = Duration::from_millis(20);

/// A model that runs one command and then reports that it is done.
pub(crate) fn script(gigabytes: u64) -> Value {
    let command = format!("head -c {gigabytes}000000000 /dev/zero");
    let arguments = json!({
        "command": command, "why": "soak", "risk": "low", "mutation": false, "privesc": false, "wait": "10m",
    });
    json!({
        "turns": [
            {"tool_calls": [{"name": "run_shell", "arguments": arguments}]},
            {"text": "done"},
        ]
    })
}

/// Runs it and measures the memory.
pub(crate) fn flood(stage: &Stage, gigabytes: u64) -> Result<()> {
    let started = Instant::now();
    let mut buddy = stage.buddy(&["exec", "--json", "--trust", "--approve", "all", "flood"])?.spawn()?;
    let mut peak = 0;
    while buddy.try_wait()?.is_none() {
        peak = peak.max(peak_kilobytes(buddy.id()).unwrap_or(0));
        sleep(TICK);
    }
    let output = buddy.wait_with_output()?;
    let seconds = started.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success() && has_run(&said), "the flooded run said: {said}");
    println!("flood: {gigabytes} GB in {seconds:.1} s, peak memory {:.1} MB", megabytes(peak));
    ensure!(peak <= MOST, "memory must stay below {:.0} MB", megabytes(MOST));
    stage.insist(&["store", "check"])?;
    Ok(())
}

/// Whether the command ended by itself, without a refusal or a timeout.
fn has_run(said: &str) -> bool {
    let events = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut outputs = events.map(|event| event["data"]["item"]["content"]["output"]["result"].clone());
    outputs.any(|result| result["exit_code"] == 0 && result["truncated"] == true)
}

#[expect(clippy::cast_precision_loss, reason = "kilobytes of one process")]
fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}
