//! The models that the agent can use.

mod line;
mod look;
mod looks;
mod offered;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use buddy_agent::ModelSource;
use buddy_model::probe::OLLAMA_WINDOW;
use buddy_model::{
    Auth, Catalogue, DEMO_MODEL, DemoModel, HttpModel, Model, ModelError, ModelErrorKind, ModelFacts,
    Switches,
};
use buddy_protocol::operations::ModelRow;
use buddy_protocol::{Failure, FailureKind};
use tokio::sync::OnceCell;

use super::choice::{ChoiceKind, StartChoice};
use super::configured::{LateModel, PromptDefaults, ReadyModel};
use super::connect::{endpoint, is_near, route};
use super::key::{KeyState, ModelKey, ModelKeys};
use super::known::{KnownModel, Windows};
use super::lessons::Lessons;
use super::reference::{Reference, resolve};
use crate::config::{Api, Config, ENVIRONMENT_PROFILE, Effective, Loaded, Profile, SettingOrigin};
use looks::Looks;

pub(crate) use offered::OfferedModel;

/// The name under which a user asks for the built-in demo.
const DEMO: &str = "demo";
/// The pause between two words of the demo: it streams, and nobody waits long.
const DEMO_PACE: Duration = Duration::from_millis(5);

/// Models of the configured profiles. Each key goes only to the address it was configured for.
pub(crate) struct Models {
    config: Config,
    /// The same, with who set what.
    effective: Effective,
    keys: ModelKeys,
    catalogue: Catalogue,
    lessons: Lessons,
    looks: Looks,
    choice: ChoiceKind,
    active: Option<Reference>,
    why: Option<String>,
    /// Models that were used, so that each keeps its connections; held for a look or a note only.
    known: Mutex<HashMap<String, Arc<dyn Model>>>,
}

impl Models {
    /// The models of a configuration with this choice among them, and what was learned about them.
    pub(crate) fn new(loaded: &Loaded, keys: ModelKeys, choice: StartChoice, lessons: Lessons) -> Self {
        let mut config = loaded.config.clone();
        config.models.extend(choice.profile);
        Self {
            config,
            effective: loaded.effective.clone(),
            keys,
            catalogue: loaded.catalogue.clone(),
            lessons,
            looks: Looks::default(),
            choice: choice.kind,
            active: choice.active,
            why: choice.why,
            known: Mutex::default(),
        }
    }

