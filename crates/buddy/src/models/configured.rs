//! A model as the configuration wants it: with its defaults filled in, and with a key that may have to be asked for.

use std::sync::Arc;

use buddy_model::{HttpModel, Model, ModelError, ModelErrorKind, Prompt, ReplyStream, Route};
use futures::{StreamExt, stream};

use super::key::KeyCommand;

/// The defaults of prompts that set nothing themselves.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PromptDefaults {
    pub(crate) max_output_tokens: Option<u64>,
    pub(crate) temperature: Option<f64>,
}

impl PromptDefaults {
    fn fill(self, mut prompt: Prompt) -> Prompt {
        prompt.max_output_tokens = prompt.max_output_tokens.or(self.max_output_tokens);
        prompt.temperature = prompt.temperature.or(self.temperature);
        prompt
    }
}

/// A model whose key is at hand.
pub(crate) struct ReadyModel {
    pub(crate) model: HttpModel,
    pub(crate) defaults: PromptDefaults,
}

impl Model for ReadyModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn call(&self, prompt: Prompt) -> ReplyStream {
        self.model.call(self.defaults.fill(prompt))
    }
}

/// Makes the route once the key is known.
pub(crate) type MakeRoute = dyn Fn(secrecy::SecretString) -> Result<Route, ModelError> + Send + Sync;

/// A model whose key a command prints. The command runs with the first call, not before.
pub(crate) struct LateModel {
    pub(crate) name: String,
    pub(crate) command: Arc<KeyCommand>,
    pub(crate) route: Arc<MakeRoute>,
    pub(crate) defaults: PromptDefaults,
    /// The model, once there is a key.
    pub(crate) ready: Arc<tokio::sync::OnceCell<HttpModel>>,
}

impl Model for LateModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, prompt: Prompt) -> ReplyStream {
        let prompt = self.defaults.fill(prompt);
        let (name, command) = (self.name.clone(), self.command.clone());
        let (route, ready) = (self.route.clone(), self.ready.clone());
        let called = async move {
            let connect = async {
                let key =
                    command.key().await.map_err(|message| ModelError::new(ModelErrorKind::Auth, message))?;
                HttpModel::new(name, route(key)?)
            };
            match ready.get_or_try_init(|| connect).await {
                Ok(model) => model.call(prompt),
                Err(error) => stream::once(async move { Err(error) }).boxed(),
            }
        };
        stream::once(called).flatten().boxed()
    }
}
