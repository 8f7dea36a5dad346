//! Forks: a session that begins with the facts of another one.
//!
//! A fork has its own log. It holds the settled facts of the original session, so it can be read, resumed and
//! forked without it. The original session stays unchanged.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AuthoredFact, Content, Fact, ItemEnded, ItemId, ItemStarted, LogEntry, Origin, Principal, SessionBounds,
    SessionChanged, SessionId, SessionStarted, Transcript, TurnId, UnixMillis, recovery,
};

/// The point up to which a fork copies the facts of the original session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ForkPoint {
    /// Everything, except a turn that has not ended.
    Now,
    /// Up to this event, which must end a turn or come right before a prompt.
    After {
        /// The number of the event.
        seq: u64,
    },
    /// Just before this prompt.
    Before {
        /// The item of the prompt.
        prompt: ItemId,
    },
}

/// The relation of a fork to its original session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForkKind {
    /// The fork continues in place of the original.
    Beside,
    /// The fork works for the original, which is its parent and pays for it.
    Beneath,
}

/// The reason why a fork is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The log does not begin with the start of a session.
    #[error("the session never started")]
    NotStarted,
    /// There is no such event.
    #[error("the session has no event {0}")]
    NoEvent(u64),
    /// There is no such prompt.
    #[error("the session has no prompt `{0}`")]
    NoPrompt(ItemId),
    /// The event is in the middle of a turn.
    #[error("event {0} is in the middle of a turn")]
    InTurn(u64),
    /// The session that the fork is to be below does not have its directory.
    #[error("`{0}` is outside the directory of the session above")]
    Outside(String),
}

/// The facts that a fork of this log begins with. The log ends at [`fork_end`] and may be settled. The facts
/// include private data and later changes as returned by [`changes_since`]. `by` forks; the copied facts keep
/// their authors. A fork below a session gets nothing wider than the bounds `above`, whatever it had at that point.
pub fn fork(
    by: &Principal,
    session: &SessionId,
    log: Vec<LogEntry>,
    since: Vec<SessionChanged>,
    kind: ForkKind,
    above: Option<&SessionBounds>,
    now: UnixMillis,
) -> Result<Vec<AuthoredFact>, ForkError> {
    let until = log.len() as u64;
    let mut copy = Copied::default();
    for entry in log {
        copy.take(entry);
    }
    for changed in since {
        copy.change(changed);
    }
    copy.narrow(above)?;
    copy.finish(by, session, until, kind, now)
}

/// Settings that changed after the last event a fork takes and that still hold in the fork. A fork in the
/// middle of a turn has the current mode and model; a fork that goes back has those of that time.
pub fn changes_since(log: &[LogEntry], until: u64, point: &ForkPoint) -> Vec<SessionChanged> {
    let behind = usize::try_from(until).ok().filter(|_| *point == ForkPoint::Now);
    let later = behind.and_then(|until| log.get(until..)).unwrap_or_default();
    let changed = later.iter().filter_map(|entry| match entry {
        LogEntry::Event(event) => match &event.fact {
            Fact::SessionChanged(changed) => Some(changed.clone()),
            _ => None,
        },
        LogEntry::Superseded { .. } => None,
    });
    changed.collect()
}

/// The number of the last event that a fork takes. The caller reads the log up to it again, since an entry
/// may be superseded by one that the fork does not take.
pub fn fork_end(log: &[LogEntry], point: &ForkPoint) -> Result<u64, ForkError> {
    let until = match point {
        ForkPoint::Now => before_open_turn(log),
        ForkPoint::After { seq } => after(log, *seq)?,
        ForkPoint::Before { prompt } => log
            .iter()
            .position(|entry| prompted(entry) == Some(prompt))
            .ok_or_else(|| ForkError::NoPrompt(prompt.clone()))?,
    };
    // A prompt opens its turn; without the prompt the turn does not exist.
    let has_opened = until.checked_sub(1).and_then(|last| log.get(last)).is_some_and(starts_turn);
    Ok(if has_opened { until - 1 } else { until } as u64)
}

/// The index before the open turn, or the length of the log if no turn is open.
fn before_open_turn(log: &[LogEntry]) -> usize {
    let closed = log.iter().rposition(ends_turn).map_or(0, |place| place + 1);
    let later = log.iter().skip(closed);
    later.into_iter().position(starts_turn).map_or(log.len(), |place| closed + place)
}

fn after(log: &[LogEntry], seq: u64) -> Result<usize, ForkError> {
    let until = usize::try_from(seq).ok().filter(|until| (1..=log.len()).contains(until));
    let until = until.ok_or(ForkError::NoEvent(seq))?;
    let mut turn: Option<TurnId> = None;
    for entry in &log[..until] {
        match entry {
            LogEntry::Event(event) => match &event.fact {
                Fact::TurnStarted(started) => turn = Some(started.turn.clone()),
                Fact::TurnEnded(_) => turn = None,
                _ => {}
            },
            LogEntry::Superseded { .. } => {}
        }
    }
    let is_before_prompt = log.get(until).is_some_and(|entry| prompted(entry).is_some());
    if turn.is_some() && !is_before_prompt { Err(ForkError::InTurn(seq)) } else { Ok(until) }
}

