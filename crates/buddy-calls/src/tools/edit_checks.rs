//! Checks of edited files: commands from the user's configuration that buddy runs around an edit. The model is told the errors that
//! the edit brought, with its result.
//!
//! A check runs only where policy lets its command run unasked. In a jail it changes nothing and has no network. A check that cannot
//! run is told once, and no edit fails because of one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{Bounds, Ended, Exec, Exit, OutputLimits, Stdin, TargetError, quote};
use buddy_policy::{Action, Intent, Tier, Verdict};
use buddy_protocol::{Fact, Notice, NoticeLevel};
use futures::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::targets::Attached;
use crate::tools::apply_patch::ApplyPatch;
use crate::tools::edit_check::EditCheck;
use crate::tools::edit_file::EditFile;
use crate::tools::failure::target_failure;
use crate::tools::pipeline::{Pipeline, Ready};
use crate::tools::plain::plain;
use crate::tools::run_shell::RunShell;
use crate::tools::tool::Tool;
use crate::tools::write_file::WriteFile;

/// The field of a result that has the outcomes of checks.
pub const CHECKS: &str = "checks";
/// The code of the notice about a check that cannot run.
const NOTICE: &str = "edit_check";

/// How long a check may run.
const CHECK_TIME: Duration = Duration::from_secs(2);
/// How long buddy waits for one in all: a host can be slow to start it and to stop it.
const WAIT: Duration = Duration::from_secs(5);
/// A check that took too long this often in a row is left out for the rest of the session.
const MAX_TIMEOUTS: u32 = 3;
/// Checks that one edit runs. A patch can touch many files.
const MAX_RUNS: usize = 8;
/// Bytes of the output of a check that are looked at.
const KEEP: usize = 64 * 1024;
/// New errors that the model is told, and the length of each.
const MAX_LINES: usize = 20;
const MAX_LINE: usize = 300;
/// Results that are remembered. Beyond that all are forgotten, and checks run before an edit again.
const MAX_REMEMBERED: usize = 256;

/// A check of one file that an edit is about to change.
pub(crate) struct FileCheck<'a> {
    check: &'a EditCheck,
    target: Arc<Attached>,
    file: PathBuf,
    /// The errors before the edit.
    before: Result<Vec<String>, Trouble>,
}

/// A reason why a check has no result.
#[derive(Debug)]
struct Trouble {
    kind: &'static str,
    text: String,
}

impl Trouble {
    fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

impl Pipeline {
    /// The checks of the files that a call is about to edit, with the errors that each finds before. Errors that were told with an earlier
    /// edit are remembered.
    pub(crate) async fn check_before(&self, ready: &Ready, cancel: &CancellationToken) -> Vec<FileCheck<'_>> {
        let files = edited(ready);
        let settings = &self.parts.settings;
        let is_off = settings.tools_off.iter().any(|name| name == RunShell::SPEC.name);
        let policy = ready.target.policy();
        let Some(policy) = policy.ok().filter(|_| !files.is_empty() && !is_off) else { return Vec::new() };
        let matching = files.iter().flat_map(|file| {
            let matches =
                |check: &&EditCheck| check.files.iter().any(|pattern| pattern.matches(file, &policy.places));
            settings.checks.iter().filter(matches).map(move |check| (check, file))
        });
        let running = matching.filter(|(check, _)| !self.is_too_slow(check)).take(MAX_RUNS);
        let running = running.map(async |(check, file)| {
            let target = ready.target.clone();
            let before = self.errors_before(check, &target, file, cancel).await;
            FileCheck { check, target, file: file.clone(), before }
        });
        join_all(running).await
    }

    /// Runs the checks of files that were edited and adds the outcomes to the result of the edit.
    pub(crate) async fn check_after(
        &self,
        checks: Vec<FileCheck<'_>>,
        result: &mut Value,
        cancel: &CancellationToken,
    ) {
        if checks.is_empty() || cancel.is_cancelled() {
            return;
        }
        let running = checks.into_iter().map(async |FileCheck { check, target, file, before }| {
            let found = match before {
                // Without the errors from before, none can be told to be new.
                Ok(before) => self.errors(check, &target, &file, cancel).await.map(|after| (before, after)),
                Err(trouble) => Err(trouble),
            };
            self.outcome(check, &target, &file, found).await
        });
        let outcomes: Vec<Value> = join_all(running).await.into_iter().flatten().collect();
        if let Some(fields) = result.as_object_mut().filter(|_| !outcomes.is_empty()) {
            fields.insert(CHECKS.to_owned(), outcomes.into());
        }
    }

