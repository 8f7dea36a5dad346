//! A model's answer: deltas while it streams, then one whole reply.

use std::time::Duration;

use buddy_protocol::Usage;
use serde::{Deserialize, Serialize};

use crate::{Arguments, Private};

/// One step of an answer. Everything but `Finished` is for display; only `Finished` is for acting.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More of the answer's text.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// The next delta belongs to another part of the answer, which has its own item, even if it is of the
    /// same kind.
    Apart,
    /// More of a call's arguments, for display only.
    ToolArguments {
        /// The index of the call in this answer, counted from zero.
        index: usize,
        /// The tool, once it is known.
        name: Option<String>,
        /// The new piece of the JSON text.
        text: String,
    },
    /// The call failed and is retried: discard everything streamed so far in this call.
    Restarted {
        /// The number of the retry, counted from one.
        attempt: u32,
        /// The delay before the retry.
        delay: Duration,
        /// The error, in words for users.
        error: String,
    },
    /// The whole answer; nothing follows.
    Finished(Reply),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Its items, in the order in which they are to be sent back.
    pub items: Vec<ReplyItem>,
    /// The reason why it ended.
    pub stop: StopReason,
    /// The tokens that it consumed, if the provider reported them.
    pub usage: Option<Usage>,
    /// The model that answered according to the server, which may differ from the requested one.
    pub model: Option<String>,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReplyItem {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
        /// Data that the provider needs back with it.
        private: Option<Private>,
    },
    /// The model's reasoning.
    Reasoning {
        /// The readable part; may be empty.
        text: String,
        /// Data that the provider needs back to go on.
        private: Option<Private>,
    },
    /// A call to run.
    ToolCall {
        /// Not empty, and unique in the conversation of the prompt.
        id: String,
        /// The tool; may name one that does not exist.
        name: String,
        /// Its arguments, or the reason why there are none.
        arguments: Arguments,
        /// Data that the provider needs back with it.
        private: Option<Private>,
    },
}

/// The reason why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model finished its answer.
    End,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The answer reached the output limit or the end of the context window.
    Length,
    /// The model declined.
    Refusal,
    /// The provider withheld the rest.
    Filter,
    /// The provider paused in the middle: sending the same conversation with this answer continues it.
    Paused,
    /// A reason that this crate does not know, verbatim.
    Other(String),
}

impl StopReason {
    /// Whether the calls of an answer with this end may run. Any other answer may be incomplete, and a call
    /// in it may lack its end or its context even though its JSON is complete.
    pub fn lets_calls_run(&self) -> bool {
        matches!(self, Self::End | Self::ToolUse)
    }
}
