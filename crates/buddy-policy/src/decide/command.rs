//! Commands: every part of the line judged, and the line by all of them.
//!
//! Long because the parts of a line are judged together.

mod asked_host;
mod crossings;
mod network;
mod possible;
mod programs;
mod publication;
mod removal;
mod trips;

use std::path::{Path, PathBuf};

use buddy_protocol::{ApprovalPolicy, Risk};

pub(super) use asked_host::{
    MAX_TOUCHED, carried, changed, connects_with_git, discarded, git_trips, named_paths, recalled, removed,
    touched, work_trees,
};
pub(super) use crossings::MAX_CARRIED;
use possible::ask_about_possible_change;
pub(super) use programs::program_uses;
use publication::{ask_about_publishing, sent_work};
pub(super) use trips::is_granted_line;

use super::advice::AdvisedRule;
use super::egress::{self, Destination, OFFLINE, is_this_machine};
use super::file::{
    RuleAllowance, by_rule, changes_secrets, closed, decides_what_runs, hidden, is_closed, rule, secret,
    untrusted,
};
use super::outside::{OutsideChange, OutsideManner, OutsideOpening, outside_jail};
use super::secrets::disclosed;
use super::sheet::{Sheet, Weight};
use crate::effect::{
    Class, CommandEffect, CommandExamination, CommandLeaf, GivenVariable, LineTrips, Touch, TouchAccess,
    TouchReach, barred_in_jail, changes_own_settings, changes_settings, connects_by_git, destinations,
    examine, examine_words, gains_rights, names_engine, only_adds_remote, reads_variables, socket,
    uses_only_named_files, works_by_git,
};
use crate::grant::{offers, stays_inside};
use crate::guarded::{holds_secrets, is_git_order, is_guarded, is_secret, is_sensitive};
use crate::later::{Later, describe_later, runs_later};
use crate::path::{is_beneath_any, shown, touches_any};
use crate::places::{is_open, is_untrusted};
use crate::rules::{Match, Thing};
use crate::shell::{ShellWord, UnreadableScript};
use crate::{
    ChangeableProgram, CommandMode, CommandPattern, Execution, Grant, Mode, Now, Policy, Scope, cache_places,
};

/// The reason for a command in a directory that the user does not trust.
const UNTRUSTED: &str =
    "this folder is untrusted, so the command cannot change anything in it; run /trust to allow changes";

/// The settings of the repository of a workspace.
const GIT_CONFIG: &str = ".git/config";

/// The reason to ask about a background process: others reach a server only in the network of the machine,
/// which an answer gives.
const RUNS_ON: &str = "it runs on in the background, with the network of this machine";

/// Devices that the jail has.
const JAIL_DEVICES: &[&str] = &[
    "/dev/fd",
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/random",
    "/dev/shm",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// Why a command in the jail does not change settings of git that hold in every repository.
const OWN_GIT_SETTINGS: &str = "it changes your settings of git for every repository, which no command in the jail can; set them for this repository, or run it yourself with `!`";

/// The most files that one question names.
const MAX_NAMED: usize = 5;

/// The reason why every command of production asks that is not known to only read.
const EXPOSED: &str = "nothing on this machine protects buddy's own files and your other sessions from the command; install bubblewrap to change that";

/// A command line that is judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgedLine<'a> {
    pub(crate) command: &'a str,
    /// The directory that it would run in; `None` if that is not known.
    pub(crate) cwd: Option<&'a Path>,
    /// Whether it runs in the background after the call.
    pub(crate) runs_on: bool,
}

/// Judges a command.
pub(crate) fn run(line: JudgedLine<'_>, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    let JudgedLine { command, cwd, .. } = line;
    sheet.needs.runs = true;
    let examined = match &policy.commands {
        CommandMode::Shell => examine(command, cwd, &policy.places),
        CommandMode::Allowlist(patterns) => match listed(command, cwd, policy, patterns, sheet) {
            Some(examined) => examined,
            None => return sheet.changes_something(),
        },
    };
    let examination = match examined {
        Ok(examination) => examination,
        Err(error) => {
            sheet.changes_something();
            // In a place that is thrown away only rules hold, and there is none that it could break.
            if policy.is_throwaway && !policy.is_confined() && !policy.rules.restricts() {
                return sheet.ask(
                    Weight::Contained,
                    Risk::Medium,
                    format!("buddy cannot judge the command, as {error}"),
                );
            }
            return sheet.deny(format!("buddy cannot judge the command, as {error}; write it more plainly"));
        }
    };
    Judge::of(line, &examination, policy, now).judge(examination, sheet);
}

