//! Output without end: buddy's memory stays what it is when idle, the disk has a cap, the end of the output is right, and
//! the limit of the time is kept.

use std::fs;
use std::path::Path;
use std::time::Duration;

use buddy_testkit::model::turn;
use buddy_testkit::processes;
use buddy_testkit::program::Finished;
use serde_json::{Value, json};

use crate::panes::PaneStage;
use crate::stage::{Stage, shell};

const MIB: u64 = 1024 * 1024;

/// The most memory that a flood may take above a run whose command prints nothing.
const MORE_MEMORY: u64 = 50 * MIB;

/// The cap on the log of one command.
const LOG_CAP: u64 = 64 * MIB;

/// The most memory that a pane's stream may take on its way.
const SPOOL_CAP: u64 = 9 * 8 * MIB;

/// Far more than any of this takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(110);

/// The figures of a flood.
struct Flood {
    result: Value,
    finished: Finished,
    /// The log file of the command.
    log: Vec<u8>,
}

impl Flood {
    fn stdout(&self) -> &str {
        self.result["stdout"].as_str().unwrap()
    }

    /// Nothing but the ends of the output is anywhere.
    fn check_bounds(&self, idle: u64, data: &Path, spool: u64) {
        let peak = self.finished.peak_memory;
        assert!(idle > 0 && peak < idle + MORE_MEMORY, "{peak} bytes, {idle} when idle");
        assert!(self.log.len() as u64 <= LOG_CAP, "{} bytes of log", self.log.len());
        let disk = size(data);
        assert!(disk < LOG_CAP + spool + 16 * MIB, "{disk} bytes on the disk");
    }
}

/// The bytes of all files beneath a directory.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let sizes = entries.map(|entry| {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() { size(&entry.path()) } else { entry.metadata().map_or(0, |found| found.len()) }
    });
    sizes.sum()
}

fn call(command: &str, wait: &str) -> Value {
    let mut call = shell(command);
    call["wait"] = json!(wait);
    call
}

fn flood(result: &Value, finished: Finished) -> Flood {
    let result = result["result"].clone();
    let log = fs::read(result["log"].as_str().unwrap()).unwrap();
    Flood { result, finished, log }
}

/// Runs a command without a terminal.
async fn run(command: &str, wait: &str) -> (Stage, Flood) {
    let stage = Stage::new([turn().call("run_shell", call(command, wait)), turn().text("Done.")]).await;
    let finished = stage.exec(["go"]).within(PATIENCE).run().await.expect_code(0);
    assert_eq!(processes::of(stage.home.path()), [], "{finished}");
    let flood = flood(&stage.results()[0], finished);
    (stage, flood)
}

async fn idle() -> u64 {
    run("true", "20s").await.1.finished.peak_memory
}

/// Runs a command in a shared pane.
async fn run_in_pane(command: &str, wait: &str) -> (PaneStage, Flood) {
    let stage = PaneStage::new([turn().call("run_shell", call(command, wait)), turn().text("Done.")]).await;
    let mut started = stage.buddy(&["--tmux"]).within(PATIENCE).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("Done.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let flood = flood(&stage.0.results()[0], finished);
    (stage, flood)
}

async fn idle_in_pane() -> u64 {
    run_in_pane("true", "20s").await.1.finished.peak_memory
}

#[tokio::test]
async fn two_gigabytes_without_a_line_end() {
    let idle = idle().await;
    let (stage, flood) = run("head -c 2147483648 /dev/zero; printf 'the real end'", "90s").await;
    flood.check_bounds(idle, &stage.home.data(), 0);
    assert_eq!((&flood.result["exit_code"], &flood.result["truncated"]), (&json!(0), &json!(true)));
    assert!(flood.stdout().ends_with("the real end") && flood.log.ends_with(b"\0the real end"));
}

#[tokio::test]
async fn lines_without_end_end_with_the_run() {
    let idle = idle().await;
    let (stage, flood) = run("yes", "3s").await;
    flood.check_bounds(idle, &stage.home.data(), 0);
    assert_eq!(flood.result["condition"], "running", "{}", flood.result);
    assert!(flood.result["output"].as_str().unwrap().ends_with("y\ny\n") && flood.log.ends_with(b"y\n"));
}

/// No part that is read at once is a multiple of three bytes.
const LETTERS: &str =
    "yes € | tr -d '\\n' | head -c 150000000; printf '\\342'; sleep 0.2; printf '\\202\\254\\377END'";

#[tokio::test]
async fn letters_that_are_cut_by_reads_stay_whole() {
    let idle = idle().await;
    let (stage, flood) = run(LETTERS, "60s").await;
    flood.check_bounds(idle, &stage.home.data(), 0);
    assert!(
        flood.stdout().starts_with("€€€") && flood.stdout().ends_with("€€€\u{fffd}END"),
        "{}",
        flood.stdout()
    );
    assert_eq!(flood.stdout().matches('\u{fffd}').count(), 1, "{}", flood.stdout());
    assert!(
        flood
            .log
            .ends_with("€€".as_bytes().iter().chain(b"\xffEND").copied().collect::<Vec<u8>>().as_slice())
    );
}

#[tokio::test]
async fn a_flood_in_a_shared_pane_is_bounded() {
    let idle = idle_in_pane().await;
    let command = "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo the real end";
    let (stage, flood) = run_in_pane(command, "100s").await;
    flood.check_bounds(idle, &stage.0.home.data(), SPOOL_CAP);
    assert_eq!(flood.result["exit_code"], 0, "{}", flood.result);
    assert!(flood.stdout().ends_with("x\nthe real end\n"));
    assert!(flood.log.ends_with(b"x\nthe real end\n"));
    let server: u32 = stage.tmux(&["display-message", "-p", "#{pid}"]).parse().unwrap();
    let tmux = processes::peak_memory(server).unwrap();
    assert!(tmux < MORE_MEMORY, "tmux has {tmux} bytes");
}

#[tokio::test]
async fn lines_without_end_in_a_pane_end_with_the_run() {
    let idle = idle_in_pane().await;
    let (stage, flood) = run_in_pane("yes", "3s").await;
    flood.check_bounds(idle, &stage.0.home.data(), SPOOL_CAP);
    assert_eq!(flood.result["dispatched"], true, "{}", flood.result);
    assert!(flood.log.starts_with(b"y\ny\n"));
}

#[tokio::test]
async fn letters_that_are_cut_on_their_way_through_a_pane_stay_whole() {
    let idle = idle_in_pane().await;
    let (stage, flood) = run_in_pane(&LETTERS.replace("150000000", "15000000"), "60s").await;
    flood.check_bounds(idle, &stage.0.home.data(), SPOOL_CAP);
    assert!(
        flood.stdout().starts_with("€€€") && flood.stdout().ends_with("€€€\u{fffd}END"),
        "{}",
        flood.stdout()
    );
    assert_eq!(flood.stdout().matches('\u{fffd}').count(), 1, "{}", flood.stdout());
}
