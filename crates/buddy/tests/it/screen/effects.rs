//! What commands that begin with `/` do, besides what they say.

mod conversations;
mod files;
mod gating;
mod models;
mod own;
mod rules;
mod tasks;
mod together;
