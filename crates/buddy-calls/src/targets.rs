//! The targets of one session: which it has, which of them can be used, and which one a call means.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use buddy_exec::link_lookup;
use buddy_policy::Policy;
use buddy_protocol::{
    Fact, LinkLookup, MAX_TARGETS, Notice, NoticeLevel, PrincipalId, SessionChanged, SessionTarget,
    TargetChange, TargetWish, ToolFailure,
};
use buddy_web::Endpoints;
use futures::future::join_all;

use crate::gate::Ground;
use crate::hosts::{Host, Hosts};
use crate::tools::CallPlace;

/// How long a host may take to be reached. The commands of the session that stop nothing wait meanwhile.
const ATTACH_WITHIN: Duration = Duration::from_secs(30);

/// The targets of a session. There is always one at least, and the first is the default.
pub struct Targets {
    /// The owner of the session.
    user: PrincipalId,
    hosts: Arc<dyn Hosts>,
    endpoints: Endpoints,
    /// Held for a look or an exchange only.
    slots: Mutex<Vec<Slot>>,
}

/// A target that can be used.
pub struct Attached {
    /// The owner of the session.
    pub user: PrincipalId,
    /// Its entry in the log.
    pub spec: SessionTarget,
    /// The host.
    pub host: Host,
    /// Where relative paths start there.
    pub place: CallPlace,
}

impl Attached {
    /// The rules and grants that judge calls there.
    pub fn ground(&self) -> Ground<'_> {
        Ground { source: &*self.host.policy, user: &self.user, target: &self.spec.name, cwd: &self.place.cwd }
    }

    /// The policy that holds there now, without plan mode.
    pub fn policy(&self) -> Result<Arc<Policy>, String> {
        self.ground().policy(false)
    }
}

/// One of a session's targets.
#[derive(Clone)]
pub struct Slot {
    spec: SessionTarget,
    state: SlotState,
}

#[derive(Clone)]
enum SlotState {
    /// It can be used.
    Attached(Arc<Attached>),
    /// No tool may touch it, for this reason.
    Forbidden(String),
    /// It could not be reached, for this reason.
    Unreachable(String),
}

impl Slot {
    fn is_forbidden(&self) -> bool {
        matches!(self.state, SlotState::Forbidden(_))
    }

    /// The target, if it can be used.
    pub fn attached(&self) -> Option<&Arc<Attached>> {
        match &self.state {
            SlotState::Attached(attached) => Some(attached),
            SlotState::Forbidden(_) | SlotState::Unreachable(_) => None,
        }
    }

    /// The entry of the target in the log.
    pub fn spec(&self) -> &SessionTarget {
        &self.spec
    }
}

