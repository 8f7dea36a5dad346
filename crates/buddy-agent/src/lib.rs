//! buddy's own agent: a pure turn machine, the driver that does what it says, and the tools.
//!
//! It reports facts and asks through an `EventSink`, talks to models through `buddy-model` and to hosts through
//! `buddy-exec`. It knows no HTTP server, no SQL and no terminal.

mod agent;
mod driver;
mod history;
mod live;
mod prompt;
mod repeat;
mod tools;
mod turn;

pub use agent::{AgentSettings, BuddyAgent, ModelSource, TextSettings};
