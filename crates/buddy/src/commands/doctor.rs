//! `buddy doctor`: this machine, or one model over its real route.
//!
//! Both make a list of checks, print it and end with a code that scripts can use: 0 when nothing failed, 1 when
//! something did, 6 when a key was not accepted, 130 when the user stopped it.

mod jail;
mod machine;
mod programs;
mod provider;
mod report;

use std::time::Duration;

use buddy_tui::{Exit, ListView};
use clap::{Args, Subcommand};

use crate::commands::doctor::machine::Place;
use crate::commands::listing;
use crate::commands::setup::Invocation;
use crate::signals::interrupts;

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(subcommand)]
    pub(crate) subject: Option<Patient>,

    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Whether a conversation asks, which has the terminal, and the columns that it has for the report; 0 if there is no limit
    #[arg(long, hide = true, value_name = "COLUMNS", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) in_conversation: Option<usize>,
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
    let place = if doctor.in_conversation.is_some() { Place::Conversation } else { Place::CommandLine };
    let examine = async {
        match &doctor.subject {
            None => machine::examine(invocation, place).await,
            Some(Patient::Provider { name, timeout }) => {
                provider::examine(invocation, name.as_deref(), *timeout).await
            }
        }
    };
    let report = tokio::select! {
        report = examine => report?,
        _ = interrupted.recv() => return Ok(Exit::Interrupted),
    };
    let view = match doctor.in_conversation {
        Some(columns) if columns > 0 => ListView::fitted(columns),
        _ => listing::view(invocation),
    };
    report.print(doctor.json, &view)
}
