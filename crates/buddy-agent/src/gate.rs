//! The gate: what holds in a session at this moment, and whether a call may go on.
//!
//! Everything that can open the gate lives here and not in the conversation, so that nothing the model reads or forgets
//! moves it. Times run on the monotonic clock: setting the machine's clock keeps no window open.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use buddy_exec::Bounds;
use buddy_policy::{Approvals, Decision, Grant, Intent, Now, Policy, Verdict, decide};
use buddy_protocol::{ApprovalPolicy, GrantScope, GrantWish};
use tokio::sync::watch;
use tokio::time::Instant;

/// Grants that one session keeps. Beyond that the oldest is forgotten, which asks again.
const MAX_GRANTS: usize = 100;

/// Where rules, lasting grants and bounds come from.
pub trait PolicySource: Send + Sync {
    /// The policy that holds now for sessions in a directory. The error says why there is none; then nothing runs.
    fn policy(&self, cwd: &Path, is_plan_only: bool) -> Result<Arc<Policy>, String>;

    /// What a call may touch. One that only reads gets to change nothing.
    fn bounds(&self, policy: &Policy, is_read_only: bool) -> Bounds;

    /// The grants beyond single sessions that hold now in a directory.
    fn grants(&self, cwd: &Path) -> Vec<Grant>;

    /// Keeps a grant beyond this session. The error says why it could not be kept.
    fn keep(&self, cwd: &Path, grant: &Grant, scope: GrantScope, time: Duration) -> Result<(), String>;
}

/// The gate of one session.
pub(crate) struct Gate {
    source: Arc<dyn PolicySource>,
    cwd: PathBuf,
    /// Held for a look or a change only.
    state: Mutex<State>,
    /// Counts the changes that may let a waiting call go on.
    changes: watch::Sender<u64>,
}

struct State {
    /// What holds when no window is open.
    approvals: Approvals,
    /// Until when a window is open.
    window: Option<Instant>,
    is_plan_only: bool,
    grants: Vec<(Grant, Instant)>,
}

/// A decision with what is needed to act on it.
pub(crate) struct Judged {
    pub(crate) decision: Decision,
    pub(crate) bounds: Bounds,
    /// Whether it is denied only because nobody is asked.
    pub(crate) is_unasked: bool,
}

impl Gate {
    pub(crate) fn new(
        source: Arc<dyn PolicySource>,
        cwd: PathBuf,
        approvals: Approvals,
        is_plan_only: bool,
    ) -> Self {
        let state = State { approvals, window: None, is_plan_only, grants: Vec::new() };
        Self { source, cwd, state: Mutex::new(state), changes: watch::Sender::new(0) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges a call by what holds now.
    pub(crate) fn judge(&self, intent: &Intent) -> Result<Judged, String> {
        let (approvals, is_plan_only, mut grants) = {
            let mut state = self.state();
            let now = Instant::now();
            state.grants.retain(|(_, until)| now < *until);
            let grants = state.grants.iter().map(|(grant, _)| grant.clone()).collect::<Vec<_>>();
            (state.approvals(now), state.is_plan_only, grants)
        };
        grants.extend(self.source.grants(&self.cwd));
        let policy = self.source.policy(&self.cwd, is_plan_only)?;
        let judge = |approvals| decide(intent, &policy, &Now { approvals, grants: &grants });
        let decision = judge(approvals);
        let is_unasked = approvals == Approvals::None
            && decision.verdict == Verdict::Deny
            && judge(Approvals::Ask).verdict == Verdict::Ask;
        let bounds = self.source.bounds(&policy, decision.is_read_only);
        Ok(Judged { decision, bounds, is_unasked })
    }

    /// Sets the session's policy from now on.
    pub(crate) fn set_approvals(&self, policy: ApprovalPolicy) {
        let mut state = self.state();
        state.window = None;
        match policy {
            ApprovalPolicy::Ask => state.approvals = Approvals::Ask,
            ApprovalPolicy::All => state.approvals = Approvals::All,
            ApprovalPolicy::None => state.approvals = Approvals::None,
            ApprovalPolicy::Window { seconds } => {
                // Afterwards it asks again, unless nobody can be asked.
                if state.approvals == Approvals::All {
                    state.approvals = Approvals::Ask;
                }
                state.window = Instant::now().checked_add(Duration::from_secs(seconds));
            }
        }
        drop(state);
        self.changed();
    }

    /// Opens a window from now on.
    pub(crate) fn open_window(&self, time: Option<Duration>) {
        self.state().window = time.and_then(|time| Instant::now().checked_add(time));
    }

    /// Whether the agent only reads and plans from now on.
    pub(crate) fn set_plan_only(&self, is_plan_only: bool) {
        self.state().is_plan_only = is_plan_only;
        self.changed();
    }

    /// Allows for longer what a person allowed. Grants of a session are not kept beyond it.
    pub(crate) fn grant(&self, grant: &Grant, wish: GrantWish) -> Result<(), String> {
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
            GrantScope::Project | GrantScope::User => self.source.keep(&self.cwd, grant, wish.scope, time)?,
        }
        self.changed();
        Ok(())
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Tells of changes that come after this call.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

impl State {
    fn approvals(&self, now: Instant) -> Approvals {
        if self.window.is_some_and(|until| now < until) { Approvals::Window } else { self.approvals }
    }
}
