//! The whole program, run as people and scripts run it: real processes, real files, a scripted model over real HTTP.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a broken assumption ends the test")]

mod approvals;
mod askers;
mod budget;
mod catalogue;
mod commands;
mod compaction;
mod config;
mod crash;
mod day;
mod demo;
mod doctor;
mod exec;
mod exec_refusals;
mod exec_stops;
mod faults;
mod floods;
mod foreign;
mod git;
mod headless;
mod hosts;
mod interrupts;
mod login;
mod manual;
mod panes;
mod past;
mod person;
mod processes;
mod repl;
mod screen;
mod security;
mod sessions;
mod stage;
mod targets;
mod undo;
mod web;
