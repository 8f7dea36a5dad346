//! The options that an endpoint was found to need, in a form that can be stored for later.

use serde::{Deserialize, Serialize};

use crate::{MaxTokensField, Options, ReasoningForm, ReasoningReplay};

/// Findings about an endpoint. Absent fields were not found out and leave the option as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Switches {
    /// Off: streams break, whole answers work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// Off: the server refuses to report usage in a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_usage: Option<bool>,
    /// The earlier reasoning that the server takes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_replay: Option<ReasoningReplay>,
    /// The form in which a Responses server takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_form: Option<ReasoningForm>,
    /// The server's name for the bound on the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens_field: Option<MaxTokensField>,
    /// Off: the server refuses several calls in one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// Off: the server refuses the prompt's cache key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_cache_key: Option<bool>,
    /// Off: the model cannot see images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
}

impl Switches {
    /// Applies the findings to the options.
    pub fn apply(&self, options: &mut Options) {
        options.stream = self.stream.unwrap_or(options.stream);
        options.include_usage = self.include_usage.unwrap_or(options.include_usage);
        options.reasoning_replay = self.reasoning_replay.unwrap_or(options.reasoning_replay);
        options.reasoning_form = self.reasoning_form.unwrap_or(options.reasoning_form);
        options.max_tokens_field = self.max_tokens_field.unwrap_or(options.max_tokens_field);
        options.parallel_tool_calls = self.parallel_tool_calls.or(options.parallel_tool_calls);
        options.send_cache_key = self.send_cache_key.unwrap_or(options.send_cache_key);
        options.images = self.images.unwrap_or(options.images);
    }

    /// These switches, with absent ones taken from others.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            stream: self.stream.or(others.stream),
            include_usage: self.include_usage.or(others.include_usage),
            reasoning_replay: self.reasoning_replay.or(others.reasoning_replay),
            reasoning_form: self.reasoning_form.or(others.reasoning_form),
            max_tokens_field: self.max_tokens_field.or(others.max_tokens_field),
            parallel_tool_calls: self.parallel_tool_calls.or(others.parallel_tool_calls),
            send_cache_key: self.send_cache_key.or(others.send_cache_key),
            images: self.images.or(others.images),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_found_switches_change_options() {
        let mut options = Options::default();
        Switches::default().apply(&mut options);
        assert_eq!(options, Options::default());
        let found = Switches { stream: Some(false), parallel_tool_calls: Some(false), ..Switches::default() };
        found.apply(&mut options);
        let expected = Options { stream: false, parallel_tool_calls: Some(false), ..Options::default() };
        assert_eq!(options, expected);
    }

    #[test]
    fn only_found_switches_are_stored() {
        let found = Switches { reasoning_replay: Some(ReasoningReplay::ToolTurns), ..Switches::default() };
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(text, r#"{"reasoning_replay":"tool-turns"}"#);
        assert_eq!(serde_json::from_str::<Switches>(&text).unwrap(), found);
    }
}
