//! The reasons why a file about models is unusable.

/// The reason why a catalogue file is unusable.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// It is not TOML of the right shape.
    #[error("line {line}: {message}")]
    Toml {
        /// The line, from 1.
        line: usize,
        /// The problem there.
        message: String,
    },
    /// A rule has no pattern, or more than one.
    #[error("rule {0} must have exactly one of `exact`, `prefix` and `contains`")]
    Pattern(usize),
    /// A number of a rule is invalid.
    #[error("rule {0} has a size of 0, or a price that is less than 0 or not a number")]
    Number(usize),
}

/// A problem of a TOML text, with its line.
pub(crate) fn toml_error(text: &str, error: &toml::de::Error) -> CatalogueError {
    let start = error.span().map_or(0, |span| span.start);
    let before = text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    CatalogueError::Toml { line: before + 1, message: error.message().to_owned() }
}
