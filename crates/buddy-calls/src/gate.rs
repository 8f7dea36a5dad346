//! The gate: what holds in a session at this moment, and whether a call may go on.
//!
//! Everything that can open the gate lives here and not in the conversation, so that nothing the model reads or forgets
//! moves it. Times run on the monotonic clock: setting the machine's clock keeps no window open.

mod policy_source;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use buddy_exec::Bounds;
use buddy_exec::undo::Remover;
use buddy_policy::{
    Action, Attendance, CallClass, ChangeableProgram, Decision, Discarded, GitDestination, GitTrip, Grant,
    Intent, Mode, Needs, Now, Offer, Policy, Trail, Verdict, carried, decide, discarded, git_trips, named,
    outside, program_uses, recalled, removed, reword, touched, work_trees, written,
};
use buddy_protocol::{ApprovalPolicy, GrantScope, GrantWish, PrincipalId, Risk, RunLimits, RunNetwork};
use tokio::sync::watch;
use tokio::time::Instant;

pub use self::policy_source::{AllowedBy, CallRights, PolicyKey, PolicySource};
use crate::tools::Pins;

/// Grants that one session keeps. Beyond that the oldest is forgotten, which asks again.
const MAX_GRANTS: usize = 100;

/// Where a call would happen: the rules of its target, and the directory that the session has there.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// The rules, lasting grants and bounds of the target.
    pub source: &'a dyn PolicySource,
    /// The owner of the session.
    pub user: &'a PrincipalId,
    /// The name of the target.
    pub target: &'a str,
    /// The directory.
    pub cwd: &'a Path,
}

impl Ground<'_> {
    /// The policy that holds here now.
    pub fn policy(&self, is_plan_only: bool) -> Result<Arc<Policy>, String> {
        self.source.policy(self.key(), is_plan_only)
    }

    fn key(&self) -> PolicyKey<'_> {
        PolicyKey { user: self.user, target: self.target, workspace: self.cwd }
    }
}

/// The gate of one session. Approvals and grants are those of the session; rules and bounds are those of each target.
pub struct Gate {
    /// Whether a user can be asked.
    attendance: Attendance,
    /// Held for a look or a change only.
    state: Mutex<GateMemory>,
    /// Counts the changes that may let a waiting call go on.
    changes: watch::Sender<u64>,
    /// Whether the session has read a secret, for connections that end then.
    knows_secret: watch::Sender<bool>,
}

struct GateMemory {
    /// The policy that holds while no window is open.
    approvals: ApprovalPolicy,
    /// Until when a window is open.
    window: Option<Instant>,
    is_plan_only: bool,
    /// Whether somebody said in the session that everything is allowed. Any process of the account could have typed that.
    is_all_said: bool,
    grants: Vec<(Grant, Instant)>,
    /// The places for data that the conversation shows. Copied when it changes while a call is judged by it.
    trail: Arc<Trail>,
}

/// The rules that hold on a ground now.
pub struct Standing {
    /// The rules.
    pub policy: Arc<Policy>,
    /// Whether a user can be asked.
    pub attendance: Attendance,
    /// The bounds of a command that nobody is asked about and that does more than read.
    pub bounds: Bounds,
    /// The verdict on a sample of each class of calls.
    pub verdicts: Vec<(CallClass, Verdict)>,
}

impl Standing {
    /// The verdict on calls of a class.
    pub fn verdict(&self, class: CallClass) -> Verdict {
        let found = self.verdicts.iter().find(|(known, _)| *known == class);
        found.map_or(Verdict::Deny, |(_, verdict)| *verdict)
    }
}

