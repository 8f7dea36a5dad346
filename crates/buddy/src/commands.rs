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
mod listing;
mod login;
mod manual;
mod models;
mod panes;
pub(crate) mod processes;
mod sessions;
pub(crate) mod setup;
mod store;
mod trust;
mod undo;
mod update;
mod usage;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use buddy_protocol::{
    ApprovalPolicy, ForkKind, ForkPoint, SessionId, SessionQuery, SessionSummary, Sessions, SessionsError,
    TargetHost, TargetWish,
};
use buddy_tui::{Exit, OutputClosed, Printer};

use crate::cli::{Action, Cli, ColorWish, PermissionMode};
use crate::commands::setup::{Invocation, PolicyWish, TmuxWish};
pub(crate) use crate::commands::usage::{StartError, UsageError, refuse};
use crate::config::Request;
use crate::environment::Environment;
use crate::hosts::ADDED_ELSEWHERE;
use crate::wiring::Buddy;

/// The least digits that stand for an id.
const MIN_DIGITS: usize = 4;

/// Runs a command.
pub(crate) async fn run(cli: Cli, environment: Environment) -> anyhow::Result<Exit> {
    let is_conversation = matches!(cli.command, None | Some(Action::Resume(_)));
    crate::log::begin(&environment, is_conversation)?;
    let wants_json = matches!(&cli.command, Some(Action::Exec(exec)) if exec.wants_json());
    let ran = Box::pin(async {
        let cli = checked(cli)?;
        begin(cli, &environment).await
    });
    match ran.await {
        Ok(exit) => Ok(exit),
        // Whoever went away knows it.
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
    if matches!(&cli.command, Some(Action::Resume(resume)) if resume.id.is_none() && !resume.last)
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
    dispatch(cli, &environment, cwd, hosts).await
}

/// The further directories of this machine that the command line opens to be worked in.
fn added(wished: &[PathBuf], hosts: &[TargetWish]) -> Result<Vec<PathBuf>, UsageError> {
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
    let added = added(&cli.add_directories, &hosts)?;
    let mut rules = cli.rules;
    let mode = cli.throwaway.then(|| "agent.environment=production".to_owned());
    let color = cli.color.and_then(ColorWish::setting);
    let aloud = cli.screen_reader.then(|| "display.screen_reader=true".to_owned());
    let overrides = cli.overrides.into_iter().chain(color).chain(aloud).chain(mode).collect();
    let request = Request {
        named: cli.config,
        overrides,
        is_strict: cli.strict_config,
        is_user_ignored: cli.ignore_user_config,
    };
    let (approve, plan) =
        cli.permission_mode.map_or((cli.approve, cli.plan.then_some(true)), PermissionMode::parts);
    let approve = if cli.throwaway { Some(ApprovalPolicy::All) } else { approve };
    match &cli.command {
        Some(Action::Exec(exec)) => rules.extend(exec.rules.clone()),
        Some(Action::Resume(resume)) => rules.extend(resume.rules.clone()),
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
    // What makes no sense changes nothing, and what `exec` is given is looked at there.
    if !matches!(cli.command, Some(Action::Exec(_))) {
        invocation.keep_trust()?;
    }
    match cli.command {
        None => conversation::start(invocation, cli.prompt).await,
        Some(Action::Exec(exec)) => exec::run(invocation, exec).await,
        Some(Action::Login(login)) => login::run(&invocation, login).await,
        Some(Action::Logout(logout)) => login::logout(&invocation, logout).await,
        Some(Action::Sessions(list)) => sessions::list(&invocation, &list).await,
        Some(Action::Show(show)) => sessions::show(environment, &show, invocation.named.as_deref()).await,
        Some(Action::Resume(resume)) => conversation::resume(invocation, &resume).await,
        Some(Action::Export(export)) => export::run(environment, &export, invocation.named.as_deref()).await,
        Some(Action::Import(import)) => import::run(environment, &import, &invocation.cwd).await,
        Some(Action::Init(init)) => init::run(&init, &invocation.cwd),
        Some(Action::Completion(completion)) => Ok(manual::completion(&completion)),
        Some(Action::Man(man)) => manual::man(&man),
        Some(Action::Update) => update::run(&invocation).await,
        Some(Action::Store(action)) => store::run(&invocation, action).await,
        Some(Action::Ps(listing)) => processes::list(&invocation, &listing),
        Some(Action::Logs(logs)) => processes::logs(environment, &logs).await,
        Some(Action::Kill(kill)) => processes::kill(environment, &kill),
        Some(Action::Undo(undo)) => undo::run(&invocation, &undo).await,
        Some(Action::Models(listing)) => models::list(&invocation, &listing).await,
        Some(Action::Config(action)) => config::run(&invocation, action),
        Some(Action::Doctor(doctor)) => doctor::run(&invocation, doctor).await,
        Some(Action::Asks(listing)) => asks::list(&invocation, &listing).await,
        Some(Action::Grants(grants)) => grants::run(&invocation, &grants),
        Some(Action::Guards(action)) => guards::run(environment, &action),
        Some(Action::Trust(trust)) => trust::run(&invocation, &trust),
    }
}

/// Whether a session with these hosts works on this machine.
fn is_here(hosts: &[TargetWish]) -> bool {
    hosts.is_empty() || hosts.iter().any(|wish| wish.host == TargetHost::Local)
}

fn directory(wish: Option<&Path>) -> Result<PathBuf, UsageError> {
    let path = wish.unwrap_or(Path::new("."));
    let refused = |why: String| UsageError::new(format!("cannot work in `{}`: {why}", path.display()));
    let resolved = path.canonicalize().map_err(|error| refused(error.to_string()))?;
    if resolved.is_dir() { Ok(resolved) } else { Err(refused("it is not a directory".to_owned())) }
}

pub(crate) fn printer() -> Printer {
    Printer::standard()
}

/// The one of these ids that a user means by the digits that it begins with, as lists on a terminal show them. None where
/// none begins so.
fn short_id<'a>(ids: &[&'a str], digits: &str) -> anyhow::Result<Option<&'a str>> {
    if let Some(same) = ids.iter().find(|id| **id == digits) {
        return Ok(Some(same));
    }
    let bare = |id: &'a str| id.split_once('_').map_or(id, |(_, digits)| digits);
    let is_meant = |id: &&&'a str| id.starts_with(digits) || bare(id).starts_with(digits);
    let mut meant = ids.iter().filter(is_meant).filter(|_| digits.len() >= MIN_DIGITS);
    match (meant.next(), meant.next()) {
        (Some(first), Some(second)) => {
            bail!("`{digits}` can be `{first}` or `{second}`; add more of its digits")
        }
        (found, _) => Ok(found.copied()),
    }
}

