//! The screen: finished rows go into the terminal's own scrollback once, and a few live rows below them are repainted.

mod painter;
mod seen;

pub(crate) use painter::{ScreenFrame, ScreenPainter};
pub(crate) use seen::{Layout, QuestionPart, SeenRows};
