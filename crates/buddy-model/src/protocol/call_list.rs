//! The calls of one answer as the agent gets them: each with a usable id, no duplicates, not too many.

use std::collections::HashSet;

use crate::protocol::DecoderContext;
use crate::{Arguments, Private, ReplyItem};

/// The maximum number of calls in one answer: weak models repeat themselves until the length limit.
pub const MAX_CALLS_PER_REPLY: usize = 64;

/// The calls admitted so far.
#[derive(Debug, Default)]
pub(crate) struct CallList {
    seen: Vec<(String, Arguments)>,
}

impl CallList {
    /// The call as an item, unless it repeats an earlier one or exceeds the maximum.
    pub(crate) fn admit(
        &mut self,
        id: Option<String>,
        name: String,
        arguments: Arguments,
        private: Option<Private>,
        context: &mut DecoderContext,
    ) -> Option<ReplyItem> {
        if self.seen.len() >= MAX_CALLS_PER_REPLY {
            tracing::warn!(limit = MAX_CALLS_PER_REPLY, "too many calls in one answer; leaving out the rest");
            return None;
        }
        if self.seen.iter().any(|(known, value)| *known == name && *value == arguments) {
            return None;
        }
        self.seen.push((name.clone(), arguments.clone()));
        let id = usable_id(id, &mut context.taken, || context.ids.next());
        Some(ReplyItem::ToolCall { id, name, arguments, private })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }
}

/// The placeholder for a missing name, so that the call and its result can be sent back.
pub(crate) const UNNAMED: &str = "unnamed";

/// The arguments of a call that names no tool.
pub(crate) fn nameless(raw: String) -> Arguments {
    Arguments::Broken { raw, error: "the call does not name a tool".to_owned() }
}

/// The server's id unless it is missing or taken; then a fresh one.
fn usable_id(id: Option<String>, taken: &mut HashSet<String>, fresh: impl Fn() -> String) -> String {
    let mut id = id.filter(|id| !id.is_empty()).unwrap_or_else(&fresh);
    while !taken.insert(id.clone()) {
        id = fresh();
    }
    id
}
