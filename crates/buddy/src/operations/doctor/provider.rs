//! One model over its real route.

use std::time::Duration;

use buddy_model::diagnose::{Check, Diagnosis, Subject, diagnose};
use buddy_protocol::operations::{DoctorFact, DoctorReport, DoctorStep, ExamineProvider};
use buddy_protocol::{Failure, FailureKind};
use serde_json::{Map, json};
use tokio::sync::mpsc;

use super::doctor_check;
use crate::models::{Lesson, ModelLine};
use crate::operations::models::prepare;
use crate::operations::place::OperationPlace;

/// Examines a model by its name, or the active one, and keeps what was learned.
pub(crate) async fn examine(
    place: &OperationPlace,
    request: &ExamineProvider,
    steps: &mpsc::Sender<DoctorStep>,
) -> anyhow::Result<()> {
    let (models, warnings) = prepare(place).await?;
    for message in warnings {
        steps.send(DoctorStep::Warning { message }).await?;
    }
    let name = request.name.as_deref().or(place.model.as_deref());
    let report = match models.line(name).await {
        Ok(Some(line)) => {
            let (model, base_url) = (line.model.clone(), line.base_url.clone());
            steps.send(DoctorStep::Asking { model, base_url }).await?;
            examine_line(place, &line, request.timeout_ms.map(Duration::from_millis)).await?
        }
        Ok(None) => report_demo(),
        Err(failure) => report_unusable(&failure),
    };
    Ok(steps.send(DoctorStep::Done { report }).await?)
}

async fn examine_line(
    place: &OperationPlace,
    line: &ModelLine,
    timeout: Option<Duration>,
) -> anyhow::Result<DoctorReport> {
    let diagnosis = match &line.subject {
        Ok(subject) => {
            let time_limit = timeout.unwrap_or(subject.time_limit);
            diagnose(&Subject { time_limit, ..subject.clone() }).await?
        }
        Err(failure) => Diagnosis::without_key(&failure.message, hint(failure)),
    };
    let kept = Lesson::of(line, &diagnosis).keep(&place.environment.data);
    let mut report = report(line, diagnosis);
    report.notes.push(match kept {
        Ok(path) => format!("written to {}", path.display()),
        Err(error) => format!("warning: cannot save the findings: {error}"),
    });
    Ok(report)
}

fn report(line: &ModelLine, diagnosis: Diagnosis) -> DoctorReport {
    let facts = [
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
    let notes = quirks.chain(describe_switches(&diagnosis)).collect();
    DoctorReport {
        facts: facts.map(|(name, value)| DoctorFact { name: name.to_owned(), value }).into(),
        checks: diagnosis.checks.into_iter().map(doctor_check).collect(),
        notes,
        more,
    }
}

/// Changes for sessions from now on, as names and values.
fn describe_switches(diagnosis: &Diagnosis) -> Vec<String> {
    let switches = json!(diagnosis.switches);
    let turned = switches.as_object().into_iter().flatten();
    turned
        .map(|(name, value)| format!("buddy now uses {name} = {value}, unless the profile sets it"))
        .collect()
}

fn report_demo() -> DoctorReport {
    let next = "set a key in the environment or choose a profile; `buddy login` connects a model";
    let check = Check::warn("model", "the built-in demo is answering, which has no server", next);
    DoctorReport { checks: vec![doctor_check(check)], ..DoctorReport::default() }
}

/// The report about a profile that leads nowhere.
fn report_unusable(failure: &Failure) -> DoctorReport {
    let name = if failure.kind == FailureKind::Auth { "auth" } else { "profile" };
    let check = Check::fail(name, &failure.message, hint(failure));
    DoctorReport { checks: vec![doctor_check(check)], ..DoctorReport::default() }
}

fn hint(failure: &Failure) -> &str {
    failure.hint.as_deref().unwrap_or("check the profile with `buddy config show --origins`")
}
