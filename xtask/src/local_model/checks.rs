//! Properties that must hold with a real model, wire by wire. Each check is named, printed and counted.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::peer::is_soon;
use super::stage::{BRIEF, Finished, Stage, WIRES};
use crate::counts::Counts;

/// The context size in tokens: small, so that it is soon full.
pub(crate) const CONTEXT: usize = 2048;
/// The timeout for the server to notice that the client has gone. An endless answer takes far longer.
const FREE_WITHIN: Duration = Duration::from_secs(10);
/// An answer of the small model may be a call, or endless calls, so a run may also end at the limit on calls.
const ANSWERED: &[i32] = &[0, 3];
/// An overflow is reported, or buddy makes room and the conversation goes on.
const OVERFLOWED: &[i32] = &[0, 7];

type Check = fn(&Stage, &str) -> Result<String>;

const CHECKS: [(&str, Check); 7] = [
    ("the context window is the server's word", window),
    ("an answer streams", streams),
    ("what it took is counted by the server", is_counted),
    ("a session goes on", goes_on),
    ("an interrupt frees the server", interrupt_frees),
    ("a time limit frees the server", timeout_frees),
    ("a prompt beyond the context is told", overflow_is_reported),
];

/// Runs every check on every wire, and the checks that need only one wire.
pub(crate) fn run(stage: &Stage) -> Counts {
    let mut counts = Counts::default();
    let every = WIRES.iter().flat_map(|wire| CHECKS.iter().map(move |(name, check)| (*wire, *name, *check)));
    let once: (&str, &str, Check) = (BRIEF, "a full conversation makes room or says so", makes_room);
    for (wire, name, check) in every.chain([once]) {
        let started = Instant::now();
        let (word, detail) = match check(stage, wire) {
            Ok(detail) => {
                counts.passed += 1;
                ("ok", detail)
            }
            Err(error) => {
                counts.failed += 1;
                ("FAILED", format!("{error:#}"))
            }
        };
        println!("{word:6} {wire:11} {name} ({:.1} s): {detail}", started.elapsed().as_secs_f32());
    }
    counts
}

fn window(stage: &Stage, wire: &str) -> Result<String> {
    let row = stage.listed(wire)?;
    ensure!(row["context_window"] == CONTEXT && row["context_source"] == "server", "{row}");
    Ok(format!("{} tokens", row["context_window"]))
}

fn streams(stage: &Stage, wire: &str) -> Result<String> {
    let finished = stage.exec(wire, &["Tell me a story."])?.expect(ANSWERED)?;
    ensure!(finished.deltas > 1, "{} deltas", finished.deltas);
    Ok(format!("{} deltas", finished.deltas))
}

fn is_counted(stage: &Stage, wire: &str) -> Result<String> {
    let finished = stage.exec(wire, &["Tell me a story."])?.expect(ANSWERED)?;
    let usage = &finished.result["usage"];
    ensure!(usage["estimated"] == false, "the usage is a guess: {usage}");
    let figure = |name: &str| usage[name].as_u64().with_context(|| format!("no `{name}` in {usage}"));
    let (input, cached, output) = (figure("input")?, figure("cached_input")?, figure("output")?);
    ensure!(input > 0 && output > 0 && cached <= input, "{usage}");
    Ok(format!("{input} in, {cached} of them cached, {output} out"))
}

fn goes_on(stage: &Stage, wire: &str) -> Result<String> {
    let first = stage.exec(wire, &["My name is Ann."])?.expect(ANSWERED)?;
    let second = stage.exec(wire, &["--resume", first.session()?, "What is my name?"])?.expect(ANSWERED)?;
    let input = |run: &Finished| run.result["usage"]["input"].as_u64().unwrap_or_default();
    ensure!(first.session()? == second.session()?, "another session: {}", second.result);
    ensure!(input(&second) > input(&first), "the first turn was not sent again");
    Ok(format!("{} tokens in, then {}", input(&first), input(&second)))
}

fn interrupt_frees(stage: &Stage, wire: &str) -> Result<String> {
    let mut running = stage.start(&format!("{wire}-endless"), &["Count to a million."])?;
    running.wait_for_delta()?;
    ensure!(stage.peer.is_busy()?, "the server was done before the interrupt");
    running.interrupt()?;
    running.finish()?.expect(&[130])?;
    is_freed(stage)
}

fn timeout_frees(stage: &Stage, wire: &str) -> Result<String> {
    let running = stage.start(&format!("{wire}-endless"), &["--timeout", "5s", "Count to a million."])?;
    let is_busy = || stage.peer.is_busy().unwrap_or(false);
    ensure!(is_soon(Duration::from_secs(5), is_busy), "the server never began");
    running.finish()?.expect(&[124])?;
    is_freed(stage)
}

fn is_freed(stage: &Stage) -> Result<String> {
    let ended = Instant::now();
    let is_free = || stage.peer.is_busy().is_ok_and(|is_busy| !is_busy);
    ensure!(is_soon(FREE_WITHIN, is_free), "the server still works for a run that has ended");
    Ok(format!("free after {} ms", ended.elapsed().as_millis()))
}

fn overflow_is_reported(stage: &Stage, wire: &str) -> Result<String> {
    let finished = stage.exec(wire, &[&"word ".repeat(2 * CONTEXT)])?.expect(OVERFLOWED)?;
    let message = finished.result["error"]["message"].as_str().unwrap_or("room was made");
    Ok(format!("exit {}, {message}", finished.code))
}

/// Two prompts that fit one by one, but not together.
fn makes_room(stage: &Stage, profile: &str) -> Result<String> {
    let half = "word ".repeat(CONTEXT / 2);
    let first = stage.exec(profile, &[&half])?.expect(ANSWERED)?;
    let second = stage.exec(profile, &["--resume", first.session()?, &half])?.expect(OVERFLOWED)?;
    Ok(format!("exit {}, {}", second.code, second.result["usage"]))
}