    /// Whether there is a model to talk to.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.model(None).map(drop)
    }

    /// Whether `BUDDY_BASE_URL` names a server and nothing names a model there.
    pub(crate) fn lacks_name(&self) -> bool {
        let Some(active) = self.active.as_ref().filter(|active| active.profile == ENVIRONMENT_PROFILE) else {
            return false;
        };
        let profile = self.config.models.get(ENVIRONMENT_PROFILE);
        profile.is_some_and(|profile| Self::model_name(active, profile).is_err())
    }

    /// The model that was found and why, when the user did not choose; one line.
    pub(crate) fn describe_choice(&self) -> Option<String> {
        if self.choice == ChoiceKind::Demo {
            let text = "No API key or local model found, so the built-in demo is answering. Type `tour`, or run `buddy login` to connect a model.";
            return Some(text.to_owned());
        }
        let active = self.active.as_ref()?;
        let why = self.why.as_ref()?;
        let profile = self.config.models.get(&active.profile)?;
        Some(format!("model: {} ({why})", Self::model_name(active, profile).ok()?))
    }

    /// The name under which a session keeps a model that the user named.
    pub(crate) fn canonical(&self, name: &str) -> Result<String, Failure> {
        if self.is_demo(Some(name)) {
            return Ok(DEMO.to_owned());
        }
        self.resolve(name).map(|reference| reference.name())
    }

    /// Warnings about the keys that are in use.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let profile =
            self.active.as_ref().and_then(|active| self.config.models.get_key_value(&active.profile));
        let of_key = profile.and_then(|(name, profile)| self.keys.warning(name, profile));
        let of_lessons = self.lessons.warning().map(str::to_owned);
        of_key.into_iter().chain(self.keys.logins().warnings()).chain(of_lessons).collect()
    }

    /// Waits for what must not be cut off by the end of the process.
    pub(crate) async fn settle(&self) {
        self.keys.logins().settle().await;
    }

    /// All profiles.
    pub(crate) fn rows(&self) -> Vec<ModelRow> {
        let active = self.active.as_ref().map(|active| active.profile.as_str());
        let row = |(name, profile): (&String, &Profile)| {
            let host = endpoint(name, profile).map(|endpoint| endpoint.to_string());
            let (state, key_source) = match &host {
                Ok(host) => self.keys.state(name, profile, host),
                Err(_) => (KeyState::Missing, "-".to_owned()),
            };
            let is_active = active == Some(name);
            let named = self.active.as_ref().filter(|_| is_active).and_then(|active| active.model.clone());
            let reference = Reference { profile: name.clone(), model: named.clone() };
            let window = self.find_known(&reference, profile).ok().and_then(|known| known.window);
            ModelRow {
                name: name.clone(),
                active: is_active,
                api: profile.api.name().to_owned(),
                host: host.unwrap_or_else(|failure| failure.message),
                model: named.unwrap_or_else(|| profile.model_or(name).to_owned()),
                key_source,
                key: state.to_string(),
                context_window: window.map(|window| window.tokens),
                context_source: window.map(|window| window.source),
            }
        };
        self.config.models.iter().map(row).collect()
    }

    /// Whether this name, or the lack of one, means the built-in demo.
    pub(crate) fn is_demo(&self, name: Option<&str>) -> bool {
        match name {
            Some(name) => name == DEMO && !self.config.models.contains_key(DEMO),
            None => self.choice == ChoiceKind::Demo,
        }
    }

    /// The model that a name, or the lack of one, means; none for the built-in demo.
    fn reference(&self, name: Option<&str>) -> Result<Option<Reference>, Failure> {
        match name {
            _ if self.is_demo(name) => Ok(None),
            Some(name) => self.resolve(name).map(Some),
            None => self.active.clone().ok_or_else(missing).map(Some),
        }
    }

    /// The facts about a model apart from its profile.
    fn find_known(&self, reference: &Reference, profile: &Profile) -> Result<KnownModel, Failure> {
        let model = Self::model_name(reference, profile)?;
        let mut facts = self.catalogue.facts(&model);
        let lesson = self.lessons.about(&reference.profile, profile, &model);
        // A call of Ollama gets the window that it asks for, so nobody's guess may ask for more than is sensible.
        let is_asked_for = profile.api == Api::Ollama && self.is_near(reference);
        let sensible = |tokens: u64| if is_asked_for { tokens.min(OLLAMA_WINDOW) } else { tokens };
        let windows = Windows {
            config: profile.context_limit,
            server: self.looks.window(&reference.name()),
            doctor: lesson.and_then(|lesson| lesson.context_window).map(sensible),
            catalogue: facts.context_window.map(sensible),
        };
        let window = windows.first();
        facts.context_window = window.map(|window| window.tokens);
        let switches = lesson.map(|lesson| lesson.switches).unwrap_or_default();
        Ok(KnownModel { facts, window, switches: self.left_open(&reference.profile, profile, switches) })
    }

    /// Those switches about which the configuration says nothing.
    fn left_open(&self, name: &str, profile: &Profile, found: Switches) -> Switches {
        let is_set = |key: &str| self.effective.origin(&["models", name, key]) != SettingOrigin::Default;
        Switches {
            stream: found.stream.filter(|_| !is_set("stream")),
            max_tokens_field: found.max_tokens_field.filter(|_| !is_set("max_tokens_field")),
            reasoning_replay: found.reasoning_replay.filter(|_| profile.reasoning_replay.is_none()),
            parallel_tool_calls: found.parallel_tool_calls.filter(|_| profile.parallel_tool_calls.is_none()),
            ..found
        }
    }

    /// Whether a model is on a server of the user's own.
    fn is_near(&self, reference: &Reference) -> bool {
        let profile = self.config.models.get(&reference.profile);
        profile.is_some_and(|profile| {
            endpoint(&reference.profile, profile).is_ok_and(|endpoint| is_near(&endpoint, profile.api))
        })
    }

    fn resolve(&self, name: &str) -> Result<Reference, Failure> {
        let active = self.active.as_ref().map(|active| active.profile.as_str());
        resolve(name, &self.config.models, active)
    }

    fn model_name(reference: &Reference, profile: &Profile) -> Result<String, Failure> {
        match (&reference.model, &profile.model) {
            (Some(model), _) | (None, Some(model)) => Ok(model.clone()),
            (None, None) if reference.profile == ENVIRONMENT_PROFILE => Err(missing()),
            (None, None) => Ok(reference.profile.clone()),
        }
    }

    fn connect(&self, reference: &Reference) -> Result<Arc<dyn Model>, Failure> {
        let name = &reference.profile;
        let profile = self.config.models.get(name).ok_or_else(missing)?;
        let model = Self::model_name(reference, profile)?;
        let address = endpoint(name, profile)?.to_string();
        let defaults = PromptDefaults {
            max_output_tokens: profile.max_output_tokens,
            temperature: self.config.agent.temperature,
        };
        let (key, login) = match self.keys.key(name, profile, &address)? {
            ModelKey::None => (None, None),
            ModelKey::Ready(key) => (Some(key), None),
            ModelKey::Login(tokens) => (None, Some(Auth::Login(tokens))),
            ModelKey::Command(command) => return self.late(reference, profile, model, command, defaults),
        };
        let mut route = route(name, profile, &self.config, key, &self.find_known(reference, profile)?)?;
        route.auth = login.unwrap_or(route.auth);
        let model = HttpModel::new(model, route).map_err(|error| invalid(error.to_string()))?;
        Ok(Arc::new(ReadyModel { model, defaults }))
    }

    fn late(
        &self,
        reference: &Reference,
        profile: &Profile,
        model: String,
        command: Arc<super::key::KeyCommand>,
        defaults: PromptDefaults,
    ) -> Result<Arc<dyn Model>, Failure> {
        // Faults of the profile apart from its key are told now.
        let known = self.find_known(reference, profile)?;
        route(&reference.profile, profile, &self.config, None, &known)?;
        let (name, profile, config) = (reference.profile.clone(), profile.clone(), self.config.clone());
        let make = move |key| {
            let refused = |failure: Failure| ModelError::new(ModelErrorKind::InvalidRequest, failure.message);
            route(&name, &profile, &config, Some(key), &known).map_err(refused)
        };
        let ready = Arc::new(OnceCell::new());
        Ok(Arc::new(LateModel { name: model, command, route: Arc::new(make), defaults, ready }))
    }
}

