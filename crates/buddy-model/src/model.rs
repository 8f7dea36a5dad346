//! The port to a model.

use std::pin::Pin;

use futures::Stream;

use crate::{Delta, ModelError, Prompt};

/// A model that answers prompts.
pub trait Model: Send + Sync {
    /// The model's name, as the provider knows it.
    fn name(&self) -> &str;

    /// Calls the model. Nothing is sent before the stream is first polled; dropping it cancels the call and
    /// closes its connection, which also stops the work of the servers that were tried.
    fn call(&self, prompt: Prompt) -> ReplyStream;
}

/// The deltas of one call. Ends after `Ok(Delta::Finished)` or the first `Err`.
pub type ReplyStream = Pin<Box<dyn Stream<Item = Result<Delta, ModelError>> + Send>>;
