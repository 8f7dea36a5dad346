//! `buddy` and `buddy resume`: a conversation in the terminal.

use std::io::IsTerminal;
use std::sync::Arc;

use buddy_agent::BuddyAgent;
use buddy_exec::managed::Status;
use buddy_protocol::{
    ApprovalPolicy, Change, Clock, Command, NewSession, SessionId, SessionQuery, SessionSummary, Sessions,
    SessionsError, folded_command,
};
use buddy_tui::{
    ConsoleRequest, Exit, LeftConversation, LineInput, LineRequest, Printer, TerminalLook, choose_session,
    run_console, run_lines, to_copy,
};
use tokio::io::BufReader;

use crate::cli::Resume;
use crate::commands::login::{Welcomed, welcome};
use crate::commands::setup::{Notes, Setup};
use crate::commands::trust::Offered;
use crate::commands::{panes, trust};
use crate::config::{TrustStore, WorkEnvironment, user_file};
use crate::desk::{HomeDesk, follows_ground, keys, look};
use crate::environment::Environment;
use crate::hosts::{Beginning, RunHosts};
use crate::invocation::{Invocation, is_here};
use crate::local_machine::managed_processes;
use crate::panes::PaneMaker;
use crate::session_choice::{find_last_session, find_session, fork_session};
use crate::signals::{interrupts, unless_interrupted};
use crate::system::SystemClock;
use crate::wiring::{Buddy, wire};

/// Starts a new conversation, with this prompt where there is one already.
pub(crate) async fn start(invocation: Invocation<'_>, prompt: Option<String>) -> anyhow::Result<Exit> {
    panes::refuse_inside(invocation.environment)?;
    // Who has just chosen need not be told what was found.
    let notes = match welcome(&invocation).await? {
        Welcomed::Before => Notes::Shown,
        Welcomed::Now => Notes::Warnings,
        Welcomed::Left(exit) => return Ok(exit),
    };
    let prepared = unless_interrupted(Box::pin(async {
        let offered =
            if is_here(&invocation.hosts) { trust::offer(&invocation).await? } else { Offered::Settled };
        if offered == Offered::Left {
            Printer::standard().status("buddy: interrupted");
            return Ok(None);
        }
        let setup = invocation.prepare(notes).await?;
        let hosts = setup.hosts(&invocation, PaneMaker::new(&invocation, &setup.loaded.config))?;
        hosts.reach_here().await?;
        let beginning = hosts.begin().await?;
        Ok(Some((setup, hosts, beginning)))
    }));
    let Some(Some((setup, hosts, beginning))) = prepared.await? else { return Ok(Exit::Interrupted) };
    let Beginning { cwd, targets } = beginning;
    let model = setup.session_model(&invocation)?;
    for target in &targets {
        Printer::standard().status(&format!(
            "on {} ({}), in {}",
            target.place.as_deref().unwrap_or("-"),
            target.name,
            target.cwd
        ));
    }
    let buddy = wire(invocation.environment, setup.wishes(&invocation, hosts.clone())?)?;
    let desk = HomeDesk::new(&invocation, &buddy, hosts.clone(), &setup);
    let new = NewSession { model, targets, ..NewSession::new(BuddyAgent::NAME, cwd) };
    let session = buddy.hub.create(&buddy.who, new).await?;
    let change = wanted_change(&invocation, &setup, Age::New);
    let unapplied = apply_change(&buddy, &session, change).await?;
    let approvals = setup.approvals(invocation.policy.approve);
    let environment = invocation.environment;
    let talk = Talk { setup: &setup, environment, approvals, desk, hosts, unapplied, prompt };
    talk.run(buddy, session, 1).await
}

/// Goes on with an old one.
pub(crate) async fn resume(invocation: Invocation<'_>, resume: &Resume) -> anyhow::Result<Exit> {
    panes::refuse_inside(invocation.environment)?;
    if is_here(&invocation.hosts) {
        match unless_interrupted(Box::pin(trust::review(&invocation))).await? {
            Some(Offered::Settled) => {}
            Some(Offered::Left) => {
                Printer::standard().status("buddy: interrupted");
                return Ok(Exit::Interrupted);
            }
            None => return Ok(Exit::Interrupted),
        }
    }
    let setup = invocation.prepare(Notes::Shown).await?;
    let model = setup.session_model(&invocation)?;
    let hosts = setup.hosts(&invocation, PaneMaker::new(&invocation, &setup.loaded.config))?;
    hosts.reach_here().await?;
    let buddy = wire(invocation.environment, setup.wishes(&invocation, hosts.clone())?)?;
    let desk = HomeDesk::new(&invocation, &buddy, hosts.clone(), &setup);
    let summary = match &resume.id {
        Some(id) => find_session(&*buddy.hub, &buddy.who, id).await?,
        None if resume.last => {
            find_last_session(&*buddy.hub, &buddy.who, invocation.named.as_deref()).await?
        }
        None => {
            let Some(summary) = pick(&buddy, &invocation, &setup).await? else {
                buddy.close().await?;
                return Ok(Exit::Ok);
            };
            summary
        }
    };
    let summary =
        if resume.fork { fork_session(&*buddy.hub, &buddy.who, &summary.id).await? } else { summary };
    let change = Change { model, ..wanted_change(&invocation, &setup, Age::Old) };
    let unapplied = apply_change(&buddy, &summary.id, change).await?;
    let approvals = setup.approvals(invocation.policy.approve);
    let environment = invocation.environment;
    let talk = Talk { setup: &setup, environment, approvals, desk, hosts, unapplied, prompt: None };
    talk.run(buddy, summary.id, summary.head).await
}

