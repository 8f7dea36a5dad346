//! `buddy doctor`: this machine, or one model over its real route.
//!
//! Both make a list of checks, print it and end with a code that scripts can use: 0 when nothing failed, 1 when
//! something did, 6 when a key was not accepted, 130 when the user stopped it.

use std::io::IsTerminal;

use anyhow::Context;
use buddy_protocol::Operations;
use buddy_protocol::operations::{DoctorReport, DoctorStep, ExamineMachine, ExamineProvider};
use buddy_tui::{Exit, Printer};
use futures::StreamExt;

use crate::cli::{Doctor, Patient};
use crate::commands::listing;
use crate::invocation::Invocation;
use crate::operations::HomeOperations;
use crate::rendering::print_report;
use crate::signals::interrupts;

/// Makes the checks and prints them. An interrupt ends whatever runs and prints nothing.
pub(crate) async fn run(invocation: &Invocation<'_>, doctor: Doctor) -> anyhow::Result<Exit> {
    let (mut interrupted, _tasks) = interrupts()?;
    let operations = invocation.operations();
    let examine = async {
        match doctor.subject {
            None => {
                let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
                Ok(operations.examine_machine(operations.owner(), ExamineMachine { has_terminal }).await?)
            }
            Some(Patient::Provider { name, timeout }) => {
                let timeout_ms = timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
                examine_provider(&operations, ExamineProvider { name, timeout_ms }).await
            }
        }
    };
    let report = tokio::select! {
        report = examine => report?,
        _ = interrupted.recv() => return Ok(Exit::Interrupted),
    };
    print_report(&report, doctor.json, &listing::view(invocation), &mut Printer::standard())
}

async fn examine_provider(
    operations: &HomeOperations,
    request: ExamineProvider,
) -> anyhow::Result<DoctorReport> {
    let mut steps = operations.examine_provider(operations.owner(), request).await?;
    let mut printer = Printer::standard();
    while let Some(step) = steps.next().await {
        match step? {
            DoctorStep::Warning { message } => printer.status(&format!("warning: {message}")),
            DoctorStep::Asking { model, base_url } => {
                printer.status(&format!("asking {model} at {base_url} …"));
            }
            DoctorStep::Done { report } => return Ok(report),
        }
    }
    None.context("the examination ended without a report")
}
