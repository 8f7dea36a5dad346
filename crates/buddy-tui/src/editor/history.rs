//! Earlier prompts from all sessions, newest last.

/// How many entries there are at most.
const MAX_ENTRIES: usize = 5_000;

/// The entries, and the one that is looked at.
#[derive(Debug, Default)]
pub(crate) struct PromptHistory {
    entries: Vec<String>,
    /// The entry that is looked at, and the draft that waits meanwhile.
    looking: Option<(usize, String)>,
}

impl PromptHistory {
    /// A history with these entries, the oldest first.
    pub(crate) fn new(mut entries: Vec<String>) -> Self {
        let excess = entries.len().saturating_sub(MAX_ENTRIES);
        entries.drain(..excess);
        Self { entries, looking: None }
    }

    /// Adds what was sent. The same text again moves to the end. Says whether it is new at that place.
    pub(crate) fn add(&mut self, text: &str) -> bool {
        self.looking = None;
        if text.trim().is_empty() || self.entries.last().is_some_and(|last| last == text) {
            return false;
        }
        self.entries.retain(|entry| entry != text);
        if self.entries.len() >= MAX_ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(text.to_owned());
        true
    }

    /// The entry before the one that is looked at; `draft` comes back at the end of the way.
    pub(crate) fn older(&mut self, draft: &str) -> Option<&str> {
        let at = match &self.looking {
            Some((at, _)) => at.checked_sub(1)?,
            None => self.entries.len().checked_sub(1)?,
        };
        let kept = self.looking.take().map_or_else(|| draft.to_owned(), |(_, kept)| kept);
        self.looking = Some((at, kept));
        self.entries.get(at).map(String::as_str)
    }

    /// The entry after it, and at last the draft.
    pub(crate) fn newer(&mut self) -> Option<String> {
        let (at, kept) = self.looking.take()?;
        match self.entries.get(at + 1) {
            Some(entry) => {
                let entry = entry.clone();
                self.looking = Some((at + 1, kept));
                Some(entry)
            }
            None => Some(kept),
        }
    }

    /// The draft was changed: the next look begins at the end again.
    pub(crate) fn leave(&mut self) {
        self.looking = None;
    }

    pub(crate) fn entries(&self) -> &[String] {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_ends_at_the_draft() {
        let mut history = PromptHistory::new(vec!["one".into(), "two".into()]);
        assert_eq!(history.older("draft"), Some("two"));
        assert_eq!(history.older("two"), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn a_text_is_in_it_once() {
        let mut history = PromptHistory::new(vec!["one".into(), "two".into()]);
        assert!(history.add("one"));
        assert!(!history.add("one") && !history.add("  "));
        assert_eq!(history.entries(), ["two", "one"]);
    }
}
