//! Looking around: gathers the facts of the environment block on the default target, in parallel and within two seconds.

use std::sync::Arc;
use std::time::Duration;

use buddy_exec::{EntryKind, HostMeans, ListOptions, Reach, TOLD_PROGRAMS};
use buddy_policy::{Action, Approvals, Attendance, Intent, Mode, Policy, Verdict};
use buddy_protocol::{Clock, EnvironmentFact};
use buddy_web::Web;
use futures::future::join_all;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::briefing::place;
use crate::budget::{Budget, Limit};
use crate::environment::{UNCOMMITTED, clean, fact, fitted};
use crate::gate::{Gate, Ground, Standing};
use crate::project::{Project, ProjectTop};
use crate::targets::{Attached, Slot};
use crate::tools::{RepositoryGlance, Sight, glance_at_repository};

/// How long each part of the look may take.
const LOOK_WITHIN: Duration = Duration::from_secs(2);
/// Entries of the working directory that are looked at.
const MAX_ENTRIES: usize = 1_000;
/// Characters of a commit's subject.
const MAX_SUBJECT: usize = 60;
/// Bytes of a `.git` file that are read to see that it is there.
const GIT_BYTES: u64 = 64;

/// The things that a look around needs.
pub(crate) struct LookAround {
    pub(crate) slot: Slot,
    pub(crate) gate: Arc<Gate>,
    pub(crate) web: Arc<Web>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) budget: Budget,
    pub(crate) max_steps: u32,
    /// Whether the model's window has room for a few facts only.
    pub(crate) is_brief: bool,
}

impl LookAround {
    /// The facts, as far as they could be found in time.
    pub(crate) async fn gather(self) -> Vec<EnvironmentFact> {
        let spec = self.slot.spec();
        let Some(attached) = self.slot.attached() else {
            let host = format!("{}, which cannot be used at the moment", spec.name);
            return vec![fact("host", &host), fact("working directory", &spec.cwd)];
        };
        let described = attached.host.target.describe();
        let mut facts = vec![
            fact("host", &place(spec)),
            fact("system", &described.os),
            fact("shell", &described.shell),
            fact("working directory", &spec.cwd),
        ];
        let added = attached.host.added.iter().map(|path| path.to_string_lossy().into_owned());
        let added = added.collect::<Vec<_>>().join(", ");
        facts.extend((!added.is_empty()).then(|| fact("further directories to work in", &added)));
        facts.extend(date(&*self.clock, &described.means));
        if self.is_brief {
            return facts;
        }
        facts.extend(self.rules(attached));
        facts.extend(limits(self.budget.session, self.max_steps));
        let is_confined =
            self.gate.standing(ground(attached)).is_ok_and(|standing| standing.policy.is_confined());
        facts.extend(means(&described.means, &described.user, is_confined));
        let (top, repository) = tokio::join!(self.top(attached), self.repository(attached));
        let (names, top) = top.unwrap_or_default();
        facts.extend(repository.map(repository_facts).unwrap_or_default());
        facts.extend(project(&top));
        fitted(facts, &names)
    }

    /// The bounds of jail and network, and who approves.
    fn rules(&self, attached: &Attached) -> Vec<EnvironmentFact> {
        let Ok(standing) = self.gate.standing(ground(attached)) else { return Vec::new() };
        vec![
            fact("commands can write", &writable(&standing, attached)),
            fact("network", network(&standing)),
            fact("approvals", &approvals(&standing)),
        ]
    }

    /// A view for reading the working directory, if policy lets the agent read it.
    fn sight(&self, attached: &Attached) -> Option<Sight> {
        let intent = Intent::of(Action::Read(attached.place.cwd.clone()));
        let judged = self.gate.judge(&intent, ground(attached)).ok()?;
        (judged.decision.verdict == Verdict::Allow).then(|| Sight {
            target: attached.host.target.clone(),
            place: attached.place.clone(),
            bounds: judged.bounds,
            web: self.web.clone(),
            env: attached.host.env.clone(),
            programs: attached.host.programs.clone(),
            cancel: CancellationToken::new(),
        })
    }