/// Lets the user pick one of the sessions that were used last, of a directory where one is named; none where they leave.
async fn pick(
    buddy: &Buddy,
    invocation: &Invocation<'_>,
    setup: &Setup,
) -> anyhow::Result<Option<SessionSummary>> {
    let cwd = invocation.named.as_ref().map(|cwd| cwd.to_string_lossy().into_owned());
    let found = buddy.hub.list(&buddy.who, SessionQuery { cwd, ..SessionQuery::default() }).await?.sessions;
    let found: Vec<SessionSummary> = found.into_iter().filter(|session| session.turns > 0).collect();
    let look = look(invocation.environment, &setup.loaded.config.display);
    anyhow::ensure!(!found.is_empty(), "there is no session to resume; start one with `buddy`");
    let is_in_tmux = invocation.environment.get("TMUX").is_some();
    let chosen = choose_session(&found, &look, SystemClock.now(), is_in_tmux).await?;
    Ok(chosen.and_then(|id| found.into_iter().find(|session| session.id == id)))
}

/// Whether a session was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    New,
    Old,
}

/// The change of the session that the command line wants before anything is said.
fn wanted_change(invocation: &Invocation<'_>, setup: &Setup, age: Age) -> Change {
    let is_old = age == Age::Old;
    // That something runs unasked stands in the log, for whoever reads it and for the line that shows the mode.
    let approvals = Some(setup.approvals(invocation.policy.approve));
    // One that goes on may have been told to ask, which the usual policy does not take back.
    let is_said = invocation.policy.approve.is_some();
    let is_usual = |policy: &ApprovalPolicy| *policy == ApprovalPolicy::Auto && is_old && !is_said;
    let approvals = approvals.filter(|policy| *policy != ApprovalPolicy::Ask && !is_usual(policy));
    // A new session plans only when that is wished; one that goes on may have been left planning.
    let plan_only = invocation.policy.plan.filter(|is_on| *is_on || is_old);
    Change { approvals, plan_only, ..Change::default() }
}

/// Changes the session, if anything is to be changed. A session that another process works on stays as it is, and the returned
/// text says so.
async fn apply_change(buddy: &Buddy, session: &SessionId, change: Change) -> anyhow::Result<Option<String>> {
    if change == Change::default() {
        return Ok(None);
    }
    let parts = [
        (change.model.is_some(), ("model", "/model")),
        (change.approvals.is_some(), ("approval mode", "/approve")),
        (change.plan_only.is_some(), ("plan mode", "/plan")),
    ];
    match buddy.hub.send(&buddy.who, session, Command::Change(change)).await {
        Ok(()) => Ok(None),
        Err(SessionsError::Busy { holder, .. }) => {
            let wanted = parts.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, part)| part);
            let (names, commands): (Vec<&str>, Vec<&str>) = wanted.unzip();
            Ok(Some(format!(
                "{holder} uses this session, so buddy did not change its {}. Use {} once it is free.",
                names.join(" and "),
                commands.join(" and ")
            )))
        }
        Err(error) => Err(error.into()),
    }
}

/// A conversation that is about to begin.
struct Talk<'a> {
    setup: &'a Setup,
    environment: &'a Environment,
    /// The treatment of calls that need an approval.
    approvals: ApprovalPolicy,
    desk: HomeDesk,
    hosts: Arc<RunHosts>,
    /// The text about what the command line wanted of a session that another process works on.
    unapplied: Option<String>,
    /// The first message.
    prompt: Option<String>,
}

