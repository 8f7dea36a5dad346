//! `buddy doctor provider`: one model over its real route.

use std::time::Duration;

use buddy_model::diagnose::{Check, Diagnosis, Subject, diagnose};
use buddy_protocol::{Failure, FailureKind};
use serde_json::{Map, json};

use super::report::Report;
use crate::commands::printer;
use crate::commands::setup::{Invocation, Notes};
use crate::models::{Lesson, Line};

/// Examines a model by its name, or the active one, and keeps what was learned.
pub(super) async fn examine(
    invocation: &Invocation<'_>,
    name: Option<&str>,
    timeout: Option<Duration>,
) -> anyhow::Result<Report> {
    let setup = invocation.prepare(Notes::Warnings).await?;
    let name = name.or(invocation.model.as_deref());
    let line = match setup.models.now().line(name).await {
        Ok(Some(line)) => line,
        Ok(None) => return Ok(demo()),
        Err(failure) => return Ok(unusable(&failure)),
    };
    printer().status(&format!("asking {} at {} …", line.model, line.base_url));
    let diagnosis = match &line.subject {
        Ok(subject) => {
            let time_limit = timeout.unwrap_or(subject.time_limit);
            diagnose(&Subject { time_limit, ..subject.clone() }).await?
        }
        Err(failure) => Diagnosis::without_key(&failure.message, hint(failure)),
    };
    let kept = Lesson::of(&line, &diagnosis).keep(&invocation.environment.data);
    let mut report = report(&line, diagnosis);
    report.notes.push(match kept {
        Ok(path) => format!("written to {}", path.display()),
        Err(error) => format!("warning: cannot save the findings: {error}"),
    });
    Ok(report)
}

fn report(line: &Line, diagnosis: Diagnosis) -> Report {
    let head = vec![
        ("profile", json!(line.profile)),
        ("api", json!(line.api)),
        ("base_url", json!(line.base_url)),
        ("model", json!(line.model)),
    ];
    let mut more = Map::new();
    more.insert("context_window".to_owned(), json!(diagnosis.context_window));
    more.insert("quirks".to_owned(), json!(diagnosis.quirks));
    more.insert("switches".to_owned(), json!(diagnosis.switches));
    let quirks = diagnosis.quirks.iter().map(|quirk| format!("quirk: {quirk}"));
    let notes = quirks.chain(switches(&diagnosis)).collect();
    Report { head, checks: diagnosis.checks, notes, more }
}

/// What sessions do differently from now on, as names and values.
fn switches(diagnosis: &Diagnosis) -> Vec<String> {
    let switches = json!(diagnosis.switches);
    let turned = switches.as_object().into_iter().flatten();
    turned
        .map(|(name, value)| format!("buddy now uses {name} = {value}, unless the profile sets it"))
        .collect()
}

fn demo() -> Report {
    let next = "set a key in the environment or choose a profile; `buddy login` connects a model";
    let check = Check::warn("model", "the built-in demo is answering, which has no server", next);
    Report { checks: vec![check], ..Report::default() }
}

/// A profile that leads nowhere.
fn unusable(failure: &Failure) -> Report {
    let name = if failure.kind == FailureKind::Auth { "auth" } else { "profile" };
    Report { checks: vec![Check::fail(name, &failure.message, hint(failure))], ..Report::default() }
}

fn hint(failure: &Failure) -> &str {
    failure.hint.as_deref().unwrap_or("check the profile with `buddy config show --origins`")
}
