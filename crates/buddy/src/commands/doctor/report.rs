//! A list of checks as a table or as JSON, and the code to end with.

use buddy_model::diagnose::{Check, Verdict};
use buddy_tui::{CheckGroup, CheckMark, CheckRow, Exit, ListView, counted, show_checks};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::commands::printer;

/// What was examined and what came of it.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// What stands above the table, as names and values.
    pub(super) head: Vec<(&'static str, Value)>,
    pub(super) checks: Vec<Check>,
    /// What stands below the table.
    pub(super) notes: Vec<String>,
    /// The same for JSON.
    pub(super) more: Map<String, Value>,
}

impl Report {
    /// Prints it on the standard output.
    pub(super) fn print(&self, as_json: bool, view: &ListView) -> anyhow::Result<Exit> {
        if view.is_terminal() && !as_json {
            let exit = self.exit();
            let printed = show_checks(&self.groups(), &self.notes, exit.code(), view, &mut printer());
            return Ok(if printed.is_ok() { exit } else { Exit::OutputClosed });
        }
        let text = if as_json { serde_json::to_string_pretty(&self.json())? + "\n" } else { self.text() };
        let is_printed = printer().answer(&text).is_ok();
        Ok(if is_printed { self.exit() } else { Exit::OutputClosed })
    }

    fn exit(&self) -> Exit {
        match self.checks.iter().find(|check| check.verdict == Verdict::Fail) {
            None => Exit::Ok,
            Some(check) if check.name == "auth" => Exit::Auth,
            Some(_) => Exit::Failed,
        }
    }

    /// The worst verdict; what was skipped is not bad.
    fn verdict(&self) -> Verdict {
        let is_any = |verdict| self.checks.iter().any(|check| check.verdict == verdict);
        [Verdict::Fail, Verdict::Warn].into_iter().find(|verdict| is_any(*verdict)).unwrap_or(Verdict::Ok)
    }

    fn json(&self) -> Value {
        let mut object: Map<String, Value> =
            self.head.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        object.insert("verdict".to_owned(), value(&self.verdict()));
        object.insert("checks".to_owned(), value(&self.checks));
        object.extend(self.more.clone());
        Value::Object(object)
    }

    /// The checks as a terminal shows them.
    fn groups(&self) -> Vec<CheckGroup> {
        let head = self.head.iter().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            CheckRow { mark: CheckMark::Passed, name: (*name).to_owned(), evidence: value, next: None }
        });
        let mut groups = vec![CheckGroup { title: "Subject".to_owned(), rows: head.collect() }];
        for check in &self.checks {
            let title = group(check.name);
            let row = row(check);
            match groups.iter_mut().find(|group| group.title == title) {
                Some(group) => group.rows.push(row),
                None => groups.push(CheckGroup { title: title.to_owned(), rows: vec![row] }),
            }
        }
        groups
    }

    fn text(&self) -> String {
        let head = self.head.iter().map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}: {value}\n")
        });
        let width = self.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
        let lines = self.checks.iter().map(|check| line(check, width));
        let count = |verdict| self.checks.iter().filter(|check| check.verdict == verdict).count();
        let summary = format!(
            "\n{} ok, {}, {} failed, {} skipped\n",
            count(Verdict::Ok),
            counted(count(Verdict::Warn) as u64, "warning"),
            count(Verdict::Fail),
            count(Verdict::Skipped),
        );
        let notes = self.notes.iter().map(|note| format!("{note}\n"));
        let gap = (!self.head.is_empty()).then(|| "\n".to_owned());
        head.chain(gap).chain(lines).chain([summary]).chain(notes).collect()
    }
}

/// The group of a check on a terminal.
fn group(name: &str) -> &'static str {
    match name {
        "store" | "disk" | "caches" => "Storage",
        "config" | "environment" | "guards" => "Settings",
        "tmux" | "git" | "containers" | "ssh" => "Programs",
        "bubblewrap" | "landlock" | "seccomp" | "user_namespaces" | "cgroup" => "Sandbox",
        "terminal" => "Terminal",
        _ => "Model",
    }
}

fn row(check: &Check) -> CheckRow {
    let mark = match check.verdict {
        Verdict::Ok => CheckMark::Passed,
        Verdict::Warn => CheckMark::Limited,
        Verdict::Fail => CheckMark::Failed,
        Verdict::Skipped => CheckMark::Skipped,
    };
    let (name, evidence) = (check.name.replace('_', " "), check.evidence.clone());
    CheckRow { mark, name, evidence, next: check.next.clone() }
}

fn line(check: &Check, width: usize) -> String {
    let Check { name, verdict, evidence, next } = check;
    let next = next.as_ref().map(|next| format!("{:width$}           -> {next}\n", ""));
    format!("{name:width$}  {verdict:7}  {evidence}\n{}", next.unwrap_or_default())
}

fn value(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_else(|error| json!(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_aligned_and_the_next_step_stands_below() {
        let checks = vec![Check::ok("a", "well"), Check::warn("long", "so so", "do this")];
        let report = Report { head: vec![("model", json!("m"))], checks, ..Report::default() };
        let expected = "model: m\n\na     ok       well\nlong  warn     so so\n               -> do this\n\n\
                        1 ok, 1 warning, 0 failed, 0 skipped\n";
        assert_eq!(report.text(), expected);
    }

    #[test]
    fn the_code_tells_a_refused_key_from_other_failures() {
        let code = |checks| Report { checks, ..Report::default() }.exit();
        assert_eq!(code(vec![Check::ok("a", ""), Check::skipped("b", "")]), Exit::Ok);
        assert_eq!(code(vec![Check::warn("a", "", "")]), Exit::Ok);
        assert_eq!(code(vec![Check::fail("a", "", "")]), Exit::Failed);
        assert_eq!(code(vec![Check::fail("auth", "", "")]), Exit::Auth);
    }
}
