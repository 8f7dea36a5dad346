//! The answers that stream, and how much of each is printed.
//!
//! After some of what streamed was missed, the next part of an answer does not belong behind what stands there. Answers are
//! then printed when they are whole.

use std::collections::HashMap;

use buddy_protocol::ItemId;

/// The messages of the agent that are being printed.
#[derive(Debug, Default)]
pub(super) struct StreamedAnswers {
    /// The printed beginning of each message that has not ended.
    printed: HashMap<ItemId, String>,
    /// Whether nothing is printed of a message before it has ended.
    is_held: bool,
}

impl StreamedAnswers {
    /// Some of what streamed was missed.
    pub(super) fn miss(&mut self) {
        self.is_held = true;
    }

    /// Streams are whole again from now on.
    pub(super) fn begin_turn(&mut self) {
        *self = Self::default();
    }

    /// A message starts over.
    pub(super) fn start_over(&mut self, item: &ItemId) {
        self.printed.remove(item);
    }

    /// Takes a part of a message. False if it is not to be printed yet.
    pub(super) fn grow(&mut self, item: &ItemId, text: &str) -> bool {
        if !self.is_held {
            self.printed.entry(item.clone()).or_default().push_str(text);
        }
        !self.is_held
    }

    /// Takes a whole message and returns its text that is not printed, if any was missed. A beginning that is not the whole
    /// one's is left in a line of its own.
    pub(super) fn end(&mut self, item: &ItemId, whole: &str) -> Option<String> {
        let printed = self.printed.remove(item).unwrap_or_default();
        if printed.len() >= whole.len() {
            return None;
        }
        Some(match whole.strip_prefix(printed.as_str()) {
            Some(rest) => rest.to_owned(),
            None if printed.ends_with('\n') => whole.to_owned(),
            None => format!("\n{whole}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> ItemId {
        format!("itm_{:026}", 1).parse().unwrap()
    }

    #[test]
    fn a_whole_answer_is_printed_as_it_streams() {
        let mut answers = StreamedAnswers::default();
        assert!(answers.grow(&item(), "One ") && answers.grow(&item(), "two."));
        assert_eq!(answers.end(&item(), "One two."), None);
    }

    #[test]
    fn an_answer_of_which_a_part_was_missed_is_completed_at_its_end() {
        let mut answers = StreamedAnswers::default();
        answers.grow(&item(), "One ");
        answers.miss();
        assert!(!answers.grow(&item(), "three."), "it does not belong behind what stands there");
        assert_eq!(answers.end(&item(), "One two three.").as_deref(), Some("two three."));
        assert_eq!(answers.end(&item(), "Four.").as_deref(), Some("Four."), "nothing of it streamed");
        answers.begin_turn();
        assert!(answers.grow(&item(), "Five."));
    }

    #[test]
    fn an_answer_whose_beginning_was_missed_is_printed_again() {
        let mut answers = StreamedAnswers::default();
        answers.grow(&item(), "two.");
        assert_eq!(answers.end(&item(), "One two.").as_deref(), Some("\nOne two."));
    }
}
