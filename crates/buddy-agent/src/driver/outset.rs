//! The time before a model call in which its source finds out about the model. It passes beside the loop.

use tokio::task::JoinSet;

use crate::models::Models;
use crate::turn::ModelCall;

/// The model call that waits, if one does.
#[derive(Default)]
pub(crate) struct Outset {
    /// Dropping it lets go of the search.
    search: JoinSet<()>,
    call: Option<ReadyCall>,
}

/// A model call with the name of the model that is ready for it.
pub(crate) struct ReadyCall {
    pub(crate) model: Option<String>,
    pub(crate) call: ModelCall,
}

impl Outset {
    /// Finds out about the model in use, for this call.
    pub(crate) fn begin(&mut self, models: &Models, call: ModelCall) {
        let (source, model) = (models.source.clone(), models.chosen.clone());
        self.call = Some(ReadyCall { model: model.clone(), call });
        self.search = JoinSet::new();
        self.search.spawn(async move { source.ready(model.as_deref()).await });
    }

    /// Lets go of the call.
    pub(crate) fn let_go(&mut self) {
        *self = Self::default();
    }

    /// The call, once enough is known; none if none waits.
    pub(crate) async fn next_call(&mut self) -> Option<ReadyCall> {
        if let Err(error) = self.search.join_next().await? {
            // The call itself says what is wrong with the model.
            tracing::error!(%error, "the search for a model broke");
        }
        self.call.take()
    }
}
