//! Names of functions that strict servers accept.

/// Whether strict servers accept a name.
pub(super) fn is_plain_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
}
