//! buddy's own agent: a pure turn machine, the driver that does what it says, and the tools.
//!
//! It reports facts and asks through an `EventSink`, talks to models through `buddy-model` and to hosts through
//! `buddy-exec`. It knows no HTTP server, no SQL and no terminal.

mod absent_user;
mod agent;
mod agent_settings;
mod briefing;
mod budget;
mod call_settings;
mod compaction;
mod driver;
mod environment;
mod gate;
mod history;
mod hosts;
mod images;
mod live;
mod look_around;
mod model_source;
mod model_words;
mod models;
mod person_run;
mod project;
mod prompt;
mod reminder_text;
mod repeat;
mod result_text;
mod run_text;
mod stuck;
mod summarise;
mod targets;
mod tools;
mod trail;
mod turn;

pub use agent::BuddyAgent;
pub use agent_settings::{AgentSettings, GateSwitches};
pub use budget::{Budget, Limit};
pub use call_settings::CallSettings;
pub use gate::{AllowedBy, CallRights, PolicySource};
pub use hosts::{Host, Hosts, ProjectFile, WithheldVariable};
pub use model_source::ModelSource;
pub use project::{Project, ProjectTop};
pub use tools::{EditCheck, RepositoryChanges, TextLimits};
