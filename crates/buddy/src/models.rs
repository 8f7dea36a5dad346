//! The model that the environment names.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use buddy_agent::ModelSource;
use buddy_model::{Auth, Catalogue, Endpoint, HttpModel, Model, ModelFacts, Route};
use buddy_protocol::{Failure, FailureKind};
use secrecy::SecretString;

use crate::environment::Environment;

/// Models of one server: `BUDDY_BASE_URL`, with `BUDDY_API_KEY`. The key goes to that server alone.
pub(crate) struct EnvironmentModels {
    base_url: Option<String>,
    default: Option<String>,
    key: Option<SecretString>,
    idle_timeout: Option<Duration>,
    catalogue: Catalogue,
    /// Models that were used, so that each keeps its connections.
    known: Mutex<HashMap<String, Arc<dyn Model>>>,
}

impl EnvironmentModels {
    pub(crate) fn new(environment: &Environment) -> Self {
        Self {
            base_url: environment.base_url.clone(),
            default: environment.model.clone(),
            key: environment.api_key.clone(),
            idle_timeout: environment.idle_timeout.map(Duration::from_secs),
            catalogue: Catalogue::built_in().unwrap_or_default(),
            known: Mutex::default(),
        }
    }

    /// Whether there is a model to talk to.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.model(None).map(drop)
    }

    fn connect(&self, name: &str) -> Result<Arc<dyn Model>, Failure> {
        let base_url = self.base_url.as_deref().ok_or_else(|| missing("no model's server is configured"))?;
        let endpoint =
            Endpoint::parse(base_url).map_err(|error| invalid(format!("BUDDY_BASE_URL: {error}")))?;
        let auth = self.key.clone().map_or(Auth::None, Auth::Bearer);
        let mut route = Route::chat(endpoint, auth);
        if let Some(idle_timeout) = self.idle_timeout {
            route.settings.idle_timeout = idle_timeout;
        }
        let model = HttpModel::new(name, route).map_err(|error| invalid(error.to_string()))?;
        Ok(Arc::new(model))
    }
}

impl ModelSource for EnvironmentModels {
    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, Failure> {
        let name = name.or(self.default.as_deref()).ok_or_else(|| missing("no model is configured"))?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = known.get(name) {
            return Ok(model.clone());
        }
        let model = self.connect(name)?;
        known.insert(name.to_owned(), model.clone());
        Ok(model)
    }

    fn facts(&self, name: Option<&str>) -> ModelFacts {
        let name = name.or(self.default.as_deref()).unwrap_or_default();
        self.catalogue.facts(name)
    }
}

fn missing(message: &str) -> Failure {
    let hint = "set BUDDY_BASE_URL to an OpenAI-compatible server, BUDDY_MODEL to a model there and BUDDY_API_KEY to its key";
    Failure { kind: FailureKind::ModelMissing, message: message.to_owned(), hint: Some(hint.to_owned()) }
}

fn invalid(message: String) -> Failure {
    Failure { kind: FailureKind::InvalidRequest, message, hint: None }
}
