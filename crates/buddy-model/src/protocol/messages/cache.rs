//! Breakpoints of the prompt cache: after tools and system, after the earlier request, and after the new
//! items.
//!
//! The provider caches the prefix up to each breakpoint and looks back only some twenty blocks from one. The
//! middle one is where the newest was in the request before, so a long answer with many results between them
//! still finds its prefix. The provider accepts at most four; these are three.

use serde_json::{Value, json};

use crate::PromptCache;

/// The field that marks a breakpoint.
pub(super) const FIELD: &str = "cache_control";

/// The number of breakpoints in the conversation.
const IN_MESSAGES: usize = 2;

/// Sets the breakpoints of a finished body.
pub(super) fn mark(body: &mut Value, cache: PromptCache) {
    let breakpoint = match cache {
        PromptCache::Off => return,
        PromptCache::Short => json!({ "type": "ephemeral" }),
        PromptCache::Long => json!({ "type": "ephemeral", "ttl": "1h" }),
    };
    if !mark_last(body.get_mut("system"), &breakpoint) {
        mark_last(body.get_mut("tools"), &breakpoint);
    }
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    let users = messages.into_iter().flatten().rev().filter(|message| message["role"] == "user");
    for message in users.take(IN_MESSAGES) {
        mark_last(message.get_mut("content"), &breakpoint);
    }
}

/// Marks the last element of a list; returns whether there was one.
fn mark_last(list: Option<&mut Value>, breakpoint: &Value) -> bool {
    let last =
        list.and_then(Value::as_array_mut).and_then(|list| list.last_mut()).and_then(Value::as_object_mut);
    last.map(|last| last.insert(FIELD.to_owned(), breakpoint.clone())).is_some()
}

/// Removes all breakpoints.
pub(super) fn unmark(body: &mut Value) {
    for place in ["tools", "system"] {
        body.get_mut(place).into_iter().for_each(unmark_list);
    }
    let messages = body.get_mut("messages").and_then(Value::as_array_mut);
    messages.into_iter().flatten().filter_map(|message| message.get_mut("content")).for_each(unmark_list);
}

fn unmark_list(list: &mut Value) {
    for element in list.as_array_mut().into_iter().flatten() {
        if let Some(fields) = element.as_object_mut() {
            fields.shift_remove(FIELD);
        }
    }
}

/// Whether there is any breakpoint.
pub(super) fn is_marked(body: &Value) -> bool {
    let mut unmarked = body.clone();
    unmark(&mut unmarked);
    unmarked != *body
}
