//! From a profile to a route.

use buddy_model::{Auth, Endpoint, LoginProtocol, Route, Settings};
use buddy_protocol::{Failure, FailureKind};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::known::KnownModel;
use crate::config::{Api, AuthKind, Config, ENVIRONMENT_PROFILE, Profile};

/// The endpoint of a profile.
pub(crate) fn endpoint(name: &str, profile: &Profile) -> Result<Endpoint, Failure> {
    let place = match name {
        ENVIRONMENT_PROFILE => "BUDDY_BASE_URL".to_owned(),
        _ => format!("models.{name}.api_base_url"),
    };
    let base = profile.api_base_url.as_deref().ok_or_else(|| invalid(format!("{place} is not set")))?;
    Endpoint::parse(base).map_err(|error| invalid(format!("{place}: {error}")))
}

/// Whether a server is the user's own rather than a vendor's.
pub(crate) fn is_near(endpoint: &Endpoint, api: Api) -> bool {
    endpoint.is_loopback() || (api == Api::Ollama && !endpoint.is_https())
}

/// The route of a profile with this key, for a model of which this is known.
pub(crate) fn route(
    name: &str,
    profile: &Profile,
    config: &Config,
    key: Option<SecretString>,
    known: &KnownModel,
) -> Result<Route, Failure> {
    let endpoint = endpoint(name, profile)?;
    let mut route = match profile.api {
        Api::Completions => Route::chat(endpoint, bearer(key)),
        Api::Messages => Route::messages(endpoint, key.map_or(Auth::None, Auth::api_key)),
        Api::Ollama => Route::ollama(endpoint, bearer(key)),
        Api::Responses => Route::responses(endpoint, bearer(key)),
    };
    route.options.login_backed = profile.auth == AuthKind::Login && is_plan(config, &route.endpoint);
    let replay = known.facts.replay.filter(|_| profile.api == Api::Completions);
    let options = &mut route.options;
    options.stream = profile.stream;
    options.max_tokens_field = profile.max_tokens_field;
    if let Some(replay) = profile.reasoning_replay.or(replay) {
        options.reasoning_replay = replay;
    }
    options.parallel_tool_calls = profile.parallel_tool_calls;
    // A vendor loads its models as it likes.
    let own = known.facts.context_window.filter(|_| is_near(&route.endpoint, profile.api));
    options.context_window = profile.context_limit.or(own);
    options.keep_alive.clone_from(&profile.keep_alive);
    // The other wires do not say which servers take the field.
    let usual =
        known.facts.family.effort.as_ref().filter(|_| known.facts.reasoning && profile.api == Api::Responses);
    options.reasoning_effort = profile.reasoning_effort.as_ref().or(usual).cloned();
    options.thinking_budget = profile.thinking_budget;
    known.switches.apply(options);
    let headers = profile.headers.iter();
    options.headers =
        headers.map(|(name, value)| (name.clone(), value.0.expose_secret().to_owned())).collect();
    // Ollama takes it among other options of its own only: `extra` can say them all.
    if let Some(top_p) = config.agent.top_p.filter(|_| profile.api != Api::Ollama) {
        options.extra.insert("top_p".to_owned(), Value::from(top_p));
    }
    options.extra.extend(profile.extra.clone());
    let network = &config.network;
    route.settings = Settings {
        connect_timeout: network.connect_timeout.0,
        idle_timeout: profile.idle_timeout.unwrap_or(network.idle_timeout).0,
        total_timeout: network.total_timeout.0,
        retries: network.retries,
        ..Settings::default()
    };
    Ok(route)
}

/// Whether the login for this address is a plan, whose backend takes a part of the API only.
fn is_plan(config: &Config, endpoint: &Endpoint) -> bool {
    let address = endpoint.to_string();
    let section = config.login.values().find(|section| section.serves(&address));
    section.is_some_and(|section| section.protocol == LoginProtocol::Chatgpt)
}

fn bearer(key: Option<SecretString>) -> Auth {
    key.map_or(Auth::None, Auth::Bearer)
}

fn invalid(message: String) -> Failure {
    Failure { http_status: None, kind: FailureKind::InvalidRequest, message, hint: None }
}
