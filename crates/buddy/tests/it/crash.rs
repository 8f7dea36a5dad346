//! `kill -9` at every point of a turn, and what is left afterwards: a store that passes its check, every event that was
//! printed, a session that goes on, and a tool whose effect happened at most once.

use std::collections::BTreeMap;
use std::time::Duration;

use buddy_protocol::{Event, ItemStatus, TurnOutcome};
use buddy_testkit::model::{Script, turn};
use buddy_testkit::processes;
use buddy_testkit::program::Finished;
use futures::StreamExt;
use rustix::process::Signal;

use crate::stage::{Log, Stage, shell};

/// Rounds at each point.
const ROUNDS: usize = 60;
/// Rounds at the same time: more than processors, because a round mostly waits for the disk and for processes.
const WIDE: usize = 4;
/// How long the children of a killed buddy may live on.
const GONE_WITHIN: Duration = Duration::from_secs(2);

/// Where buddy is killed.
#[derive(Debug, Clone)]
enum Kill {
    /// By itself, at a point in its code.
    At(String),
    /// From outside, once the tool has had its effect and still runs.
    WhileToolRuns,
}

/// The outcome of the one call of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// The kill came before the call was in the log; the model made it again after the restart.
    Unheard,
    /// It was in the log and had not begun.
    NotRun,
    /// It had begun.
    OutcomeUnknown,
    /// Its result was in the log.
    Recorded,
}

fn script(command: &str) -> Script {
    let turns = [turn().text("Let me do it.").call("run_shell", shell(command)), turn().text("Done.")];
    Script::from(turns).by_history().repeating_last()
}

