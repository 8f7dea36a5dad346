//! The screen: finished rows go into the terminal's own scrollback once, and a few live rows below them are repainted.

mod painter;

pub(crate) use painter::{Frame, Painter};
