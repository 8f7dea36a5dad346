//! A report of checks as a table or as JSON, and the code to end with.

use buddy_protocol::operations::{CheckVerdict, DoctorCheck, DoctorFact, DoctorReport};
use buddy_tui::{CheckGroup, CheckMark, CheckRow, Exit, ListView, Printer, counted, show_checks};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Prints it.
pub(crate) fn print_report(
    report: &DoctorReport,
    as_json: bool,
    view: &ListView,
    printer: &mut Printer,
) -> anyhow::Result<Exit> {
    let exit = exit_of(report);
    let printed = if view.is_terminal() && !as_json {
        show_checks(&groups(report), &report.notes, exit.code(), view, printer)
    } else {
        let text = if as_json {
            serde_json::to_string_pretty(&report_json(report))? + "\n"
        } else {
            report_text(report)
        };
        printer.answer(&text)
    };
    Ok(if printed.is_ok() { exit } else { Exit::OutputClosed })
}

fn exit_of(report: &DoctorReport) -> Exit {
    match report.checks.iter().find(|check| check.verdict == CheckVerdict::Fail) {
        None => Exit::Ok,
        Some(check) if check.name == "auth" => Exit::Auth,
        Some(_) => Exit::Failed,
    }
}

/// The worst verdict; what was skipped is not bad.
fn worst_verdict(report: &DoctorReport) -> CheckVerdict {
    let is_any = |verdict: &CheckVerdict| report.checks.iter().any(|check| check.verdict == *verdict);
    [CheckVerdict::Fail, CheckVerdict::Warn].into_iter().find(is_any).unwrap_or(CheckVerdict::Ok)
}

fn report_json(report: &DoctorReport) -> Value {
    let mut object: Map<String, Value> =
        report.facts.iter().map(|fact| (fact.name.clone(), fact.value.clone())).collect();
    object.insert("verdict".to_owned(), value(&worst_verdict(report)));
    object.insert("checks".to_owned(), value(&report.checks));
    object.extend(report.more.clone());
    Value::Object(object)
}

fn fact_text(fact: &DoctorFact) -> String {
    fact.value.as_str().map_or_else(|| fact.value.to_string(), str::to_owned)
}

/// The checks as a terminal shows them.
fn groups(report: &DoctorReport) -> Vec<CheckGroup> {
    let head = report.facts.iter().map(|fact| CheckRow {
        mark: CheckMark::Passed,
        name: fact.name.clone(),
        evidence: fact_text(fact),
        next: None,
    });
    let mut groups = vec![CheckGroup { title: "Subject".to_owned(), rows: head.collect() }];
    for check in &report.checks {
        let title = group_title(&check.name);
        let row = check_row(check);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.rows.push(row),
            None => groups.push(CheckGroup { title: title.to_owned(), rows: vec![row] }),
        }
    }
    groups
}

fn report_text(report: &DoctorReport) -> String {
    let head = report.facts.iter().map(|fact| format!("{}: {}\n", fact.name, fact_text(fact)));
    let width = report.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let lines = report.checks.iter().map(|check| check_line(check, width));
    let count = |verdict| report.checks.iter().filter(|check| check.verdict == verdict).count();
    let summary = format!(
        "\n{} ok, {}, {} failed, {} skipped\n",
        count(CheckVerdict::Ok),
        counted(count(CheckVerdict::Warn) as u64, "warning"),
        count(CheckVerdict::Fail),
        count(CheckVerdict::Skipped),
    );
    let notes = report.notes.iter().map(|note| format!("{note}\n"));
    let gap = (!report.facts.is_empty()).then(|| "\n".to_owned());
    head.chain(gap).chain(lines).chain([summary]).chain(notes).collect()
}

/// The group of a check on a terminal.
fn group_title(name: &str) -> &'static str {
    match name {
        "store" | "disk" | "caches" => "Storage",
        "config" | "environment" | "guards" => "Settings",
        "tmux" | "git" | "containers" | "ssh" => "Programs",
        "bubblewrap" | "landlock" | "seccomp" | "user_namespaces" | "cgroup" => "Sandbox",
        "terminal" => "Terminal",
        _ => "Model",
    }
}

fn check_row(check: &DoctorCheck) -> CheckRow {
    let mark = match check.verdict {
        CheckVerdict::Ok => CheckMark::Passed,
        CheckVerdict::Warn => CheckMark::Limited,
        CheckVerdict::Fail => CheckMark::Failed,
        CheckVerdict::Skipped => CheckMark::Skipped,
    };
    let (name, evidence) = (check.name.replace('_', " "), check.evidence.clone());
    CheckRow { mark, name, evidence, next: check.next.clone() }
}

fn check_line(check: &DoctorCheck, width: usize) -> String {
    let DoctorCheck { name, verdict, evidence, next } = check;
    let next = next.as_ref().map(|next| format!("{:width$}           -> {next}\n", ""));
    format!("{name:width$}  {verdict:7}  {evidence}\n{}", next.unwrap_or_default())
}

fn value(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_else(|error| json!(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, verdict: CheckVerdict, evidence: &str, next: Option<&str>) -> DoctorCheck {
        let (evidence, next) = (evidence.to_owned(), next.map(str::to_owned));
        DoctorCheck { name: name.to_owned(), verdict, evidence, next }
    }

    #[test]
    fn the_table_is_aligned_and_the_next_step_stands_below() {
        let checks = vec![
            check("a", CheckVerdict::Ok, "well", None),
            check("long", CheckVerdict::Warn, "so so", Some("do this")),
        ];
        let facts = vec![DoctorFact { name: "model".to_owned(), value: json!("m") }];
        let report = DoctorReport { facts, checks, ..DoctorReport::default() };
        let expected = "model: m\n\na     ok       well\nlong  warn     so so\n               -> do this\n\n\
                        1 ok, 1 warning, 0 failed, 0 skipped\n";
        assert_eq!(report_text(&report), expected);
    }

    #[test]
    fn the_code_tells_a_refused_key_from_other_failures() {
        let code = |checks: &[(&str, CheckVerdict)]| {
            let checks = checks.iter().map(|(name, verdict)| check(name, *verdict, "", None)).collect();
            exit_of(&DoctorReport { checks, ..DoctorReport::default() })
        };
        assert_eq!(code(&[("a", CheckVerdict::Ok), ("b", CheckVerdict::Skipped)]), Exit::Ok);
        assert_eq!(code(&[("a", CheckVerdict::Warn)]), Exit::Ok);
        assert_eq!(code(&[("a", CheckVerdict::Fail)]), Exit::Failed);
        assert_eq!(code(&[("auth", CheckVerdict::Fail)]), Exit::Auth);
    }
}