    async fn errors_before(
        &self,
        check: &EditCheck,
        target: &Attached,
        file: &Path,
        cancel: &CancellationToken,
    ) -> Result<Vec<String>, Trouble> {
        let known = self.checked.lock().errors.get(&key(check, target, file)).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        match target.host.target.read(&Bounds::open(), file, 1).await {
            Err(TargetError::NotFound { .. }) => Ok(Vec::new()),
            _ => self.errors(check, target, file, cancel).await,
        }
    }

    /// Runs a check. A result is remembered; a check that did not come to one is forgotten.
    async fn errors(
        &self,
        check: &EditCheck,
        target: &Attached,
        file: &Path,
        cancel: &CancellationToken,
    ) -> Result<Vec<String>, Trouble> {
        let run = tokio::time::timeout(WAIT, self.run_check(check, target, file, cancel)).await;
        let found = run.unwrap_or_else(|_| Err(too_slow())).map(|output| errors_of(&output, file));
        let mut memory = self.checked.lock();
        match &found {
            Ok(errors) => {
                memory.timeouts.remove(&check.name);
                if memory.errors.len() >= MAX_REMEMBERED {
                    memory.errors.clear();
                }
                memory.errors.insert(key(check, target, file), errors.clone());
            }
            Err(trouble) => {
                memory.errors.remove(&key(check, target, file));
                if trouble.kind == TIMED_OUT {
                    *memory.timeouts.entry(check.name.clone()).or_default() += 1;
                }
            }
        }
        found
    }

    /// The output of a check that found errors; nothing if it found none.
    async fn run_check(
        &self,
        check: &EditCheck,
        target: &Attached,
        file: &Path,
        cancel: &CancellationToken,
    ) -> Result<String, Trouble> {
        let argv = check.argv(file);
        let cwd = target.place.cwd.clone();
        let command = argv.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
        let intent = Intent::of(Action::Run { command, cwd: cwd.clone() }).in_tier(Tier::Individual);
        let gate = &self.parts.gate;
        let judged = gate.judge_check(&intent, target.ground()).map_err(|why| Trouble::new("denied", why))?;
        if judged.decision.verdict != Verdict::Allow {
            let why = judged.decision.reasons.join("; ");
            return Err(Trouble::new("denied", format!("policy does not let it run unasked ({why})")));
        }
        let not_started = |error: TargetError| Trouble::new("not_started", target_failure(&error).message);
        let host = &target.host;
        host.target.check(&judged.bounds).await.map_err(not_started)?;
        gate.passed(&intent, &judged);
        let exec = Exec {
            argv,
            cwd,
            env: host.env.clone(),
            stdin: Stdin::Null,
            pty: None,
            timeout: Some(CHECK_TIME),
            output: OutputLimits { keep_head: KEEP, keep_tail: 0, log: None },
            bounds: judged.bounds,
            way_out: None,
            end_mark: None,
        };
        let mut running = host.target.start(exec).await.map_err(not_started)?;
        let stopper = running.stopper();
        let exit = tokio::select! {
            exit = running.wait() => exit,
            () = cancel.cancelled() => {
                stopper.stop();
                running.wait().await
            }
        };
        output_of(&exit.map_err(not_started)?)
    }

