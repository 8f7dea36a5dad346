//! Runs that are killed at random moments. After each, the log has everything that was shown, the store is
//! intact, no command is left running, and the session goes on.

use std::io::Read;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::stage::{Stage, marked};

/// The maximum time after which a run is killed. A whole run of the script takes less.
const LATEST_MS: u64 = 250;
/// The timeout for the supervisor of a killed run to end its command.
const PATIENCE: Duration = Duration::from_secs(5);
/// An argument that identifies the script's commands in the process table.
const MARK: &str = "4242.25";

/// A model that calls a short command, a long one, and then reports that it is done, repeatedly.
pub(crate) fn script() -> Value {
    let call = |command: String, wait: &str| {
        let arguments = json!({
            "command": command, "why": "soak", "risk": "low", "mutation": true, "privesc": false, "wait": wait,
        });
        json!({"text": "Let me see.", "tool_calls": [{"name": "run_shell", "arguments": arguments}]})
    };
    json!({
        "select": "history",
        "when_exhausted": "loop",
        "turns": [
            call("echo line >> file".to_owned(), "5s"),
            call(format!("sleep {MARK}"), "0.1s"),
            {"text": "done"},
        ]
    })
}

/// Kills this many runs.
pub(crate) fn kills(stage: &Stage, rounds: u32) -> Result<()> {
    let started = Instant::now();
    let (mut finished, mut shown, mut session) = (0, 0, None::<String>);
    for round in 1..=rounds {
        let delay = Duration::from_millis(random() % LATEST_MS);
        let resume = session.as_deref().map(|id| ["--resume", id]);
        let mut words = vec!["exec", "--json", "--trust", "--approve", "all"];
        words.extend(resume.iter().flatten());
        words.push("go on");
        let child = stage.buddy(&words)?.spawn()?;
        let (printed, was_finished) = kill_after(child, delay)?;
        finished += u32::from(was_finished);
        let told = |error| format!("round {round}, killed after {} ms: {error}", delay.as_millis());
        let events = whole_events(&printed);
        session = events.last().map(event_session).or(session);
        shown += events.len();
        verify(stage, session.as_deref(), &events)
            .map_err(|error| anyhow::anyhow!(told(format!("{error:#}"))))?;
        if round % 10 == 0 {
            println!("kills: {round} of {rounds}");
            // A new session now and then, so that beginnings are cut as well.
            session = None;
        }
    }
    println!(
        "kills: {rounds} rounds in {:.1} s, {shown} events shown and all of them kept, {finished} runs done before the kill",
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

fn kill_after(mut child: Child, delay: Duration) -> Result<(String, bool)> {
    let mut output = child.stdout.take().context("no output")?;
    let reader = std::thread::spawn(move || {
        let mut printed = Vec::new();
        output.read_to_end(&mut printed).map(|_| printed)
    });
    sleep(delay);
    child.kill()?;
    let was_finished = child.wait()?.success();
    let printed = reader.join().map_err(|_| anyhow::anyhow!("the reader panicked"))??;
    Ok((String::from_utf8_lossy(&printed).into_owned(), was_finished))
}

/// The durable events among the complete lines of the output.
fn whole_events(printed: &str) -> Vec<Value> {
    let whole = printed.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let parsed = whole.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    parsed.filter(|line| line["seq"].is_u64()).collect()
}

fn event_session(event: &Value) -> String {
    event["session"].as_str().unwrap_or_default().to_owned()
}

fn verify(stage: &Stage, session: Option<&str>, events: &[Value]) -> Result<()> {
    let checked = stage.insist(&["store", "check"])?;
    ensure!(checked.contains("No problems found."), "{checked}");
    no_leftovers()?;
    let Some(session) = session else { return Ok(()) };
    let log = whole_events(&stage.insist(&["show", "--json", session])?);
    for event in events {
        ensure!(log.contains(event), "event {} was shown and is not in the log", event["seq"]);
    }
    stage.insist(&["exec", "--approve", "all", "--resume", session, "and again"])?;
    Ok(())
}

fn no_leftovers() -> Result<()> {
    let started = Instant::now();
    loop {
        let left = marked(MARK);
        if left.is_empty() {
            return Ok(());
        }
        if started.elapsed() > PATIENCE {
            bail!("commands of a killed run still live: {left:?}");
        }
        sleep(Duration::from_millis(10));
    }
}

/// A number that differs from round to round; it has no other requirement.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}
