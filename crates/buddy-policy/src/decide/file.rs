//! Files: reads, writes and removals by tools.

use std::path::{Path, PathBuf};

use buddy_protocol::Risk;

use super::outside::{OutsideChange, OutsideManner};
use super::sheet::{Sheet, Weight};
use crate::grant::{file_offer, repository_offer, write_offer};
use crate::guarded::{is_guarded, is_secret, is_sensitive};
use crate::later::{Later, describe_later, runs_later};
use crate::path::{clean, is_beneath_any, shown};
use crate::places::{holds_a_root, is_open, is_untrusted};
use crate::rules::Thing;
use crate::{Mode, Now, Places, Policy, RepositoryChange, RuleAction, RuleTier};

/// Devices that hold no data. Reading one asks, and does not count as reading a secret.
const PLAIN_DEVICES: &[&str] = &[
    "/dev/fd",
    "/dev/full",
    "/dev/pts",
    "/dev/random",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tty",
    "/dev/urandom",
];

pub(crate) fn read(path: &Path, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    let path = clean(path);
    if is_among_logs(&path, &policy.places) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !now.trail.has_log(name) {
            // Another session may have been allowed to read secrets, and its log has what a command printed of them.
            return sheet.deny(format!("`{}` is no log of a command of this conversation", shown(&path)));
        }
        sheet.needs.logs.push(path.clone());
    }
    if let Some(reason) = policy.limits.closed_file(&path, &policy.places) {
        return sheet.deny(reason);
    }
    let allowed = rule(Thing::Read(&path), policy, sheet);
    secret(&path, allowed, policy, sheet);
}

/// Whether a path is where logs of commands are: the places of buddy that are read and in which nothing is shared.
fn is_among_logs(path: &Path, places: &Places) -> bool {
    let mut logs = places.own_readable.iter().filter(|place| !places.scratch.contains(place));
    logs.any(|logs| path.starts_with(logs))
}

/// Notes that a secret place would be read, and asks unless a lasting rule allows it. Returns true if it is
/// one.
pub(crate) fn secret(path: &Path, allowed: RuleAllowance, policy: &Policy, sheet: &mut Sheet) -> bool {
    if !is_secret(path, &policy.places) {
        return false;
    }
    if PLAIN_DEVICES.iter().any(|device| path.starts_with(device)) {
        if allowed != RuleAllowance::Always {
            sheet.ask(Weight::Hard, Risk::High, format!("it reads the device `{}`", shown(path)));
        }
        return true;
    }
    sheet.reads_secret();
    if sheet.needs.runs && policy.holds_to_reading() && is_sensitive(path, &policy.places) {
        sheet.deny(hidden(path));
        return true;
    }
    if is_closed(path, allowed, policy) {
        sheet.deny(closed("read", path));
        return true;
    }
    if allowed == RuleAllowance::Always {
        sheet.needs.ruled.push(path.to_owned());
    } else {
        sheet.needs.asked.push(path.to_owned());
        let shown = shown(path);
        sheet.ask(Weight::Boundary, Risk::High, format!("it reads `{shown}`, which can hold secrets"));
        sheet.way(by_rule("read", &shown));
    }
    true
}

/// Whether a path is one that no answer opens to an agent: a rule that lasts does.
pub(crate) fn is_closed(path: &Path, allowed: RuleAllowance, policy: &Policy) -> bool {
    !policy.is_throwaway && allowed != RuleAllowance::Always && is_sensitive(path, &policy.places)
}

/// Why a path stays closed whatever is answered, and the one thing that opens it.
pub(crate) fn closed(kind: &str, path: &Path) -> String {
    let shown = shown(path);
    format!(
        "`{shown}` is closed to agents, as it can hold keys or passwords or decides what buddy may do; only `{{ {kind} = \"{shown}\" }}` under `allow` in your own rules.toml opens it"
    )
}

/// Why a command in the jail does not find a path.
pub(crate) fn hidden(path: &Path) -> String {
    format!("the jail hides `{}` from commands; run it yourself in another terminal", shown(path))
}

/// The rule that allows a call which no prior answer covers.
pub(crate) fn by_rule(kind: &str, shown: &str) -> String {
    format!(
        "`{{ {kind} = \"{shown}\" }}` under `allow` in your own rules.toml, or production mode with `--approve all`"
    )
}

