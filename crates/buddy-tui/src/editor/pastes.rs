//! Long pastes: a word in the draft stands for each.

use std::ops::Range;

/// A paste of more lines or bytes than this is collapsed.
const MAX_LINES: usize = 3;
const MAX_BYTES: usize = 500;

/// The texts that were pasted into a draft.
#[derive(Debug, Default)]
pub(super) struct Pastes {
    /// The word that stands for a paste, and the paste.
    all: Vec<(String, String)>,
}

impl Pastes {
    /// The label that the draft shows for a paste. Line ends become those of this system.
    pub(super) fn take(&mut self, text: &str) -> String {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let lines = text.lines().count();
        if lines <= MAX_LINES && text.len() <= MAX_BYTES {
            return text;
        }
        let number = self.all.len() + 1;
        let size =
            if lines > 1 { format!("{lines} lines") } else { format!("{} characters", text.chars().count()) };
        let word = format!("[paste {number}: {size}]");
        self.all.push((word.clone(), text));
        word
    }

    /// The text with every paste in the place of its word.
    pub(super) fn expand(&self, shown: &str) -> String {
        let mut whole = String::new();
        let mut rest = shown;
        // A paste may itself look like the word of another one, so each place is looked at once.
        while let Some((at, word, text)) = self.first_in(rest) {
            whole.push_str(rest.get(..at).unwrap_or_default());
            whole.push_str(text);
            rest = rest.get(at + word.len()..).unwrap_or_default();
        }
        whole.push_str(rest);
        whole
    }

    fn first_in(&self, text: &str) -> Option<(usize, &str, &str)> {
        let places = self
            .all
            .iter()
            .filter_map(|(word, paste)| Some((text.find(word)?, word.as_str(), paste.as_str())));
        places.min_by_key(|(at, ..)| *at)
    }

    /// The places of the words that stand for pastes.
    fn places(&self, shown: &str) -> Vec<Range<usize>> {
        let places = self
            .all
            .iter()
            .flat_map(|(word, _)| shown.match_indices(word.as_str()).map(|(at, word)| at..at + word.len()));
        places.collect()
    }

    /// A part of a text, made so large that it has no word in part.
    pub(super) fn widened(&self, shown: &str, from: usize, to: usize) -> (usize, usize) {
        let cut = |place: &Range<usize>| place.start < to && from < place.end;
        self.places(shown)
            .into_iter()
            .filter(cut)
            .fold((from, to), |(from, to), place| (from.min(place.start), to.max(place.end)))
    }

    /// The word that a place is inside of.
    pub(super) fn around(&self, shown: &str, at: usize) -> Option<Range<usize>> {
        self.places(shown).into_iter().find(|place| place.start < at && at < place.end)
    }
}
