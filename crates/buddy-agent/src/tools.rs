//! The tools: one table of what there is, and one pipeline that every call goes through.

mod clip;
mod failure;
mod fetch_url;
mod git;
mod list_directory;
mod read_file;
pub(crate) mod registry;
mod run;
mod run_shell;
mod search_youtube;
mod time;
mod tool;
mod wait;
mod web_search;
mod write_file;

pub(crate) use clip::TextLimits;
pub(crate) use run::{Call, Pipeline, PipelineParts};
pub(crate) use tool::Place;