    /// The names in the working directory, and the files there that name commands.
    async fn top(&self, attached: &Attached) -> Option<(Vec<String>, ProjectTop)> {
        let sight = self.sight(attached)?;
        let cwd = &attached.place.cwd;
        let options = ListOptions { depth: 1, limit: MAX_ENTRIES, with_ignored: true };
        let look = async {
            let listing = sight.target.list(&sight.bounds, cwd, options).await.ok()?;
            let (mut names, mut top) = (Vec::new(), ProjectTop::default());
            for entry in listing.entries {
                let Some(name) = entry.path.to_str().map(str::to_owned) else { continue };
                let mark = if entry.kind == EntryKind::Directory { "/" } else { "" };
                if name != ".git" {
                    names.push(format!("{name}{mark}"));
                }
                top.names.insert(name);
            }
            let there = ProjectTop::READ.iter().filter(|name| top.names.contains(**name));
            let texts = join_all(there.map(|name| {
                let (sight, path) = (&sight, cwd.join(name));
                async move {
                    let content =
                        sight.target.read(&sight.bounds, &path, ProjectTop::MAX_BYTES).await.ok()?;
                    Some((*name, String::from_utf8_lossy(&content.bytes).into_owned()))
                }
            }));
            top.texts = texts.await.into_iter().flatten().collect();
            Some((names, top))
        };
        timeout(LOOK_WITHIN, look).await.ok().flatten()
    }

    /// A glance at the repository that the working directory belongs to.
    async fn repository(&self, attached: &Attached) -> Option<RepositoryGlance> {
        let sight = self.sight(attached)?;
        let cancel = sight.cancel.clone();
        let look = async {
            if !attached.host.is_remote && !is_in_repository(&sight, attached).await {
                return None;
            }
            glance_at_repository(&attached.place.cwd, &sight).await
        };
        let glance = timeout(LOOK_WITHIN, look).await;
        cancel.cancel();
        glance.ok().flatten()
    }
}

fn ground(attached: &Attached) -> Ground<'_> {
    Ground { source: &*attached.host.policy, cwd: &attached.place.cwd }
}

/// Whether the working directory or one above it has a `.git`. Starting git costs more than a look.
async fn is_in_repository(sight: &Sight, attached: &Attached) -> bool {
    let marks = attached.place.cwd.ancestors().flat_map(|directory| {
        let git = directory.join(".git");
        [git.join("HEAD"), git]
    });
    for mark in marks {
        if sight.target.read(&sight.bounds, &mark, GIT_BYTES).await.is_ok() {
            return true;
        }
    }
    false
}

fn repository_facts(glance: RepositoryGlance) -> Vec<EnvironmentFact> {
    let RepositoryGlance { top, branch, uncommitted, subjects } = glance;
    let mut facts = vec![fact("git repository", &top), fact("git branch", &branch)];
    facts.extend(uncommitted.map(|count| fact(UNCOMMITTED, &count.to_string())));
    let subjects: Vec<String> =
        subjects.iter().map(|subject| format!("“{}”", clean(subject, MAX_SUBJECT))).collect();
    facts.extend((!subjects.is_empty()).then(|| fact("recent commits", &subjects.join(", "))));
    facts
}

fn project(top: &ProjectTop) -> Option<EnvironmentFact> {
    let Project { languages, commands, .. } = Project::of(String::new(), top);
    let commands = commands.iter().map(|(what, command)| format!("{what} with `{command}`"));
    let parts: Vec<String> = languages.iter().map(ToString::to_string).chain(commands).collect();
    (!parts.is_empty()).then(|| fact("project", &parts.join(", ")))
}

fn date(clock: &dyn Clock, means: &HostMeans) -> Option<EnvironmentFact> {
    let now = Timestamp::from_nanosecond(i128::try_from(clock.nanos()).ok()?).ok()?;
    let (name, seconds) = means.zone.clone().unwrap_or_else(|| ("UTC".to_owned(), 0));
    let zone = TimeZone::fixed(Offset::from_seconds(seconds).ok()?);
    let date = now.to_zoned(zone).strftime("%A %Y-%m-%d, UTC%:z").to_string();
    Some(fact("date", &format!("{date} ({name})")))
}

/// Programs that reach a service which the jail keeps from commands.
const USELESS_IN_JAIL: &[&str] = &["docker", "podman"];

