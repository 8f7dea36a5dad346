//! What a model answers: deltas while it talks, then one whole reply.

use std::time::Duration;

use buddy_protocol::Usage;
use serde::{Deserialize, Serialize};

use crate::{Arguments, Private};

/// One step of an answer. Everything but `Finished` is for showing; only `Finished` is for acting.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More of the answer's text.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// What follows is said by another part of the answer, which has an item of its own, although it may be of the same kind.
    Apart,
    /// More of a call's arguments, for display only.
    ToolArguments {
        /// Which call of this answer, counted from zero.
        index: usize,
        /// The tool, once it is known.
        name: Option<String>,
        /// The new piece of the JSON text.
        text: String,
    },
    /// The call failed and is made again: everything streamed so far in this call is void.
    Restarted {
        /// Which retry this is, counted from one.
        attempt: u32,
        /// How long until it is made.
        delay: Duration,
        /// Why, in words for a person.
        error: String,
    },
    /// The whole answer; nothing follows.
    Finished(Reply),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// What it consists of, in the order in which it is to be sent back.
    pub items: Vec<ReplyItem>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it consumed, if the provider said so.
    pub usage: Option<Usage>,
    /// The model that says it answered, which need not be the one that was asked.
    pub model: Option<String>,
}

/// One part of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReplyItem {
    /// Words for the person.
    Text {
        /// The words.
        text: String,
        /// What the provider needs back beside them.
        private: Option<Private>,
    },
    /// What the model thought.
    Reasoning {
        /// The readable part; may be empty.
        text: String,
        /// What the provider needs back to go on.
        private: Option<Private>,
    },
    /// A call to be made.
    ToolCall {
        /// Not empty, and unique in the conversation the prompt showed.
        id: String,
        /// The tool; may name one that does not exist.
        name: String,
        /// Its arguments, or why there are none.
        arguments: Arguments,
        /// What the provider needs back beside them.
        private: Option<Private>,
    },
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model had said what it wanted.
    End,
    /// The model waits for results of its calls.
    ToolUse,
    /// The bound on the answer or the context was reached.
    Length,
    /// The model declined.
    Refusal,
    /// The provider withheld the rest.
    Filter,
    /// The provider paused in the middle: the same conversation, sent again with this answer, goes on.
    Paused,
    /// Something this crate has no word for, verbatim.
    Other(String),
}

impl StopReason {
    /// Whether the calls of an answer that ended so may run. Any other answer is not known to be whole, and a call in it
    /// may lack its end or its context even though its JSON is complete.
    pub fn lets_calls_run(&self) -> bool {
        matches!(self, Self::End | Self::ToolUse)
    }
}
