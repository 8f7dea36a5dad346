//! A tool as models and clients are told of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool that can be called: its name, its purpose and its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolDefinition {
    /// The name that calls have.
    pub name: String,
    /// Its purpose and when to use it, for a model.
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: Value,
}
