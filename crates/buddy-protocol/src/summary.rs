//! The summary of a session for lists. It derives from the log alone, so that it can be rebuilt from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Ask, AskId, Bill, Content, Event, Fact, Principal, SessionCursor, SessionId, SessionStarted, UnixMillis,
};

/// The maximum length of a title taken from the first prompt.
const TITLE_CHARS: usize = 80;

/// One line of a list of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummary {
    /// The session.
    pub id: SessionId,
    /// The owner of the session.
    pub owner: Principal,
    /// The agent that drives it.
    pub agent: String,
    /// The directory it works in.
    pub cwd: String,
    /// The model in use.
    pub model: Option<String>,
    /// The session that opened it.
    pub parent: Option<SessionId>,
    /// The session that it is a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<SessionId>,
    /// The given title, or the beginning of the first prompt.
    pub title: Option<String>,
    /// Its state as of its last event.
    pub state: SessionState,
    /// When it started.
    pub created: UnixMillis,
    /// The time of its last event.
    pub updated: UnixMillis,
    /// The number of its last event.
    pub head: u64,
    /// The number of turns that were started.
    pub turns: u64,
    /// The tokens and the cost of its model calls.
    #[serde(default)]
    pub bill: Bill,
    /// Its pending asks, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask>,
}

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// No turn runs.
    Idle,
    /// A turn runs.
    Running,
    /// A turn runs and waits for a user.
    Waiting,
    /// It ended for good.
    Ended,
}

impl SessionSummary {
    /// The summary of a session of which only the first event is known.
    pub fn begin(id: &SessionId, started: &SessionStarted, time: UnixMillis) -> Self {
        Self {
            id: id.clone(),
            owner: started.owner.clone(),
            agent: started.agent.clone(),
            cwd: started.cwd.clone(),
            model: started.model.clone(),
            parent: started.parent.clone(),
            forked_from: started.forked_from.as_ref().map(|origin| origin.session.clone()),
            title: None,
            state: SessionState::Idle,
            created: time,
            updated: time,
            head: 0,
            turns: 0,
            bill: Bill::default(),
            asks: Vec::new(),
        }
    }

    /// Whether someone talks in it: something was said, and it is no task of another session.
    pub fn is_conversation(&self) -> bool {
        self.turns > 0 && self.parent.is_none()
    }

    /// The place in a list just behind this session.
    pub fn cursor(&self) -> SessionCursor {
        SessionCursor { updated: self.updated, session: self.id.clone() }
    }

    /// Applies the next durable event.
    pub fn apply(&mut self, event: &Event) {
        self.updated = event.time;
        self.head = event.seq.unwrap_or(self.head);
        match &event.fact {
            Fact::SessionChanged(changed) => {
                self.title = changed.title.clone().or(self.title.take());
                self.model = changed.model.clone().or(self.model.take());
            }
            Fact::SessionEnded(_) => self.state = SessionState::Ended,
            Fact::TurnStarted(_) => {
                self.turns += 1;
                self.state = SessionState::Running;
            }
            Fact::TurnEnded(_) => self.state = SessionState::Idle,
            Fact::ItemEnded(ended) => self.adopt_title(&ended.item.content),
            Fact::Asked(asked) => {
                self.asks.push(asked.ask.clone());
                self.state = SessionState::Waiting;
            }
            Fact::Answered(answered) => self.settle(&answered.ask),
            Fact::UsageReported(report) => self.bill.add(report.usage, report.cost),
            _ => {}
        }
    }

    fn settle(&mut self, answered: &AskId) {
        self.asks.retain(|ask| ask.id != *answered);
        if self.state == SessionState::Waiting && self.asks.is_empty() {
            self.state = SessionState::Running;
        }
    }

    fn adopt_title(&mut self, content: &Content) {
        if let (None, Content::UserMessage { text, images, ran: None, .. }) = (&self.title, content) {
            let line = text.lines().map(str::trim).find(|line| !line.is_empty());
            let line = line.or_else(|| images.iter().find_map(|image| image.name.as_deref()));
            self.title = line.map(|line| line.chars().take(TITLE_CHARS).collect());
        }
    }
}
