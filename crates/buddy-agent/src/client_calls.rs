//! The calls that clients make beside the turn, as far as they run.

use std::collections::HashMap;

use buddy_protocol::{Item, ItemId, Principal};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// Calls of clients that run at the same time in one session.
const MAX_CLIENT_CALLS: usize = 8;

/// The calls under way.
#[derive(Default)]
pub(crate) struct ClientCalls {
    tasks: JoinSet<Item>,
    calls: HashMap<Id, ClientCall>,
}

/// A call under way.
pub(crate) struct ClientCall {
    /// Its item as it was begun.
    pub(crate) item: Item,
    /// The client.
    pub(crate) by: Principal,
    pub(crate) cancel: CancellationToken,
}

impl ClientCalls {
    /// Whether one more can run.
    pub(crate) fn has_room(&self) -> bool {
        self.calls.len() < MAX_CLIENT_CALLS
    }

    /// Runs a call to its end.
    pub(crate) fn spawn(&mut self, call: ClientCall, run: impl Future<Output = Item> + Send + 'static) {
        let task = self.tasks.spawn(run);
        self.calls.insert(task.id(), call);
    }

    /// Stops the call of an item. Its end comes all the same. Returns whether it is one of these.
    pub(crate) fn stop(&self, item: &ItemId) -> bool {
        let call = self.calls.values().find(|call| call.item.id == *item);
        call.inspect(|call| call.cancel.cancel()).is_some()
    }

    /// Stops all of them.
    pub(crate) fn stop_all(&self) {
        self.calls.values().for_each(|call| call.cancel.cancel());
    }

    /// The next call that ended; none if none runs.
    pub(crate) async fn next_end(&mut self) -> Option<Result<(Id, Item), JoinError>> {
        self.tasks.join_next_with_id().await
    }

    /// Lets go of a call that ended.
    pub(crate) fn take(&mut self, id: Id) -> Option<ClientCall> {
        self.calls.remove(&id)
    }
}
