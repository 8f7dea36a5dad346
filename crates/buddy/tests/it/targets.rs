//! Sessions that work on several hosts: this machine, one over SSH, and a container.

mod added;
mod commands;
mod grants;
mod remote_only;
mod resume;
mod three;
mod undo;
pub(crate) mod yard;