/// The command of an allowlist: one simple command that matches, whose words are passed on as they are.
fn listed(
    command: &str,
    cwd: Option<&Path>,
    policy: &Policy,
    patterns: &[CommandPattern],
    sheet: &mut Sheet,
) -> Option<Result<CommandExamination, UnreadableScript>> {
    let words = match examine(command, cwd, &policy.places) {
        Ok(examination) => examination.plain,
        Err(error) => return Some(Err(error)),
    };
    let Some(words) = words else {
        sheet.deny("only one simple command runs here, without a shell: no pipes, chains, redirections or substitutions");
        return None;
    };
    let words: Vec<String> = words.iter().map(ShellWord::unexpanded).collect();
    let literal: Vec<ShellWord> = words.iter().cloned().map(ShellWord::Literal).collect();
    let program = words.first().map_or("", String::as_str);
    if !patterns.iter().any(|pattern| pattern.matches(program, &literal) == Match::Yes) {
        sheet.deny(format!(
            "`{}` is not on the list of commands that may run here",
            crate::display_command(program)
        ));
        return None;
    }
    let examined = examine_words(&words, cwd, &policy.places);
    sheet.execute(Execution::Argv(words));
    Some(examined)
}

struct Judge<'a> {
    command: &'a str,
    cwd: Option<&'a Path>,
    runs_on: bool,
    policy: &'a Policy,
    now: &'a Now<'a>,
    /// The trips of git in the line.
    trips: LineTrips,
    /// Whether the broker judges each connection of the line if a grant lets it run.
    leaves_to_broker: bool,
    /// Whether so, and no command of git in the line changes where another leads.
    holds_trips: bool,
}

