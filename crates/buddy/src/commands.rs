//! The commands of the command line, each carried out.

mod asks;
mod config;
mod conversation;
pub(crate) mod doctor;
mod exec;
mod export;
mod grants;
mod guards;
mod import;
mod init;
mod listing;
mod login;
mod manual;
mod models;
mod panes;
mod processes;
mod refuse;
mod sessions;
pub(crate) mod setup;
mod store;
mod trust;
mod undo;
mod update;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use buddy_protocol::{ApprovalPolicy, TargetHost, TargetWish};
use buddy_tui::{Exit, OutputClosed};

use crate::cli::{Cli, CliCommand, ColorWish, PermissionMode};
use crate::commands::refuse::refuse;
use crate::config::ConfigRequest;
use crate::environment::Environment;
use crate::hosts::ADDED_ELSEWHERE;
use crate::invocation::{Invocation, PolicyWish, TmuxWish, is_here};
use crate::start_error::UsageError;

/// Runs a command.
pub(crate) async fn run(cli: Cli, environment: Environment) -> anyhow::Result<Exit> {
    let is_conversation = matches!(cli.command, None | Some(CliCommand::Resume(_)));
    crate::log::begin(&environment, is_conversation)?;
    let wants_json = matches!(&cli.command, Some(CliCommand::Exec(exec)) if exec.wants_json());
    let ran = Box::pin(async {
        let cli = checked(cli)?;
        begin(cli, &environment).await
    });
    match ran.await {
        Ok(exit) => Ok(exit),
        // A user who went away knows it.
        Err(error) if error.is::<OutputClosed>() => Ok(Exit::OutputClosed),
        Err(error) => Ok(refuse(&error, wants_json)),
    }
}

/// Options that make no sense together and that clap does not see, as they may stand before and after a command.
fn checked(cli: Cli) -> Result<Cli, UsageError> {
    if cli.permission_mode.is_some() && (cli.approve.is_some() || cli.plan) {
        return Err(UsageError::new("--permission-mode cannot be used with --approve or --plan"));
    }
    if cli.throwaway && (cli.permission_mode.is_some() || cli.approve.is_some() || cli.plan) {
        let message = "--throwaway cannot be used with --permission-mode, --approve or --plan";
        return Err(UsageError::new(message));
    }
    if cli.throwaway && !cli.hosts.0.is_empty() {
        let message = "--throwaway is about this machine; on other hosts commands never have a sandbox, so use \
                       --approve all there";
        return Err(UsageError::new(message));
    }
    if cli.print {
        return Err(UsageError::new("write `-p` as an option of its own, not joined with others"));
    }
    let has_choice = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if matches!(&cli.command, Some(CliCommand::Resume(resume)) if resume.id.is_none() && !resume.last)
        && !has_choice
    {
        let message =
            "there is no terminal to pick a session on; run `buddy resume ID` or `buddy resume --last`";
        return Err(UsageError::new(message));
    }
    Ok(cli)
}

async fn begin(cli: Cli, environment: &Environment) -> anyhow::Result<Exit> {
    let hosts = hosts(&cli)?;
    // On another host the directory is one over there; here buddy stays where it was started.
    let is_elsewhere = hosts.first().is_some_and(|wish| wish.host != TargetHost::Local);
    let here = if is_elsewhere { None } else { cli.directory.as_deref() };
    let cwd = directory(here)?;
    let mut environment = environment.clone();
    environment.is_throwaway = cli.throwaway;
    Box::pin(dispatch(cli, &environment, cwd, hosts)).await
}

/// The further directories of this machine that the command line opens to be worked in.
fn resolve_added(wished: &[PathBuf], hosts: &[TargetWish]) -> Result<Vec<PathBuf>, UsageError> {
    if !wished.is_empty() && !is_here(hosts) {
        return Err(UsageError::new(ADDED_ELSEWHERE));
    }
    let resolve = |path: &PathBuf| {
        let refused = |why: String| UsageError::new(format!("--add-dir `{}`: {why}", path.display()));
        let resolved = path.canonicalize().map_err(|error| refused(error.to_string()))?;
        if resolved.is_dir() { Ok(resolved) } else { Err(refused("it is not a directory".to_owned())) }
    };
    wished.iter().map(resolve).collect()
}

/// The hosts that the command line names. `-C` is about the first of them.
fn hosts(cli: &Cli) -> Result<Vec<TargetWish>, UsageError> {
    let mut hosts = cli.hosts.0.clone();
    if let (Some(first), Some(directory)) = (hosts.first_mut(), &cli.directory)
        && first.host != TargetHost::Local
    {
        if first.directory.is_some() {
            let message = format!("`{}` already names a directory, so -C cannot be used", first.host);
            return Err(UsageError::new(message));
        }
        let text = directory.to_str().ok_or_else(|| UsageError::new("the directory's name is not text"))?;
        first.directory = Some(text.to_owned());
    }
    Ok(hosts)
}