pub(crate) fn write(path: &Path, is_edit: bool, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    sheet.changes_something();
    let path = clean(path);
    if policy.mode == Mode::Plan {
        sheet.deny(format!("plan mode: nothing is written, and it writes `{}`", shown(&path)));
        return;
    }
    if let Some(reason) = policy.limits.closed_file(&path, &policy.places) {
        return sheet.deny(reason);
    }
    let allowed = rule(Thing::Write(&path), policy, sheet);
    let is_at_work = is_beneath_any(&path, &policy.places.workspace);
    let later = runs_later(&path, &policy.places).filter(|_| is_at_work);
    let is_later = later.is_some();
    let is_granted = now.grants.iter().any(|grant| {
        grant.covers_file(&path, &policy.places) || (!is_later && grant.covers_write(&path, &policy.places))
    });
    if policy.mode == Mode::Development && is_untrusted(&path, &policy.places) {
        return sheet.deny(untrusted("write", &path));
    }
    if is_closed(&path, allowed, policy) {
        return sheet.deny(closed("write", &path));
    }
    if policy.mode == Mode::Development && !is_open(&path, &policy.places) {
        return change_outside("write", &path, policy, now, sheet);
    }
    if is_guarded(&path, &policy.places) || now.is_git_part(&path) {
        return guarded("writes", &path, sheet);
    }
    if is_sealed(&path, policy) {
        return sealed("write", &path, allowed, sheet);
    }
    match (policy.mode, is_open(&path, &policy.places)) {
        (Mode::Development | Mode::Plan, _) if allowed == RuleAllowance::No && !is_granted => {
            let weight = match later {
                Some(Later::Unseen) => Weight::Seen,
                None if is_edit && is_at_work => Weight::Edit,
                None | Some(Later::LikeCode) => Weight::Soft,
            };
            let why = describe_later(&path, &policy.places).filter(|_| is_later);
            let why = why.map(|effect| format!(", which {effect}")).unwrap_or_default();
            let reason = format!("it writes `{}`{why}", shown(&path));
            sheet.ask(weight, Risk::Medium, reason);
            let wide = write_offer(&path, &policy.places).filter(|_| !is_later);
            for offer in wide.into_iter().chain([file_offer(&path, &policy.places)]) {
                sheet.offer(offer);
            }
        }
        (Mode::Production, false) if allowed != RuleAllowance::Always => {
            let reason = format!("it writes `{}`, outside the workspace", shown(&path));
            sheet.ask(Weight::Hard, Risk::Medium, reason);
        }
        _ => {}
    }
}

/// Judges a change of a repository's records. Its files stay as they are, and a commit is undone by another.
pub(crate) fn repository(
    top: &Path,
    change: RepositoryChange,
    policy: &Policy,
    now: &Now<'_>,
    sheet: &mut Sheet,
) {
    sheet.changes_something();
    let top = clean(top);
    let verb = match change {
        RepositoryChange::Stage => "stages files in",
        RepositoryChange::Commit => "makes a commit in",
        RepositoryChange::Receive => return receive(&top, &top, false, policy, sheet),
    };
    if policy.mode == Mode::Plan {
        return sheet.deny(format!("plan mode: nothing is changed, and it {verb} `{}`", shown(&top)));
    }
    let allowed = rule(Thing::Write(&top), policy, sheet);
    if policy.mode == Mode::Development && is_untrusted(&top, &policy.places) {
        return sheet.deny(untrusted("write", &top));
    }
    let is_granted = now.grants.iter().any(|grant| grant.covers_repository(&top, change, &policy.places));
    match (policy.mode, is_open(&top, &policy.places)) {
        (Mode::Production, false) if allowed != RuleAllowance::Always => {
            let reason = format!("it {verb} `{}`, outside the workspace", shown(&top));
            sheet.ask(Weight::Hard, Risk::Medium, reason);
        }
        (Mode::Development, false) => sheet.deny(outside("write", &top, policy)),
        (Mode::Development, true) if allowed == RuleAllowance::No && !is_granted => {
            sheet.ask(Weight::Soft, Risk::Medium, format!("it {verb} `{}`", shown(&top)));
            sheet.offer(repository_offer(&top, change, &policy.places));
        }
        _ => {}
    }
}