impl Judge<'_> {
    fn judge(&self, examination: CommandExamination, sheet: &mut Sheet) {
        examination.leaves.iter().for_each(|leaf| sheet.name_part(told(leaf)));
        self.barred(&examination.leaves, sheet);
        for concern in &examination.concerns {
            let (weight, risk) = match concern.class {
                // The jail has processes of its own, or Landlock keeps signals in it.
                Class::Signal if self.policy.is_confined() => continue,
                Class::Danger | Class::Signal => (Weight::Hard, Risk::High),
                Class::Unclear => (Weight::Contained, Risk::Medium),
            };
            sheet.ask(weight, risk, concern.reason.clone());
        }
        self.given(&examination, sheet);
        if examination.touches.len() > MAX_TOUCHED {
            let reason =
                format!("it names more than {MAX_TOUCHED} files, and buddy does not follow the links of all");
            sheet.ask(Weight::Contained, Risk::Medium, reason);
        }
        let mut touches_safely = true;
        examination.risky.iter().for_each(|words| sheet.mark(words));
        for touch in &examination.touches {
            let before = sheet.count_asks();
            touches_safely &= self.touch(touch, sheet);
            // The target of a link is touched as much as the named path.
            for real in self.now.links.iter().filter_map(|link| touch.through(link)) {
                touches_safely &= self.touch(&real, sheet);
            }
            sheet.mark_since(before, touch.risky.as_deref());
        }
        self.crossings(&examination.steps, sheet);
        sheet.needs.removed = self.removed(&examination);
        sheet.sends = sheet.sends.or_else(|| sent_work(&examination));
        let is_held = self.policy.holds_to_reading() && self.policy.places.untrusted.is_none();
        let only_reads = |leaf: &CommandLeaf| match leaf.effect {
            CommandEffect::None => true,
            CommandEffect::Reads => touches_safely,
            CommandEffect::Held => touches_safely && is_held,
            CommandEffect::Unknown => false,
        };
        let allowed = self.allowed(&examination.leaves, sheet);
        let is_uncovered = |(leaf, allowed): &(&CommandLeaf, &RuleAllowance)| {
            **allowed == RuleAllowance::No && !only_reads(leaf)
        };
        let uncovered: Vec<&CommandLeaf> =
            examination.leaves.iter().zip(&allowed).filter(is_uncovered).map(|(leaf, _)| leaf).collect();
        uncovered.iter().filter_map(|leaf| advised_rule(leaf)).for_each(|rule| sheet.advise_command(rule));
        sheet.needs.is_ruled = !allowed.is_empty() && allowed.iter().all(|one| *one == RuleAllowance::Always);
        for path in examination.leaves.iter().flat_map(|leaf| disclosed(leaf, &self.policy.places)) {
            let allowed = rule(Thing::Read(&path), self.policy, sheet);
            secret(&path, allowed, self.policy, sheet);
        }
        self.settings(&examination, sheet);
        self.recalled(&examination, sheet);
        self.reached(&examination, sheet);
        sheet.keeps_broker = self.keeps_broker(&examination.leaves, &allowed, uncovered.is_empty());
        let acting: Vec<&CommandLeaf> = examination.leaves.iter().filter(|leaf| !only_reads(leaf)).collect();
        self.network(&examination, &allowed, &uncovered, sheet);
        let is_here = |host: &Destination| host.host.as_deref().is_some_and(is_this_machine);
        let goes_here = |leaf: &&CommandLeaf| destinations(&leaf.program, &leaf.words).iter().any(is_here);
        let goes_only_here = !acting.is_empty() && acting.iter().all(goes_here);
        sheet.reaches_here = goes_only_here || self.is_told_here(&acting);
        sheet.needs.keeps_seals = self.keeps_seals(&examination, sheet);
        let takes_login = |leaf: &CommandLeaf| connects_by_git(leaf) && !self.stays_here(leaf);
        sheet.needs.takes_logins = examination.leaves.iter().any(takes_login);
        sheet.pin(examination.pins);
        if examination.concerns.is_empty() && touches_safely && examination.leaves.iter().all(only_reads) {
            return;
        }
        sheet.changes_something();
        self.changeable(&examination.leaves, sheet);
        if self.now.trail.has_read_secret() && self.policy.places.remote {
            let target = &self.policy.places.target;
            let reason = format!("this session could have read a secret, and `{target}` keeps its network");
            sheet.ask(Weight::Boundary, Risk::High, reason);
        }
        self.by_mode(&uncovered, examination.leaves.is_empty(), sheet);
    }

    /// Whether an answer or a grant names a server of this machine that a part of the line reaches, and no part starts a server of the
    /// line's own.
    fn is_told_here(&self, acting: &[&CommandLeaf]) -> bool {
        let reached = acting.iter().flat_map(|leaf| destinations(&leaf.program, &leaf.words));
        let mut here = reached.filter(|reached| reached.host.as_deref().is_some_and(is_this_machine));
        let is_told = |reached: Destination| {
            self.now.trail.has_read_secret() || egress::is_covered(&reached, self.policy, self.now)
        };
        !starts_in_background(self.command) && here.any(is_told)
    }

    /// Whether a yes to the line leaves secrets sealed, as no part of it could need one.
    fn keeps_seals(&self, examination: &CommandExamination, sheet: &Sheet) -> bool {
        let is_unclear = examination.concerns.iter().any(|concern| concern.class == Class::Unclear);
        // In a terminal that is open, a program that is not known reads the line.
        let is_certain = self.cwd.is_some() && !self.runs_on && !is_unclear && !examination.leaves.is_empty();
        let needs_none = |leaf: &CommandLeaf| {
            uses_only_named_files(leaf) || connects_by_git(leaf) || works_by_git(leaf).is_some()
        };
        is_certain && !sheet.names_secret() && examination.leaves.iter().all(needs_none)
    }

    /// Asks about variables of which no table says what a program makes of them, where nothing holds the program.
    fn given(&self, examination: &CommandExamination, sheet: &mut Sheet) {
        if self.policy.mode != Mode::Production {
            return;
        }
        let runs_more = examination.leaves.iter().any(reads_variables);
        for GivenVariable { name, program } in &examination.given {
            let name = crate::display_command(name);
            let program = match program {
                Some(program) => format!("`{}`", crate::display_command(program)),
                None if runs_more => "the commands after it".to_owned(),
                None => continue,
            };
            let reason = format!(
                "it sets `{name}` for {program}, which could read options, a program or a file from it"
            );
            sheet.ask(Weight::Contained, Risk::Medium, reason);
        }
    }

    /// Notes that git changes settings which the jail keeps as they are until a user allowed the command.
    fn settings(&self, examination: &CommandExamination, sheet: &mut Sheet) {
        let changes =
            |leaf: &CommandLeaf| leaf.program == "git" && leaf.words.get(1..).is_some_and(changes_settings);
        if examination.leaves.iter().any(changes) {
            let configs = self.policy.places.workspace.iter().map(|root| root.join(GIT_CONFIG));
            sheet.needs.asked.extend(configs);
        }
    }

    /// Judges the tracked secrets that git would print or copy.
    fn recalled(&self, examination: &CommandExamination, sheet: &mut Sheet) {
        let is_read = |path: &&PathBuf| examination.recalls.iter().any(|recall| recall.covers(path));
        let mut asked = Vec::new();
        for path in self.now.tracked.iter().filter(is_read) {
            sheet.reads_secret();
            if rule(Thing::Read(path), self.policy, sheet) != RuleAllowance::Always {
                asked.push(shown(path));
            }
        }
        let Some(first) = asked.first() else { return };
        let names: Vec<String> = asked.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
        let more = asked.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let reason =
            format!("it reads {}{more} from what git keeps, which can hold secrets", names.join(", "));
        sheet.ask(Weight::Boundary, Risk::High, reason);
        sheet.way(by_rule("read", first));
    }

    /// Judges the hosts that can be read off the words. Data that goes to this machine itself does not leave it.
    fn reached(&self, examination: &CommandExamination, sheet: &mut Sheet) {
        let is_brokered = self.is_brokered();
        // What uses the name of a remote goes out by the broker, or is a push.
        let is_name =
            |leaf: &&CommandLeaf| leaf.program == "git" && leaf.words.get(1..).is_some_and(only_adds_remote);
        sheet.needs_broker |= is_brokered && examination.leaves.iter().any(|leaf| is_name(&leaf));
        let leaves = examination.leaves.iter().filter(|leaf| !(is_brokered && is_name(leaf)));
        let words = leaves.flat_map(|leaf| destinations(&leaf.program, &leaf.words));
        let paths = examination.touches.iter().filter_map(|touch| socket(&touch.reach));
        for destination in words.chain(paths) {
            let is_here = destination.host.as_deref().is_some_and(is_this_machine);
            // No answer opens a network that is off. On another host nothing but this judgement holds a command.
            if self.policy.is_offline && destination.host.is_some() && !is_here {
                sheet.deny(OFFLINE);
                continue;
            }
            if self.policy.is_offline && !self.policy.places.remote {
                continue;
            }
            let is_granted = destination.host.is_some() && self.is_granted_to_the_letter();
            let is_listed =
                destination.host.as_deref().is_none_or(|host| self.policy.limits.closed_host(host).is_none());
            if is_granted && is_listed || is_here && !self.now.trail.has_read_secret() {
                continue;
            }
            // It goes out by the broker or not at all, which asks when it knows the host.
            if destination.host.is_none() && is_brokered {
                sheet.needs_broker = true;
                continue;
            }
            egress::judge(&destination, self.policy, self.now, sheet);
        }
    }

    /// Whether hosts that cannot be read off the words are left to the broker.
    fn is_brokered(&self) -> bool {
        let goes_by_broker = self.now.approvals == ApprovalPolicy::Auto || self.policy.limits.hosts.is_some();
        goes_by_broker && self.policy.has_broker && self.policy.is_jailed()
    }

    fn by_mode(&self, uncovered: &[&CommandLeaf], is_empty: bool, sheet: &mut Sheet) {
        match self.policy.mode {
            Mode::Plan => sheet.deny("plan mode allows only commands that read"),
            Mode::Production => {
                self.unknown(uncovered, sheet);
                ask_about_publishing(uncovered, |leaf| self.stays_here(leaf), sheet);
                self.exposed(sheet);
            }
            Mode::Development if uncovered.is_empty() && !is_empty => {}
            Mode::Development if self.is_granted_to_the_letter() => {}
            Mode::Development if matches!(self.policy.commands, CommandMode::Allowlist(_)) => {}
            Mode::Development => {
                let launching: Vec<&CommandLeaf> =
                    uncovered.iter().copied().filter(|leaf| leaf.launcher.is_none()).collect();
                self.redirected(uncovered, sheet);
                ask_about_publishing(uncovered, |leaf| self.stays_here(leaf), sheet);
                self.unread(uncovered, sheet);
                if self.runs_on {
                    sheet.ask(Weight::Seen, Risk::Medium, RUNS_ON);
                    sheet.tells_network();
                }
                let uncovered = launching.as_slice();
                sheet.ask(Weight::Soft, Risk::Medium, named(uncovered));
                if self.cwd.is_some_and(|cwd| is_untrusted(cwd, &self.policy.places)) {
                    sheet.ask(Weight::Soft, Risk::Medium, UNTRUSTED);
                }
                if self.now.trail.has_read_secret() && !self.policy.is_offline {
                    let reason =
                        "this session could have read a secret, and the command can reach the network";
                    sheet.ask(Weight::Soft, Risk::Medium, reason);
                }
                let Some(cwd) = self.cwd else { return };
                let offers = offers(self.command, cwd, uncovered, &self.policy.places, self.now.named_links);
                // A pattern of the command would ask again for the host, and a grant of the host for the command, unless the mode
                // lets that run.
                let is_sending = sheet.has_strangers();
                let mut of_hosts = if is_sending { sheet.take_offers() } else { Vec::new() };
                let has_no_broker = !self.policy.has_broker && !self.policy.is_offline;
                let says_network = sheet.opens_network || self.runs_on || has_no_broker;
                let used: Vec<&ChangeableProgram> =
                    uncovered.iter().filter_map(|leaf| self.changeable_program(leaf)).collect();
                for offer in offers {
                    let is_exact = matches!(offer.grant.scope, Scope::Command { .. });
                    let of_all =
                        self.now.programs.iter().filter(|program| is_exact || used.contains(program));
                    let offer = offer.pinned(of_all, &self.policy.places);
                    let Some(offer) = offer.and_then(|offer| self.bound(offer, uncovered)) else { continue };
                    let offer = if says_network { offer.with_network() } else { offer };
                    if !is_sending || matches!(offer.grant.scope, Scope::Command { .. }) {
                        sheet.offer(offer);
                    }
                }
                of_hosts.retain(|offer| offer.grant.scope.is_of_hosts());
                for offer in of_hosts {
                    sheet.offer(offer);
                }
            }
        }
    }

    /// In production known programs run. A program that no table knows asks, and a rule or a grant allows it.
    fn unknown(&self, uncovered: &[&CommandLeaf], sheet: &mut Sheet) {
        let unknown: Vec<&CommandLeaf> = uncovered.iter().copied().filter(|leaf| !leaf.is_known).collect();
        let is_listed = matches!(self.policy.commands, CommandMode::Allowlist(_));
        if unknown.is_empty() || is_listed || self.is_granted_to_the_letter() {
            return;
        }
        sheet.ask(
            Weight::Soft,
            Risk::Medium,
            format!("{}, whose effects buddy does not know", named(&unknown)),
        );
        let Some(cwd) = self.cwd else { return };
        let offers = offers(self.command, cwd, &unknown, &self.policy.places, self.now.named_links);
        for offer in offers.into_iter().filter_map(|offer| self.bound(offer, &unknown)) {
            sheet.offer(offer);
        }
    }

    /// If nothing hides buddy's own files, the user sees each command that could change them, unless a
    /// lasting rule allows it.
    fn exposed(&self, sheet: &mut Sheet) {
        if self.policy.is_exposed && !sheet.needs.is_ruled {
            sheet.ask(Weight::Hard, Risk::High, EXPOSED);
        }
    }

    fn is_granted_to_the_letter(&self) -> bool {
        let is_held = self.now.programs.is_empty() || self.holds_programs();
        let Some(cwd) = self.cwd.filter(|_| is_held) else { return false };
        let pins = |grant: &Grant| self.now.programs.iter().all(|program| grant.pins(program));
        let covers = |grant: &Grant| {
            self.tells_enough(grant)
                && grant.covers_line(self.command, cwd, &self.policy.places)
                && self.binds(grant, &self.trips)
        };
        self.now.grants.iter().any(|grant| covers(grant) && pins(grant))
    }

    /// Whether a grant tells of all that it would give: a process that runs on in the background has the network of the machine.
    fn tells_enough(&self, grant: &Grant) -> bool {
        !self.runs_on || grant.network || !self.policy.is_confined()
    }

    /// The extent to which rules and grants allow each simple command. A rule that allows a launcher allows the commands
    /// that it launches.
    fn allowed(&self, leaves: &[CommandLeaf], sheet: &mut Sheet) -> Vec<RuleAllowance> {
        let own: Vec<RuleAllowance> = leaves
            .iter()
            .map(|leaf| {
                sheet.needs.gains_rights |= gains_rights(&leaf.program);
                self.is_allowed(leaf, sheet)
            })
            .collect();
        let one = |at: usize| own.get(at).copied().unwrap_or(RuleAllowance::No);
        let launchers = |at: usize| std::iter::successors(Some(at), |at| leaves.get(*at)?.launcher);
        let widest = |at: usize| launchers(at).map(one).find(|allowed| *allowed != RuleAllowance::No);
        (0..leaves.len()).map(|at| widest(at).unwrap_or(RuleAllowance::No)).collect()
    }

    /// The extent to which a rule or a grant allows a simple command.
    fn is_allowed(&self, leaf: &CommandLeaf, sheet: &mut Sheet) -> RuleAllowance {
        let thing =
            Thing::Command { program: &leaf.program, words: &leaf.words, is_foreign: leaf.is_foreign };
        let allowed = rule(thing, self.policy, sheet);
        // Rules and grants are about the program that the user knows by this name.
        if self.changeable_program(leaf).is_some() {
            return if self.is_pinned(leaf) { RuleAllowance::Granted } else { RuleAllowance::No };
        }
        let (places, links) = (&self.policy.places, self.now.named_links);
        let covers = |grant: &&Grant| {
            self.tells_enough(grant)
                && grant.covers_command(leaf, places, links)
                && self.binds(grant, &self.trips_of(leaf))
        };
        let is_granted = || self.now.grants.iter().any(|grant| covers(&grant));
        // A rule of a run lifts no question about places outside, also where no table says what a program does with its words.
        if allowed == RuleAllowance::ThisRun && !leaf.is_known && self.policy.mode == Mode::Production {
            let is_written_down = |word: &str| self.policy.rules.run_names(word);
            let is_inside = stays_inside(leaf, is_written_down, places, links);
            return if is_inside { allowed } else { RuleAllowance::No };
        }
        if allowed == RuleAllowance::No && is_granted() { RuleAllowance::Granted } else { allowed }
    }

    /// Judges a file that the command touches. Returns true if it is only read, and no secret.
    fn touch(&self, touch: &Touch, sheet: &mut Sheet) -> bool {
        let places = &self.policy.places;
        match (&touch.access, &touch.reach) {
            // The kernel closes protected paths to calls that nobody was asked about, even if the path is
            // unknown now.
            (TouchAccess::Look | TouchAccess::Read, TouchReach::Unknown(_)) => self.policy.holds_to_reading(),
            (TouchAccess::Look | TouchAccess::Read, reach) => self.reading(touch.access, reach, sheet),
            (TouchAccess::Write, TouchReach::Unknown(words)) => {
                let reason =
                    format!("it is not known what it writes to: `{}`", crate::display_command(words));
                sheet.ask(Weight::Contained, Risk::Medium, reason);
                false
            }
            (TouchAccess::Delete, TouchReach::Unknown(words)) => {
                let reason = format!("it is not known what it removes: `{}`", crate::display_command(words));
                sheet.ask(Weight::Contained, Risk::High, reason);
                false
            }
            (TouchAccess::Write, TouchReach::Path(path) | TouchReach::Beneath(path)) => {
                let allowed = rule(Thing::Write(path), self.policy, sheet);
                if let Some(reason) = self.closed_change(touch, path) {
                    sheet.deny(reason);
                }
                if socket(&touch.reach).is_some() {
                    // It is no file: the host is judged.
                } else if self.may_lead_outside(touch, path) {
                    let reason = format!("it may write `{}`, outside the workspace", shown(path));
                    sheet.ask(Weight::Contained, Risk::Medium, reason);
                } else if let Some(reason) = self.refused(touch, path, allowed) {
                    sheet.deny(reason);
                } else if let Some((change, opening)) = self.opening(touch, path) {
                    change.ask(opening, self.policy, sheet);
                } else if path.starts_with("/dev") {
                    sheet.ask(Weight::Hard, Risk::High, format!("it writes to the device `{}`", shown(path)));
                } else if is_guarded(path, places) {
                    sheet.ask(Weight::Hard, Risk::High, decides_what_runs("writes", path));
                    sheet.needs.asked.push(path.clone());
                } else if is_secret(path, places) && allowed != RuleAllowance::Always {
                    sheet.ask(Weight::Hard, Risk::High, changes_secrets("write", path));
                    sheet.needs.asked.push(path.clone());
                } else if is_open(path, places)
                    && allowed == RuleAllowance::No
                    && runs_later(path, places) == Some(Later::Unseen)
                {
                    let effect = describe_later(path, places).unwrap_or_default();
                    let reason = format!("it writes `{}`, which {effect}", shown(path));
                    sheet.ask(Weight::Seen, Risk::Medium, reason);
                } else if !is_open(path, places) {
                    sheet.ask(
                        Weight::Hard,
                        Risk::Medium,
                        format!("it writes `{}`, outside the workspace", shown(path)),
                    );
                }
                false
            }
            (TouchAccess::Followed, _) => true,
            (TouchAccess::Named, _) if self.policy.mode != Mode::Production => true,
            (TouchAccess::Named | TouchAccess::Perhaps, reach) => {
                ask_about_possible_change(reach, places, sheet);
                true
            }
            (TouchAccess::Discard, reach) => {
                self.discard(reach, sheet);
                false
            }
            (TouchAccess::Delete, reach) => {
                if let Some(reason) = reach.path().and_then(|path| self.closed_change(touch, path)) {
                    sheet.deny(reason);
                }
                self.removal(touch, sheet);
                false
            }
        }
    }

    /// Why no command changes the path, where the user listed the only ones.
    fn closed_change(&self, touch: &Touch, path: &Path) -> Option<String> {
        let is_file = socket(&touch.reach).is_none() && !path.starts_with("/dev");
        is_file.then(|| self.policy.limits.closed_change(path, &self.policy.places)).flatten()
    }

    /// Denies programs that no jail lets work. Nobody is asked about what cannot happen.
    fn barred(&self, leaves: &[CommandLeaf], sheet: &mut Sheet) {
        if !self.policy.holds_to_reading() {
            return;
        }
        for leaf in leaves {
            let words = leaf.words.get(1..).unwrap_or_default();
            let is_elsewhere = self.policy.has_remote_engine || names_engine(self.command);
            if let Some(reason) = barred_in_jail(&leaf.program, words, is_elsewhere) {
                sheet.deny(reason);
            }
            if leaf.program == "git" && leaf.effect == CommandEffect::Unknown && changes_own_settings(words) {
                sheet.deny(OWN_GIT_SETTINGS);
            }
        }
    }

    /// Why no answer lets a command change the path, where none does: the jail lets nothing change it, or it is closed to agents.
    fn refused(&self, touch: &Touch, path: &Path, allowed: RuleAllowance) -> Option<String> {
        let places = &self.policy.places;
        let (kind, verb) =
            if touch.access == TouchAccess::Delete { ("delete", "remove") } else { ("write", "write") };
        if !self.policy.holds_to_reading() {
            return is_closed(path, allowed, self.policy).then(|| closed(kind, path));
        }
        if is_untrusted(path, places) {
            return Some(untrusted(verb, path));
        }
        if is_sensitive(path, places) && !path.starts_with("/dev") {
            return Some(hidden(path));
        }
        if path.starts_with("/dev") {
            let is_there = JAIL_DEVICES.iter().any(|device| path.starts_with(device));
            return (!is_there).then(|| format!("the jail has no device `{}`", shown(path)));
        }
        if let Some(change) = self.change_outside(touch, path) {
            if change.is_outside(self.policy) {
                let closed = change.opening(self.policy, self.now).err();
                return closed.map(|why| outside_jail(&change, &why, self.policy));
            }
            let is_plan = self.policy.mode == Mode::Plan;
            let planned = || format!("plan mode: nothing is changed, and it {verb}s `{}`", shown(path));
            return Some(if is_plan { planned() } else { untrusted(verb, path) });
        }
        let shown = shown(path);
        is_git_order(path, places).then(|| {
            format!("the jail keeps commands from changing `{shown}`; `write_file` and `delete_path` can, after a question")
        })
    }

    /// Whether it is not certain that a change is outside the workspace, where the jail stops it if it is.
    fn may_lead_outside(&self, touch: &Touch, path: &Path) -> bool {
        touch.is_alternative && self.policy.is_confined() && !is_open(path, &self.policy.places)
    }

    /// The change of a path that no command in the jail has by itself.
    fn change_outside<'p>(&self, touch: &Touch, path: &'p Path) -> Option<OutsideChange<'p>> {
        let places = &self.policy.places;
        let is_layered =
            |home: &PathBuf| cache_places(home, |_| None).iter().any(|cache| path.starts_with(&cache.at));
        let is_had = is_open(path, places) || places.home.iter().any(is_layered);
        if is_had
            || !self.policy.holds_to_reading()
            || ["/proc", "/dev"].iter().any(|at| path.starts_with(at))
        {
            return None;
        }
        let verb = if touch.access == TouchAccess::Delete { "remove" } else { "write" };
        let manner = match &touch.reach {
            TouchReach::Beneath(_) => OutsideManner::Beneath,
            _ if touch.in_place && touch.access == TouchAccess::Write => OutsideManner::InPlace,
            _ => OutsideManner::ByName,
        };
        Some(OutsideChange { path, verb, manner })
    }

    /// The same, with what a yes opens.
    fn opening<'p>(&self, touch: &Touch, path: &'p Path) -> Option<(OutsideChange<'p>, OutsideOpening)> {
        let change = self.change_outside(touch, path)?;
        let opening = change.opening(self.policy, self.now).ok()?;
        Some((change, opening))
    }

    fn reading(&self, access: TouchAccess, reach: &TouchReach, sheet: &mut Sheet) -> bool {
        let places = &self.policy.places;
        let Some(path) = reach.path() else { return false };
        let allowed = rule(Thing::Read(path), self.policy, sheet);
        let is_pattern = matches!(reach, TouchReach::Beneath(_));
        if secret(path, allowed, self.policy, sheet) && allowed != RuleAllowance::Always {
            return false;
        }
        if is_pattern && access == TouchAccess::Read && !is_open(path, places) {
            sheet.needs.searched.push(path.to_owned());
        }
        let is_wide = (touches_any(path, &places.own) && !is_beneath_any(path, &places.scratch))
            || is_system_wide(path)
            || (access == TouchAccess::Read && holds_secrets(path, places));
        !(is_pattern && is_wide)
    }
}

