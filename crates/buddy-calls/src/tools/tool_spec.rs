//! The fixed facts about a tool: its names, its kind, how calls of it are asked for, and where its command is.

use buddy_policy::Tier;
use buddy_protocol::ToolKind;
use serde_json::Value;

use crate::tools::clip::TextClass;

/// The entry of a tool in the registry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolSpec {
    /// The name that the model is given.
    pub(crate) name: &'static str,
    /// Other names that dispatch accepts.
    pub(crate) aliases: &'static [&'static str],
    /// The kind of its calls.
    pub(crate) kind: ToolKind,
    /// How calls are asked for.
    pub(crate) tier: Tier,
    /// The text about it for the model.
    pub(crate) description: &'static str,
    /// Which limit its texts have.
    pub(crate) text: TextClass,
}

/// Where the command is in an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandField {
    /// The field that holds it.
    pub(crate) name: &'static str,
    /// Fields that are a part of the command as a user sees it, and so are in what they write in its place.
    pub(crate) parts: &'static [&'static str],
}

impl CommandField {
    /// Puts a user's command in the place of the model's.
    pub(crate) fn replace(self, input: &mut Value, command: &str) {
        if let Some(fields) = input.as_object_mut() {
            for part in self.parts {
                fields.remove(*part);
            }
            fields.insert(self.name.to_owned(), Value::String(command.to_owned()));
        }
    }
}