/// One life and its continuation. Returns what became of the call and how often its effect happened.
async fn round(kill: Kill) -> (Fate, usize) {
    let command = match kill {
        Kill::At(_) => "echo effect >> effects",
        Kill::WhileToolRuns => "echo effect >> effects; sleep 30",
    };
    let stage = Stage::new(script(command)).await;
    let killed = first_life(&stage, &kill).await;
    assert_eq!(killed.signal, Some(9), "{kill:?}: buddy was not killed there: {killed}");
    let left = processes::wait_until_gone(stage.home.path(), GONE_WITHIN);
    assert!(left.is_empty(), "{kill:?}: {left:?}");
    let before = stage.only_log().await;
    check_printed(&killed, &before);
    let session = before.session.as_str();
    let resumed = stage.exec(["and now?", "--json", "--resume", session]).run().await.expect_code(0);
    assert!(resumed.text().contains(r#""text":"Done.""#), "{kill:?}: {resumed}");
    stage.requests();
    let after = stage.only_log().await;
    assert_eq!(after.events[..before.events.len()], before.events, "the log only grows");
    (check_whole(&before, &after), stage.home.text("effects").lines().count())
}

async fn first_life(stage: &Stage, kill: &Kill) -> Finished {
    let program = stage.exec(["do it", "--json"]);
    match kill {
        Kill::At(point) => program.env("BUDDY_KILL_AT", point).run().await,
        Kill::WhileToolRuns => {
            let started = program.start();
            while stage.home.text("effects").is_empty() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            started.signal(Signal::KILL);
            started.finish().await
        }
    }
}

/// Every event that was printed is in the log, once and in its place.
fn check_printed(killed: &Finished, log: &Log) {
    let text = killed.text();
    // Only a line with its end was printed whole.
    let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let printed: Vec<Event> = lines.map(|line| Event::from_json(line).unwrap()).collect();
    assert!(printed.len() <= log.events.len(), "{killed}");
    assert_eq!(printed[..], log.events[..printed.len()], "{killed}");
}

/// Nothing is open any more, and the call has the result that fits how far it had come.
fn check_whole(before: &Log, after: &Log) -> Fate {
    let transcript = &after.transcript;
    assert_eq!((transcript.turn(), transcript.open_items().count()), (None, 0));
    assert_eq!(transcript.last_turn().unwrap().outcome, TurnOutcome::Completed);
    let calls = after.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    let (item, call) = calls[0];
    let code = call.output.as_ref().unwrap().error.as_ref().map(|error| error.code.as_str());
    let found = before.calls().first().map(|(item, _)| item.status);
    let (fate, expected, status) = match found {
        None => (Fate::Unheard, None, ItemStatus::Completed),
        Some(ItemStatus::Pending) => (Fate::NotRun, Some("not_run"), ItemStatus::Interrupted),
        Some(ItemStatus::Running) => (Fate::OutcomeUnknown, Some("outcome_unknown"), ItemStatus::Interrupted),
        Some(_) => (Fate::Recorded, None, ItemStatus::Completed),
    };
    assert_eq!((item.status, code), (status, expected), "{call:?}");
    fate
}

/// The counts belong to the outcome of these tests.
#[expect(clippy::print_stdout, reason = "a test's own report")]
fn report(text: &str) {
    println!("{text}");
}

/// Runs all rounds at one point and counts what became of the calls.
async fn rounds(kill: impl Fn(usize) -> Kill) -> BTreeMap<(Fate, usize), usize> {
    let rounds = futures::stream::iter((0..ROUNDS).map(|number| round(kill(number))));
    let mut counts = BTreeMap::new();
    let mut outcomes = rounds.buffer_unordered(WIDE);
    while let Some((fate, effects)) = outcomes.next().await {
        *counts.entry((fate, effects)).or_insert(0) += 1;
    }
    report(&format!("{ROUNDS} rounds, by the call's fate and how often its effect happened: {counts:?}"));
    counts
}

async fn check_all(kill: impl Fn(usize) -> Kill, fate: Fate, effects: usize) {
    assert_eq!(rounds(kill).await, BTreeMap::from([((fate, effects), ROUNDS)]));
}

fn at(point: &'static str) -> impl Fn(usize) -> Kill {
    move |_| Kill::At(point.to_owned())
}

#[tokio::test]
async fn killed_after_the_intent() {
    check_all(at("tool.intent"), Fate::OutcomeUnknown, 0).await;
}

#[tokio::test]
async fn killed_while_the_tool_runs() {
    check_all(|_| Kill::WhileToolRuns, Fate::OutcomeUnknown, 1).await;
}

#[tokio::test]
async fn killed_after_the_tool_exited() {
    check_all(at("tool.exited"), Fate::OutcomeUnknown, 1).await;
}

#[tokio::test]
async fn killed_after_the_result_was_recorded() {
    check_all(at("tool.recorded"), Fate::Recorded, 1).await;
}

#[tokio::test]
async fn killed_around_each_append() {
    let kill = |number: usize| {
        let point = ["hub.stamped", "hub.appended"][number % 2];
        Kill::At(format!("{point}:{}", number / 2 % APPENDS + 1))
    };
    let counts = rounds(kill).await;
    assert!(counts.keys().all(|(_, effects)| *effects <= 1), "{counts:?}");
    assert!(counts.len() > 2, "the kills came at different points: {counts:?}");
}

/// Appends that every run makes at the least.
const APPENDS: usize = 6;

#[tokio::test]
async fn a_stubborn_tree_dies_with_buddy() {
    let stubborn = "trap '' TERM HUP INT; (setsid sh -c \"trap '' TERM HUP INT; sleep 60\" &); \
        (setsid sleep 61 >/dev/null 2>&1 &); echo effect >> effects; yes";
    let stage = Stage::new(script(stubborn)).await;
    let killed = first_life(&stage, &Kill::WhileToolRuns).await;
    assert_eq!(killed.signal, Some(9));
    let left = processes::wait_until_gone(stage.home.path(), GONE_WITHIN);
    assert!(left.is_empty(), "{left:?}");
}

/// Sessions that are killed again and again at moments that nobody chose, each life going on where the last one ended.
const CHAINS: u64 = 8;
/// Lives of each session.
const LIVES: u64 = 12;

/// Every answer to a prompt makes a call with an effect of its own.
fn many_calls() -> Script {
    let turns = (0..200).map(|number| match number % 2 {
        0 => turn().text("Let me do it.").call("run_shell", shell(&format!("echo {number} >> effects"))),
        _ => turn().text("Done."),
    });
    Script::from(turns.collect::<Vec<_>>()).by_history()
}

/// `whole` is how long a life takes that nobody ends, so that the moments fall into it however busy the machine is.
async fn chain(seed: u64, whole: Duration) -> usize {
    let stage = Stage::new(many_calls()).await;
    let mut before: Option<Log> = None;
    let mut kills = 0;
    for life in 0..LIVES {
        let resume = before.as_ref().map(|log| vec!["--resume", log.session.as_str()]).unwrap_or_default();
        let started = stage.exec(["do it", "--json"]).args(resume).start();
        // A multiplicative hash: moments that look chosen by nobody and are the same in every run.
        let chance = (seed * LIVES + life + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let share = u32::try_from(chance % 1_000).unwrap();
        tokio::time::sleep(whole * share / 800).await;
        started.signal(Signal::KILL);
        let killed = started.finish().await;
        kills += usize::from(killed.signal == Some(9));
        let left = processes::wait_until_gone(stage.home.path(), GONE_WITHIN);
        assert!(left.is_empty(), "seed {seed}, life {life}: {left:?}");
        let Some(log) = stage.log().await.pop() else { continue };
        let known = before.map(|log| log.events).unwrap_or_default();
        assert_eq!(log.events[..known.len()], known, "seed {seed}, life {life}: the log only grows");
        before = Some(log);
    }
    let session = before.expect("a life that got as far as the session").session;
    stage.exec(["and now?", "--resume", session.as_str()]).run().await.expect_code(0);
    stage.requests();
    check_effects(&stage).await;
    kills
}

/// No effect happened twice, and each that is recorded as done did happen.
async fn check_effects(stage: &Stage) {
    let log = stage.only_log().await;
    assert_eq!((log.transcript.turn(), log.transcript.open_items().count()), (None, 0));
    let text = stage.home.text("effects");
    let effects: Vec<&str> = text.lines().collect();
    for (item, call) in log.calls() {
        let number = call.title.split_whitespace().nth(1).unwrap();
        let times = effects.iter().filter(|effect| **effect == number).count();
        assert!(times <= 1, "effect {number} happened {times} times");
        assert!(times == 1 || item.status != ItemStatus::Completed, "effect {number} is missing");
    }
    assert!(effects.len() <= log.calls().len());
}

#[tokio::test]
async fn killed_again_and_again() {
    let mut kills = 0;
    let whole = Stage::new(many_calls()).await.exec(["do it", "--json"]).run().await.expect_code(0).took;
    let chains = (0..CHAINS).map(|seed| chain(seed, whole));
    let mut chains = futures::stream::iter(chains).buffer_unordered(WIDE);
    while let Some(killed) = chains.next().await {
        kills += killed;
    }
    report(&format!("{kills} kills in {} lives", CHAINS * LIVES));
    assert!(kills > 20, "{kills} kills are too few to say anything");
}
