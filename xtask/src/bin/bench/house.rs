//! A hub over a real store, with an agent that hands out its sinks, so that a benchmark can report facts as
//! an agent does.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use async_trait::async_trait;
use buddy_hub::{Hub, HubLimits, HubParts};
use buddy_protocol::{
    Agent, AgentError, AgentSession, Command, CommandOutcome, EventSink, NewSession, Opening, Principal,
    SessionId, Sessions, SingleUser,
};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};

use crate::facts::Counter;

/// A hub and its store.
pub(crate) struct House {
    pub(crate) hub: Hub,
    pub(crate) store: SqliteStore,
    pub(crate) who: Principal,
    agent: Arc<Handing>,
}

impl House {
    /// Opens the store of a folder, as the binary does.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let clock = Arc::new(Counter::default());
        let settings = StoreSettings {
            directory: folder.to_owned(),
            role: StoreRole::Terminal,
            boot_id: None,
            clock: clock.clone(),
        };
        let store = SqliteStore::open(settings)?;
        let agent = Arc::new(Handing::default());
        let parts = HubParts {
            store: Arc::new(store.clone()),
            agents: vec![agent.clone()],
            clock: clock.clone(),
            ids: clock,
            members: Arc::new(SingleUser),
            keys: Arc::new(store.clone()),
            limits: HubLimits::default(),
        };
        Ok(Self { hub: Hub::new(parts), store, who: Principal::person("bench"), agent })
    }

    /// A new session, and the sink of its agent.
    pub(crate) async fn session(&self) -> Result<(SessionId, Arc<dyn EventSink>)> {
        let new = NewSession::new(Handing::NAME, "/");
        let session = self.hub.create(&self.who, new).await?;
        Ok((session, self.agent.sink().context("the agent was not opened")?))
    }

    /// Stops the sessions and closes the store.
    pub(crate) async fn close(self) -> Result<()> {
        self.hub.close().await;
        Ok(self.store.close().await?)
    }
}

/// An agent that only keeps the sink of the most recently opened session.
#[derive(Default)]
struct Handing {
    sink: Mutex<Option<Arc<dyn EventSink>>>,
}

impl Handing {
    const NAME: &'static str = "handing";

    fn sink(&self) -> Option<Arc<dyn EventSink>> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[async_trait]
impl Agent for Handing {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn open(&self, _: Opening, sink: Arc<dyn EventSink>) -> Result<Box<dyn AgentSession>, AgentError> {
        *self.sink.lock().unwrap_or_else(PoisonError::into_inner) = Some(sink);
        Ok(Box::new(Idle))
    }
}

struct Idle;

#[async_trait]
impl AgentSession for Idle {
    async fn command(&mut self, _: Principal, _: Command) -> CommandOutcome {
        Box::pin(async { Ok(()) })
    }

    async fn close(self: Box<Self>) {}
}
