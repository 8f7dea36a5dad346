//! How much is told of what goes on.

use buddy_protocol::Usage;

/// How much is told of what goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Details {
    /// Whether the tokens that a turn took are told at its end.
    pub has_tokens: bool,
    /// Whether it is told what tools are called with, and not their names alone.
    pub has_calls: bool,
}

impl Default for Details {
    fn default() -> Self {
        Self { has_tokens: false, has_calls: true }
    }
}

impl Details {
    /// The text about a call: this, and its input if calls are told in full.
    pub(crate) fn called(self, between: &str, title: &str) -> String {
        if self.has_calls { format!("{between}{title}") } else { String::new() }
    }

    /// The text about the tokens between two counts, if tokens are told.
    pub(crate) fn tokens(self, before: &Usage, after: &Usage) -> Option<String> {
        let input = after.input.saturating_sub(before.input);
        let cached = after.cached_input.saturating_sub(before.cached_input);
        let output = after.output.saturating_sub(before.output);
        let is_told = self.has_tokens && input + output > 0;
        is_told
            .then(|| format!("{} tokens: {input} in, {cached} of them cached, {output} out", input + output))
    }
}