    /// The outcome for the log and the model; none for trouble that was told already.
    async fn outcome(
        &self,
        check: &EditCheck,
        target: &Attached,
        file: &Path,
        found: Result<(Vec<String>, Vec<String>), Trouble>,
    ) -> Option<Value> {
        let (name, shown) = (&check.name, target.place.named(file));
        match found {
            Ok((before, after)) => {
                let mut new = new_errors(&before, after);
                let in_file = new.iter().filter(|line| is_in(line, file)).count();
                let count = if in_file > 0 { in_file } else { new.len() };
                let left_out = new.len().saturating_sub(MAX_LINES);
                new.truncate(MAX_LINES);
                if left_out > 0 {
                    new.push(format!("… {left_out} more lines"));
                }
                Some(json!({"name": name, "file": shown, "count": count, "new": new}))
            }
            Err(Trouble { kind: INTERRUPTED, .. }) => None,
            Err(Trouble { kind, text }) => {
                if !self.checked.lock().told.insert((name.clone(), kind)) {
                    return None;
                }
                let notice = Notice {
                    level: NoticeLevel::Warning,
                    code: NOTICE.to_owned(),
                    text: format!("the check `{name}` of edited files was not run: {text}"),
                };
                // A closed sink means that the session is going down.
                let _ = self.parts.sink.push(vec![Fact::Notice(notice)]).await;
                Some(json!({"name": name, "file": shown, "not_run": text}))
            }
        }
    }

    fn is_too_slow(&self, check: &EditCheck) -> bool {
        self.checked.lock().timeouts.get(&check.name).is_some_and(|times| *times >= MAX_TIMEOUTS)
    }
}

const TIMED_OUT: &str = "timed_out";
const INTERRUPTED: &str = "interrupted";

fn too_slow() -> Trouble {
    Trouble::new(TIMED_OUT, format!("it took longer than {} s", CHECK_TIME.as_secs()))
}

fn key(check: &EditCheck, target: &Attached, file: &Path) -> (String, String, PathBuf) {
    (check.name.clone(), target.spec.name.clone(), file.to_owned())
}

/// The files that a call edits.
fn edited(ready: &Ready) -> Vec<PathBuf> {
    let tools = [EditFile::SPEC.name, WriteFile::SPEC.name, ApplyPatch::SPEC.name];
    if !tools.contains(&ready.tool_name()) {
        return Vec::new();
    }
    let files = ready.intent.actions.iter().filter_map(|action| match action {
        Action::Write(path) => Some(path.clone()),
        _ => None,
    });
    files.collect()
}

/// The text that a check printed, if it says by its exit code that there are errors.
fn output_of(exit: &Exit) -> Result<String, Trouble> {
    match (exit.ended, exit.code) {
        (Ended::TimedOut, _) => Err(too_slow()),
        (Ended::Stopped, _) => Err(Trouble::new(INTERRUPTED, "it was stopped")),
        (Ended::Exited, Some(0)) => Ok(String::new()),
        // Shells and wrappers tell a program that they cannot start so.
        (Ended::Exited, Some(126 | 127)) => {
            let said = plain(&exit.stderr.text());
            let said =
                said.lines().find(|line| !line.trim().is_empty()).unwrap_or("its program cannot be started");
            Err(Trouble::new("not_started", clipped(said)))
        }
        (Ended::Exited, Some(_)) => Ok([exit.stdout.text(), exit.stderr.text()].join("\n")),
        (Ended::Exited, None) => {
            let signal = exit.signal.map(|signal| format!(" {signal}")).unwrap_or_default();
            Err(Trouble::new("killed", format!("signal{signal} ended it")))
        }
    }
}

/// The lines of an output, without those about other files. An empty one ends an error of several lines.
fn errors_of(output: &str, file: &Path) -> Vec<String> {
    let output = plain(output);
    let lines = output.lines().map(str::trim_end);
    lines.filter(|line| place_of(line).is_none_or(|place| is_named(place, file))).map(clipped).collect()
}

/// Whether a line is an error by itself, as it begins with its place.
fn stands_alone(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| place_of(word).is_some())
}

/// The path in a line such as `src/a.py:3:1: unused` or ` --> src/a.rs:3:1`.
fn place_of(line: &str) -> Option<&str> {
    line.split_whitespace().take(2).find_map(|word| {
        let (path, rest) = word.split_once(':')?;
        let is_place = rest.starts_with(|letter: char| letter.is_ascii_digit()) && path.contains(['.', '/']);
        is_place.then_some(path)
    })
}

fn is_named(place: &str, file: &Path) -> bool {
    file.ends_with(place.trim_start_matches("./"))
}

