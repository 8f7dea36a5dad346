//! What a model is asked, in words that belong to no provider.
//!
//! The list of items is flat: a wire groups neighbours into its own messages. Items are only ever appended, so the
//! body a wire makes of a longer list starts with what it made of the shorter one (prompt caches depend on it).

use std::fmt::Write;

use buddy_protocol::{Image, Private};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request to a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// Standing instructions; empty means none.
    pub system: String,
    /// The tools on offer, in a stable order: changing it loses the prompt cache.
    pub tools: Vec<ToolDefinition>,
    /// The conversation so far, oldest first.
    pub items: Vec<PromptItem>,
    /// Bound on the answer, reasoning included where the provider counts it so.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature; absent leaves it to the provider.
    pub temperature: Option<f64>,
    /// Names the conversation for the provider's prompt cache.
    pub cache_key: Option<String>,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name the model calls it by.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: Value,
}

/// One element of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PromptItem {
    /// Something a person (or the program on their behalf) said.
    User {
        /// The words; may be empty where there are images.
        text: String,
        /// Images to see before the words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
    /// Something the model said.
    Assistant {
        /// The words.
        text: String,
        /// What the provider needs back beside them.
        private: Option<Private>,
    },
    /// Something the model thought, if it let us know.
    Reasoning {
        /// The readable part; may be empty.
        text: String,
        /// What the provider needs back to go on.
        private: Option<Private>,
    },
    /// A call the model made. The caller puts exactly one result with the same id after it.
    ToolCall {
        /// Unique in the conversation.
        id: String,
        /// The tool.
        name: String,
        /// JSON text of an object; never empty: no arguments are `{}`.
        arguments: String,
        /// What the provider needs back beside them.
        private: Option<Private>,
    },
    /// What came of a call.
    ToolResult {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
        /// What the model reads.
        output: String,
        /// Images that came of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
    },
}

impl PromptItem {
    /// Words alone.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }

    /// A result of words alone.
    pub fn result(id: impl Into<String>, name: impl Into<String>, output: impl Into<String>) -> Self {
        Self::ToolResult { id: id.into(), name: name.into(), output: output.into(), images: Vec::new() }
    }

    /// The images in it.
    pub fn images(&self) -> &[Image] {
        match self {
            Self::User { images, .. } | Self::ToolResult { images, .. } => images,
            Self::Assistant { .. } | Self::Reasoning { .. } | Self::ToolCall { .. } => &[],
        }
    }

    /// Puts words in the place of some of its images.
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
