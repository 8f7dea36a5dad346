//! The judged runs as a table, one row per kind of task.

use std::collections::BTreeMap;

use super::judge::{Judged, TaskFailure};
use super::task::TaskKind;

/// The table, with a row for all kinds together at its end.
pub(super) fn render(judged: &[Judged]) -> String {
    let mut lines = vec![
        "| kind | right | model calls | seconds | server CPU seconds | most frequent failure |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    for kind in TaskKind::ALL {
        let of_kind: Vec<&Judged> = judged.iter().filter(|one| one.kind == kind).collect();
        if !of_kind.is_empty() {
            lines.push(row(kind.work(), &of_kind));
        }
    }
    lines.push(row("all", &judged.iter().collect::<Vec<_>>()));
    lines.join("\n")
}

fn row(name: &str, judged: &[&Judged]) -> String {
    let right = judged.iter().filter(|one| one.failure.is_none()).count();
    let count = u32::try_from(judged.len()).unwrap_or(u32::MAX).max(1);
    let mean = |sum: f64| sum / f64::from(count);
    let model_calls = judged.iter().map(|one| u32::try_from(one.record.model_calls).unwrap_or(u32::MAX));
    let model_calls = mean(model_calls.map(f64::from).sum());
    let seconds = mean(judged.iter().map(|one| one.cost.seconds).sum());
    let cpu = mean(judged.iter().map(|one| one.cost.cpu).sum());
    let failure = most_frequent(judged);
    format!(
        "| {name} | {right} of {} | {model_calls:.1} | {seconds:.1} | {cpu:.1} | {failure} |",
        judged.len()
    )
}

/// The most frequent failure with its count; the first by name of several.
fn most_frequent(judged: &[&Judged]) -> String {
    let mut counts: BTreeMap<TaskFailure, usize> = BTreeMap::new();
    for failure in judged.iter().filter_map(|one| one.failure) {
        *counts.entry(failure).or_default() += 1;
    }
    let most = counts.iter().rev().max_by_key(|(_, count)| **count);
    most.map_or("-".to_owned(), |(failure, count)| format!("{failure} ({count})"))
}

#[cfg(test)]
mod tests {
    use super::super::judge::{RunCost, RunRecord};
    use super::*;

    fn judged(kind: TaskKind, model_calls: u64, seconds: f64, failure: Option<TaskFailure>) -> Judged {
        let record = RunRecord { model_calls, ..RunRecord::default() };
        Judged { task: "a".to_owned(), kind, run: 1, cost: RunCost { seconds, cpu: 0.5 }, record, failure }
    }

    #[test]
    fn rows_have_means_and_the_most_frequent_failure() {
        let runs = [
            judged(TaskKind::Read, 2, 1.0, None),
            judged(TaskKind::Read, 3, 2.0, Some(TaskFailure::NoCall)),
            judged(TaskKind::Fix, 8, 6.0, Some(TaskFailure::Stuck)),
            judged(TaskKind::Fix, 8, 6.0, Some(TaskFailure::Stuck)),
        ];
        let text = render(&runs);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| read a file and answer | 1 of 2 | 2.5 | 1.5 | 0.5 | no call (1) |",
                "| fix a typo in a file | 0 of 2 | 8.0 | 6.0 | 0.5 | stuck (2) |",
                "| all | 1 of 4 | 5.2 | 3.8 | 0.5 | stuck (2) |",
            ]
        );
    }
}
