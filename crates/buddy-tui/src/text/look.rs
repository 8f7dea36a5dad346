//! The abilities of a terminal and the user's wishes.

use anstyle::Style;

use super::colors::Colors;
use super::picture::Pictures;
use super::theme::{Paint, Theme};
use crate::details::Details;

/// How things look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalLook {
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
    /// The user's home, which paths are shown below as `~`; empty where it is not known.
    pub home: String,
}

impl TerminalLook {
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
            home: String::new(),
        }
    }

    /// The style of a kind of text.
    pub(crate) fn style(&self, paint: Paint) -> Style {
        self.theme.style(paint, self.colors)
    }

    /// Whether text has no colours to be told apart by.
    pub(crate) fn is_plain(&self) -> bool {
        self.colors <= Colors::Mono
    }

    /// A path as people write it: below the home with `~`.
    pub fn path(&self, path: &str) -> String {
        match path.strip_prefix(self.home.as_str()) {
            Some("") if !self.home.is_empty() => "~".to_owned(),
            Some(rest) if !self.home.is_empty() && rest.starts_with('/') => format!("~{rest}"),
            _ => path.to_owned(),
        }
    }

    /// A path as it is shown in a session that works in `cwd`: below that directory, else below the home, else whole.
    pub(crate) fn path_in(&self, path: &str, cwd: &str) -> String {
        match path.strip_prefix(cwd) {
            Some("") if !cwd.is_empty() => ".".to_owned(),
            Some(rest) if cwd.len() > 1 && rest.starts_with('/') => rest.trim_start_matches('/').to_owned(),
            _ => self.path(path),
        }
    }

    /// One of two signs, by whether the terminal is limited to ASCII.
    pub fn sign<'a>(&self, sign: &'a str, ascii: &'a str) -> &'a str {
        if self.is_ascii { ascii } else { sign }
    }
}
