//! The line editor: a draft, its history, its completions, and how they look. Pure: keys in, rows and outcomes out.
//!
//! A line editor of others owns the terminal while it waits for a line, and an answer that streams, an elapsed time or a
//! question would have to wait for it.

mod draft;
mod entry;
mod fuzzy;
mod history;
mod keymap;
mod menu;
mod motion;
mod pastes;
mod search;
mod text_buffer;
mod view;
mod vim;

pub(crate) use draft::TextDraft;
pub(crate) use entry::{Entered, LineEntry};
pub(crate) use fuzzy::score;
pub(crate) use history::PromptHistory;
pub use keymap::KeyStyle;
pub(crate) use keymap::{EditAction, EditorKey, Keymap};
pub(crate) use menu::{Menu, MenuChoice};
pub(crate) use search::HistorySearch;
pub(crate) use view::{InputView, MENU_ROWS, render_input, render_menu};
pub(crate) use vim::{Vim, VimTyped};
