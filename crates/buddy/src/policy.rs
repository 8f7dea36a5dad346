//! The rights of agents on this machine: the user's rules and grants, guards, and the bounds of each mode.

mod bounds;
mod grants;
mod guards;
mod landings;
mod limits;
mod linked;
mod links;
mod project;
mod registries;
mod removals;
mod rules;
mod sessions;
mod source;
mod tracked;
mod user_files;

pub(crate) use grants::{GrantBook, KeptGrant};
pub(crate) use guards::{Guards, Pending, check_guards};
pub(crate) use project::project_files;
pub(crate) use source::{Policies, PolicySettings};