impl Talk<'_> {
    async fn run(self, buddy: Buddy, session: SessionId, head: u64) -> anyhow::Result<Exit> {
        let mut printer = Printer::standard();
        let greeting = self.greeting(&session).await;
        let display = &self.setup.loaded.config.display;
        let look = look(self.environment, display);
        let (interrupts, _watch) = interrupts()?;
        let (who, first) = (buddy.who.clone(), session.clone());
        let left = if self.has_screen(&look) {
            let is_in_tmux = self.environment.get("TMUX").is_some();
            let config = user_file(self.environment).and_then(|file| Some(file.parent()?.to_owned()));
            let keys = keys(config.as_deref())?;
            let custom = self.desk.custom_commands();
            let request = ConsoleRequest {
                who,
                session,
                head,
                interrupts,
                look,
                approvals: self.approvals,
                keys,
                key_style: display.keys,
                custom,
                follows_ground: follows_ground(self.environment, display),
                status_parts: display.status.clone(),
                has_own_status: display.status_command.is_some(),
                is_in_tmux,
                greeting,
                prompt: self.prompt,
            };
            run_console(buddy.hub.clone(), Arc::new(self.desk), request).await
        } else {
            for line in &greeting {
                printer.status(line);
            }
            let request = LineRequest {
                who,
                session,
                head,
                details: look.details,
                is_read_aloud: look.is_read_aloud,
                approvals: self.approvals,
                custom: self.desk.custom_commands(),
                input: self.line_input(),
                prompt: self.prompt,
                interrupts,
            };
            let input = BufReader::new(tokio::io::stdin());
            run_lines(buddy.hub.clone(), Arc::new(self.desk), request, input, &mut printer).await
        };
        buddy.close().await?;
        self.setup.models.now().settle().await;
        panes::tell_remaining(&self.hosts, &mut printer).await;
        self.hosts.rest().await;
        let LeftConversation { exit, session, is_empty, stopped } = match left {
            Ok(left) => left,
            Err(error) => {
                printer.status(&format!("\n  Resume with  {}", resume_command(&first)));
                return Err(error.into());
            }
        };
        // Nothing is lost with a session in which nothing was said.
        if !is_empty {
            tell_running(self.environment, &session, &mut printer);
            printer.status(&format!("\n  Resume with  {}", resume_command(&session)));
        }
        for task in stopped {
            printer.status(&format!("  A task was stopped. Resume it with  {}", resume_command(&task)));
        }
        Ok(exit)
    }

    /// Whether there is a terminal on which rows can be painted over, and the user wants that.
    fn has_screen(&self, look: &TerminalLook) -> bool {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        is_terminal && !look.is_read_aloud && self.environment.get("TERM").is_some_and(|term| term != "dumb")
    }

    /// Where the lines come from in a conversation line by line.
    fn line_input(&self) -> LineInput {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return LineInput::Pipe;
        }
        let has_clipboard = self.environment.get("TERM").is_some_and(|term| term != "dumb");
        LineInput::Terminal { has_clipboard, is_in_tmux: self.environment.get("TMUX").is_some() }
    }

    async fn greeting(&self, session: &SessionId) -> Vec<String> {
        let mut lines = vec![format!("buddy {}, session {session}", env!("CARGO_PKG_VERSION"))];
        if let Err(failure) = self.setup.models.now().check() {
            lines.push(format!("{}\n  {}", failure.message, failure.hint.unwrap_or_default()));
        }
        let has_jail = self.setup.loaded.config.agent.environment == WorkEnvironment::Development;
        let is_here = self.hosts.wanted.is_empty();
        if is_here && has_jail && !TrustStore::new(&self.environment.data).covers(&self.hosts.cwd) {
            // Places for temporary files can be changed in any case.
            let is_scratch = self.hosts.cwd.starts_with("/tmp");
            lines.push(if is_scratch {
                "This folder is untrusted, so buddy ignores its settings. Run /trust to use them.".to_owned()
            } else {
                "This folder is untrusted, so it is read-only. Run /trust to allow changes.".to_owned()
            });
        }
        lines.extend(panes::describe_ways(&self.hosts).await);
        lines.extend(self.unapplied.clone());
        lines
    }
}

/// The command that resumes a session, to be copied.
fn resume_command(session: &SessionId) -> String {
    to_copy(&format!("buddy resume {session}"))
}

/// Names the processes of a session that run on without it.
fn tell_running(environment: &Environment, session: &SessionId, printer: &mut Printer) {
    let listed = managed_processes(environment).and_then(|managed| Ok(managed.list()?));
    let is_own =
        |status: &&Status| status.condition.is_live() && status.record.owner.session == session.as_str();
    for Status { record, .. } in listed.unwrap_or_default().iter().filter(is_own) {
        let command = folded_command(&record.command);
        printer.status(&format!("  running   {command}  stop it with `buddy kill {}`", record.id));
    }
}