/// A decision with what is needed to act on it.
#[derive(Clone)]
pub(crate) struct Judged {
    pub(crate) decision: Decision,
    pub(crate) bounds: Bounds,
    /// The bounds that it has, or would have, when nobody is asked.
    pub(crate) unasked_bounds: Bounds,
    /// The directories that the call may work in, without places for temporary files.
    pub(crate) workspace: Vec<PathBuf>,
    /// Whether its connections are judged one by one, as it has no network of its own.
    pub(crate) is_brokered: bool,
    /// Paths that it names and that lead elsewhere, with where they lead.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Programs that it runs by name and that commands can change.
    programs: Vec<ChangeableProgram>,
    /// The ends of its trips of git that it was judged by; none where nothing depends on them.
    pub(crate) destinations: Vec<GitDestination>,
    /// Whether a secret had been read when it was judged.
    pub(crate) knew_secret: bool,
    /// Files with secrets that the user was told of when they were asked, and that are open since they said yes.
    pub(crate) opens: Vec<PathBuf>,
    /// Files that the user was asked about, as they were then; none where nobody was asked.
    pub(crate) pins: Option<Arc<Pins>>,
    /// Whether a yes needs a word: nothing but the gate stands before it, and any process of the account could type a key.
    pub(crate) needs_word: bool,
}

impl Judged {
    /// Whether the call can read secrets once it runs: those that it names, and those that a user's yes opened to it.
    pub(crate) fn has_secrets(&self) -> bool {
        self.decision.reads_secret || !self.opens.is_empty()
    }

    /// Whether it may start only while its trips of git end where they ended when it was judged: the user was shown that, or a grant
    /// opens the network because of it.
    pub(crate) fn is_bound(&self) -> bool {
        let is_opening = self.bounds.network || self.decision.needs.opens_granted;
        !self.destinations.is_empty() && (self.pins.is_some() || is_opening)
    }
}

/// The things that a call is judged by besides the state of the session.
struct JudgedBy<'a> {
    destinations: Vec<GitDestination>,
    policy: &'a Arc<Policy>,
    grants: &'a [Grant],
    trail: Arc<Trail>,
    /// Whether it is a sample of a class of calls: its file stands for one that is there.
    is_sample: bool,
}

