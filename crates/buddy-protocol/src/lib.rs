//! The words of buddy: ids, events, items, commands, asks, the fold and the port traits.

mod usage;

pub use usage::Usage;
