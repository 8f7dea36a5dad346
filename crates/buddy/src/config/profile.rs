//! A model profile: one model of one provider, and how to reach it.

use std::collections::BTreeMap;

use buddy_model::{MaxTokensField, ReasoningReplay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::secret::Secret;
use super::wait::WaitTime;

/// A model profile.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Profile {
    /// The address of the provider's API. A path without a version gets `/v1`.
    pub(crate) api_base_url: Option<String>,
    /// The protocol of the server: `completions`, `responses`, `messages` or `ollama`.
    pub(crate) api: Api,
    /// How a request proves who pays: `api-key`, `login` or `none`.
    pub(crate) auth: AuthKind,
    /// The key itself. One of the `api_key` settings at most can be there; this is the least safe one.
    pub(crate) api_key: Option<Secret>,
    /// The environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// The file that holds the key; a relative path starts at the directory of this file.
    pub(crate) api_key_file: Option<String>,
    /// A shell command that prints the key, such as one of a password manager. It runs when a key is first needed.
    pub(crate) api_key_command: Option<String>,
    /// The model, as the provider names it. Without it, the name of the profile.
    pub(crate) model: Option<String>,
    /// How many tokens fit into the model's context, when that is not known.
    pub(crate) context_limit: Option<u64>,
    /// Whether answers are streamed. Off for servers that lose parts of tool calls in streams.
    pub(crate) stream: bool,
    /// How much the model thinks, in the provider's words, such as `low`, `medium` or `high`.
    pub(crate) reasoning_effort: Option<String>,
    /// How many tokens the model may think, where the provider counts them.
    pub(crate) thinking_budget: Option<u64>,
    /// The most tokens in one answer.
    pub(crate) max_output_tokens: Option<u64>,
    /// The name of the bound on the answer on the wire: `max_tokens` or `max_completion_tokens`.
    #[schemars(with = "String")]
    pub(crate) max_tokens_field: MaxTokensField,
    /// Which earlier reasoning is sent back: `off`, `tool-turns` or `all`; absent does what the model is known to want.
    #[schemars(with = "Option<String>")]
    pub(crate) reasoning_replay: Option<ReasoningReplay>,
    /// Whether the model is asked for several tool calls at once; absent says nothing about it.
    pub(crate) parallel_tool_calls: Option<bool>,
    /// How long a local server keeps the model loaded, such as `30m`.
    pub(crate) keep_alive: Option<String>,
    /// How long the server may say nothing; absent takes `network.idle_timeout`.
    pub(crate) idle_timeout: Option<WaitTime>,
    /// Further headers of each request. Their values are not shown, but a key belongs into an `api_key` setting.
    pub(crate) headers: BTreeMap<String, Secret>,
    /// Further fields of the request's body. They win over buddy's own, but not over those of a single call, such as one without tools.
    pub(crate) extra: Map<String, Value>,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            api_base_url: None,
            api: Api::default(),
            auth: AuthKind::default(),
            api_key: None,
            api_key_env: None,
            api_key_file: None,
            api_key_command: None,
            model: None,
            context_limit: None,
            stream: true,
            reasoning_effort: None,
            thinking_budget: None,
            max_output_tokens: None,
            max_tokens_field: MaxTokensField::default(),
            reasoning_replay: None,
            parallel_tool_calls: None,
            keep_alive: None,
            idle_timeout: None,
            headers: BTreeMap::new(),
            extra: Map::new(),
        }
    }
}

/// The keys of a profile that say where its key comes from.
pub(crate) const KEY_SOURCES: [&str; 4] = ["api_key", "api_key_env", "api_key_file", "api_key_command"];

/// Where the key of a profile comes from.
#[derive(Debug, Clone)]
pub(crate) enum KeySource {
    /// The profile has it.
    Inline(Secret),
    /// An environment variable has it.
    Variable(String),
    /// A file has it.
    File(String),
    /// A command prints it.
    Command(String),
}

impl Profile {
    /// Where its key comes from; none when it says nothing about a key. Two sources are refused when layers are read.
    pub(crate) fn key_source(&self) -> Option<KeySource> {
        let variable = self.api_key_env.clone().map(KeySource::Variable);
        let file = || self.api_key_file.clone().map(KeySource::File);
        let command = || self.api_key_command.clone().map(KeySource::Command);
        let inline = || self.api_key.clone().map(KeySource::Inline);
        variable.or_else(file).or_else(command).or_else(inline)
    }

    /// Its address without a query, which may hold a secret.
    pub(crate) fn shown_base_url(&self) -> &str {
        let base_url = self.api_base_url.as_deref().unwrap_or_default();
        base_url.split(['?', '#']).next().unwrap_or_default()
    }

    /// The name of its model at the provider.
    pub(crate) fn model_or<'a>(&'a self, profile: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(profile)
    }
}

/// A wire protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Api {
    /// Chat Completions, which nearly every server speaks.
    #[default]
    Completions,
    /// Responses.
    Responses,
    /// Anthropic Messages; `anthropic` means the same.
    #[serde(alias = "anthropic")]
    Messages,
    /// Ollama's own API.
    Ollama,
}

impl Api {
    /// Its name in the configuration.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Completions => "completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Ollama => "ollama",
        }
    }
}

/// How a request proves who pays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AuthKind {
    /// With a key, where the profile names one.
    #[default]
    ApiKey,
    /// With the token of `buddy login`.
    Login,
    /// Not at all: no key is ever sent.
    None,
}