/// A session by its id, or by the digits that it begins with.
async fn find(buddy: &Buddy, id: &str) -> anyhow::Result<SessionSummary> {
    let id = match id.parse::<SessionId>() {
        Ok(id) => id,
        Err(error) => {
            let all = buddy.hub.list(&buddy.who, SessionQuery::default()).await?.sessions;
            let ids: Vec<&str> = all.iter().map(|session| session.id.as_str()).collect();
            match short_id(&ids, id)? {
                Some(found) => found.parse()?,
                None => bail!("{error}; `buddy sessions` lists them"),
            }
        }
    };
    match buddy.hub.find(&buddy.who, &id).await {
        Err(error @ SessionsError::NotFound(_)) => bail!("{error}; `buddy sessions` lists them"),
        found => Ok(found?),
    }
}

/// The session that was used last, of a directory or of all. One in which nothing was said yet does not count.
async fn last(buddy: &Buddy, cwd: Option<&Path>) -> anyhow::Result<SessionSummary> {
    let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
    let place = cwd.as_ref().map(|cwd| format!(" in `{cwd}`")).unwrap_or_default();
    let found = buddy.hub.list(&buddy.who, SessionQuery { cwd, ..SessionQuery::default() }).await?.sessions;
    let found = found.into_iter().find(|session| session.turns > 0);
    found.with_context(|| format!("there is no session to resume{place}"))
}

/// A copy of a session, to go on in.
async fn fork(buddy: &Buddy, session: &SessionId) -> anyhow::Result<SessionSummary> {
    let fork = buddy.hub.fork(&buddy.who, session, ForkPoint::Now, ForkKind::Beside).await?;
    Ok(buddy.hub.find(&buddy.who, &fork).await?)
}
