//! Patterns of file names.

use globset::{GlobBuilder, GlobMatcher};

use crate::TargetError;

/// The longest pattern that is taken, in bytes.
pub(super) const MAX_PATTERN: usize = 4_096;

/// A pattern of file names. Without a slash it is for the last name alone, at any depth.
pub(crate) fn name_pattern(pattern: &str) -> Result<GlobMatcher, TargetError> {
    let bad = |reason: String| TargetError::BadPattern { reason };
    if pattern.is_empty() || pattern.len() > MAX_PATTERN {
        return Err(bad(format!("a pattern of names has 1 to {MAX_PATTERN} bytes")));
    }
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let anchored = anywhere.strip_prefix("./").or(anywhere.strip_prefix('/')).unwrap_or(&anywhere);
    let glob = GlobBuilder::new(anchored).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| bad(error.to_string()))
}