fn is_in(line: &str, file: &Path) -> bool {
    place_of(line).is_some_and(|place| is_named(place, file))
}

/// The errors that were not there before. Numbers do not count, since an edit moves lines. An error of several lines that has a new one
/// is told whole: its message may have been there before.
fn new_errors(before: &[String], after: Vec<String>) -> Vec<String> {
    let mut known: HashMap<String, usize> = HashMap::new();
    for line in before {
        *known.entry(without_numbers(line)).or_default() += 1;
    }
    let mut is_new = |line: &String| match known.get_mut(&without_numbers(line)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    let marked: Vec<(String, bool)> = after
        .into_iter()
        .map(|line| {
            let is_new = !line.is_empty() && is_new(&line);
            (line, is_new)
        })
        .collect();
    let errors = marked.split(|(line, _)| line.is_empty());
    let told = errors.flat_map(|error| {
        let has_new = error.iter().any(|(line, is_new)| *is_new && !stands_alone(line));
        error.iter().filter(move |(line, is_new)| *is_new || (has_new && !stands_alone(line)))
    });
    told.map(|(line, _)| line.clone()).collect()
}

fn without_numbers(line: &str) -> String {
    line.split(|letter: char| letter.is_ascii_digit())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("0")
}

fn clipped(line: &str) -> String {
    let head: String = line.chars().take(MAX_LINE).collect();
    if head.len() < line.len() { format!("{head}…") } else { head }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(output: &str) -> Vec<String> {
        errors_of(output, Path::new("/w/src/a.py"))
    }

    #[test]
    fn errors_that_only_moved_are_not_new_and_one_more_of_a_kind_is() {
        let before = found("/w/src/a.py:3:1: F401 unused `os`\nFound 1 error.\n");
        let moved = found("/w/src/a.py:13:1: F401 unused `os`\nFound 1 error.\n");
        assert_eq!(new_errors(&before, moved), [""; 0]);
        let more = found("src/a.py:3:1: F401 unused `os`\n./src/a.py:9:1: E1 bad\nFound 2 errors.\n");
        assert_eq!(new_errors(&before, more).len(), 3, "the file has another name, and there is one more");
        let twice = found("/w/src/a.py:3:1: F401 unused `os`\n/w/src/a.py:4:1: F401 unused `os`\n");
        assert_eq!(new_errors(&before, twice), ["/w/src/a.py:4:1: F401 unused `os`"]);
    }

    #[test]
    fn errors_of_other_files_are_left_out() {
        let output = "src/b.py:1:1: bad\na.py:2:1: bad\n\u{1b}[1m --> lib/a.py:1:1\u{1b}[0m\n  note: 3:1\n";
        assert_eq!(found(output), ["a.py:2:1: bad", "  note: 3:1"]);
    }

    #[test]
    fn an_error_of_several_lines_is_told_with_the_message_that_was_there_before() {
        let error = |line: &str| format!("error: mismatched types\n --> src/a.py:3:1\n3 | {line}\n\n");
        let (old, new) = (error("let a = b;"), error("let c = d;"));
        let told = new_errors(&found(&old), found(&new));
        assert_eq!(told, ["error: mismatched types", " --> src/a.py:3:1", "3 | let c = d;"]);
        let told = new_errors(&found(&old), found(&format!("{old}{new}")));
        assert_eq!(told.len(), 3, "the error that was there is not told again: {told:?}");
        assert_eq!(new_errors(&found(&old), found(&format!("\n{old}"))), [""; 0]);
    }

    #[test]
    fn a_check_needs_files_and_a_program() {
        let check = |files: &[&str], command: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            EditCheck::new("lint", &owned(files), &owned(command))
        };
        for (files, command) in
            [(&["*.py"][..], &[][..]), (&[], &["lint"]), (&["*.py"], &["{file}"]), (&["../x"], &["lint"])]
        {
            assert!(check(files, command).is_err(), "{files:?} {command:?}");
        }
        let check = check(&["*.py"], &["lint", "--in={file}"]).unwrap();
        assert_eq!(check.argv(Path::new("/w/-a b.py")), ["lint", "--in=/w/-a b.py"]);
    }
}
