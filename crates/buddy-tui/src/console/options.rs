//! Answers that a question offers, gone through with arrow keys.

use buddy_protocol::Question;
use unicode_width::UnicodeWidthStr;

use crate::editor::EditAction;

/// The longest answer before a colon. What is longer is a sentence.
pub(super) const LONGEST_NAME: usize = 30;

/// The answer that an arrow key leads to from what is written; none where it leads to none. Words of the user's own stay.
pub(super) fn turn_option(question: &Question, written: &str, action: EditAction) -> Option<String> {
    let Question::Text { options, .. } = question else { return None };
    let last = options.len().checked_sub(1)?;
    let at = options.iter().position(|option| split_option(option).0 == written);
    if at.is_none() && !written.is_empty() {
        return None;
    }
    let next = match (action, at) {
        (EditAction::Down, None) => 0,
        (EditAction::Down, Some(at)) => {
            if at < last {
                at + 1
            } else {
                0
            }
        }
        (EditAction::Up, None | Some(0)) => last,
        (EditAction::Up, Some(at)) => at - 1,
        _ => return None,
    };
    options.get(next).map(|option| split_option(option).0.to_owned())
}

/// An answer, and what is said about it after a colon.
pub(super) fn split_option(option: &str) -> (&str, &str) {
    option.split_once(": ").filter(|(name, _)| name.width() <= LONGEST_NAME).unwrap_or((option, ""))
}
