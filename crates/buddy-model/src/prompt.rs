//! The input of a model call, independent of any provider.
//!
//! The list of items is flat: a wire groups neighbours into its own messages. Items are only ever appended,
//! so the body that a wire builds from a longer list starts with that of the shorter one (prompt caches
//! depend on it).

use std::fmt::Write;

use buddy_protocol::{Image, Private, ToolDefinition};
use serde::{Deserialize, Serialize};

/// One request to a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// The system prompt; empty means none.
    pub system: String,
    /// The available tools, in a stable order: changing it loses the prompt cache.
    pub tools: Vec<ToolDefinition>,
    /// The conversation so far, oldest first.
    pub items: Vec<PromptItem>,
    /// The bound on the answer, including reasoning if the provider counts it so.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature; absent means the provider's default.
    pub temperature: Option<f64>,
    /// Identifies the conversation in the provider's prompt cache.
    pub cache_key: Option<String>,
    /// Whether the answer must be text: the tools stay in the request, so that the prompt cache holds, but the model must not call one.
    #[serde(default)]
    pub is_text_only: bool,
}

/// One element of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PromptItem {
    /// A message of the user (or of the program on their behalf).
    User {
        /// The text; may be empty if there are images.
        text: String,
        /// Images to see before the text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// A message of the model.
    Assistant {
        /// The text.
        text: String,
        /// Data that the provider needs back with it.
        private: Option<Private>,
    },
    /// The model's reasoning, if it is shown.
    Reasoning {
        /// The readable part; may be empty.
        text: String,
        /// Data that the provider needs back to go on.
        private: Option<Private>,
    },
    /// A call by the model. The caller puts exactly one result with the same id after it.
    ToolCall {
        /// Unique in the conversation.
        id: String,
        /// The tool.
        name: String,
        /// JSON text of an object, never empty: no arguments are `{}`.
        arguments: String,
        /// Data that the provider needs back with it.
        private: Option<Private>,
    },
    /// The result of a call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// The text for the model.
        output: String,
        /// Images that the call returned.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
}

impl PromptItem {
    /// A user message with text only.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }

    /// A result with text only.
    pub fn result(id: impl Into<String>, name: impl Into<String>, output: impl Into<String>) -> Self {
        Self::ToolResult { id: id.into(), name: name.into(), output: output.into(), images: Vec::new() }
    }

    /// The images in the item.
    pub fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } | Self::ToolResult { images, .. } => images,
            Self::Assistant { .. } | Self::Reasoning { .. } | Self::ToolCall { .. } => &[],
        }
    }

    /// Replaces some of its images by text.
    pub fn hide_images(&mut self, is_hidden: impl FnMut(&Image) -> bool) {
        let (Self::User { text, images } | Self::ToolResult { output: text, images, .. }) = self else {
            return;
        };
        let (hidden, seen): (Vec<Image>, Vec<Image>) =
            std::mem::take(images).into_iter().partition(is_hidden);
        *images = seen;
        for image in hidden {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = write!(text, "{gap}[image: {}; it cannot be shown to you]", image.label());
        }
    }
}
