//! The terminal face: headless runs, lists, and conversations on a screen or line by line.
//!
//! Everything here talks to `Sessions` and knows neither models nor tools nor the store, so that the same code serves a
//! hub in this process and a remote one.

mod addressing;
mod amounts;
mod approval_clock;
mod asking;
mod branches;
mod changes;
mod checks;
mod console;
mod counting;
mod details;
mod diff;
mod editor;
mod event_feed;
mod exec;
mod exit;
mod export;
mod farewell;
mod file_changes;
mod left_running;
mod list_time;
mod markdown;
mod mentions;
mod output;
mod overview;
mod picker_rows;
mod printer;
mod report;
mod requests;
mod retrying;
mod screen;
mod show;
mod slash_commands;
#[cfg(test)]
mod slow_sessions;
mod spoken;
mod table;
mod targets;
mod text;
mod trouble;
mod visible;

pub use amounts::describe_elapsed;
pub use checks::{CheckGroup, CheckMark, CheckRow, show_checks};
pub use console::{
    Alternatives, ChoiceGreeting, Chosen, ConsoleRequest, CustomCommand, Desk, DeskCommand, FolderQuestion,
    LineInput, LineRequest, ModelOption, SessionSurroundings, StatusPart, UNKNOWN_FILE, ask_about_folder,
    choose, choose_session, run_console, run_lines,
};
pub use counting::counted;
pub use details::Details;
pub use editor::KeyStyle;
pub use exec::{
    AnswerSchema, CommandInput, ExecOutcome, ExecRequest, ExecTarget, ExecWatch, OutputFormat, SchemaError,
    run_exec,
};
pub use exit::{Exit, LeftConversation, Signalled};
pub use export::markdown;
pub use printer::{OutputClosed, Printer};
pub use report::refusal_line;
pub use show::{show_asks, show_found, show_sessions, show_transcript};
pub use table::{ListView, Table, TableCell, TableColumn, terminal_columns};
pub use text::{Colors, Pictures, TerminalLook, Theme, to_copy};
