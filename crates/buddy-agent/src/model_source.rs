//! The port to models: who knows which there are.

use std::sync::Arc;

use async_trait::async_trait;
use buddy_model::{Model, ModelFacts};
use buddy_protocol::Failure;

/// Where models come from.
#[async_trait]
pub trait ModelSource: Send + Sync {
    /// Finds out what must be known before a model is called, within a short time; most often nothing.
    async fn ready(&self, name: Option<&str>);

    /// The model of a name, or the one to use when no name is given.
    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, Failure>;

    /// The facts about that model.
    fn facts(&self, name: Option<&str>) -> ModelFacts;
}
