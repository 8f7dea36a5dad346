//! Calls by clients: begun, stopped and taken in beside the turn. Each goes the way of the model's calls.

use buddy_calls::Call;
use buddy_protocol::{
    AgentError, AuthoredFact, Content, Fact, Item, ItemId, ItemStarted, ItemStatus, Json, Principal,
    SinkClosed, ToolCall,
};
use tokio::task::{Id, JoinError};
use tokio_util::sync::CancellationToken;

use super::{Driver, broken};
use crate::client_calls::ClientCall;
use crate::order::refused;
use crate::turn::Input;

impl Driver {
    /// Begins a call of a client.
    pub(super) async fn call_as_client(
        &mut self,
        by: Principal,
        tool: String,
        input: Json,
    ) -> Result<Result<(), AgentError>, SinkClosed> {
        if !self.work.clients.has_room() {
            return Ok(Err(refused("too many calls of clients run in this session".to_owned())));
        }
        let item = self.client_item(&by, tool, input);
        let started = Fact::ItemStarted(ItemStarted { item: item.clone() });
        self.sink.commit_authored(vec![AuthoredFact::new(&by, started)]).await?;
        for planned in self.pipeline.plan(vec![Call { item: item.clone(), refusal: None }]) {
            let cancel = CancellationToken::new();
            let run = self.pipeline.clone().run(planned, cancel.clone());
            let call = ClientCall { item: item.clone(), by: by.clone(), cancel };
            self.work.clients.spawn(call, run);
        }
        Ok(Ok(()))
    }

    /// The item of a call that was not judged yet. It gets its place in the conversation when it ends.
    fn client_item(&self, by: &Principal, tool: String, input: Json) -> Item {
        let (tools, names) = (self.pipeline.tools.current(), self.pipeline.parts.targets.names());
        let value = input.value();
        let (kind, title) = tools.describe(&tool, &value);
        let named = tools.named_target(&tool, &value, &names).filter(|named| names.contains(named));
        let id = ItemId::new(&*self.funds.ids);
        let call = ToolCall {
            call_id: id.to_string(),
            name: tool,
            kind,
            title,
            input,
            output: None,
            images: Vec::new(),
            target: named.or_else(|| names.first().cloned()),
            had_secrets: false,
            caller: Some(by.clone()),
        };
        Item {
            id,
            turn: None,
            step: None,
            place: None,
            parent: None,
            status: ItemStatus::Pending,
            content: Content::ToolCall(Box::new(call)),
            private: None,
        }
    }

    /// Takes in how a call ended, also where its task broke.
    pub(super) async fn client_call_ended(
        &mut self,
        ended: Result<(Id, Item), JoinError>,
    ) -> Result<(), SinkClosed> {
        let (id, item) = match ended {
            Ok((id, item)) => (id, Some(item)),
            Err(error) => {
                tracing::error!(%error, "a call of a client broke");
                (error.id(), None)
            }
        };
        let Some(ClientCall { item: begun, by, .. }) = self.work.clients.take(id) else { return Ok(()) };
        let item = item.unwrap_or_else(|| broken(begun, self.clock.now()));
        self.feed(Input::PersonRan { by: Some(by), item }).await
    }
}
