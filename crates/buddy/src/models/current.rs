//! The models of a run, replaced as a whole when the configuration or a key has changed.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use buddy_agent::ModelSource;
use buddy_model::{Model, ModelFacts};
use buddy_protocol::Failure;

use super::{Lessons, ModelKeys, Models, choose, local_servers};
use crate::config::Loaded;
use crate::environment::Environment;
use crate::local_machine::local_target;
use crate::start_error::StartError;

/// The models that calls use now. A call that runs keeps the model that it began with.
pub(crate) struct CurrentModels {
    /// Held for a look or a replacement only.
    models: RwLock<Arc<Models>>,
}

impl CurrentModels {
    pub(crate) fn new(models: Models) -> Self {
        Self { models: RwLock::new(Arc::new(models)) }
    }

    /// The models as they are now.
    pub(crate) fn now(&self) -> Arc<Models> {
        self.models.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Uses these from now on.
    pub(crate) async fn replace(&self, models: Models) {
        let models = Arc::new(models);
        let before =
            std::mem::replace(&mut *self.models.write().unwrap_or_else(PoisonError::into_inner), models);
        before.settle().await;
    }
}

#[async_trait]
impl ModelSource for CurrentModels {
    async fn ready(&self, name: Option<&str>) {
        self.now().ready(name).await;
    }

    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, Failure> {
        self.now().model(name)
    }

    fn facts(&self, name: Option<&str>) -> ModelFacts {
        self.now().facts(name)
    }
}

/// The models of a configuration, with the one that is used if a session names none.
pub(crate) async fn find_models(
    environment: &Environment,
    cwd: &Path,
    loaded: &Loaded,
    wish: Option<&str>,
) -> anyhow::Result<Models> {
    let target = Arc::new(local_target(environment, cwd.to_owned())?);
    let keys = ModelKeys::new(environment, loaded, target);
    let is_wanted = loaded.config.network.local_servers;
    let probe = async || if is_wanted { local_servers(environment).await } else { Vec::new() };
    let choice = choose(environment, loaded, &keys, wish, probe).await.map_err(StartError::from)?;
    Ok(Models::new(loaded, keys, choice, Lessons::read(&environment.data)))
}
