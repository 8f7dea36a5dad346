//! `buddy doctor`: this machine, or one model over its real route.
//!
//! Both make a list of checks, print it and end with a code that scripts can use: 0 when nothing failed, 1 when
//! something did, 6 when a key was not accepted, 130 when the user stopped it.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;
use buddy_protocol::Operations;
use buddy_protocol::operations::{DoctorReport, DoctorStep, ExamineMachine, ExamineProvider};
use buddy_tui::Exit;
use clap::{Args, Subcommand};
use futures::StreamExt;

use crate::commands::setup::Invocation;
use crate::commands::{listing, printer};
use crate::operations::HomeOperations;
use crate::rendering::print_report;
use crate::signals::interrupts;

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(subcommand)]
    pub(crate) subject: Option<Patient>,

    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Patient {
    /// Check a model with about ten small calls, which a provider may charge for
    Provider {
        /// A profile, `profile/model`, or a model of the active profile [default: the active one]
        name: Option<String>,

        /// Stop all checks after this long, such as `30s` [default: 5m]
        #[arg(long, value_name = "DURATION", value_parser = crate::cli::duration)]
        timeout: Option<Duration>,
    },
}

/// Makes the checks and prints them. An interrupt ends whatever runs and prints nothing.
pub(crate) async fn run(invocation: &Invocation<'_>, doctor: Doctor) -> anyhow::Result<Exit> {
    let (mut interrupted, _tasks) = interrupts()?;
    let operations = invocation.operations();
    let examine = async {
        match doctor.subject {
            None => {
                let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
                Ok(operations.examine_machine(ExamineMachine { has_terminal }).await?)
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
    print_report(&report, doctor.json, &listing::view(invocation), &mut printer())
}

async fn examine_provider(
    operations: &HomeOperations,
    request: ExamineProvider,
) -> anyhow::Result<DoctorReport> {
    let mut steps = operations.examine_provider(request).await?;
    let mut printer = printer();
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
