//! The buddy binary: command line, configuration and wiring. The only crate that reads the environment and the home.

mod auth_store;
mod cli;
mod commands;
mod config;
mod desk;
mod environment;
mod ephemeral;
mod failpoints;
mod host;
mod hosts;
mod invocation;
mod legacy;
mod local_machine;
mod log;
mod login_subject;
mod models;
mod operations;
mod origin;
mod panes;
mod policy;
mod rendering;
mod session_choice;
mod signals;
mod start_error;
mod system;
mod wiring;

use std::io::Write;
use std::process::ExitCode;

use buddy_protocol::{Failure, FailureKind};
use buddy_tui::{Exit, refusal_line};

use crate::cli::Cli;
use crate::environment::Environment;
use crate::local_machine::SUPERVISE;

fn main() -> ExitCode {
    // These are started for every command, so they are told apart before anything else is done.
    match std::env::args_os().nth(1) {
        Some(mode) if mode == SUPERVISE => return buddy_exec::supervise::supervise(),
        Some(mode) if mode == buddy_exec::jail::JAIL => return buddy_exec::jail::jail(),
        Some(mode) if mode == buddy_exec::managed::KEEP => return buddy_exec::managed::keep(),
        Some(mode) if mode == buddy_exec::warden::WARD => return buddy_exec::warden::ward(),
        _ => {}
    }
    let arguments = cli::arguments(std::env::args_os().collect());
    let cli = match Cli::read(arguments.clone()) {
        Ok(cli) => cli,
        Err(error) => return print_clap_error(&error, cli::wants_json(&arguments)),
    };
    if fail::has_failpoints() {
        failpoints::arm();
    }
    let exit = run(cli).unwrap_or_else(|error| {
        complain(&error);
        Exit::Failed
    });
    ExitCode::from(exit.code())
}

fn run(cli: Cli) -> anyhow::Result<Exit> {
    let environment = Environment::read()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(commands::run(cli, environment));
    // A read of the standard input may still wait on a thread of the runtime; it must not hold up the end.
    runtime.shutdown_background();
    exit
}

/// Help and version go to the standard output and are no error.
fn print_clap_error(error: &clap::Error, wants_json: bool) -> ExitCode {
    let _ = error.print();
    if wants_json && error.use_stderr() {
        let message = error.to_string();
        let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let hint = Some("`buddy exec --help` lists the options".to_owned());
        let failure = Failure { kind: FailureKind::Usage, message, hint, http_status: None };
        let _ = writeln!(std::io::stdout(), "{}", refusal_line(Exit::Usage, failure));
    }
    if let Some(tip) = Cli::tip(error) {
        let _ = writeln!(std::io::stderr(), "{tip}");
    }
    ExitCode::from(if error.use_stderr() { Exit::Usage.code() } else { Exit::Ok.code() })
}

/// The last word of a failed run. That nobody reads it is no reason to fail in another way.
fn complain(error: &anyhow::Error) {
    let _ = writeln!(std::io::stderr(), "buddy: {error:#}");
}
