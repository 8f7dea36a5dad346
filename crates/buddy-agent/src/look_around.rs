//! Looking around: gathers the facts of the environment block on the default target, in parallel and within two seconds.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use buddy_calls::{
    Attached, Gate, RepositoryGlance, Sight, Slot, Standing, glance_at_repository, look_at_workspace,
};
use buddy_exec::{EntryKind, HostMeans, ListOptions, Reach, TOLD_PROGRAMS};
use buddy_policy::{Attendance, CallClass, Mode, Policy, Verdict};
use buddy_protocol::{Clock, EnvironmentFact, SpendingLimit};
use buddy_web::Web;
use futures::future::join_all;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use tokio::time::timeout;

use crate::briefing::place;
use crate::environment::{UNCOMMITTED, clean, fact, fitted, long_fact};
use crate::project::{Project, ProjectTop};

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
    /// The limit on what the session may spend.
    pub(crate) limit: SpendingLimit,
    pub(crate) max_steps: u32,
    pub(crate) time_limit: Option<Duration>,
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
        facts.extend(self.rules(attached));
        if self.is_brief {
            return facts;
        }
        facts.extend(limits(self.limit, self.max_steps, self.time_limit));
        let is_jailed =
            self.gate.standing_unplanned(attached.ground()).is_ok_and(|standing| standing.policy.is_jailed());
        facts.extend(means(&described.means, &described.user, is_jailed));
        let (top, repository) = tokio::join!(self.top(attached), self.repository(attached));
        let (names, top) = top.unwrap_or_default();
        facts.extend(repository.map(repository_facts).unwrap_or_default());
        facts.extend(project(&top));
        fitted(facts, &names)
    }

    /// The bounds of jail and network, and who approves.
    fn rules(&self, attached: &Attached) -> Vec<EnvironmentFact> {
        let Ok(standing) = self.gate.standing(attached.ground()) else { return Vec::new() };
        let has_panes = attached.host.target.panes().is_some();
        // No class is told of calls that the session has no means for.
        let is_told = |class: &CallClass| match class {
            CallClass::Typing => has_panes,
            CallClass::Searches => !standing.policy.is_offline,
            _ => true,
        };
        let classes: Vec<CallClass> = CallClass::ALL.into_iter().filter(is_told).collect();
        let mut facts = vec![
            long_fact("commands can write", &writable(&standing, &attached.place.cwd)),
            fact("network", network(&standing)),
            long_fact("approvals", &approvals(&standing, &classes)),
        ];
        facts.extend(undo(&standing));
        facts
    }

    /// The names in the working directory, and the files there that name commands.
    async fn top(&self, attached: &Attached) -> Option<(Vec<String>, ProjectTop)> {
        let sight = look_at_workspace(&self.gate, attached, &self.web)?;
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
        in_time(look).await
    }

    /// A glance at the repository that the working directory belongs to.
    async fn repository(&self, attached: &Attached) -> Option<RepositoryGlance> {
        let sight = look_at_workspace(&self.gate, attached, &self.web)?;
        let cancel = sight.cancel.clone();
        let look = async {
            if !attached.host.is_remote && !is_in_repository(&sight, attached).await {
                return None;
            }
            glance_at_repository(&attached.place.cwd, &sight).await
        };
        let glance = in_time(look).await;
        cancel.cancel();
        glance
    }
}

