//! A search through what was sent before.

use super::history::PromptHistory;

/// A search under way.
#[derive(Debug, Default)]
pub(crate) struct HistorySearch {
    /// The text to look for.
    wish: String,
    /// How many hits nearer to the end were passed over.
    passed: usize,
    /// The draft that comes back when nothing is taken.
    pub(crate) draft: String,
}

impl HistorySearch {
    pub(crate) fn new(draft: String) -> Self {
        Self { draft, ..Self::default() }
    }

    pub(crate) fn wish(&self) -> &str {
        &self.wish
    }

    pub(crate) fn insert(&mut self, letter: char) {
        self.wish.push(letter);
        self.passed = 0;
    }

    pub(crate) fn backspace(&mut self) {
        self.wish.pop();
        self.passed = 0;
    }

    /// Goes on to an older hit, if there is one.
    pub(crate) fn older(&mut self, history: &PromptHistory) {
        self.passed += 1;
        if self.hit(history).is_none() {
            self.passed -= 1;
        }
    }

    /// Goes back to a newer hit.
    pub(crate) fn newer(&mut self) {
        self.passed = self.passed.saturating_sub(1);
    }

    /// The entry that was found. Capital letters do not matter unless some are looked for.
    pub(crate) fn hit<'a>(&self, history: &'a PromptHistory) -> Option<&'a str> {
        if self.wish.is_empty() {
            return None;
        }
        let is_exact = self.wish.chars().any(char::is_uppercase);
        let fits = |entry: &&String| {
            if is_exact { entry.contains(&self.wish) } else { entry.to_lowercase().contains(&self.wish) }
        };
        history.entries().iter().rev().filter(fits).nth(self.passed).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_gone_through_and_back() {
        let history = PromptHistory::new(["fix Tests", "run it", "write tests"].map(String::from).to_vec());
        let mut search = HistorySearch::new("draft".into());
        assert_eq!(search.hit(&history), None);
        "tests".chars().for_each(|letter| search.insert(letter));
        assert_eq!(search.hit(&history), Some("write tests"));
        search.older(&history);
        assert_eq!(search.hit(&history), Some("fix Tests"));
        search.older(&history);
        assert_eq!(search.hit(&history), Some("fix Tests"));
        search.newer();
        assert_eq!(search.hit(&history), Some("write tests"));
        search.backspace();
        search.insert('S');
        assert_eq!(search.hit(&history), None);
    }
}
