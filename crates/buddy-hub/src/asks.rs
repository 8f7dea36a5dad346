//! The open asks of a session. The first answer wins; an ask without an answer in time expires.

use std::collections::HashMap;
use std::time::Duration;

use buddy_protocol::{Answer, Ask, AskId, Misfit, Question, UnixMillis};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The maximum number of open asks in one session. An agent with more is out of control; further asks are
/// denied at once.
pub(crate) const MAX_OPEN: usize = 256;

/// The number of wrong words after which an ask is denied: enough for a user's typing mistakes, too few for a
/// program that guesses.
const MAX_WRONG_WORDS: usize = 3;

/// Open asks, each with the task that waits for the answer.
#[derive(Default)]
pub(crate) struct Asks {
    open: HashMap<AskId, OpenAsk>,
}

struct OpenAsk {
    asker: oneshot::Sender<Answer>,
    question: Question,
    /// Uses the monotonic clock, so that a clock set back does not keep an ask alive.
    deadline: Option<Instant>,
    /// The number of answers with a wrong word.
    wrong_words: usize,
}

impl Asks {
    pub(crate) fn is_full(&self) -> bool {
        self.open.len() >= MAX_OPEN
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn open(&mut self, ask: &Ask, now: UnixMillis, asker: oneshot::Sender<Answer>) {
        let deadline = ask
            .expires
            .map(|UnixMillis(expires)| Instant::now() + Duration::from_millis(expires.saturating_sub(now.0)));
        let question = ask.question.clone();
        self.open.insert(ask.id.clone(), OpenAsk { asker, question, deadline, wrong_words: 0 });
    }

    /// Counts an answer with a wrong word. Returns how many more an open ask permits before it is denied.
    pub(crate) fn count_wrong_word(&mut self, ask: &AskId) -> usize {
        self.open.get_mut(ask).map_or(0, |open| {
            open.wrong_words += 1;
            MAX_WRONG_WORDS.saturating_sub(open.wrong_words)
        })
    }

    pub(crate) fn is_open(&self, ask: &AskId) -> bool {
        self.open.contains_key(ask)
    }

    /// Whether an open ask accepts this answer; `None` if it is not open.
    pub(crate) fn accepts(&self, ask: &AskId, answer: &Answer) -> Option<Result<(), Misfit>> {
        self.open.get(ask).map(|open| open.question.accepts(answer))
    }

    /// Hands the answer to the asker. The caller has made it durable.
    pub(crate) fn settle(&mut self, ask: &AskId, answer: Answer) {
        if let Some(open) = self.open.remove(ask) {
            // The asker may be gone; then only the log has the answer.
            let _ = open.asker.send(answer);
        }
    }

    /// The time at which the next ask expires.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.open.values().filter_map(|open| open.deadline).min()
    }

    /// The asks that have expired.
    pub(crate) fn expired(&self, now: Instant) -> Vec<AskId> {
        let is_over = |open: &OpenAsk| open.deadline.is_some_and(|deadline| deadline <= now);
        self.open.iter().filter(|(_, open)| is_over(open)).map(|(id, _)| id.clone()).collect()
    }
}