impl Gate {
    /// A gate without an open window and without grants.
    pub fn new(approvals: ApprovalPolicy, attendance: Attendance, is_plan_only: bool) -> Self {
        let trail = Arc::default();
        let state = GateMemory {
            approvals,
            window: None,
            is_plan_only,
            is_all_said: false,
            grants: Vec::new(),
            trail,
        };
        Self {
            attendance,
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
            knows_secret: watch::Sender::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, GateMemory> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The decision about a call by what holds now.
    pub fn decide(&self, intent: &Intent, ground: Ground<'_>) -> Result<Decision, String> {
        Ok(self.judge(intent, ground)?.decision)
    }

    /// Judges a call by what holds now on the ground that it would happen on. No grant covers its trips of git.
    pub(crate) fn judge(&self, intent: &Intent, ground: Ground<'_>) -> Result<Judged, String> {
        self.judge_bound(intent, Vec::new(), ground)
    }

    /// Judges a connection of a command: an address that was fetched before says nothing about it.
    pub(crate) fn judge_connection(&self, intent: &Intent, ground: Ground<'_>) -> Result<Judged, String> {
        let mut trail = self.state().trail.clone();
        Arc::make_mut(&mut trail).forget_fetched();
        let (policy, grants) = self.held(ground)?;
        Ok(self.judge_by(
            intent,
            JudgedBy { destinations: Vec::new(), policy: &policy, grants: &grants, trail, is_sample: false },
            ground,
        ))
    }

    /// The trips of git in a call, and the bounds of a look at where they end.
    pub(crate) fn trips(
        &self,
        intent: &Intent,
        ground: Ground<'_>,
    ) -> Result<(Vec<GitTrip>, Bounds), String> {
        let (policy, _) = self.held(ground)?;
        let needs = Needs::default();
        let rights =
            CallRights { is_read_only: true, by: AllowedBy::Nobody, is_allowed: true, needs: &needs };
        let bounds = Bounds { network: false, ..bounds(&policy, &rights, ground) };
        Ok((git_trips(intent, &policy), bounds))
    }

    /// The same, with the ends of its trips of git.
    pub(crate) fn judge_bound(
        &self,
        intent: &Intent,
        destinations: Vec<GitDestination>,
        ground: Ground<'_>,
    ) -> Result<Judged, String> {
        let (policy, grants) = self.held(ground)?;
        let trail = self.state().trail.clone();
        let by = JudgedBy { destinations, policy: &policy, grants: &grants, trail, is_sample: false };
        Ok(self.judge_by(intent, by, ground))
    }

    /// The approval policy by which an intent is judged.
    fn approvals_on(&self, intent: &Intent, policy: &Policy) -> ApprovalPolicy {
        let (approvals, is_all_said) = {
            let state = self.state();
            (state.approvals(Instant::now()), state.is_all_said)
        };
        if approvals == ApprovalPolicy::All && is_all_said && policy.mode == Mode::Production {
            // A dangerous call needs its word all the same, as in a window that does not end.
            return ApprovalPolicy::Window { seconds: u64::MAX };
        }
        if is_jailless(policy)
            && runs(intent)
            && matches!(approvals, ApprovalPolicy::All | ApprovalPolicy::Window { .. } | ApprovalPolicy::Auto)
        {
            // They cover what a jail holds, and no jail is there.
            return ApprovalPolicy::Ask;
        }
        approvals
    }

    fn judge_by(&self, intent: &Intent, by: JudgedBy<'_>, ground: Ground<'_>) -> Judged {
        let JudgedBy { destinations, policy, grants, trail, is_sample } = by;
        let approvals = self.approvals_on(intent, policy);
        let links = ground.source.links(policy, &touched(intent, policy));
        let named_links = ground.source.named_links(policy, &named(intent, policy));
        let carried = match carried(intent, policy) {
            files if files.is_empty() => files,
            files => ground.source.carried(policy, &files),
        };
        let tracked = ground.source.tracked(&recalled(intent, policy));
        let is_tool = intent.actions.iter().any(|action| matches!(action, Action::Delete(_)));
        let remover = if is_tool { Remover::Tool } else { Remover::Command };
        let gone = removed(intent, policy);
        let removed_within = if is_tool { ground.source.protected_within(policy, &gone) } else { Vec::new() };
        let lost = match () {
            () if gone.is_empty() => Vec::new(),
            () if is_sample && policy.is_without_undo && !policy.places.remote => gone.clone(),
            () => ground.source.lost(policy, &gone, remover),
        };
        let lost_to_git = lost_to_git(intent, policy, ground.source);
        let landings = match outside(intent, policy) {
            paths if paths.is_empty() => Vec::new(),
            paths => ground.source.landings(policy, &paths),
        };
        let written = written_through(intent, &links);
        let git_parts = if written.is_empty() { written } else { ground.source.git_parts(&written) };
        let programs = ground.source.changeable_programs(policy, &program_uses(intent, policy));
        let now = Now {
            approvals,
            attendance: self.attendance,
            grants,
            trail: &trail,
            links: &links,
            named_links: &named_links,
            carried: &carried,
            tracked: &tracked,
            lost: &lost,
            lost_to_git: &lost_to_git,
            landings: &landings,
            git_parts: &git_parts,
            programs: &programs,
            destinations: &destinations,
            removed_within: &removed_within,
        };
        let mut decision = decide(intent, policy, &now);
        // A sealed file cannot be removed.
        if decision.needs.keeps_seals && !gone.is_empty() {
            decision.needs.keeps_seals = ground.source.protected_within(policy, &gone).is_empty();
        }
        // git replaces and records the tracked files, which it cannot where one is sealed.
        if decision.needs.keeps_seals {
            let trees = work_trees(intent, policy);
            decision.needs.keeps_seals = trees.is_empty() || ground.source.tracked(&trees).is_empty();
        }
        // In production whoever starts buddy with `all` has answered every question beforehand.
        let is_all = approvals == ApprovalPolicy::All && policy.mode == Mode::Production;
        let by = if is_all { AllowedBy::Person } else { AllowedBy::Nobody };
        let mut bounds = bounds(policy, &CallRights::of(&decision, by), ground);
        let knew_secret = trail.has_read_secret();
        // A command that nobody was asked about takes no secret out.
        let is_secretive = decision.verdict == Verdict::Allow && (knew_secret || decision.reads_secret);
        // Another host keeps its network; a command that only reads sends nothing.
        let keeps_network = ground.source.is_throwaway() || (policy.places.remote && decision.is_read_only);
        bounds.network &= keeps_network || (!is_secretive && !decision.stays_inside);
        let is_allowed = decision.verdict == Verdict::Allow;
        let is_brokered = is_allowed && has_way_out(policy, &bounds, &decision);
        let needs_word = decision.is_grave && (policy.mode == Mode::Production || is_jailless(policy));
        let (unasked_bounds, workspace) = (bounds.clone(), policy.places.workspace.clone());
        let opens = Vec::new();
        Judged {
            decision,
            bounds,
            unasked_bounds,
            workspace,
            is_brokered,
            links,
            programs,
            destinations,
            knew_secret,
            opens,
            pins: None,
            needs_word,
        }
    }

    /// The rules that hold now on a ground.
    pub fn standing(&self, ground: Ground<'_>) -> Result<Standing, String> {
        let (policy, grants) = self.held(ground)?;
        Ok(self.standing_by(ground, policy, &grants))
    }

    /// The same without those of plan mode: what models are told beforehand stays the same when it begins and ends.
    pub fn standing_unplanned(&self, ground: Ground<'_>) -> Result<Standing, String> {
        let (_, grants) = self.held(ground)?;
        Ok(self.standing_by(ground, ground.policy(false)?, &grants))
    }

    fn standing_by(&self, ground: Ground<'_>, policy: Arc<Policy>, grants: &[Grant]) -> Standing {
        let needs = Needs::default();
        let rights =
            CallRights { is_read_only: false, by: AllowedBy::Nobody, is_allowed: true, needs: &needs };
        let bounds = bounds(&policy, &rights, ground);
        let verdict = |class: CallClass| {
            let sample = class.sample(ground.cwd, &policy);
            let trail = self.state().trail.clone();
            let by = JudgedBy { destinations: Vec::new(), policy: &policy, grants, trail, is_sample: true };
            (class, self.judge_by(&sample, by, ground).decision.verdict)
        };
        let verdicts = CallClass::ALL.into_iter().map(verdict).collect();
        Standing { policy, attendance: self.attendance, bounds, verdicts }
    }

    /// Judges a check that buddy runs by itself. In a jail it changes nothing and has no network, whatever else its command could do
    /// unasked.
    pub(crate) fn judge_check(&self, intent: &Intent, ground: Ground<'_>) -> Result<Judged, String> {
        let judged = self.judge(intent, ground)?;
        let (policy, _) = self.held(ground)?;
        if policy.mode == Mode::Production || policy.places.remote {
            return Ok(judged);
        }
        let rights = CallRights { is_read_only: true, ..CallRights::of(&judged.decision, AllowedBy::Nobody) };
        let bounds = Bounds { network: false, ..bounds(&policy, &rights, ground) };
        Ok(Judged { bounds, is_brokered: false, ..judged })
    }

    /// Whether a secret was read since a call was judged, so that it is to be judged anew. Whoever allowed a call that can read
    /// secrets itself has thought of that.
    pub(crate) fn is_outdated(&self, judged: &Judged) -> bool {
        !judged.knew_secret && judged.opens.is_empty() && self.state().trail.has_read_secret()
    }

    /// Whether the session has read a secret.
    pub(crate) fn has_read_secret(&self) -> bool {
        self.state().trail.has_read_secret()
    }

    /// Whether a file name is that of a log of this conversation.
    pub(crate) fn has_log(&self, name: &str) -> bool {
        self.state().trail.has_log(name)
    }

    /// Changes the trail.
    pub fn trace(&self, change: impl FnOnce(&mut Trail)) {
        let mut state = self.state();
        change(Arc::make_mut(&mut state.trail));
        let knows_secret = state.trail.has_read_secret();
        drop(state);
        self.knows_secret.send_if_modified(|known| std::mem::replace(known, knows_secret) != knows_secret);
    }

    /// Waits until the session has read a secret.
    pub(crate) async fn secret_read(&self) {
        // The sender lives as long as this.
        let _ = self.knows_secret.subscribe().wait_for(|known| *known).await;
    }

    /// Notes what a call does that is about to run. One that can read secrets counts as having read them.
    pub(crate) fn passed(&self, intent: &Intent, judged: &Judged) {
        self.trace(|trail| {
            follow(trail, intent, &judged.decision);
            if judged.has_secrets() {
                trail.read_secret();
            }
        });
    }

    /// Notes a command that the user runs themselves. True if it reads a secret: then the model is not told what it prints.
    pub fn person_runs(&self, command: &str, ground: Ground<'_>) -> bool {
        let intent = Intent::of(Action::Run { command: command.to_owned(), cwd: ground.cwd.to_owned() });
        let reads_secret = self.judge(&intent, ground).is_ok_and(|judged| judged.decision.reads_secret);
        self.trace(|trail| {
            trail.person_wrote(command);
            // It may have left a copy where the agent reads.
            if reads_secret {
                trail.read_secret();
            }
        });
        reads_secret
    }

    /// Whether a page at one address may lead on to another host. Nothing of the model's can ride on an address that the
    /// user wrote or that a search listed; any other redirect is judged like a fetch of its own.
    pub(crate) fn leads_on(&self, from: &str, to: &str, ground: Ground<'_>) -> bool {
        let is_clean = self.state().trail.is_without_data(from);
        let intent = Intent::of(Action::Fetch(to.to_owned()));
        is_clean || self.judge(&intent, ground).is_ok_and(|judged| judged.decision.verdict == Verdict::Allow)
    }

    /// The same call once a user allowed it: what they were asked about is open to it.
    pub(crate) fn allowed(&self, judged: Judged, ground: Ground<'_>) -> Result<Judged, String> {
        let (policy, _) = self.held(ground)?;
        let bounds = self.allowed_bounds(&judged, ground)?;
        let is_brokered = goes_by_host(&policy, &bounds, &judged.decision, ground);
        Ok(Judged { bounds, is_brokered, ..judged })
    }

    /// The limits of a command that the user allows; `None` if the call runs none.
    pub(crate) fn allowed_limits(
        &self,
        intent: &Intent,
        judged: &Judged,
        ground: Ground<'_>,
    ) -> Option<RunLimits> {
        let (policy, _) = self.held(ground).ok().filter(|_| runs(intent))?;
        let bounds = self.allowed_bounds(judged, ground).ok()?;
        let sandboxed = is_jailed(&policy, &bounds);
        let network = match bounds.network {
            false if goes_by_host(&policy, &bounds, &judged.decision, ground) => RunNetwork::ByHost,
            false if sandboxed => RunNetwork::Off,
            _ => RunNetwork::On,
        };
        Some(RunLimits { sandboxed, network })
    }

    /// The same call outside the jail, for a user who is asked about exactly that. None where it is not offered: to nobody, where
    /// everything or nothing is approved, in a directory that is not trusted, on another host, and for what is flagged in the jail or
    /// would be outside of it.
    pub(crate) fn outside(&self, intent: &Intent, judged: &Judged, ground: Ground<'_>) -> Option<Judged> {
        let (policy, _) = self.held(ground).ok()?;
        let approvals = self.state().approvals(Instant::now());
        let is_asked = !matches!(approvals, ApprovalPolicy::All | ApprovalPolicy::None) && self.is_attended();
        let is_jailed = is_jailed(&policy, &judged.bounds);
        // The text of code on a command line shows to the user as all that runs, and its modules come from files that commands write.
        let is_flagged = |decision: &Decision| decision.is_grave || decision.risk == Risk::High;
        if !is_asked || !is_jailed || policy.places.untrusted.is_some() || is_flagged(&judged.decision) {
            return None;
        }
        let policy = Policy { mode: Mode::Production, ..(*policy).clone() };
        let trail = self.state().trail.clone();
        let (links, programs) = (&judged.links, &judged.programs);
        let now = Now { trail: &trail, links, programs, ..Now::with(ApprovalPolicy::Ask) };
        let decision = decide(intent, &policy, &now);
        if decision.verdict == Verdict::Deny || is_flagged(&decision) {
            return None;
        }
        let bounds = bounds(&policy, &CallRights::of(&decision, AllowedBy::Person), ground);
        Some(Judged { decision, bounds, is_brokered: false, ..judged.clone() })
    }

    /// Why nothing reaches a host, where the user listed the only ones.
    pub(crate) fn closed_host(&self, host: &str, ground: Ground<'_>) -> Result<Option<String>, String> {
        let (policy, _) = self.held(ground)?;
        Ok(policy.limits.closed_host(host))
    }

    /// Whether a grant lets a host be reached at a port although it is on this machine or in a private network.
    pub(crate) fn reaches_nearby(&self, authority: &str, ground: Ground<'_>) -> Result<bool, String> {
        let (policy, grants) = self.held(ground)?;
        Ok(grants.iter().any(|grant| grant.covers_nearby(authority, &policy.places)))
    }

    /// The bounds that a call has once a user allowed it.
    pub(crate) fn allowed_bounds(&self, judged: &Judged, ground: Ground<'_>) -> Result<Bounds, String> {
        let (policy, _) = self.held(ground)?;
        let mut bounds = bounds(&policy, &CallRights::of(&judged.decision, AllowedBy::Person), ground);
        bounds.network &= !keeps_broker(&policy, &judged.decision, ground);
        Ok(bounds)
    }

    /// The policy and the grants that hold now on this ground.
    fn held(&self, ground: Ground<'_>) -> Result<(Arc<Policy>, Vec<Grant>), String> {
        let (is_plan_only, mut grants) = {
            let mut state = self.state();
            let now = Instant::now();
            state.grants.retain(|(_, until)| now < *until);
            (state.is_plan_only, state.grants.iter().map(|(grant, _)| grant.clone()).collect::<Vec<_>>())
        };
        grants.extend(ground.source.grants(ground.key()));
        Ok((ground.policy(is_plan_only)?, grants))
    }

    /// The grant that a user wishes for: one of the offers, or what their own words make of it. The error says why there is
    /// none.
    pub(crate) fn wished(
        &self,
        wish: &GrantWish,
        offers: &[Offer],
        intent: &Intent,
        ground: Ground<'_>,
    ) -> Result<Grant, String> {
        match &wish.words {
            Some(words) => {
                let (policy, grants) = self.held(ground)?;
                reword(words, offers, intent, &policy, &grants).map_err(|error| error.to_string())
            }
            None => match offers.get(wish.offer as usize) {
                Some(offer) => Ok(offer.grant.clone()),
                None => Err("it is not offered any more".to_owned()),
            },
        }
    }

    /// Sets the session's policy from now on.
    pub fn set_approvals(&self, policy: ApprovalPolicy) {
        let mut state = self.state();
        state.window = None;
        // A conversation that began so says it once more in its log.
        let is_held = state.approvals == ApprovalPolicy::All && !state.is_all_said;
        state.is_all_said = policy == ApprovalPolicy::All && !is_held;
        if let ApprovalPolicy::Window { seconds } = policy {
            // Afterwards it asks again, unless nobody can be asked.
            if state.approvals == ApprovalPolicy::All {
                state.approvals = ApprovalPolicy::Ask;
            }
            state.window = Instant::now().checked_add(Duration::from_secs(seconds));
        } else {
            state.approvals = policy;
        }
        drop(state);
        self.changed();
    }

    /// Opens a window from now on.
    pub fn open_window(&self, time: Option<Duration>) {
        self.state().window = time.and_then(|time| Instant::now().checked_add(time));
    }

    /// Whether the agent only reads and plans from now on.
    pub fn set_plan_only(&self, is_plan_only: bool) {
        self.state().is_plan_only = is_plan_only;
        self.changed();
    }

    /// Allows for longer what a user allowed. Grants of a session are not kept beyond it.
    pub(crate) fn grant(&self, grant: &Grant, wish: &GrantWish, ground: Ground<'_>) -> Result<(), String> {
        let time = Duration::from_secs(wish.seconds);
        match wish.scope {
            GrantScope::Session => {
                let until = Instant::now() + time;
                let mut state = self.state();
                if state.grants.len() >= MAX_GRANTS {
                    state.grants.remove(0);
                }
                state.grants.push((grant.clone(), until));
            }
            GrantScope::Project | GrantScope::User => {
                ground.source.keep(ground.key(), grant, wish.scope, time)?;
            }
        }
        self.changed();
        Ok(())
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Whether a user can be asked.
    pub(crate) fn is_attended(&self) -> bool {
        self.attendance == Attendance::Somebody
    }

    /// Tells of changes that come after this call.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// The reach of a call. A list of the only hosts holds where each connection is judged, so such a session has no other network. On
/// another host nothing would hold it; hosts that stand in the words of a command are judged there too.
fn bounds(policy: &Policy, call: &CallRights<'_>, ground: Ground<'_>) -> Bounds {
    let mut bounds = ground.source.bounds(policy, call);
    bounds.network &= policy.limits.hosts.is_none() || policy.places.remote;
    bounds
}

/// The paths at which a call makes git throw away changes that undo would not bring back.
fn lost_to_git(intent: &Intent, policy: &Policy, source: &dyn PolicySource) -> Vec<PathBuf> {
    let (mut files, mut trees) = (Vec::new(), Vec::new());
    for discarded in discarded(intent, policy) {
        match discarded {
            Discarded::Files(path) => files.push(path),
            Discarded::WorkTree(path) => trees.push(path),
        }
    }
    let lost = |paths: Vec<PathBuf>, remover| {
        if paths.is_empty() { paths } else { source.lost(policy, &paths, remover) }
    };
    lost(files, Remover::GitFiles).into_iter().chain(lost(trees, Remover::GitTree)).collect()
}

/// The paths that a call writes, with the targets of the links among them.
fn written_through(intent: &Intent, links: &[(PathBuf, PathBuf)]) -> Vec<PathBuf> {
    let mut paths = written(intent);
    let targets = links.iter().filter(|(from, _)| paths.contains(from)).map(|(_, to)| to.clone());
    let targets: Vec<PathBuf> = targets.collect();
    paths.extend(targets);
    paths
}

/// Whether a call without a network has its connections judged one by one.
fn has_way_out(policy: &Policy, bounds: &Bounds, decision: &Decision) -> bool {
    let is_open = policy.has_broker && !policy.is_offline;
    policy.mode == Mode::Development && !bounds.network && !decision.is_read_only && is_open
}

/// Whether a call that the user allowed still has its connections judged one by one: the question did not
/// tell that it uses the network, so the answer opens none.
fn keeps_broker(policy: &Policy, decision: &Decision, ground: Ground<'_>) -> bool {
    let has_broker = policy.is_jailed() && policy.has_broker && !ground.source.is_throwaway();
    has_broker && !decision.tells_network
}

/// Whether the connections of a call that the user allowed are judged one by one.
fn goes_by_host(policy: &Policy, bounds: &Bounds, decision: &Decision, ground: Ground<'_>) -> bool {
    let is_kept = policy.limits.hosts.is_some() || keeps_broker(policy, decision, ground);
    is_kept && has_way_out(policy, bounds, decision)
}

/// Whether a jail would hold commands here, and there is none.
fn is_jailless(policy: &Policy) -> bool {
    policy.mode == Mode::Development && policy.places.remote
}

/// Whether a jail holds the commands of a call.
fn is_jailed(policy: &Policy, bounds: &Bounds) -> bool {
    policy.is_jailed() && !bounds.only_hide()
}

/// Whether a call runs commands, or types them.
fn runs(intent: &Intent) -> bool {
    intent.actions.iter().any(|action| matches!(action, Action::Run { .. } | Action::Terminal { .. }))
}

/// Adds to a trail what a call does that went through the gate.
pub(crate) fn follow(trail: &mut Trail, intent: &Intent, decision: &Decision) {
    for action in &intent.actions {
        if let Action::Fetch(address) = action {
            trail.fetched(address);
        }
    }
    if decision.reads_secret {
        trail.read_secret();
    }
}

impl GateMemory {
    fn approvals(&self, now: Instant) -> ApprovalPolicy {
        let left =
            self.window.map(|until| until.saturating_duration_since(now)).filter(|left| !left.is_zero());
        left.map_or(self.approvals, |left| ApprovalPolicy::Window { seconds: left.as_secs() })
    }
}

#[cfg(test)]
mod tests;