impl Targets {
    /// Takes up the targets that a log names, with those that this run wants before them. Also what is to be reported:
    /// a list that became another, and each target that cannot be used. One that cannot is kept, so that a host that is
    /// away for a while does not change the session.
    pub async fn open(
        user: PrincipalId,
        hosts: Arc<dyn Hosts>,
        endpoints: Endpoints,
        recorded: &[SessionTarget],
    ) -> Result<(Self, Vec<Fact>), String> {
        let targets = Self { user, hosts, endpoints, slots: Mutex::default() };
        let wanted = targets.hosts.wanted();
        let named = wanted.iter().map(|wish| {
            // Where the session was on this host before, it goes on unless the user says another directory.
            let known = recorded.iter().find(|spec| spec.host == wish.host);
            let directory = wish.directory.clone().or_else(|| known.map(|spec| spec.cwd.clone()));
            (TargetWish { directory, ..wish.clone() }, known)
        });
        let is_named = |spec: &SessionTarget| wanted.iter().any(|wish| wish.host == spec.host);
        let others = recorded.iter().filter(|spec| !is_named(spec)).map(|spec| (spec.wish(), Some(spec)));
        let all: Vec<(TargetWish, Option<&SessionTarget>)> = named.chain(others).collect();
        if all.len() > MAX_TARGETS {
            return Err(format!("a session has at most {MAX_TARGETS} targets"));
        }
        let on: Vec<_> = all.iter().map(|(wish, _)| wish.host.clone()).collect();
        if let Some(reason) = targets.hosts.unfit(&on) {
            return Err(reason);
        }
        let mut slots = join_all(all.iter().map(|(wish, known)| targets.slot(wish, *known))).await;
        let mut facts = Vec::new();
        let where_are = |spec: &SessionTarget| (spec.name.clone(), spec.cwd.clone());
        if !slots.iter().map(|slot| where_are(&slot.spec)).eq(recorded.iter().map(where_are)) {
            facts.push(changed(&slots));
        }
        // A target that may not be touched is no default. The log keeps its order, as this holds for one run only.
        slots.sort_by_key(Slot::is_forbidden);
        if let Some(SlotState::Forbidden(reason)) = slots.first().map(|slot| &slot.state) {
            return Err(reason.clone());
        }
        facts.extend(slots.iter().filter_map(notice));
        *targets.slots() = slots;
        Ok((targets, facts))
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, the default first.
    pub fn all(&self) -> Vec<Slot> {
        self.slots().clone()
    }

    /// Their names, the default first.
    pub fn names(&self) -> Vec<String> {
        self.slots().iter().map(|slot| slot.spec.name.clone()).collect()
    }

    /// Those that can be used.
    pub fn attached(&self) -> Vec<Arc<Attached>> {
        self.slots().iter().filter_map(|slot| slot.attached().cloned()).collect()
    }

    /// The target of a name.
    pub fn find(&self, name: &str) -> Result<Arc<Attached>, ToolFailure> {
        let slots = self.slots();
        let Some(slot) = slots.iter().find(|slot| slot.spec.name == name) else {
            let names: Vec<&str> = slots.iter().map(|slot| slot.spec.name.as_str()).collect();
            return Err(ToolFailure::new("unknown_target", format!("there is no target `{name}`"))
                .hint(format!("the targets are {}", names.join(", "))));
        };
        match &slot.state {
            SlotState::Attached(attached) => Ok(attached.clone()),
            SlotState::Forbidden(reason) => Err(ToolFailure::new("forbidden", reason)
                .hint("name another target; do not try to get around it")),
            SlotState::Unreachable(reason) => {
                Err(ToolFailure::new("unreachable", format!("`{name}` cannot be reached: {reason}"))
                    .hint("go on without it, or ask the user, who can try again with `/target use NAME`"))
            }
        }
    }

    /// The targets after a change. Nothing changes yet.
    pub async fn after(&self, change: &TargetChange) -> Result<Vec<Slot>, String> {
        let mut slots = self.all();
        let position = |name: &str| {
            let names = || slots.iter().map(|slot| slot.spec.name.clone()).collect::<Vec<_>>().join(", ");
            let found = slots.iter().position(|slot| slot.spec.name == name);
            found.ok_or_else(|| format!("there is no target `{name}`; there are {}", names()))
        };
        match change {
            TargetChange::Add { target } => {
                let name = target.host.to_string();
                if slots.iter().any(|slot| slot.spec.name == name) {
                    return Err(format!(
                        "the session has `{name}` already; `/target remove {name}` lets go of it"
                    ));
                }
                if slots.len() >= MAX_TARGETS {
                    return Err(format!("a session has at most {MAX_TARGETS} targets"));
                }
                slots.push(self.usable(target, None).await?);
            }
            TargetChange::Use { name } => {
                let slot = slots.remove(position(name)?);
                let slot = match slot.attached() {
                    Some(_) => slot,
                    None => self.usable(&slot.spec.wish(), Some(&slot.spec)).await?,
                };
                slots.insert(0, slot);
            }
            TargetChange::Remove { .. } if slots.len() == 1 => {
                return Err("it is the only target; add another one first".to_owned());
            }
            TargetChange::Remove { name } => {
                slots.remove(position(name)?);
            }
        }
        Ok(slots)
    }

    /// Puts others in their place.
    pub fn replace(&self, slots: Vec<Slot>) {
        *self.slots() = slots;
    }

    /// A target that can be used, or why it cannot.
    async fn usable(&self, wish: &TargetWish, known: Option<&SessionTarget>) -> Result<Slot, String> {
        let slot = self.slot(wish, known).await;
        match &slot.state {
            SlotState::Attached(_) => Ok(slot),
            SlotState::Forbidden(reason) => Err(reason.clone()),
            SlotState::Unreachable(reason) => {
                Err(format!("`{}` cannot be reached: {reason}", slot.spec.name))
            }
        }
    }

    async fn slot(&self, wish: &TargetWish, known: Option<&SessionTarget>) -> Slot {
        let spec = || {
            known.cloned().unwrap_or_else(|| SessionTarget {
                name: wish.host.to_string(),
                host: wish.host.clone(),
                cwd: wish.directory.clone().unwrap_or_else(|| ".".to_owned()),
                place: None,
            })
        };
        if let Some(reason) = self.hosts.forbidden(&wish.host) {
            return Slot { spec: spec(), state: SlotState::Forbidden(reason) };
        }
        let attached = tokio::time::timeout(ATTACH_WITHIN, self.hosts.attach(wish)).await;
        match attached.unwrap_or_else(|_| Err("it did not answer in time".to_owned())) {
            Ok(host) => self.attach(wish, host),
            Err(reason) => Slot { spec: spec(), state: SlotState::Unreachable(reason) },
        }
    }

    fn attach(&self, wish: &TargetWish, host: Host) -> Slot {
        let spec = host.session_target(wish);
        let place = CallPlace {
            cwd: PathBuf::from(&spec.cwd),
            home: host.home.clone(),
            endpoints: self.endpoints.clone(),
            links: if host.is_remote { LinkLookup::default() } else { link_lookup() },
            has_panes: host.target.panes().is_some(),
        };
        let attached = Attached { user: self.user.clone(), spec: spec.clone(), host, place };
        Slot { spec, state: SlotState::Attached(Arc::new(attached)) }
    }
}

/// The fact that says which targets there are.
pub fn changed(slots: &[Slot]) -> Fact {
    let targets = Some(slots.iter().map(|slot| slot.spec.clone()).collect());
    Fact::SessionChanged(SessionChanged { targets, ..SessionChanged::default() })
}

/// The message to people about the targets that can be used only now.
pub fn news(before: &[Slot], after: &[Slot]) -> Vec<Fact> {
    let was_attached = |slot: &&Slot| {
        before.iter().any(|other| other.spec.name == slot.spec.name && other.attached().is_some())
    };
    after.iter().filter(|slot| !was_attached(slot)).filter_map(notice).collect()
}

/// The message to people about a target that cannot be used, or not as they may expect.
fn notice(slot: &Slot) -> Option<Fact> {
    let name = &slot.spec.name;
    let (code, text) = match &slot.state {
        SlotState::Attached(attached) => ("target_note", attached.host.note.clone()?),
        SlotState::Forbidden(reason) => ("target_forbidden", format!("`{name}` is not used: {reason}")),
        SlotState::Unreachable(reason) => (
            "target_unreachable",
            format!(
                "`{name}` cannot be reached: {reason}\n  the session goes on without it; `/target use NAME` tries again"
            ),
        ),
    };
    Some(Fact::Notice(Notice { level: NoticeLevel::Warning, code: code.to_owned(), text }))
}
