//! The effects of commands that begin with `/`, besides their words.

mod conversations;
mod files;
mod gating;
mod models;
mod own;
mod rules;
mod tasks;
mod together;
