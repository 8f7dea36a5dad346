//! buddy's own agent: a pure turn machine, and the driver that does what it says.
//!
//! It reports facts and asks through an `EventSink`, talks to models through `buddy-model` and makes calls through
//! `buddy-calls`. It knows no HTTP server, no SQL and no terminal.

mod agent;
mod agent_settings;
mod briefing;
mod budget;
mod client_calls;
mod compaction;
mod driver;
mod environment;
mod history;
mod live;
mod look_around;
mod model_source;
mod models;
mod order;
mod person_run;
mod project;
mod prompt;
mod reminder_text;
mod repeat;
mod result_text;
mod run_text;
mod slow_commands;
mod stuck;
mod summarise;
mod tool_notice;
mod turn;

pub use agent::BuddyAgent;
pub use agent_settings::{AgentSettings, GateSwitches};
pub use budget::Budget;
pub use model_source::ModelSource;
pub use project::{Project, ProjectTop};
