//! The jail, asserted on what commands could and could not do to the machine around them.

mod caches;
pub(crate) mod cell;
mod escapes;
mod files;
mod git_index;
mod git_settings;
mod git_state;
mod hideouts;
mod light;
mod local_sockets;
mod network;
mod opened_names;
mod orders;
mod processes;
mod protected;
mod reads;
mod refusals;
mod runs;
mod sealed;
mod setuid;
mod talks;
mod terminals;
mod work_trees;
