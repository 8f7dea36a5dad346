//! The sink that an agent reports to: a handle on the session's actor.

use async_trait::async_trait;
use buddy_protocol::{Answer, Ask, AskId, AuthoredFact, EventSink, SinkClosed};
use tokio::sync::{mpsc, oneshot};

use crate::actor::Message;

/// A handle on an actor that can only report and ask.
pub(crate) struct ActorSink {
    pub(crate) messages: mpsc::Sender<Message>,
    pub(crate) withdrawn: mpsc::UnboundedSender<AskId>,
}

/// Withdraws an ask unless it was answered.
struct Withdraw<'a> {
    ask: Option<AskId>,
    withdrawn: &'a mpsc::UnboundedSender<AskId>,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        if let Some(ask) = self.ask.take() {
            // A stopped actor has nothing left to withdraw.
            let _ = self.withdrawn.send(ask);
        }
    }
}

impl ActorSink {
    async fn tell(&self, message: Message) -> Result<(), SinkClosed> {
        self.messages.send(message).await.map_err(|_| SinkClosed)
    }
}

#[async_trait]
impl EventSink for ActorSink {
    async fn push_authored(&self, facts: Vec<AuthoredFact>) -> Result<(), SinkClosed> {
        self.tell(Message::Facts { facts, done: None }).await
    }

    async fn commit_authored(&self, facts: Vec<AuthoredFact>) -> Result<(), SinkClosed> {
        let (done, is_durable) = oneshot::channel();
        self.tell(Message::Facts { facts, done: Some(done) }).await?;
        is_durable.await.map_err(|_| SinkClosed)?
    }

    async fn ask(&self, ask: Ask) -> Result<Answer, SinkClosed> {
        let (asker, answer) = oneshot::channel();
        let mut withdraw = Withdraw { ask: Some(ask.id.clone()), withdrawn: &self.withdrawn };
        self.tell(Message::Ask { ask: Box::new(ask), asker }).await?;
        let answer = answer.await.map_err(|_| SinkClosed)?;
        withdraw.ask = None;
        Ok(answer)
    }
}
