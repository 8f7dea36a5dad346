//! The tools: one table of what there is, and one pipeline that every call goes through.

mod apply_patch;
mod clip;
mod closest;
mod delete_path;
mod edit_file;
mod failure;
mod glob;
mod grep;
mod list_directory;
mod make_directory;
mod read_file;
pub(crate) mod registry;
mod run;
mod run_shell;
#[cfg(test)]
mod tests;
mod text_file;
mod time;
mod tool;
mod unified;
mod wait;
mod write_file;

pub(crate) use clip::TextLimits;
pub(crate) use run::{Call, Pipeline, PipelineParts};
pub(crate) use tool::Place;
