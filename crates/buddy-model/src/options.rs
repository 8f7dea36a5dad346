//! How to speak to one endpoint: what it understands beyond the bare wire.
//!
//! Filled from a catalogue or configuration; a wire ignores what it has no use for. What an endpoint turns out not to
//! accept is learned at run time (see `http::learned`) and does not change these values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Wishes and capabilities of one endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Which provider this is: private data is replayed only to the one it came from.
    pub provider: String,
    /// Ask for a stream. Off for servers whose streaming parsers lose parts of calls.
    pub stream: bool,
    /// Ask for usage numbers at the end of a stream.
    pub include_usage: bool,
    /// Whether earlier reasoning is sent back.
    pub reasoning_replay: ReasoningReplay,
    /// The name of the bound on the answer.
    pub max_tokens_field: MaxTokensField,
    /// Send the prompt's cache key. Off by default: some servers refuse fields they do not know.
    pub send_cache_key: bool,
    /// Ask for several calls per answer (`true`), for one at most (`false`), or say nothing.
    pub parallel_tool_calls: Option<bool>,
    /// Whether the model sees images. Off: it is told that there are some.
    pub images: bool,
    /// How many tokens the model may think, where a wire counts them; absent asks for no thinking of that kind.
    pub thinking_budget: Option<u64>,
    /// The bound on the answer where the wire requires one and the prompt has none.
    pub default_max_output_tokens: u64,
    /// Whether and for how long the provider keeps the prompt's prefix, where the wire asks for it in each request.
    pub prompt_cache: PromptCache,
    /// The context size to load a local model with, where the wire can say it.
    pub context_window: Option<u64>,
    /// How long a local server keeps the model loaded, such as `30m`; `-1m` means for ever.
    pub keep_alive: Option<String>,
    /// How hard the model should think, in the provider's words: `low`, `medium`, `high`, …
    pub reasoning_effort: Option<String>,
    /// Which summary of its reasoning the model should give, on wires that have a word for it: `auto`, `concise`, …
    pub reasoning_summary: Option<String>,
    /// The form in which a Responses server takes reasoning back.
    pub reasoning_form: ReasoningForm,
    /// Send the ids of a Responses server's items back with them.
    pub item_ids: bool,
    /// The backend serves a subscription rather than an API key: it streams and keeps nothing, always, and refuses
    /// bounds and sampling parameters.
    pub login_backed: bool,
    /// Further headers of the request, such as an account; nothing secret, they show up in logs.
    pub headers: BTreeMap<String, String>,
    /// Further fields of the body; they win over the wire's own.
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

/// Which earlier reasoning a chat server gets back. Some require it, some refuse it, most ignore it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningReplay {
    /// None.
    #[default]
    Off,
    /// That of answers that made calls.
    ToolTurns,
    /// All of it.
    All,
}

impl ReasoningReplay {
    /// Whether the reasoning of an answer, which made calls or did not, goes back.
    pub(crate) fn takes(self, has_calls: bool) -> bool {
        match self {
            Self::Off => false,
            Self::ToolTurns => has_calls,
            Self::All => true,
        }
    }
}

/// How long a provider is asked to keep the prompt's prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptCache {
    /// Not at all.
    Off,
    /// The provider's usual time, minutes.
    #[default]
    Short,
    /// An hour, for a higher price.
    Long,
}

/// How a Responses server takes reasoning back between two calls, of which it remembers nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningForm {
    /// Sealed by the provider, which must be asked for it.
    #[default]
    Sealed,
    /// In the open (vLLM).
    Plain,
    /// Not at all, and asking for it sealed is an error (Ollama, LM Studio).
    Omitted,
}

/// How a chat server calls the bound on the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// What every local server and most providers know.
    #[default]
    MaxTokens,
    /// What newer reasoning models want.
    MaxCompletionTokens,
}
