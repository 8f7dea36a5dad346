//! A model server that answers from a script, over real HTTP on this machine.
//!
//! ```no_run
//! # async fn example() {
//! use buddy_testkit::model::{ModelServer, turn};
//! use serde_json::json;
//!
//! let server = ModelServer::start([
//!     turn().reasoning("Let me look.").call("list_files", json!({ "path": "." })),
//!     turn().text("Two files").gate("half").text(", both empty."),
//!     turn().status(429).header("retry-after-ms", "5").body("slow down"),
//! ])
//! .await;
//! // … point a client at `server.url()` …
//! server.gate("half").reached().await; // "Two files" is on its way, the rest waits
//! server.gate("half").open();
//! assert_eq!(server.requests().len(), 2);
//! # }
//! ```
//!
//! It is as strict about histories as the strictest provider, so a test that sends a broken one sees a 400.

mod answer;
mod gate;
mod script;
mod seal;
mod server;
mod socket;
mod turn;
mod wire;

pub use gate::Gate;
pub use script::{Script, Select, WhenExhausted};
pub use seal::Seal;
pub use server::{ModelServer, RecordedRequest};
pub use turn::{NEWEST_PROCESS, Turn, turn};
pub use wire::{check_history, check_request, signature};
