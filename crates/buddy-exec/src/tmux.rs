//! Panes: terminals that an agent shares with people, by tmux, over any target.
//!
//! [`TmuxTarget`] lies over another target. Commands that people are to see are typed into a pane of a tmux
//! server of its own; all else, files included, goes to the target below. Marks in the pane's stream tell
//! where a command begins and how it ended. The prompt hook of the shell writes them with a random number
//! that is never typed. The stream is followed and never polled.
//!
//! No key is sent to a pane before tmux itself has checked again that the pane is buddy's. Options of a pane
//! are no proof: a record on this machine says which panes buddy made (`records.rs`).

mod attend;
mod begin;
mod error;
mod follow;
mod host;
mod key;
mod keys;
mod link;
mod lock;
mod marks;
mod names;
mod nonce;
mod panes;
mod person;
mod place;
mod probe;
mod records;
mod rest;
mod run;
mod screen;
mod scripts;
mod sessions;
mod shells;
mod source;
mod spool;
mod stop;
mod target;
mod wish;

pub use error::PaneError;
pub use key::{BadKey, Key};
pub use names::{is_session_name, session_name};
pub use panes::{
    CaptureOptions, Keys, PaneCommand, PaneRunning, PaneSelector, PaneText, Panes, Remaining, Screen,
};
pub use place::pane_directory;
pub use scripts::PANE_VARIABLE;
pub use target::{RECONNECT_WITHIN, TmuxSettings, TmuxTarget, is_inside};