async fn dispatch(
    cli: Cli,
    environment: &Environment,
    cwd: PathBuf,
    hosts: Vec<TargetWish>,
) -> anyhow::Result<Exit> {
    let added = resolve_added(&cli.add_directories, &hosts)?;
    let mut rules = cli.rules;
    let mode = cli.throwaway.then(|| "agent.environment=production".to_owned());
    let color = cli.color.and_then(ColorWish::setting);
    let aloud = cli.screen_reader.then(|| "display.screen_reader=true".to_owned());
    let overrides = cli.overrides.into_iter().chain(color).chain(aloud).chain(mode).collect();
    let request = ConfigRequest {
        named: cli.config,
        overrides,
        is_strict: cli.strict_config,
        is_user_ignored: cli.ignore_user_config,
    };
    let (approve, plan) =
        cli.permission_mode.map_or((cli.approve, cli.plan.then_some(true)), PermissionMode::parts);
    let approve = if cli.throwaway { Some(ApprovalPolicy::All) } else { approve };
    match &cli.command {
        Some(CliCommand::Exec(exec)) => rules.extend(exec.rules.clone()),
        Some(CliCommand::Resume(resume)) => rules.extend(resume.rules.clone()),
        _ => {}
    }
    let tmux = cli.tmux.map_or(TmuxWish::Unsaid, TmuxWish::Wanted);
    let is_elsewhere = hosts.first().is_some_and(|wish| wish.host != TargetHost::Local);
    let named = cli.directory.map(|named| if is_elsewhere { named } else { cwd.clone() });
    let invocation = Invocation {
        environment,
        named,
        request,
        cwd,
        hosts,
        is_trusted: cli.trust,
        is_remote_only: cli.remote_only,
        model: cli.model,
        policy: PolicyWish { approve, plan, rules, added },
        tmux,
    };
    // Invalid usage changes nothing, and `exec` checks its own words.
    if !matches!(cli.command, Some(CliCommand::Exec(_))) {
        invocation.keep_trust()?;
    }
    match cli.command {
        None => conversation::start(invocation, cli.prompt).await,
        Some(CliCommand::Exec(exec)) => exec::run(invocation, exec).await,
        Some(CliCommand::Login(login)) => login::run(&invocation, login).await,
        Some(CliCommand::Logout(logout)) => login::logout(&invocation, logout).await,
        Some(CliCommand::Sessions(list)) => sessions::list(&invocation, &list).await,
        Some(CliCommand::Show(show)) => sessions::show(environment, &show, invocation.named.as_deref()).await,
        Some(CliCommand::Resume(resume)) => Box::pin(conversation::resume(invocation, &resume)).await,
        Some(CliCommand::Export(export)) => export::run(&invocation, &export).await,
        Some(CliCommand::Import(import)) => import::run(environment, &import, &invocation.cwd).await,
        Some(CliCommand::Init(init)) => init::run(&init, &invocation.cwd),
        Some(CliCommand::Completion(completion)) => Ok(manual::completion(&completion)),
        Some(CliCommand::Man(man)) => manual::man(&man),
        Some(CliCommand::Update) => update::run(&invocation).await,
        Some(CliCommand::Store(action)) => store::run(&invocation, action).await,
        Some(CliCommand::Ps(listing)) => processes::list(&invocation, &listing).await,
        Some(CliCommand::Logs(logs)) => processes::logs(&invocation, &logs).await,
        Some(CliCommand::Kill(kill)) => processes::kill(&invocation, &kill).await,
        Some(CliCommand::Undo(undo)) => undo::run(&invocation, &undo).await,
        Some(CliCommand::Models(listing)) => models::list(&invocation, &listing).await,
        Some(CliCommand::Config(action)) => config::run(&invocation, action).await,
        Some(CliCommand::Doctor(doctor)) => doctor::run(&invocation, doctor).await,
        Some(CliCommand::Asks(listing)) => asks::list(&invocation, &listing).await,
        Some(CliCommand::Grants(grants)) => grants::run(&invocation, &grants).await,
        Some(CliCommand::Guards(action)) => guards::run(&invocation, &action).await,
        Some(CliCommand::Trust(trust)) => trust::run(&invocation, &trust).await,
    }
}

fn directory(wish: Option<&Path>) -> Result<PathBuf, UsageError> {
    let path = wish.unwrap_or(Path::new("."));
    let refused = |why: String| UsageError::new(format!("cannot work in `{}`: {why}", path.display()));
    let resolved = path.canonicalize().map_err(|error| refused(error.to_string()))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(refused("it is not a directory".to_owned())) }
}
