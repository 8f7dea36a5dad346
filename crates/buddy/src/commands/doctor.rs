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

use buddy_tui::Exit;
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

    /// Whether a conversation asks, which has the terminal.
    #[arg(long, hide = true)]
    pub(crate) in_conversation: bool,
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
    let place = if doctor.in_conversation { Place::Conversation } else { Place::CommandLine };
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
    report.print(doctor.json, &listing::view(invocation))
}