/// Judges a push to a repository that is a folder of this host, `real` being where its name leads. What a user allows is open to
/// this one call, or to this very push for as long as they say; protected places are not, whatever anybody says.
pub(crate) fn receive(named: &Path, real: &Path, is_granted: bool, policy: &Policy, sheet: &mut Sheet) {
    sheet.changes_something();
    let places = &policy.places;
    let real = clean(real);
    for path in [&clean(named), &real] {
        if policy.mode == Mode::Plan {
            return sheet.deny(format!("plan mode: nothing is pushed, and it pushes to `{}`", shown(path)));
        }
        rule(Thing::Write(path), policy, sheet);
        if policy.mode == Mode::Development && is_untrusted(path, places) {
            return sheet.deny(untrusted("push to", path));
        }
        if is_guarded(path, places) || is_secret(path, places) || holds_a_root(path, places) {
            return sheet.deny(format!("it pushes to `{}`, a protected place", shown(path)));
        }
    }
    if real != clean(named) {
        let (named, real) = (shown(named), shown(&real));
        return sheet.deny(format!("`{named}` leads to `{real}`; give the remote that folder"));
    }
    if is_open(&real, places) {
        return;
    }
    let reason = format!("it writes the repository `{}`, outside the workspace", shown(&real));
    if is_granted {
        sheet.needs.opens_granted = true;
    } else {
        sheet.ask_for_grant(Weight::Hard, Risk::Medium, reason);
    }
    sheet.needs.written.push(real);
}

pub(crate) fn delete(path: &Path, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    sheet.changes_something();
    let path = clean(path);
    if policy.mode == Mode::Plan {
        sheet.deny(format!("plan mode: nothing is removed, and it removes `{}`", shown(&path)));
        return;
    }
    if let Some(reason) = policy.limits.closed_file(&path, &policy.places) {
        return sheet.deny(reason);
    }
    let allowed = rule(Thing::Delete(&path), policy, sheet);
    let places = &policy.places;
    removes_protected(&path, policy, now, sheet);
    if policy.mode == Mode::Development && is_untrusted(&path, places) {
        sheet.deny(untrusted("remove", &path));
    } else if holds_a_root(&path, places) {
        sheet.deny(format!("it would remove `{}` with all that is worked on", shown(&path)));
    } else if is_closed(&path, allowed, policy) {
        sheet.deny(closed("delete", &path));
    } else if policy.mode == Mode::Development && !is_open(&path, places) {
        change_outside("remove", &path, policy, now, sheet);
    } else if is_guarded(&path, places) {
        guarded("removes", &path, sheet);
    } else if is_sealed(&path, policy) {
        sealed("delete", &path, allowed, sheet);
    } else if !is_open(&path, places) {
        let reason = format!("it removes `{}`, outside the workspace", shown(&path));
        sheet.ask(Weight::Hard, Risk::High, reason);
    } else if policy.mode == Mode::Development && allowed == RuleAllowance::No && now.loses(&path) {
        sheet.ask(Weight::Hard, Risk::High, loses(&path, policy));
    } else if policy.mode == Mode::Development && allowed == RuleAllowance::No {
        sheet.ask(Weight::Firm, Risk::Medium, format!("it removes `{}`", shown(&path)));
    }
}

/// Asks about protected files that go with a directory, as about each by itself.
fn removes_protected(directory: &Path, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    let found = || now.removed_within.iter().filter(|path| path.starts_with(directory));
    if found().any(|path| path == directory) {
        let reason =
            format!("it removes `{}`, which has too many files to look for protected ones", shown(directory));
        return sheet.ask(Weight::Boundary, Risk::High, reason);
    }
    let (orders, secrets): (Vec<&PathBuf>, Vec<&PathBuf>) =
        found().partition(|path| is_guarded(path, &policy.places));
    let is_asked = |path: &&PathBuf| rule(Thing::Delete(path), policy, sheet) != RuleAllowance::Always;
    let secrets: Vec<&PathBuf> = secrets.into_iter().filter(is_asked).collect();
    if let Some((first, others)) = orders.split_first() {
        let more = and_others(others.len());
        let reason = format!(
            "it removes `{}`{more}, which can run code later or loosen what buddy allows",
            shown(first)
        );
        sheet.ask(Weight::Boundary, Risk::High, reason);
        sheet.way("production mode with `--approve all`, or a change of your own".to_owned());
    }
    if let Some((first, others)) = secrets.split_first() {
        let reason =
            format!("it removes `{}`{}, which can hold secrets", shown(first), and_others(others.len()));
        sheet.ask(Weight::Boundary, Risk::High, reason);
        sheet.way(by_rule("delete", &shown(first)));
    }
    sheet.changed_orders.extend(orders.iter().copied().cloned());
    sheet.changed_secrets.extend(secrets.iter().copied().cloned());
    sheet.needs.asked.extend(orders.into_iter().chain(secrets).cloned());
}

fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " and 1 other file".to_owned(),
        count => format!(" and {count} other files"),
    }
}

/// The reason to ask about a removal that undo does not bring back.
pub(crate) fn loses(path: &Path, policy: &Policy) -> String {
    let why = if policy.is_without_undo {
        "and a run with `--ephemeral` keeps nothing for undo"
    } else {
        "which undo would not bring back"
    };
    format!("it removes `{}`, {why}", shown(path))
}

/// Asks about a tool's change of a path that the kernel guards from commands.
fn guarded(verb: &str, path: &Path, sheet: &mut Sheet) {
    sheet.changed_orders.push(path.to_owned());
    sheet.ask(Weight::Boundary, Risk::High, decides_what_runs(verb, path));
    sheet.way("production mode with `--approve all`, or a change of your own".to_owned());
    sheet.needs.asked.push(path.to_owned());
}

/// Whether a path can hold secrets and a tool may change it at all.
fn is_sealed(path: &Path, policy: &Policy) -> bool {
    is_secret(path, &policy.places) && (policy.mode == Mode::Production || is_open(path, &policy.places))
}

/// Asks about a change of a file with secrets by a tool, unless a lasting rule allows it: its old content is
/// lost.
fn sealed(kind: &str, path: &Path, allowed: RuleAllowance, sheet: &mut Sheet) {
    sheet.changed_secrets.push(path.to_owned());
    if allowed == RuleAllowance::Always {
        return sheet.needs.ruled.push(path.to_owned());
    }
    sheet.ask(Weight::Boundary, Risk::High, changes_secrets(kind, path));
    sheet.way(by_rule(kind, &shown(path)));
    sheet.needs.asked.push(path.to_owned());
}

pub(crate) fn changes_secrets(kind: &str, path: &Path) -> String {
    let verb = if kind == "delete" { "removes" } else { "writes" };
    format!("it {verb} `{}`, which can hold secrets", shown(path))
}

pub(crate) fn decides_what_runs(verb: &str, path: &Path) -> String {
    format!("it {verb} `{}`, which can run code later or loosen what buddy allows", shown(path))
}

/// Judges a change by a tool outside the workspace, in development.
fn change_outside(verb: &'static str, path: &Path, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    let change = OutsideChange { path, verb, manner: OutsideManner::Alone };
    if !change.is_outside(policy) {
        return sheet.deny(outside(verb, path, policy));
    }
    match change.opening(policy, now) {
        Ok(opening) => change.ask(opening, policy, sheet),
        Err(why) => sheet.deny(format!("{}; {why}", outside(verb, path, policy))),
    }
}

fn outside(verb: &str, path: &Path, policy: &Policy) -> String {
    let places = &policy.places;
    // On another host only a trusted directory is a workspace.
    let instead = if places.remote && places.workspace.is_empty() {
        "start buddy with `--trust` to let it change the directory there, or use production mode"
    } else {
        "open that directory as a workspace, or use production mode"
    };
    format!("development mode: it would {verb} `{}`, outside the workspace; {instead}", shown(path))
}

/// The reason why nothing is changed there, for people and for the model.
pub(crate) fn untrusted(verb: &str, path: &Path) -> String {
    format!(
        "this folder is untrusted, so it is read-only: it would {verb} `{}`; the user can run /trust to allow changes",
        shown(path)
    )
}

/// Whether rules allow a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleAllowance {
    No,
    /// By a rule of this run alone, which lifts no question about secrets and places outside: a line of a
    /// script is no decision about keys.
    ThisRun,
    /// By a grant, which covers what its label says.
    Granted,
    /// By a lasting rule in a file.
    Always,
}

/// Notes the verdict of the rules, and returns whether they allow it.
pub(crate) fn rule(thing: Thing<'_>, policy: &Policy, sheet: &mut Sheet) -> RuleAllowance {
    let Some(finding) = policy.rules.find(thing, &policy.places) else { return RuleAllowance::No };
    match finding.action {
        RuleAction::Deny => sheet.deny(finding.reason),
        RuleAction::Ask => sheet.ask(Weight::Hard, Risk::Medium, finding.reason),
        RuleAction::Allow if finding.tier == RuleTier::Run => return RuleAllowance::ThisRun,
        RuleAction::Allow => return RuleAllowance::Always,
    }
    RuleAllowance::No
}
