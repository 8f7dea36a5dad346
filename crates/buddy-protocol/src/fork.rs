//! Forks: a session that begins with what another one had.
//!
//! A fork is a log of its own. It holds the settled facts of the other one, so it can be read, resumed and forked without
//! it, and the other one stays as it was.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Content, Fact, ItemEnded, ItemId, ItemStarted, LogEntry, Origin, SessionChanged, SessionId,
    SessionStarted, Transcript, TurnId, UnixMillis, recovery,
};

/// Up to where a fork takes the facts of the other session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ForkPoint {
    /// All there is, without a turn that has not ended.
    Now,
    /// Up to this event, with which a turn has ended or after which a prompt comes.
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

/// How a fork stands to the session that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForkKind {
    /// It goes on in the other one's place.
    Beside,
    /// It works for the other one, which is its parent and pays for it.
    Beneath,
}

/// Why a session cannot be forked like this.
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
}

/// The facts that a fork of this log begins with. The log ends at [`fork_end`] and may be settled; private data comes along.
/// Changes since then hold too, as [`changes_since`] gives them.
pub fn fork(
    session: &SessionId,
    log: Vec<LogEntry>,
    since: Vec<SessionChanged>,
    kind: ForkKind,
    now: UnixMillis,
) -> Result<Vec<Fact>, ForkError> {
    let until = log.len() as u64;
    let mut copy = Copied::default();
    for entry in log {
        copy.take(entry);
    }
    for changed in since {
        copy.change(changed);
    }
    copy.finish(session, until, kind, now)
}

/// What was changed in a session behind the last event that a fork takes, where that holds in the fork too. One that
/// begins in the middle of a turn has the mode and the model of now; one that goes back has those of then.
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

/// The last event of a log that a fork takes. What comes before it is then read anew, since an entry may be superseded by
/// one that the fork does not take.
pub fn fork_end(log: &[LogEntry], point: &ForkPoint) -> Result<u64, ForkError> {
    let until = match point {
        ForkPoint::Now => before_open_turn(log),
        ForkPoint::After { seq } => after(log, *seq)?,
        ForkPoint::Before { prompt } => log
            .iter()
            .position(|entry| prompted(entry) == Some(prompt))
            .ok_or_else(|| ForkError::NoPrompt(prompt.clone()))?,
    };
    // A prompt opens its turn; without the prompt there is no turn.
    let has_opened = until.checked_sub(1).and_then(|last| log.get(last)).is_some_and(starts_turn);
    Ok(if has_opened { until - 1 } else { until } as u64)
}

/// All there is, without a turn that has not ended.
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

/// What a fork has of the log so far.
#[derive(Default)]
struct Copied {
    started: Option<SessionStarted>,
    changed: SessionChanged,
    /// Facts in their order. An item has one place, where it first appeared; none while its value is not known.
    facts: Vec<Option<Fact>>,
    places: HashMap<ItemId, usize>,
}

impl Copied {
    fn take(&mut self, entry: LogEntry) {
        let fact = match entry {
            LogEntry::Superseded { item, .. } => {
                self.place(item);
                return;
            }
            LogEntry::Event(event) => event.fact,
        };
        match fact {
            Fact::SessionStarted(started) => self.started = Some(started),
            Fact::SessionChanged(changed) => self.change(changed),
            Fact::ItemStarted(ItemStarted { item })
            | Fact::ItemChanged(crate::ItemChanged { item })
            | Fact::ItemEnded(ItemEnded { item }) => {
                let place = self.place(item.id.clone());
                self.facts[place] = Some(if item.status.is_final() {
                    Fact::ItemEnded(ItemEnded { item })
                } else {
                    Fact::ItemStarted(ItemStarted { item })
                });
            }
            // What was asked is settled, what was used is on the other session's bill, and the rest was for its readers.
            Fact::SessionEnded(_)
            | Fact::ItemDelta(_)
            | Fact::Asked(_)
            | Fact::Answered(_)
            | Fact::UsageReported(_)
            | Fact::Notice(_) => {}
            Fact::TurnStarted(_) | Fact::TurnEnded(_) | Fact::Native(_) | Fact::Unknown(_) => {
                self.facts.push(Some(fact));
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

    /// Keeps what holds at the end of it all. A policy on approvals and taken panes are of the session that had them.
    fn change(&mut self, changed: SessionChanged) {
        let SessionChanged { title, model, plan_only, targets, .. } = changed;
        self.changed.title = title.or(self.changed.title.take());
        self.changed.plan_only = plan_only.or(self.changed.plan_only);
        if let Some(started) = &mut self.started {
            started.model = model.or(started.model.take());
            started.targets = targets.unwrap_or(std::mem::take(&mut started.targets));
        }
    }

    fn finish(
        self,
        session: &SessionId,
        until: u64,
        kind: ForkKind,
        now: UnixMillis,
    ) -> Result<Vec<Fact>, ForkError> {
        let mut started = self.started.ok_or(ForkError::NotStarted)?;
        if kind == ForkKind::Beneath {
            started.parent = Some(session.clone());
        }
        // The copy may go on elsewhere and later, so the conditions of the first one say nothing of it.
        started.began_with = None;
        started.forked_from = Some(Origin { session: session.clone(), seq: until });
        let mut facts = vec![Fact::SessionStarted(started)];
        if self.changed != SessionChanged::default() {
            facts.push(Fact::SessionChanged(self.changed));
        }
        facts.extend(self.facts.into_iter().flatten());
        let mut transcript = Transcript::default();
        for fact in &facts {
            transcript.take_fact(fact.clone());
        }
        // Before a prompt that steered its turn, that turn is open.
        facts.extend(recovery(&transcript, now));
        Ok(facts)
    }
}

#[cfg(test)]
mod tests;