fn starts_turn(entry: &LogEntry) -> bool {
    matches!(entry, LogEntry::Event(event) if matches!(event.fact, Fact::TurnStarted(_)))
}

fn ends_turn(entry: &LogEntry) -> bool {
    matches!(entry, LogEntry::Event(event) if matches!(event.fact, Fact::TurnEnded(_)))
}

/// The prompt that an entry carries.
fn prompted(entry: &LogEntry) -> Option<&ItemId> {
    let LogEntry::Event(event) = entry else { return None };
    let item = event.fact.item()?;
    matches!(item.content, Content::UserMessage { .. }).then_some(&item.id)
}

/// The part of the log that a fork has copied so far.
#[derive(Default)]
struct Copied {
    started: Option<SessionStarted>,
    changed: SessionChanged,
    /// Facts in their order. An item has one place, where it first appeared; `None` until its value is known.
    facts: Vec<Option<AuthoredFact>>,
    places: HashMap<ItemId, usize>,
}

impl Copied {
    fn take(&mut self, entry: LogEntry) {
        let (by, fact) = match entry {
            LogEntry::Superseded { item, .. } => {
                self.place(item);
                return;
            }
            LogEntry::Event(event) => (event.by, event.fact),
        };
        match fact {
            Fact::SessionStarted(started) => self.started = Some(started),
            Fact::SessionChanged(changed) => self.change(changed),
            Fact::ItemStarted(ItemStarted { item })
            | Fact::ItemChanged(crate::ItemChanged { item })
            | Fact::ItemEnded(ItemEnded { item }) => {
                let place = self.place(item.id.clone());
                let fact = if item.status.is_final() {
                    Fact::ItemEnded(ItemEnded { item })
                } else {
                    Fact::ItemStarted(ItemStarted { item })
                };
                self.facts[place] = Some(AuthoredFact { by, fact });
            }
            // Asks are settled, usage is on the original session's bill, and the rest was for its readers.
            Fact::SessionEnded(_)
            | Fact::ItemDelta(_)
            | Fact::Asked(_)
            | Fact::Answered(_)
            | Fact::UsageReported(_)
            | Fact::Notice(_) => {}
            Fact::TurnStarted(_) | Fact::TurnEnded(_) | Fact::Native(_) | Fact::Unknown(_) => {
                self.facts.push(Some(AuthoredFact { by, fact }));
            }
        }
    }

    fn place(&mut self, item: ItemId) -> usize {
        let next = self.facts.len();
        let place = *self.places.entry(item).or_insert(next);
        if place == next {
            self.facts.push(None);
        }
        place
    }

    /// Keeps the last value of each setting. The approval policy and taken panes belong to the original
    /// session only.
    fn change(&mut self, changed: SessionChanged) {
        let SessionChanged { title, model, plan_only, targets, .. } = changed;
        self.changed.title = title.or(self.changed.title.take());
        self.changed.plan_only = plan_only.or(self.changed.plan_only);
        if let Some(started) = &mut self.started {
            started.model = model.or(started.model.take());
            started.targets = targets.unwrap_or(std::mem::take(&mut started.targets));
        }
    }

    fn narrow(&mut self, above: Option<&SessionBounds>) -> Result<(), ForkError> {
        let Some((above, started)) = above.zip(self.started.as_mut()) else { return Ok(()) };
        if above.narrow(started, &mut self.changed) {
            Ok(())
        } else {
            Err(ForkError::Outside(started.cwd.clone()))
        }
    }

    fn finish(
        self,
        by: &Principal,
        session: &SessionId,
        until: u64,
        kind: ForkKind,
        now: UnixMillis,
    ) -> Result<Vec<AuthoredFact>, ForkError> {
        let mut started = self.started.ok_or(ForkError::NotStarted)?;
        if kind == ForkKind::Beneath {
            started.parent = Some(session.clone());
        }
        // The fork may run elsewhere and later, so the conditions of the original do not describe it.
        started.began_with = None;
        started.forked_from = Some(Origin { session: session.clone(), seq: until });
        let mut facts = vec![AuthoredFact::new(by, Fact::SessionStarted(started))];
        if self.changed != SessionChanged::default() {
            facts.push(AuthoredFact::new(by, Fact::SessionChanged(self.changed)));
        }
        facts.extend(self.facts.into_iter().flatten());
        let mut transcript = Transcript::default();
        for AuthoredFact { by, fact } in facts.clone() {
            transcript.take_fact(by, fact);
        }
        // If the fork ends before a prompt that steered its turn, that turn is still open.
        facts.extend(recovery(&transcript, now));
        Ok(facts)
    }
}

#[cfg(test)]
mod tests;
