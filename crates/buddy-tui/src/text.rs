//! Text for a terminal: styled lines that hold nothing which could steer it, their width, their wrapping and their bytes.

mod colors;
mod encode;
mod line;
mod look;
mod picture;
mod tabs;
mod theme;
mod to_copy;
mod wrap;

pub use colors::Colors;
pub(crate) use encode::{encode, encode_from};
pub(crate) use line::{Span, StyledLine};
pub use look::TerminalLook;
pub(crate) use picture::Picture;
pub use picture::Pictures;
pub(crate) use tabs::expand_tabs;
pub use theme::Theme;
pub(crate) use theme::{Paint, Tone};
pub use to_copy::to_copy;
pub(crate) use to_copy::unmarked;
pub(crate) use wrap::{
    Overlong, ShortenedText, find_hanging_indent, fold, shorten_text, tell_text, wrap, wrap_printed,
    wrap_text, wrap_unindented,
};
