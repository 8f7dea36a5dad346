//! The decision: an intent judged by the policy.

mod advice;
mod command;
mod egress;
mod file;
mod outside;
mod secrets;
mod sheet;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use buddy_protocol::{ClimbedBy, RemoteLookup, Risk};

use crate::path::{clean, shown};
use crate::places::is_open;
use crate::{
    Action, Carried, Decision, Discarded, GitTrip, Intent, Mode, NamedPaths, Now, Policy, ProgramUse,
    RepositoryChange, Tier, Typing,
};
use advice::{AdvisedRule, AdvisedWay, JudgeOnce, advise};
use command::{JudgedLine, MAX_CARRIED, MAX_TOUCHED};
pub(crate) use egress::Destination;
pub use outside::openable_directory;
use sheet::{Sheet, Weight};

/// The most directories whose repositories are read for one call; each reads an index.
const MAX_REPOSITORIES: usize = 8;

/// Judges an intent.
///
/// The strictest answer on any of its parts is the answer. Rules and grants allow a part only if nothing in
/// it is dangerous or unclear. The model's claims about its call raise the gate and cannot lower it.
///
/// A denial only because nobody can be asked names the options that let the call run.
pub fn decide(intent: &Intent, policy: &Policy, now: &Now<'_>) -> Decision {
    let Judgement { decision, ways, commands } = judge(intent, policy, now);
    if !decision.is_unasked {
        return decision;
    }
    let judge_once: JudgeOnce = |intent, policy, now| judge(intent, policy, now).decision;
    Decision { ways: advise((intent, policy, now), &ways, &commands, judge_once), ..decision }
}

/// A decision, and what could be advised if it is a denial.
struct Judgement {
    decision: Decision,
    /// The ways that its findings name.
    ways: Vec<AdvisedWay>,
    /// Rules for its commands that no rule covers.
    commands: Vec<AdvisedRule>,
}

fn judge(intent: &Intent, policy: &Policy, now: &Now<'_>) -> Judgement {
    // The tool names the folder that it pushes to itself.
    let is_told =
        |action: &Action| matches!(action, Action::Repository { change: RepositoryChange::Receive, .. });
    if policy.places.remotes != RemoteLookup::default() && intent.actions.iter().any(is_told) {
        let mut policy = policy.clone();
        policy.places.remotes = RemoteLookup::default();
        return judge(intent, &policy, now);
    }
    let mut sheet = Sheet::new(intent.tier);
    for action in &intent.actions {
        if let Some(reason) = climbs(action, policy) {
            sheet.deny(reason);
        }
        match action {
            Action::Read(path) => {
                for path in [Some(path), now.real(path)].into_iter().flatten() {
                    file::read(path, policy, now, &mut sheet);
                }
            }
            Action::Write(path) => {
                for path in [Some(path), now.real(path)].into_iter().flatten() {
                    file::write(path, intent.is_edit, policy, now, &mut sheet);
                }
            }
            Action::Delete(path) => file::delete(path, policy, now, &mut sheet),
            Action::Repository { top, change: RepositoryChange::Receive } => {
                let is_granted = commands(intent).any(|(command, cwd)| {
                    command::is_granted_line(
                        JudgedLine { command, cwd, runs_on: intent.runs_on },
                        policy,
                        now,
                    )
                });
                file::receive(top, now.real(top).unwrap_or(top), is_granted, policy, &mut sheet);
            }
            Action::Repository { top, change } => file::repository(top, *change, policy, now, &mut sheet),
            Action::Fetch(address) => egress::fetch(address, policy, now, &mut sheet),
            Action::Run { command, cwd } => {
                let line = JudgedLine { command, cwd: Some(cwd), runs_on: intent.runs_on };
                command::run(line, policy, now, &mut sheet);
                // A shell that outlives its commands would be a new one whenever the next one has other bounds.
                sheet.needs.keeps_seals &= !intent.shares_terminal;
            }
            Action::Terminal { typing, .. } => terminal(typing, policy, now, &mut sheet),
        }
    }
    if intent.actions.is_empty() && intent.tier != Tier::Auto {
        match policy.mode {
            Mode::Plan => sheet.deny("plan mode allows only tools that read"),
            Mode::Development | Mode::Production => {
                sheet.ask(Weight::Soft, Risk::Low, "calls of this tool need approval");
            }
        }
        sheet.changes_something();
    }
    if intent.actions.iter().any(is_told) {
        // A pattern would not say which folder it opens.
        sheet.offer_only_lines();
    }
    claims(intent, policy, &mut sheet);
    let (ways, commands) = sheet.advice();
    Judgement { decision: sheet.decide(policy, now), ways, commands }
}

