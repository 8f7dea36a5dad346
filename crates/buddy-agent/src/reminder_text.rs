//! A message of buddy itself to the model, marked as one.

/// A text as a reminder.
pub(crate) fn reminder(text: &str) -> String {
    format!("<reminder from=\"buddy\">\n{text}\n</reminder>")
}
