//! The conversation on a screen: what the user types, what the agent says and does, and what waits for an answer.
//!
//! [`Console`](state::Console) is a pure machine: inputs in, effects out, and at any time the rows to show. The driver is the
//! one loop that reads the terminal and the sessions, performs effects, and paints.

mod allowed;
mod answering;
mod approval;
mod asks;
mod background;
mod batch;
mod branch;
mod by_line;
mod call_trouble;
mod calls;
mod card;
mod card_parts;
mod card_text;
mod changed_rows;
mod choose;
mod choose_session;
mod commands;
mod custom;
mod desk;
mod driver;
mod effect;
mod errands;
mod finished_rows;
mod granting;
mod greeting;
mod ground;
mod held_answer;
mod help;
mod items;
mod joined;
mod keys;
mod lanes;
mod line_face;
mod live;
mod mode_cycle;
mod options;
mod own_status;
mod owner;
mod past;
mod picker;
mod picking;
mod plan_card;
mod reader;
mod replies;
mod slot;
mod state;
mod status;
mod status_part;
mod summary;
mod tasks;
mod terminal;
#[cfg(test)]
mod tests;
mod trust_card;
mod turn_end;
mod undoing;
mod watched_calls;
mod wording;

pub use by_line::{LineRequest, run_lines};
pub(crate) use calls::{
    NOT_ALLOWED, render_begun_call, render_ended_call, render_named_call, render_stopped,
};
pub use choose::{Alternatives, Chosen, choose};
pub use choose_session::choose_session;
pub use custom::CustomCommand;
pub use desk::{Desk, DeskCommand, ModelOption, SessionSurroundings, UNKNOWN_FILE};
pub use driver::{ConsoleRequest, run_console};
pub use greeting::ChoiceGreeting;
pub(crate) use items::render_session_notice;
pub use line_face::LineInput;
pub use status_part::StatusPart;
pub(crate) use tasks::SessionTask;
pub use trust_card::{FolderQuestion, ask_about_folder};
pub(crate) use turn_end::TurnSum;
pub(crate) use watched_calls::{render_running_call, render_watched_call};
pub(crate) use wording::ApprovalWords;
