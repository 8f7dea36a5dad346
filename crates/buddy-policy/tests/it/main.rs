//! Decisions about whole commands and files, seen from outside.

#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]

mod advice;
mod auto;
mod bash;
mod brought_links;
mod builtins;
mod climbs;
mod danger;
mod egress;
mod git_places;
mod hostile;
mod launchers;
mod modes;
mod offers;
mod programs;
mod reading;
mod recall;
mod reference;
mod rewording;
mod rules;
mod stage;
mod trips;
mod variables;
