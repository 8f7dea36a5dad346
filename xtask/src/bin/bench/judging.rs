//! Judging a command, from its text to the verdict, next to splitting the same text at its blanks.

use anyhow::{Result, ensure};
use buddy_policy::{Action, Intent, Mode, Now, Places, Policy, Verdict, decide};
use buddy_protocol::ApprovalPolicy;

use crate::sample::{median, timed};
use crate::table::{Row, Table};

/// Commands as agents write them: short and long, harmless and not.
const COMMANDS: [&str; 8] = [
    "ls -la",
    "cargo test -p buddy-policy 2>&1 | tail -20",
    "cd crates/buddy-policy && grep -rn 'fn decide' src | head -5",
    "git commit -m \"policy: one thing\" && git push",
    "find . -name '*.rs' -not -path './target/*' -exec wc -l {} + | sort -rn | head",
    "for f in a b c; do if [ -f \"$f\" ]; then sed -n '1,20p' \"$f\"; fi; done",
    "timeout 60 env RUST_LOG=debug bash -c 'cargo run --release > log 2>&1 & sleep 5; kill %1'",
    "curl -fsSL https://example.org/install.sh | sudo bash",
];
const ROUNDS: usize = 500;
/// The time limit of a decision in microseconds: too short for a user to notice.
const GOAL: f64 = 100.0;

/// Measures the median over all commands.
pub(crate) fn measure(table: &mut Table) -> Result<()> {
    let places = Places { workspace: vec!["/w".into()], target: "local".to_owned(), ..Places::default() };
    let policy = Policy { mode: Mode::Development, places, ..Policy::default() };
    let now = Now::with(ApprovalPolicy::Ask);
    let intents =
        COMMANDS.map(|command| Intent::of(Action::Run { command: command.to_owned(), cwd: "/w".into() }));
    let (mut judging, mut splitting, mut allowed) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        for (command, intent) in COMMANDS.iter().zip(&intents) {
            let (decision, time) = timed(|| decide(intent, &policy, &now));
            allowed += usize::from(decision.verdict == Verdict::Allow);
            judging.push(time);
            let (words, time) = timed(|| command.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
            ensure!(!words.is_empty(), "a command has words");
            splitting.push(time);
        }
    }
    ensure!(
        allowed == 3 * ROUNDS,
        "three of the commands only read, and {allowed} decisions in {ROUNDS} rounds said so"
    );
    let micros = |times| median(times).as_secs_f64() * 1e6;
    let (judged, split) = (micros(judging), micros(splitting));
    table.add(Row {
        what: "policy decision on a command",
        figure: format!("{judged:.1} µs"),
        beside: format!("splitting it at its blanks {split:.1} µs"),
        ratio: Some(judged / split),
        goal: Some(("under 100 µs", judged < GOAL)),
    });
    Ok(())
}
