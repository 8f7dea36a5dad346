//! Requirements on a history that hold for every server, whatever the wire.

use std::collections::HashSet;

use buddy_protocol::Image;
use serde::de::IgnoredAny;

use crate::PromptItem;

/// The maximum length of a function name that strict servers accept.
const MAX_NAME_CHARS: usize = 64;

/// The maximum length of a call id that strict servers accept.
const MAX_ID_CHARS: usize = 64;

/// A name that strict servers accept: a model can call any name, and its call stays in the history.
pub(crate) fn safe_name(name: &str) -> String {
    let name: String = name.chars().map(plain).take(MAX_NAME_CHARS).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// A call id that strict servers accept. An id that another provider made too long or with special characters
/// is changed in the same way wherever it occurs, and into something that no other id becomes.
pub(crate) fn safe_id(id: &str) -> String {
    if !id.is_empty() && id.len() <= MAX_ID_CHARS && id.chars().all(|letter| plain(letter) == letter) {
        return id.to_owned();
    }
    let start: String = id.chars().map(plain).take(MAX_ID_CHARS - 17).collect();
    format!("{start}_{:016x}", fingerprint(id.as_bytes()))
}

/// The arguments unchanged, or `{}` if invalid: servers that parse the history answer anything else with a
/// 500 for ever.
pub(crate) fn safe_arguments(arguments: &str) -> &str {
    let is_object = arguments.trim_start().starts_with('{');
    if is_object && serde_json::from_str::<IgnoredAny>(arguments).is_ok() { arguments } else { "{}" }
}

/// The first call without its result, or result without its call. Every server refuses such a history. The
/// caller is responsible for it; this only names the culprit.
pub(crate) fn unpaired(items: &[PromptItem]) -> Option<&str> {
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

/// The images of the results that end here, with a text about them, for a wire whose results are text only.
/// They go after the last result, since nothing may come between results.
pub(crate) fn results_images(items: &[PromptItem], place: usize) -> Option<(String, Vec<Image>)> {
    let is_result = |item: &PromptItem| matches!(item, PromptItem::ToolResult { .. });
    if !items.get(place).is_some_and(is_result) || items.get(place + 1).is_some_and(is_result) {
        return None;
    }
    let results = items.get(..=place).unwrap_or_default().rsplit(|item| !is_result(item)).next()?;
    let images: Vec<Image> = results.iter().flat_map(PromptItem::images).cloned().collect();
    let labels: Vec<String> = images.iter().map(Image::label).collect();
    (!images.is_empty())
        .then(|| (format!("Images that the calls above gave: {}.", labels.join("; ")), images))
}

/// FNV-1a: the same in every build, so that a prompt with these hashes stays the same.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn plain(letter: char) -> char {
    if letter.is_ascii_alphanumeric() || letter == '_' || letter == '-' { letter } else { '_' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_that_servers_refuse_are_changed() {
        assert_eq!(safe_id("call_1-a"), "call_1-a");
        assert_eq!(safe_id("functions.f:0"), "functions_f_0_4be0e962e9dcd7b8");
        let (long, longer) = (safe_id(&"x".repeat(65)), safe_id(&"x".repeat(66)));
        assert!(long.len() <= MAX_ID_CHARS && longer.len() <= MAX_ID_CHARS && long != longer);
        assert!(!safe_id("").is_empty());
    }
}
