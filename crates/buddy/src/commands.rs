//! What each command of the command line does.

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
mod login;
mod manual;
mod models;
mod panes;
mod processes;
mod sessions;
pub(crate) mod setup;
mod store;
mod trust;
mod undo;
mod update;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use buddy_protocol::{
    ForkKind, ForkPoint, SessionId, SessionQuery, SessionSummary, Sessions, SessionsError, TargetHost,
    TargetWish,
};
use buddy_tui::{Exit, Printer};

use crate::cli::{Action, Cli, ColorWish};
use crate::commands::setup::{Invocation, PolicyWish, TmuxWish};
use crate::config::{ConfigError, Request, TrustStore};
use crate::environment::Environment;
use crate::wiring::Buddy;

/// Runs a command.
pub(crate) async fn run(cli: Cli, environment: Environment) -> anyhow::Result<Exit> {
    let is_conversation = matches!(cli.command, None | Some(Action::Resume(_)));
    crate::log::begin(&environment, is_conversation)?;
    let hosts = hosts(&cli)?;
    // On another host the directory is one over there; here buddy stays where it was started.
    let is_elsewhere = hosts.first().is_some_and(|wish| wish.host != TargetHost::Local);
    let here = if is_elsewhere { None } else { cli.directory.as_deref() };
    let cwd = directory(here)?;
    let ran = dispatch(cli, &environment, cwd, hosts).await;
    match ran {
        Err(error) if error.is::<ConfigError>() => {
            printer().status(&format!("buddy: {error:#}"));
            Ok(Exit::Usage)
        }
        ran => ran,
    }
}

/// The hosts that the command line names. `-C` is about the first of them.
fn hosts(cli: &Cli) -> anyhow::Result<Vec<TargetWish>> {
    let mut hosts = cli.hosts.0.clone();
    if let (Some(first), Some(directory)) = (hosts.first_mut(), &cli.directory)
        && first.host != TargetHost::Local
    {
        if first.directory.is_some() {
            bail!("`{}` has a directory already, so -C has no meaning", first.host);
        }
        let text = directory.to_str().context("the directory's name is not text")?;
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
    let overrides = cli.overrides.into_iter().chain(cli.color.and_then(ColorWish::setting)).collect();
    let request = Request { named: cli.config, overrides, is_strict: cli.strict_config };
    if cli.trust && is_here(&hosts) {
        TrustStore::new(&environment.data).add(&cwd)?;
    }
    let wish = PolicyWish { approve: cli.approve, is_plan_only: cli.plan };
    let tmux = cli.tmux.map_or(TmuxWish::Unsaid, TmuxWish::Wanted);
    let invocation = Invocation {
        environment,
        request,
        cwd,
        hosts,
        is_trusted: cli.trust,
        is_remote_only: cli.remote_only,
        model: cli.model,
        policy: wish,
        tmux,
    };
    match cli.command {
        None => conversation::start(invocation, cli.prompt).await,
        Some(Action::Exec(exec)) => exec::run(invocation, exec).await,
        Some(Action::Login(login)) => login::run(&invocation, login).await,
        Some(Action::Logout(logout)) => login::logout(&invocation, logout).await,
        Some(Action::Sessions(list)) => sessions::list(environment, &list, &invocation.cwd).await,
        Some(Action::Show(show)) => sessions::show(environment, &show).await,
        Some(Action::Resume(resume)) => conversation::resume(invocation, &resume).await,
        Some(Action::Export(export)) => export::run(environment, &export).await,
        Some(Action::Import(import)) => import::run(environment, &import, &invocation.cwd).await,
        Some(Action::Init(init)) => init::run(&init, &invocation.cwd),
        Some(Action::Completion(completion)) => Ok(manual::completion(&completion)),
        Some(Action::Man(man)) => manual::man(&man),
        Some(Action::Update) => update::run(&invocation).await,
        Some(Action::Store(action)) => store::run(environment, action).await,
        Some(Action::Ps { json }) => processes::list(environment, json),
        Some(Action::Logs(logs)) => processes::logs(environment, &logs).await,
        Some(Action::Kill(kill)) => processes::kill(environment, &kill),
        Some(Action::Undo(undo)) => undo::run(environment, &undo).await,
        Some(Action::Models { json }) => models::list(&invocation, json).await,
        Some(Action::Config(action)) => config::run(&invocation, action),
        Some(Action::Doctor(doctor)) => doctor::run(&invocation, doctor).await,
        Some(Action::Asks { json }) => asks::list(environment, json).await,
        Some(Action::Grants(grants)) => grants::run(environment, &grants, &invocation.cwd),
        Some(Action::Guards(action)) => guards::run(environment, &action),
        Some(Action::Trust(trust)) => trust::run(environment, &trust, &invocation.cwd),
    }
}

/// Whether a session with these hosts works on this machine.
fn is_here(hosts: &[TargetWish]) -> bool {
    hosts.is_empty() || hosts.iter().any(|wish| wish.host == TargetHost::Local)
}

fn directory(wish: Option<&Path>) -> anyhow::Result<PathBuf> {
    let path = wish.unwrap_or(Path::new("."));
    let resolved = path.canonicalize().with_context(|| format!("cannot work in `{}`", path.display()))?;
    if !resolved.is_dir() {
        bail!("cannot work in `{}`: it is not a directory", path.display());
    }
    Ok(resolved)
}

pub(crate) fn printer() -> Printer {
    let is_terminal = std::io::stdout().is_terminal();
    Printer::new(Box::new(std::io::stdout()), Box::new(std::io::stderr()), is_terminal)
}

/// A session by its id.
async fn find(buddy: &Buddy, id: &str) -> anyhow::Result<SessionSummary> {
    let id: SessionId = id.parse()?;
    match buddy.hub.find(&buddy.who, &id).await {
        Err(error @ SessionsError::NotFound(_)) => bail!("{error}; `buddy sessions` lists them"),
        found => Ok(found?),
    }
}

/// The session that was used last, of a directory or of all. One in which nothing was said yet does not count.
async fn last(buddy: &Buddy, cwd: Option<&Path>) -> anyhow::Result<SessionSummary> {
    let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
    let found = buddy.hub.list(&buddy.who, SessionQuery { cwd, ..SessionQuery::default() }).await?;
    let found = found.into_iter().find(|session| session.turns > 0);
    found.context("there is no session to go on with")
}

/// A copy of a session, to go on in.
async fn fork(buddy: &Buddy, session: &SessionId) -> anyhow::Result<SessionSummary> {
    let fork = buddy.hub.fork(&buddy.who, session, ForkPoint::Now, ForkKind::Beside).await?;
    Ok(buddy.hub.find(&buddy.who, &fork).await?)
}
