//! The results of operations as text, for the command line and for a conversation alike.
//!
//! A conversation shows what the command line would print: [`CapturedText`] takes it.

mod captured_text;
mod configuration;
mod doctor;
mod export;
mod grants;
mod logins;
mod models;
mod processes;
mod trust;
mod undo;
mod undo_rows;

pub(crate) use captured_text::CapturedText;
pub(crate) use configuration::{configuration_json, configuration_table, configuration_text};
pub(crate) use doctor::print_report;
pub(crate) use export::{Overwriting, export_format, write_export};
pub(crate) use grants::grants_table;
pub(crate) use logins::print_log_out;
pub(crate) use models::models_table;
pub(crate) use processes::{has_live, print_stopped, processes_table};
pub(crate) use trust::{print_distrusted, print_trusted};
pub(crate) use undo::{UndoFace, changes_table, print_outcome, print_preview};