/// Whether a pattern in this directory could reach special files, such as processes and devices.
fn is_system_wide(path: &Path) -> bool {
    path.parent().is_none()
        || path.starts_with("/proc")
        || path.starts_with("/dev")
        || path.starts_with("/etc")
}

/// A simple command as it was read, in one line.
fn told(leaf: &CommandLeaf) -> String {
    let words: Vec<String> = leaf.words.iter().map(ShellWord::unexpanded).collect();
    crate::display_command(&words.join(" "))
}

/// The text for the user about a command that asks only because commands ask.
fn named(leaves: &[&CommandLeaf]) -> String {
    let mut programs: Vec<String> = Vec::new();
    for leaf in leaves {
        let program = format!("`{}`", crate::display_command(&leaf.program));
        if !leaf.program.is_empty() && !programs.contains(&program) {
            programs.push(program);
        }
    }
    match programs.as_slice() {
        [] => "it sets variables or writes files".to_owned(),
        programs => format!("it runs {}", programs.join(", ")),
    }
}

/// The rule that `--allow` could have for a simple command: its program, with its subcommand.
fn advised_rule(leaf: &CommandLeaf) -> Option<AdvisedRule> {
    let is_name = |word: &&str| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_:".contains(letter))
    };
    let subcommand = leaf.words.get(1).and_then(ShellWord::literal);
    match subcommand.filter(is_name) {
        Some(subcommand) => AdvisedRule::commands(&format!("{} {subcommand}", leaf.program)),
        None => AdvisedRule::commands(&leaf.program),
    }
}

/// Whether a line could start something and go on, as far as its letters show. A quoted `&` counts too.
fn starts_in_background(command: &str) -> bool {
    let letters: Vec<char> = command.chars().collect();
    let at = |at: Option<usize>| at.and_then(|at| letters.get(at)).copied().unwrap_or(' ');
    (0..letters.len()).any(|place| {
        let (before, after) = (at(place.checked_sub(1)), at(Some(place + 1)));
        at(Some(place)) == '&' && !matches!(before, '&' | '>' | '<' | '|') && !matches!(after, '&' | '>')
    })
}
