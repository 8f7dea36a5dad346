//! What every wire does to a history before it goes out.

use std::collections::HashSet;

use serde::de::IgnoredAny;

use crate::PromptItem;

/// Longest function name that strict servers take back.
const MAX_NAME_CHARS: usize = 64;

/// A name that strict servers take: a model can call what it likes, and its call stays in the history.
pub(super) fn safe_name(name: &str) -> String {
    let is_fine = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let name: String =
        name.chars().map(|letter| if is_fine(letter) { letter } else { '_' }).take(MAX_NAME_CHARS).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// The arguments as they were, or `{}`: servers that parse the history answer anything else with a 500 for ever.
pub(super) fn safe_arguments(arguments: &str) -> &str {
    let is_object = arguments.trim_start().starts_with('{');
    if is_object && serde_json::from_str::<IgnoredAny>(arguments).is_ok() { arguments } else { "{}" }
}

/// The first call that lacks its result, or result that lacks its call. Every server refuses such a history, and the
/// caller owns it; this only names the culprit.
pub(super) fn unpaired(items: &[PromptItem]) -> Option<&str> {
    let mut open = HashSet::new();
    for item in items {
        match item {
            PromptItem::ToolCall { id, .. } if !open.insert(id.as_str()) => return Some(id),
            PromptItem::ToolResult { id, .. } if !open.remove(id.as_str()) => return Some(id),
            PromptItem::User { .. } => {
                if let Some(id) = open.iter().next() {
                    return Some(id);
                }
            }
            _ => {}
        }
    }
    open.into_iter().next()
}