#[async_trait]
impl ModelSource for Models {
    async fn ready(&self, name: Option<&str>) {
        self.look(name).await;
    }

    fn model(&self, name: Option<&str>) -> Result<Arc<dyn Model>, Failure> {
        let Some(reference) = self.reference(name)? else {
            return Ok(Arc::new(DemoModel::new(DEMO_PACE)));
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = known.get(&reference.name()) {
            return Ok(model.clone());
        }
        let model = self.connect(&reference)?;
        known.insert(reference.name(), model.clone());
        Ok(model)
    }

    fn facts(&self, name: Option<&str>) -> ModelFacts {
        if self.is_demo(name) {
            return self.catalogue.facts(DEMO_MODEL);
        }
        let known = self.reference(name).ok().flatten().and_then(|reference| {
            let profile = self.config.models.get(&reference.profile)?;
            self.find_known(&reference, profile).ok()
        });
        known.map(|known| known.facts).unwrap_or_default()
    }
}

/// For commands that talk to no model.
pub(crate) struct NoModels;

#[async_trait]
impl ModelSource for NoModels {
    async fn ready(&self, _: Option<&str>) {}

    fn model(&self, _: Option<&str>) -> Result<Arc<dyn Model>, Failure> {
        Err(missing())
    }

    fn facts(&self, _: Option<&str>) -> ModelFacts {
        ModelFacts::default()
    }
}

fn missing() -> Failure {
    let hint = "set OPENAI_API_KEY, ANTHROPIC_API_KEY or OPENROUTER_API_KEY, choose a profile with `buddy config set agent.model NAME`, or set BUDDY_BASE_URL to an OpenAI-compatible server, BUDDY_MODEL to a model there and BUDDY_API_KEY to its key";
    let message = "no model is configured".to_owned();
    Failure { http_status: None, kind: FailureKind::ModelMissing, message, hint: Some(hint.to_owned()) }
}

fn invalid(message: String) -> Failure {
    Failure { http_status: None, kind: FailureKind::InvalidRequest, message, hint: None }
}

#[cfg(test)]
mod tests;
