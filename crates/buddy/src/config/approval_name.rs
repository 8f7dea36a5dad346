//! The approval policy as the configuration has it: its name. A time is only for the command line.

use buddy_protocol::ApprovalPolicy;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::json;

pub(super) fn serialize<S: Serializer>(policy: &ApprovalPolicy, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(policy.name())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ApprovalPolicy, D::Error> {
    let text = String::deserialize(deserializer)?;
    ApprovalPolicy::from_name(&text).ok_or_else(|| D::Error::unknown_variant(&text, &ApprovalPolicy::NAMES))
}

pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    let values = ApprovalPolicy::NAMES.map(|name| {
        let meaning = ApprovalPolicy::from_name(name).map(explain).unwrap_or_default();
        json!({ "type": "string", "const": name, "description": meaning })
    });
    json_schema!({ "oneOf": values })
}

fn explain(policy: ApprovalPolicy) -> &'static str {
    match policy {
        ApprovalPolicy::Ask => "The user is asked.",
        ApprovalPolicy::None => "They are denied.",
        ApprovalPolicy::All => "They are allowed.",
        ApprovalPolicy::Edits => {
            "Changes of files in the workspace are allowed; the user is asked for the rest."
        }
        ApprovalPolicy::Auto => {
            "What the jail holds and undo takes back is allowed; the user is asked for the rest."
        }
        ApprovalPolicy::Window { .. } => "What is not dangerous is allowed for a time.",
    }
}
