//! The parameter `target`: which of a session's targets a call works on. It belongs to no tool but to the registry, which
//! adds it to what models are told where there is a choice, and takes it out before a tool reads its input.

use buddy_protocol::{ToolDefinition, ToolFailure};
use serde_json::{Value, json};

use crate::tools::tool_entry::ToolEntry;

const FIELD: &str = "target";

/// Tools with a parameter of the same name for something else, which gives way where a target has that name.
const SHARED_NAME: &[&str] = &["tmux_capture_pane"];

/// Tells the model of the parameter of a tool that works on a target, in a session with these targets.
pub(crate) fn offer(entry: &ToolEntry, definition: &mut ToolDefinition, names: &[String]) {
    let [default, _, ..] = names else { return };
    if !entry.is_on_target() {
        return;
    }
    if let Some(fields) = definition.parameters.get_mut("properties").and_then(Value::as_object_mut) {
        let description = format!("The target to work on, `{default}` by default.");
        fields.insert(FIELD.to_owned(), json!({"type": "string", "enum": names, "description": description}));
    }
}

/// The target that a call names, and its input without that name.
pub(crate) fn take(
    entry: &ToolEntry,
    mut input: Value,
    names: &[String],
) -> Result<(Option<String>, Value), ToolFailure> {
    let Some(said) = input.get(FIELD).filter(|_| entry.is_on_target()) else { return Ok((None, input)) };
    let said = match said {
        Value::String(said) => Some(said.clone()),
        Value::Null => None,
        _ => return Err(ToolFailure::new("invalid_input", "`target` must be the name of a target")),
    };
    if SHARED_NAME.contains(&&*entry.name) && !said.as_ref().is_some_and(|said| names.contains(said)) {
        return Ok((None, input));
    }
    if let Some(fields) = input.as_object_mut() {
        fields.shift_remove(FIELD);
    }
    Ok((said, input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::registry::find;

    fn names() -> Vec<String> {
        vec!["local".to_owned(), "ssh:atlas".to_owned()]
    }

    fn taken(tool: &str, input: Value) -> (Option<String>, Value) {
        take(find(tool).unwrap(), input, &names()).unwrap()
    }

    #[test]
    fn the_name_is_taken_out_before_a_tool_sees_it() {
        let (name, rest) = taken("read_file", json!({"path": "a", "target": "ssh:atlas"}));
        assert_eq!((name.as_deref(), rest), (Some("ssh:atlas"), json!({"path": "a"})));
        let (name, rest) = taken("read_file", json!({"path": "a", "target": null}));
        assert_eq!((name, rest), (None, json!({"path": "a"})));
        assert!(take(find("read_file").unwrap(), json!({"target": 1}), &names()).is_err());
    }

    #[test]
    fn a_tool_without_a_host_has_no_target_and_a_pane_keeps_its_name() {
        assert_eq!(taken("time", json!({"target": "local"})), (None, json!({"target": "local"})));
        assert_eq!(
            taken("tmux_capture_pane", json!({"target": "build"})),
            (None, json!({"target": "build"}))
        );
        assert_eq!(
            taken("tmux_capture_pane", json!({"target": "local"})),
            (Some("local".to_owned()), json!({}))
        );
    }

    #[test]
    fn models_are_told_of_it_only_where_there_is_a_choice() {
        let told = |tool: &str, names: &[String]| {
            let entry = find(tool).unwrap();
            let mut definition = entry.definition();
            offer(entry, &mut definition, names);
            definition.parameters["properties"].get(FIELD).cloned()
        };
        assert_eq!(told("read_file", &names()[..1]), None);
        assert_eq!(told("read_file", &names()).unwrap()["enum"], json!(names()));
        assert_eq!(told("update_plan", &names()), None);
    }
}
