//! What a terminal can show and what the person wants of it.

use super::picture::Pictures;
use super::theme::Theme;
use crate::details::Details;

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colors {
    /// None, and no other attribute either.
    None,
    /// The sixteen of every terminal.
    Sixteen,
    /// The 256 of xterm.
    Palette,
    /// All.
    True,
}

/// How things look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// How many colours there are.
    pub colors: Colors,
    /// The colours.
    pub theme: Theme,
    /// Whether signs beyond ASCII are left out.
    pub is_ascii: bool,
    /// Whether the terminal makes links of text.
    pub has_links: bool,
    /// How the terminal takes images.
    pub pictures: Pictures,
    /// Whether the terminal cuts rows when it gets narrower, where others break them into more.
    pub cuts_rows: bool,
    /// Whether something may move by itself.
    pub has_motion: bool,
    /// How much is told of what goes on.
    pub details: Details,
    /// Whether a program reads the screen aloud: nothing is repainted, everything is said in lines.
    pub is_read_aloud: bool,
}

impl Look {
    /// A look without colours or movement.
    pub fn plain() -> Self {
        Self {
            colors: Colors::None,
            theme: Theme::Dark,
            is_ascii: false,
            has_links: false,
            pictures: Pictures::None,
            cuts_rows: false,
            has_motion: false,
            details: Details::default(),
            is_read_aloud: false,
        }
    }

    /// One of two signs, by whether the terminal is limited to ASCII.
    pub(crate) fn sign<'a>(&self, sign: &'a str, ascii: &'a str) -> &'a str {
        if self.is_ascii { ascii } else { sign }
    }
}
