//! The options of one endpoint: its capabilities beyond the bare wire.
//!
//! They come from a catalogue or configuration; a wire ignores options that it does not use. buddy learns at
//! run time which fields an endpoint refuses (see `http::learned`), without changing these values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Preferences and capabilities of one endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// The provider: private data is sent back only to the provider it came from.
    pub provider: String,
    /// Ask for a stream. Off for servers whose streaming parsers lose parts of calls.
    pub stream: bool,
    /// Ask for usage numbers at the end of a stream.
    pub include_usage: bool,
    /// Which earlier reasoning to send back.
    pub reasoning_replay: ReasoningReplay,
    /// The name of the field that bounds the answer.
    pub max_tokens_field: MaxTokensField,
    /// Send the prompt's cache key. Off by default: some servers refuse fields they do not know.
    pub send_cache_key: bool,
    /// Ask for several calls per answer (`true`), for one at most (`false`), or leave the default.
    pub parallel_tool_calls: Option<bool>,
    /// Whether the model sees images. Off: it is given a text in their place.
    pub images: bool,
    /// The reasoning budget in tokens, for wires that have one; absent requests no reasoning of that kind.
    pub thinking_budget: Option<u64>,
    /// The bound on the answer if the wire requires one and the prompt has none.
    pub default_max_output_tokens: u64,
    /// Whether and for how long the provider caches the prompt's prefix, if the wire sets it in each request.
    pub prompt_cache: PromptCache,
    /// The context size to load a local model with, if the wire supports it.
    pub context_window: Option<u64>,
    /// The time that a local server keeps the model loaded, such as `30m`; `-1m` means for ever.
    pub keep_alive: Option<String>,
    /// The reasoning effort, in the provider's words: `low`, `medium`, `high`, …
    pub reasoning_effort: Option<String>,
    /// The kind of reasoning summary, on wires that support it: `auto`, `concise`, …
    pub reasoning_summary: Option<String>,
    /// The form in which a Responses server takes reasoning back.
    pub reasoning_form: ReasoningForm,
    /// Send the ids of a Responses server's items back with them.
    pub item_ids: bool,
    /// The backend serves a subscription instead of an API key: it always streams, stores nothing, and
    /// refuses bounds and sampling parameters.
    pub login_backed: bool,
    /// Extra headers of the request, such as an account; nothing secret, they show up in logs.
    pub headers: BTreeMap<String, String>,
    /// Extra fields of the body; they override the wire's own, but nothing that is set for one call.
    pub extra: Map<String, Value>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            provider: String::new(),
            stream: true,
            include_usage: true,
            reasoning_replay: ReasoningReplay::default(),
            max_tokens_field: MaxTokensField::default(),
            send_cache_key: false,
            parallel_tool_calls: None,
            images: true,
            thinking_budget: None,
            default_max_output_tokens: 8192,
            prompt_cache: PromptCache::default(),
            context_window: None,
            keep_alive: None,
            reasoning_effort: None,
            reasoning_summary: None,
            reasoning_form: ReasoningForm::default(),
            item_ids: true,
            login_backed: false,
            headers: BTreeMap::new(),
            extra: Map::new(),
        }
    }
}

/// The earlier reasoning that a chat server gets back. Some require it, some refuse it, most ignore it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningReplay {
    /// None.
    #[default]
    Off,
    /// The reasoning of answers that made calls.
    ToolTurns,
    /// All of it.
    All,
}

impl ReasoningReplay {
    /// Whether the reasoning of an answer goes back, given whether it made calls.
    pub(crate) fn takes(self, has_calls: bool) -> bool {
        match self {
            Self::Off => false,
            Self::ToolTurns => has_calls,
            Self::All => true,
        }
    }
}

/// The time for which the provider caches the prompt's prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptCache {
    /// No caching.
    Off,
    /// The provider's default, some minutes.
    #[default]
    Short,
    /// An hour, for a higher price.
    Long,
}

/// The form in which a Responses server takes reasoning back, since it remembers nothing between calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningForm {
    /// Encrypted by the provider, which must be asked for it.
    #[default]
    Sealed,
    /// Plain text (vLLM).
    Plain,
    /// Not at all, and asking for the encrypted form is an error (Ollama, LM Studio).
    Omitted,
}

/// The name of the field in which a chat server takes the bound on the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`, which every local server and most providers know.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer reasoning models require.
    MaxCompletionTokens,
}
