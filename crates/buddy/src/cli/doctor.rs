//! Arguments of `buddy doctor`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::duration::duration;

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
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        timeout: Option<Duration>,
    },
}