/// Why the path of a tool is refused: `..` stands after a link in it, or after a name that may be one.
fn climbs(action: &Action, policy: &Policy) -> Option<String> {
    let path = match action {
        Action::Read(path) | Action::Write(path) | Action::Delete(path) => path,
        Action::Repository { top, .. } => top,
        Action::Run { cwd, .. } => cwd,
        Action::Fetch(_) | Action::Terminal { .. } => return None,
    };
    let climbed = policy.places.climb(path, None);
    let named = shown(path);
    match climbed.by {
        ClimbedBy::Text => None,
        ClimbedBy::Link => Some(format!(
            "`{named}` goes up from a symbolic link, so it is `{}`; name that path instead",
            shown(&climbed.path)
        )),
        ClimbedBy::Unknown => Some(format!(
            "buddy cannot tell which path `{named}` is, as a name before `..` may be a link; name it without `..`"
        )),
    }
}

/// The files that an intent is known to touch, and the directories of files that commands remove: paths where
/// links could lead elsewhere.
pub fn touched(intent: &Intent, policy: &Policy) -> Vec<PathBuf> {
    let touched = |action: &Action| match action {
        Action::Run { command, cwd } => command::touched(command, Some(cwd), policy),
        Action::Terminal { typing: Typing::Lines(text), .. } => command::touched(text, None, policy),
        Action::Read(path) | Action::Write(path) | Action::Repository { top: path, .. } => vec![path.clone()],
        // If a link is removed, the link itself goes.
        Action::Delete(_) | Action::Fetch(_) | Action::Terminal { .. } => Vec::new(),
    };
    let mut paths: Vec<PathBuf> = intent.actions.iter().flat_map(touched).collect();
    paths.truncate(MAX_TOUCHED);
    paths
}

/// The files that an intent's commands move or copy before they change something where these come to: the host says whether they
/// are or hold links.
pub fn carried(intent: &Intent, policy: &Policy) -> Vec<Carried> {
    let of = |(command, cwd): (&str, Option<&Path>)| command::carried(command, cwd, policy);
    let mut found: Vec<Carried> = Vec::new();
    for one in commands(intent).flat_map(of) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    // Beyond the bound the line asks without a look.
    found.truncate(MAX_CARRIED);
    found
}

/// The paths that the words of an intent's commands could name: a grant covers no command that names one outside.
pub fn named(intent: &Intent, policy: &Policy) -> NamedPaths {
    let mut named = NamedPaths::default();
    for (command, cwd) in commands(intent) {
        for more in command::named_paths(command, cwd, policy) {
            named.extend(more);
        }
    }
    named
}

/// The programs that an intent's commands run by name: the host says which of them commands can change.
pub fn program_uses(intent: &Intent, policy: &Policy) -> Vec<ProgramUse> {
    let uses = commands(intent).flat_map(|(command, cwd)| command::program_uses(command, cwd, policy));
    let mut uses: Vec<ProgramUse> = uses.collect();
    uses.dedup();
    uses.truncate(MAX_TOUCHED);
    uses
}

/// The trips of git in an intent's commands: the host says where they end.
pub fn git_trips(intent: &Intent, policy: &Policy) -> Vec<GitTrip> {
    let mut trips: Vec<GitTrip> =
        commands(intent).flat_map(|(command, cwd)| command::git_trips(command, cwd, policy)).collect();
    trips.dedup();
    trips.truncate(MAX_REPOSITORIES);
    trips
}

/// The directories in which an intent's commands change or record files by git: the host says which of those are secrets.
pub fn work_trees(intent: &Intent, policy: &Policy) -> Vec<PathBuf> {
    let mut trees: Vec<PathBuf> =
        commands(intent).flat_map(|(command, cwd)| command::work_trees(command, cwd, policy)).collect();
    trees.dedup();
    trees.truncate(MAX_REPOSITORIES);
    trees
}

/// Whether git connects to a place that its settings name when one of these commands runs.
pub fn connects_with_git(command: &str) -> bool {
    command::connects_with_git(command)
}

/// The paths that tools write by an intent: the host says which of them would be parts of a repository.
pub fn written(intent: &Intent) -> Vec<PathBuf> {
    let paths = intent.actions.iter().filter_map(|action| match action {
        Action::Write(path) => Some(clean(path)),
        _ => None,
    });
    paths.collect()
}

/// The paths that an intent is known to remove: the host says how much of them undo keeps.
pub fn removed(intent: &Intent, policy: &Policy) -> Vec<PathBuf> {
    let removed = |action: &Action| match action {
        Action::Run { command, cwd } => command::removed(command, Some(cwd), policy),
        Action::Terminal { typing: Typing::Lines(text), .. } => command::removed(text, None, policy),
        Action::Delete(path) => vec![clean(path)],
        Action::Read(_)
        | Action::Write(_)
        | Action::Repository { .. }
        | Action::Fetch(_)
        | Action::Terminal { .. } => Vec::new(),
    };
    let mut paths: Vec<PathBuf> = intent.actions.iter().flat_map(removed).collect();
    paths.truncate(MAX_TOUCHED);
    paths
}