/// The outcome of a look; none if it takes too long, as a listing of a dead network drive does, or a program that hangs.
async fn in_time<T>(look: impl Future<Output = Option<T>>) -> Option<T> {
    timeout(LOOK_WITHIN, look).await.ok().flatten()
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

fn means(means: &HostMeans, user: &str, is_jailed: bool) -> Vec<EnvironmentFact> {
    let cores =
        means.cores.map(|count| if count == 1 { "1 core".to_owned() } else { format!("{count} cores") });
    let memory = means.memory.map(|bytes| format!("{:.1} GiB of memory", gibibytes(bytes)));
    let account = if user == "root" { "running as root" } else { "an ordinary account" };
    let machine: Vec<String> =
        cores.into_iter().chain(memory).chain(std::iter::once(account.to_owned())).collect();
    let mut facts = vec![fact("machine", &machine.join(", "))];
    if let Some(programs) = &means.programs {
        let told = TOLD_PROGRAMS.iter().copied().filter(|name| !is_jailed || !USELESS_IN_JAIL.contains(name));
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

/// Where commands can write.
fn writable(standing: &Standing, cwd: &Path) -> String {
    let Standing { policy, bounds, attendance, .. } = standing;
    if policy.mode == Mode::Plan {
        return "nothing (plan mode)".to_owned();
    }
    if policy.only_reads(cwd) {
        return "nothing, since the user has not trusted this folder".to_owned();
    }
    if standing.verdict(CallClass::Commands) == Verdict::Deny {
        return "nothing, since commands that change something are denied".to_owned();
    }
    let elsewhere = match (standing.verdict(CallClass::Outside), attendance) {
        (Verdict::Allow, _) => return writable_alone(&bounds.write),
        (_, Attendance::Somebody) => "need approval",
        (_, Attendance::Nobody) => "are denied",
    };
    let scratch = if standing.verdict(CallClass::Scratch) == Verdict::Allow { " and `/tmp`" } else { "" };
    match &bounds.write {
        Reach::Anywhere => {
            format!("the workspace{scratch}; commands that name other places {elsewhere} (no sandbox)")
        }
        held => with_caches(writable_alone(held), policy),
    }
}

/// Where commands can write, with the layer over package caches that those of a trusted workspace have.
fn with_caches(places: String, policy: &Policy) -> String {
    if policy.is_confined() { format!("{places}, and package caches in a copy of their own") } else { places }
}

fn writable_alone(reach: &Reach) -> String {
    match reach {
        Reach::Nothing => "nothing".to_owned(),
        Reach::Anywhere => "everything that the account can write (no sandbox)".to_owned(),
        Reach::Beneath(roots) => {
            let roots = roots.iter().map(|root| root.to_string_lossy().into_owned());
            roots.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Told where nothing can be undone at all. There, deletions without a question are those in places for temporary files.
fn undo(standing: &Standing) -> Option<EnvironmentFact> {
    let is_held = standing.verdict(CallClass::Deletions) != Verdict::Allow
        && standing.verdict(CallClass::Scratch) == Verdict::Allow;
    let scratch = if is_held { "; make files that you want to remove again in `/tmp`" } else { "" };
    let none = format!("none: nothing that this run changes or removes can be restored{scratch}");
    standing.policy.is_without_undo.then(|| fact("undo", &none))
}

fn network(standing: &Standing) -> &'static str {
    let hosts = standing.verdict(CallClass::Hosts);
    let Policy { mode, places, is_offline, is_throwaway, has_broker, .. } = &*standing.policy;
    let is_watched = standing.attendance == Attendance::Somebody;
    match () {
        () if *is_offline => "off",
        () if *mode == Mode::Production && hosts == Verdict::Ask => {
            "direct; the user is asked about commands that name a new host on another machine"
        }
        () if *mode == Mode::Production && hosts == Verdict::Deny => {
            "direct; commands that name a new host on another machine are denied"
        }
        () if *mode == Mode::Plan => "none for commands",
        () if *mode == Mode::Production || places.remote || *is_throwaway => "direct",
        () if *has_broker && is_watched => {
            "through a proxy; the user is asked about hosts that they neither allowed nor named"
        }
        () if *has_broker => "through a proxy; hosts that the user neither allowed nor named are refused",
        () => "none for commands that run without an approval",
    }
}

/// A class of calls in words.
fn class_name(class: CallClass) -> &'static str {
    match class {
        CallClass::Reading => "reading",
        CallClass::Searches => "web searches",
        CallClass::Edits => "file edits in the workspace",
        CallClass::Scratch => "file edits in `/tmp`",
        CallClass::BuildFiles => "build files such as `Makefile`",
        CallClass::Orders => "`AGENTS.md`, CI, hook and editor files",
        CallClass::Deletions => "file deletions in the workspace",
        CallClass::Commands => "commands in the workspace",
        CallClass::Unknown => "programs whose effects are unknown",
        CallClass::Background => "servers and other processes that are to run on",
        CallClass::Dangerous => "dangerous commands such as `pkill`",
        CallClass::Typing => "keys in a shared pane",
        CallClass::Unkept => "deletions that undo cannot restore",
        CallClass::Publishing => "pushes",
        CallClass::Secrets => "files with secrets",
        CallClass::Outside => "changes outside the workspace",
        CallClass::Hosts => "new hosts",
    }
}

/// The class that a class of calls belongs to.
fn general(class: CallClass) -> Option<CallClass> {
    match class {
        CallClass::Unknown
        | CallClass::Background
        | CallClass::Dangerous
        | CallClass::Unkept
        | CallClass::Publishing => Some(CallClass::Commands),
        CallClass::BuildFiles | CallClass::Orders | CallClass::Deletions => Some(CallClass::Edits),
        CallClass::Scratch => Some(CallClass::Outside),
        CallClass::Typing => Some(CallClass::Background),
        CallClass::Reading
        | CallClass::Searches
        | CallClass::Edits
        | CallClass::Commands
        | CallClass::Secrets
        | CallClass::Outside
        | CallClass::Hosts => None,
    }
}

/// Which calls of these classes run at once and what becomes of the others, from the verdicts on their samples.
fn approvals(standing: &Standing, classes: &[CallClass]) -> String {
    let Standing { policy, attendance, .. } = standing;
    // Calls of a certain kind are named only where they are treated otherwise than the others.
    let is_told = |class: CallClass| {
        general(class).is_none_or(|general| standing.verdict(class) != standing.verdict(general))
    };
    let named = |wanted: Verdict| {
        let of = classes.iter().filter(|class| standing.verdict(**class) == wanted && is_told(**class));
        of.map(|class| class_name(*class)).collect::<Vec<_>>()
    };
    let (at_once, asked, denied) = (named(Verdict::Allow), named(Verdict::Ask), named(Verdict::Deny));
    if asked.is_empty() && denied.is_empty() {
        return "every call runs at once, unless a rule denies it".to_owned();
    }
    let runs = match at_once.as_slice() {
        [one] => format!("{one} runs at once"),
        several => format!("{} run at once", listed(several)),
    };
    let is_reading = |class: &&CallClass| matches!(class, CallClass::Reading | CallClass::Searches);
    let only_reads = classes
        .iter()
        .filter(|class| standing.verdict(**class) == Verdict::Allow)
        .all(|class| is_reading(&class));
    if only_reads && *attendance == Attendance::Nobody {
        return format!("{runs}; everything else is denied");
    }
    let asks = (!asked.is_empty()).then(|| format!("; the user is asked about {}", listed(&asked)));
    let why = match () {
        () if *attendance == Attendance::Nobody => "nobody can be asked, so these are denied:",
        () if policy.mode == Mode::Plan => "plan mode refuses",
        () if policy.places.untrusted.is_some() => "until the user trusts this folder, buddy refuses",
        () => "denied:",
    };
    let denies = (!denied.is_empty()).then(|| format!("; {why} {}", listed(&denied)));
    [Some(runs), asks, denies].into_iter().flatten().collect()
}

/// Several things in one sentence.
fn listed(things: &[&str]) -> String {
    match things {
        [things @ .., last] if !things.is_empty() => format!("{} and {last}", things.join(", ")),
        things => things.join(", "),
    }
}

fn limits(limit: SpendingLimit, max_steps: u32, time: Option<Duration>) -> Option<EnvironmentFact> {
    let time = time.map(|time| format!("{} s for this run, from its start", time.as_secs()));
    let steps = (max_steps < u32::MAX).then(|| format!("{max_steps} model calls a turn"));
    let calls = limit.calls.map(|count| format!("{count} model calls in this session"));
    let tokens = limit.tokens.map(|count| format!("{count} tokens in this session"));
    let cost = limit.cost.map(|cost| format!("{cost} in this session"));
    let parts: Vec<String> = [time, steps, calls, tokens, cost].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| fact("limits", &parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use buddy_exec::Bounds;
    use buddy_policy::{Action, Found, Grant, Intent, Landing};
    use buddy_protocol::{ApprovalPolicy, GrantScope, PrincipalId};

    use super::*;
    use buddy_calls::{CallRights, Ground, PolicyKey, PolicySource};

    const CWD: &str = "/home/ann/w";

    /// A target whose policy is this one, or plan mode.
    struct Fixed(Policy);

    impl PolicySource for Fixed {
        fn policy(&self, _: PolicyKey<'_>, is_plan_only: bool) -> Result<Arc<Policy>, String> {
            let mode = if is_plan_only { Mode::Plan } else { self.0.mode };
            Ok(Arc::new(Policy { mode, ..self.0.clone() }))
        }

        fn bounds(&self, policy: &Policy, _: &CallRights<'_>) -> Bounds {
            match policy.mode {
                Mode::Production => Bounds::open(),
                _ => Bounds { write: Reach::Beneath(vec![CWD.into(), "/tmp".into()]), ..Bounds::open() },
            }
        }

        fn landings(&self, _: &Policy, paths: &[PathBuf]) -> Vec<Landing> {
            let landing = |path: &PathBuf| Landing {
                directory: path.parent().map(Path::to_owned),
                path: path.clone(),
                found: Found::Missing,
            };
            paths.iter().map(landing).collect()
        }

        fn grants(&self, _: PolicyKey<'_>) -> Vec<Grant> {
            Vec::new()
        }

        fn keep(&self, _: PolicyKey<'_>, _: &Grant, _: GrantScope, _: Duration) -> Result<(), String> {
            Err("it is not kept".to_owned())
        }
    }

    fn policy(mode: Mode) -> Policy {
        let mut policy = Policy { mode, has_broker: true, ..Policy::plain(CWD.into()) };
        policy.places.home = Some("/home/ann".into());
        policy.places.scratch = vec!["/tmp".into()];
        policy.searches = vec!["https://search.test/".to_owned()];
        policy
    }

    /// A call of each class other than the sample, by the name of the class.
    fn calls() -> Vec<(CallClass, Intent)> {
        let run = |command: &str| Intent::of(Action::Run { command: command.to_owned(), cwd: CWD.into() });
        let path = |name: &str| Path::new("/home/ann").join(name);
        vec![
            (CallClass::Reading, Intent::of(Action::Read(path("w/src/lib.rs")))),
            (CallClass::Edits, Intent::of(Action::Write(path("w/src/lib.rs"))).as_edit()),
            (CallClass::Commands, run("mkdir made")),
            (CallClass::Dangerous, run("killall server")),
            (CallClass::Secrets, Intent::of(Action::Read(path("w/deploy/id_ed25519")))),
            (CallClass::Outside, Intent::of(Action::Write(path("other/a.txt"))).as_edit()),
            (CallClass::Hosts, Intent::of(Action::Fetch("https://evil.test/x".to_owned()))),
        ]
    }

    /// Checks what is told, and that other calls of each class get the verdict that is told.
    #[track_caller]
    fn check(gate: &Gate, policy: Policy, told: &str, writes: &str) {
        let source = Fixed(policy);
        let ground =
            Ground { source: &source, user: &PrincipalId::System, target: "local", cwd: Path::new(CWD) };
        let standing = gate.standing(ground).unwrap();
        assert_eq!(approvals(&standing, &CallClass::ALL), told);
        assert_eq!(writable(&standing, Path::new(CWD)), writes);
        for (class, intent) in calls() {
            let verdict = gate.decide(&intent, ground).unwrap().verdict;
            assert_eq!(verdict, standing.verdict(class), "{class:?}: {told}");
        }
    }

    const HELD: &str = "/home/ann/w, /tmp, and package caches in a copy of their own";
    const REST: &str = "files with secrets, changes outside the workspace and new hosts";
    const AT_ONCE: &str = "reading, web searches, file edits in the workspace, file edits in `/tmp` and commands in the workspace run at once";

    #[test]
    fn a_conversation_is_told_which_calls_ask() {
        let development = || policy(Mode::Development);
        let gate = |approvals| Gate::new(approvals, Attendance::Somebody, false);
        let auto = format!(
            "{AT_ONCE}; the user is asked about `AGENTS.md`, CI, hook and editor files, servers and other processes that are to run on, dangerous commands such as `pkill`, deletions that undo cannot restore, pushes, {REST}"
        );
        check(&gate(ApprovalPolicy::Auto), development(), &auto, HELD);
        let ask = format!(
            "reading and web searches run at once; the user is asked about file edits in the workspace, commands in the workspace, {REST}"
        );
        check(&gate(ApprovalPolicy::Ask), development(), &ask, HELD);
        check(
            &gate(ApprovalPolicy::All),
            development(),
            &format!("{AT_ONCE}; the user is asked about {REST}"),
            HELD,
        );
        check(
            &gate(ApprovalPolicy::All),
            policy(Mode::Production),
            "every call runs at once, unless a rule denies it",
            "everything that the account can write (no sandbox)",
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_look_that_hangs_is_over_within_two_seconds() {
        let began = tokio::time::Instant::now();
        let looks = tokio::join!(
            in_time(std::future::pending::<Option<&str>>()),
            in_time(std::future::pending::<Option<&str>>()),
            in_time(async { Some("found") }),
        );
        assert_eq!(looks, (None, None, Some("found")));
        assert!(
            began.elapsed() <= Duration::from_millis(2_010),
            "{:?}: they run side by side",
            began.elapsed()
        );
    }

    #[test]
    fn plan_mode_writes_nothing() {
        let gate = Gate::new(ApprovalPolicy::Auto, Attendance::Somebody, true);
        let told = "reading and web searches run at once; the user is asked about keys in a shared pane, files with secrets and new hosts; plan mode refuses file edits in the \
                    workspace, commands in the workspace and changes outside the workspace";
        check(&gate, policy(Mode::Development), told, "nothing (plan mode)");
        let source = Fixed(policy(Mode::Development));
        let ground =
            Ground { source: &source, user: &PrincipalId::System, target: "local", cwd: Path::new(CWD) };
        let offered = gate.standing_unplanned(ground).unwrap();
        assert_eq!(
            offered.verdict(CallClass::Background),
            Verdict::Ask,
            "the offer stays when plan mode begins"
        );
    }

    #[test]
    fn an_untrusted_folder_is_read_only() {
        let gate = Gate::new(ApprovalPolicy::Auto, Attendance::Somebody, false);
        let mut policy = policy(Mode::Development);
        policy.places.untrusted = Some(CWD.into());
        policy.places.workspace = Vec::new();
        let told = "reading and web searches run at once; the user is asked about file edits in `/tmp`, programs whose effects are unknown, dangerous commands such as \
                    `pkill`, keys in a shared pane, files with secrets and new hosts; until the user trusts this folder, buddy refuses file edits in the \
                    workspace, commands in the workspace and changes outside the workspace";
        check(&gate, policy, told, "nothing, since the user has not trusted this folder");
    }
}
