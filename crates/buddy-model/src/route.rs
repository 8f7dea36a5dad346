//! A provider is a route: protocol × endpoint × auth × framing, plus its timeouts and retries.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    Auth, Chat, Endpoint, Framing, Ids, Messages, Ollama, Options, Protocol, ReasoningReplay, Responses,
};

/// Everything needed to talk to one provider.
#[derive(Clone)]
pub struct Route {
    /// The wire protocol.
    pub protocol: Arc<dyn Protocol>,
    /// The address of the server.
    pub endpoint: Endpoint,
    /// The credentials.
    pub auth: Auth,
    /// The framing of its answers.
    pub framing: Framing,
    /// The options of the endpoint.
    pub options: Options,
    /// The timeouts and retries.
    pub settings: Settings,
    /// Ids for calls that come without one.
    pub ids: Ids,
}

impl Route {
    /// Chat Completions over server-sent events, with defaults for everything else.
    pub fn chat(endpoint: Endpoint, auth: Auth) -> Self {
        Self::over(Arc::new(Chat), Framing::Sse, endpoint, auth)
    }

    /// Responses over server-sent events; the server is asked to store nothing.
    pub fn responses(endpoint: Endpoint, auth: Auth) -> Self {
        let mut route = Self::over(Arc::new(Responses), Framing::Sse, endpoint, auth);
        route.options.send_cache_key = true;
        route
    }

    /// Anthropic's Messages over server-sent events. The key is [`Auth::api_key`], or a bearer token behind
    /// gateways.
    pub fn messages(endpoint: Endpoint, auth: Auth) -> Self {
        Self::over(Arc::new(Messages), Framing::Sse, endpoint, auth)
    }

    /// Ollama's own wire over JSON lines. Thinking goes back within tool loops: its templates use it or leave
    /// it out.
    pub fn ollama(endpoint: Endpoint, auth: Auth) -> Self {
        let mut route = Self::over(Arc::new(Ollama), Framing::Ndjson, endpoint, auth);
        route.options.reasoning_replay = ReasoningReplay::ToolTurns;
        route
    }

    fn over(protocol: Arc<dyn Protocol>, framing: Framing, endpoint: Endpoint, auth: Auth) -> Self {
        let options = Options { provider: endpoint.to_string(), ..Options::default() };
        Self {
            protocol,
            endpoint,
            auth,
            framing,
            options,
            settings: Settings::default(),
            ids: Ids::default(),
        }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Route")
            .field("protocol", &self.protocol.wire())
            .field("endpoint", &self.endpoint)
            .field("auth", &self.auth)
            .field("framing", &self.framing)
            .field("options", &self.options)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Timeouts and the number of retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The timeout for connecting.
    pub connect_timeout: Duration,
    /// The maximum silence, before the first byte and between two. Local servers read long prompts for
    /// minutes.
    pub idle_timeout: Duration,
    /// The timeout of the whole call with all its retries: keep-alives are not silence, so they need this
    /// bound.
    pub total_timeout: Duration,
    /// The wait for usage and the end mark once the answer is complete.
    pub settle_timeout: Duration,
    /// The number of retries of a call; an overloaded server gets more, unless this is 0.
    pub retries: u32,
    /// The sum of all delays between retries; a server that asks for more gets no retry.
    pub retry_budget: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(5),
            total_timeout: Duration::from_hours(1),
            settle_timeout: Duration::from_secs(5),
            retries: 4,
            retry_budget: Duration::from_mins(5),
        }
    }
}