/// The changes of work trees that an intent makes git throw away: the host says whether undo keeps them.
pub fn discarded(intent: &Intent, policy: &Policy) -> Vec<Discarded> {
    let of = |(command, cwd): (&str, Option<&Path>)| command::discarded(command, cwd, policy);
    let mut found: Vec<Discarded> = commands(intent).flat_map(of).collect();
    found.truncate(MAX_TOUCHED);
    found
}

/// The paths outside the workspace that an intent is known to change, where a yes could open them: the host says what is there.
pub fn outside(intent: &Intent, policy: &Policy) -> Vec<PathBuf> {
    let changed = |action: &Action| match action {
        Action::Run { command, cwd } => command::changed(command, Some(cwd), policy),
        Action::Write(path) | Action::Delete(path) => vec![clean(path)],
        Action::Read(_) | Action::Repository { .. } | Action::Fetch(_) | Action::Terminal { .. } => {
            Vec::new()
        }
    };
    if !policy.is_confined() {
        return Vec::new();
    }
    let mut paths: Vec<PathBuf> = intent.actions.iter().flat_map(changed).collect();
    paths.retain(|path| !is_open(path, &policy.places));
    paths.truncate(MAX_TOUCHED);
    paths
}

/// The directories whose repositories the commands of an intent print or copy all contents from.
pub fn recalled(intent: &Intent, policy: &Policy) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> =
        commands(intent).flat_map(|(command, cwd)| command::recalled(command, cwd, policy)).collect();
    directories.sort();
    directories.dedup();
    directories.truncate(MAX_REPOSITORIES);
    directories
}

/// The command lines of an intent, with the directories that they would run in.
fn commands(intent: &Intent) -> impl Iterator<Item = (&str, Option<&Path>)> {
    intent.actions.iter().filter_map(|action| match action {
        Action::Run { command, cwd } => Some((command.as_str(), Some(cwd.as_path()))),
        Action::Terminal { typing: Typing::Lines(text), .. } => Some((text.as_str(), None)),
        _ => None,
    })
}

/// The model's claims about its call. In a jail the kernel holds a command that is known to only read to
/// that, so nothing is asked about it there.
fn claims(intent: &Intent, policy: &Policy, sheet: &mut Sheet) {
    let Some(claims) = intent.claims else { return };
    if claims.privesc {
        sheet.ask(Weight::Hard, Risk::High, "it needs more rights than the agent has");
    }
    if sheet.is_clear() && sheet.is_read_only() && policy.holds_to_reading() {
        return;
    }
    sheet.raise(claims.risk);
    let runs =
        intent.actions.iter().any(|action| matches!(action, Action::Run { .. } | Action::Terminal { .. }));
    if runs && claims.mutation == Some(true) && sheet.is_clear() && sheet.is_read_only() {
        sheet.ask(Weight::Soft, Risk::Low, "the model says that it changes something");
    }
    if claims.risk == Risk::High && sheet.is_clear() && runs {
        sheet.ask(Weight::Soft, Risk::High, "the model says that it is risky");
    }
}

/// Lines that are typed are judged like a command in an unknown directory, and never run by themselves if
/// commands have bounds: the program that reads them decides what they do, and a shell may have other
/// meanings for words than those that were judged. Keys that are no such lines always ask the user, even if
/// everything else is allowed.
fn terminal(typing: &Typing, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    sheet.needs.runs = true;
    sheet.tells_network();
    match typing {
        Typing::Nothing => {}
        Typing::Lines(text) => {
            command::run(JudgedLine { command: text, cwd: None, runs_on: false }, policy, now, sheet);
            if recalls(text) {
                let reason = "`!` or `^` can put parts of earlier commands into the line";
                sheet.ask(Weight::Hard, Risk::High, reason);
            }
            sheet.offer_nothing();
        }
        Typing::Keys => {
            let reason = "what the keys do is decided by the program in the terminal, and by what is on its line already";
            sheet.ask(Weight::Hard, Risk::High, reason);
        }
    }
    sheet.changes_something();
    if now.trail.has_read_secret() && *typing != Typing::Nothing {
        let reason = "this session could have read a secret, and a terminal that is open keeps its network";
        sheet.ask(Weight::Boundary, Risk::High, reason);
    }
    if policy.mode != Mode::Production {
        let network = if policy.is_confined() && !policy.is_offline {
            ", with the network of this machine"
        } else {
            ""
        };
        sheet.ask(Weight::Seen, Risk::Low, format!("it uses the terminal that you share{network}"));
    }
}

/// Whether a shell at a terminal would put earlier commands into a line, or change one.
fn recalls(text: &str) -> bool {
    let mut marks = text.match_indices('!').filter_map(|(at, mark)| text.get(at + mark.len()..));
    let is_recalling = |rest: &str| !rest.starts_with(|next: char| next.is_whitespace() || next == '=');
    marks.any(|rest| !rest.is_empty() && is_recalling(rest)) || text.lines().any(|line| line.starts_with('^'))
}
