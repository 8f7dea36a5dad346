//! Tools from elsewhere: of a server, of a client, of a skill. They go through the same pipeline as the built-in ones.

use std::sync::Arc;

use async_trait::async_trait;
use buddy_policy::Intent;
use buddy_protocol::{ToolDefinition, ToolFailure, ToolKind};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::tools::call_place::CallPlace;

/// A tool that does not come with buddy.
#[async_trait]
pub trait AddedTool: Send + Sync + 'static {
    /// The text about it. Stays the same for as long as the tool is there.
    fn definition(&self) -> ToolDefinition;

    /// The kind of its calls.
    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    /// One line for people, also for an input that makes no sense.
    fn title(&self, input: &Value) -> String;

    /// The intent of a call. Policy judges this and nothing else, so it must not be less than what the call does.
    fn intent(&self, input: &Value, place: &CallPlace) -> Intent;

    /// Does it. Drops what it does when the call is to stop.
    async fn run(&self, input: Value, cancel: &CancellationToken) -> Result<Value, ToolFailure>;
}

/// Where tools come from that do not come with buddy.
pub trait ToolSource: Send + Sync {
    /// The tools that there are now. A session looks when it is opened and at the beginning of each turn, so an answer
    /// comes from memory.
    fn tools(&self) -> Vec<Arc<dyn AddedTool>>;
}

/// No tools but the built-in ones.
#[derive(Debug, Clone, Copy)]
pub struct BuiltInTools;

impl ToolSource for BuiltInTools {
    fn tools(&self) -> Vec<Arc<dyn AddedTool>> {
        Vec::new()
    }
}
