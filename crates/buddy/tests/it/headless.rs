//! The options of one run for scripts: how it is called, what it may do, what it prints and what it leaves.

mod answers;
mod calls;
mod configuration;
mod ephemeral;
mod lists;
mod not_jailed;
mod print;
mod results;
mod rights;
mod schema;
mod steered;
