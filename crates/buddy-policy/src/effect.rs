//! The effects of a command line, as far as they can be known without running it.

mod awk;
mod barred;
mod evaluated;
mod examination;
mod examine;
mod files;
mod find;
mod flags;
mod git;
mod git_prints;
mod git_reading;
mod guards;
mod hosts;
mod in_place;
mod interpreters;
mod launchers;
mod lookalikes;
mod named_files;
mod names;
mod readers;
mod reading;
mod recall;
mod recipes;
mod remotes;
mod risky;
mod sed;
mod steps;
mod telling;
mod touch;
mod trips;
mod wrappers;

pub use barred::ENGINE_VARIABLES;
pub(crate) use barred::{barred_in_jail, names_engine};
pub use evaluated::{EVALUATED_FORMS, EvaluatedForms, ZSH_FORMS};
pub(crate) use examination::{
    Class, CommandConcern, CommandEffect, CommandExamination, CommandLeaf, GivenVariable,
};
pub(crate) use examine::{examine, examine_words, reads_variables};
pub(crate) use files::{RUNNERS, UNTRIED, rows};
pub(crate) use flags::might_give;
pub(crate) use git::{
    alias as git_alias, changes_own_settings, changes_settings, only_adds_remote, publishes,
};
pub(crate) use git_reading::GIT_READERS;
pub(crate) use guards::{PUBLISHES as PUBLISHES_PACKAGE, gains_rights};
pub(crate) use hosts::{destinations, goes_by_proxy, socket};
pub(crate) use interpreters::is_interpreter;
pub(crate) use launchers::launcher_uses;
pub(crate) use named_files::{connects_by_git, uses_only_named_files, works_by_git};
pub(crate) use names::PLAIN as PLAIN_VARIABLES;
pub(crate) use readers::READERS;
pub(crate) use recipes::RECIPES;
pub(crate) use risky::risky_words;
pub(crate) use steps::LineSteps;
pub(crate) use telling::TELLING;
pub(crate) use touch::{Touch, TouchAccess, TouchReach};
pub(crate) use trips::{LineTrips, git_keeps_settings, leaf_trips, line_trips};
pub(crate) use wrappers::is_wrapper;
