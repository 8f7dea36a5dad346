//! Panes with a real tmux and real shells.

mod askers;
mod behind;
mod commands;
mod endings;
mod foreign;
mod jailed;
mod keys;
mod people;
mod stage;
mod stops;
mod streams;
