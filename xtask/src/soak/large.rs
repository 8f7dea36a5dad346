//! A file of many lines that is read, searched and patched, and memory that does not grow with it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::stage::{Stage, peak_kilobytes};

/// The maximum peak memory of a run, in kilobytes.
const MOST: u64 = 96 * 1024;
/// The interval at which the memory is measured.
const TICK: Duration = Duration::from_millis(20);
/// The number of bytes per line, including its end.
const LINE: u64 = 64;

/// A model that reads the end of the file, searches it, tries to patch it, and reports that it is done.
pub(crate) fn script(gigabytes: u64) -> Value {
    let last = gigabytes * 1_000_000_000 / LINE;
    let call = |name: &str, arguments: Value| json!({"tool_calls": [{"name": name, "arguments": arguments}]});
    let patch = "--- a/large\n+++ b/large\n@@ -1 +1 @@\n-x\n+y\n";
    json!({
        "turns": [
            call("read_file", json!({"path": "large", "offset": last, "limit": 1})),
            call("grep", json!({"pattern": "the last line", "path": "large"})),
            call("apply_patch", json!({"patch": patch})),
            {"text": "done"},
        ]
    })
}

/// Creates the file, runs it and measures the memory.
pub(crate) fn large(stage: &Stage, gigabytes: u64) -> Result<()> {
    make(stage, gigabytes)?;
    let started = Instant::now();
    let mut buddy = stage.buddy(&["exec", "--json", "--trust", "--approve", "all", "large"])?.spawn()?;
    let mut peak = 0;
    while buddy.try_wait()?.is_none() {
        peak = peak.max(peak_kilobytes(buddy.id()).unwrap_or(0));
        sleep(TICK);
    }
    let output = buddy.wait_with_output()?;
    let seconds = started.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "the run on a large file said: {said}");
    let outcomes = outcomes(&said);
    let has = |is_so: &dyn Fn(&Value) -> bool| outcomes.iter().any(is_so);
    let is_last = |text: &Value| text.as_str().is_some_and(|text| text.contains("the last line"));
    ensure!(has(&|outcome| is_last(&outcome["result"]["content"])), "the last line must be read: {said}");
    ensure!(has(&|outcome| is_last(&outcome["result"]["matches"])), "the last line must be found: {said}");
    ensure!(has(&|outcome| outcome["error"]["code"] == "too_large"), "the patch must be refused: {said}");
    println!("large: {gigabytes} GB read and searched in {seconds:.1} s, peak memory {} MB", peak / 1024);
    ensure!(peak <= MOST, "memory must stay below {} MB", MOST / 1024);
    Ok(())
}

fn make(stage: &Stage, gigabytes: u64) -> Result<()> {
    let mut file = BufWriter::with_capacity(1024 * 1024, File::create(stage.project().join("large"))?);
    let line = format!("{:<63}\n", "an ordinary line");
    for _ in 1..gigabytes * 1_000_000_000 / LINE {
        file.write_all(line.as_bytes())?;
    }
    file.write_all(format!("{:<63}\n", "the last line").as_bytes())?;
    Ok(file.flush()?)
}

/// The outputs of the calls of a run.
fn outcomes(said: &str) -> Vec<Value> {
    let events = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.map(|event| event["data"]["item"]["content"]["output"].clone()).filter(Value::is_object).collect()
}