fn means(means: &HostMeans, user: &str, is_confined: bool) -> Vec<EnvironmentFact> {
    let cores =
        means.cores.map(|count| if count == 1 { "1 core".to_owned() } else { format!("{count} cores") });
    let memory = means.memory.map(|bytes| format!("{:.1} GiB of memory", gibibytes(bytes)));
    let account = if user == "root" { "running as root" } else { "an ordinary account" };
    let machine: Vec<String> =
        cores.into_iter().chain(memory).chain(std::iter::once(account.to_owned())).collect();
    let mut facts = vec![fact("machine", &machine.join(", "))];
    if let Some(programs) = &means.programs {
        let told =
            TOLD_PROGRAMS.iter().copied().filter(|name| !is_confined || !USELESS_IN_JAIL.contains(name));
        let (there, missing): (Vec<&str>, Vec<&str>) =
            told.partition(|name| programs.iter().any(|program| program == name));
        let (there, missing) = (there.join(" "), missing.join(" "));
        let value = match (there.is_empty(), missing.is_empty()) {
            (false, false) => format!("{there}; missing: {missing}"),
            (false, true) => there,
            (true, _) => format!("missing: {missing}"),
        };
        facts.push(fact("programs", &value));
    }
    facts
}

fn gibibytes(bytes: u64) -> f64 {
    let mebibytes = u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
    f64::from(mebibytes) / 1024.0
}

/// Where commands write that nobody is asked about.
fn writable(standing: &Standing, attached: &Attached) -> String {
    let Standing { policy, bounds, .. } = standing;
    if policy.only_reads(&attached.place.cwd) {
        return "nothing, since the user has not trusted this folder".to_owned();
    }
    match &bounds.write {
        Reach::Nothing => "nothing".to_owned(),
        Reach::Anywhere => "everything that the account can write".to_owned(),
        Reach::Beneath(roots) => {
            let roots = roots.iter().map(|root| root.to_string_lossy().into_owned());
            roots.collect::<Vec<_>>().join(", ")
        }
    }
}

fn network(standing: &Standing) -> &'static str {
    let Policy { mode, places, is_offline, is_throwaway, has_broker, .. } = &*standing.policy;
    let is_watched = standing.attendance == Attendance::Somebody;
    match () {
        () if *is_offline => "off",
        () if *mode == Mode::Production || places.remote || *is_throwaway => "direct",
        () if *has_broker && is_watched => {
            "through a proxy; the user is asked about hosts that they neither allowed nor named"
        }
        () if *has_broker => "through a proxy; hosts that the user neither allowed nor named are refused",
        () => "none for commands that run without an approval",
    }
}

fn approvals(standing: &Standing) -> String {
    let Standing { policy, approvals, attendance, .. } = standing;
    let rest = match attendance {
        Attendance::Somebody => "the user is asked about the rest",
        Attendance::Nobody => "nobody can be asked, so the rest is denied",
    };
    let is_jailless = policy.mode == Mode::Development && policy.places.remote;
    match (approvals, policy.mode) {
        (Approvals::All, _) if !is_jailless => {
            "everything that policy does not refuse is approved".to_owned()
        }
        (Approvals::None, _) => "calls that would need an approval are denied".to_owned(),
        (_, Mode::Production) => format!("calls that are not dangerous run at once; {rest}"),
        (Approvals::Auto, _) if policy.is_confined() => {
            format!("commands that the jail holds and undo reverts run at once; {rest}")
        }
        (Approvals::Edits, _) => format!("reading and edits in the workspace run at once; {rest}"),
        (Approvals::Window, _) if !is_jailless => {
            format!("everything that is not dangerous runs at once; {rest}")
        }
        _ => format!("reading runs at once; {rest}"),
    }
}

fn limits(limit: Limit, max_steps: u32) -> Option<EnvironmentFact> {
    let steps = (max_steps < u32::MAX).then(|| format!("{max_steps} model calls a turn"));
    let calls = limit.calls.map(|count| format!("{count} model calls in this session"));
    let tokens = limit.tokens.map(|count| format!("{count} tokens in this session"));
    let cost = limit.cost.map(|cost| format!("{cost} in this session"));
    let parts: Vec<String> = [steps, calls, tokens, cost].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| fact("limits", &parts.join(", ")))
}
