//! The tools: one table of what there is, and one pipeline that every call goes through.

mod advice;
mod apply_patch;
mod approve;
mod ask_user;
mod background;
mod clip;
mod closest;
mod credentials;
mod delete_path;
mod description;
mod destinations;
mod edit_checks;
mod edit_file;
pub(crate) mod egress;
mod failure;
mod fetch_url;
mod git;
mod glob;
mod grep;
mod list_directory;
mod make_directory;
mod opens;
mod outside;
mod person;
mod pins;
mod plain;
mod preview;
mod process;
#[cfg(test)]
mod promises;
mod read_file;
pub(crate) mod registry;
mod rivals;
mod run;
mod run_shell;
mod search_youtube;
mod snapshot;
pub(crate) mod target_field;
#[cfg(test)]
mod tests;
mod text_file;
mod time;
mod tmux;
mod tool;
mod turnstile;
mod unified;
mod unseen_files;
mod update_plan;
mod wait;
mod web_search;
mod withheld;
mod write_file;

pub use edit_checks::EditCheck;

pub(crate) use background::Background;
pub(crate) use clip::{TextLimits, TextRoom, clip_text};
pub(crate) use edit_checks::CHECKS;
pub use git::RepositoryChanges;
pub(crate) use git::{RepositoryGlance, glance_at_repository};
pub(crate) use pins::Pins;
pub(crate) use plain::plain;
pub(crate) use run::{Call, Pipeline, PipelineParts};
pub(crate) use run_shell::Means;
pub(crate) use tool::{Place, Sight, TextClass};
pub(crate) use update_plan::plan;
