//! Advice: the model's statements about its own call. They can raise the gate, so a value that nobody understands counts as the
//! most careful one. A missing value leaves the decision to policy's own reading of the call, as one of medium risk at least. Advice
//! never makes a call fail.
//!
//! A call that says nothing of `privesc` claims no rights. Policy knows the programs that take them, and no jail leaves them to a
//! command.

use serde_json::{Value, json};

/// A field of advice, with its value if it is missing and if it makes no sense.
struct Advice {
    name: &'static str,
    missing: fn() -> Value,
    careful: fn() -> Value,
    is_understood: fn(&Value) -> bool,
}

const ADVICE: &[Advice] = &[
    Advice { name: "why", missing: || json!(""), careful: || json!(""), is_understood: Value::is_string },
    Advice { name: "risk", missing: || json!("medium"), careful: || json!("high"), is_understood: is_risk },
    Advice {
        name: "mutation",
        missing: || json!(true),
        careful: || json!(true),
        is_understood: Value::is_boolean,
    },
    Advice {
        name: "privesc",
        missing: || json!(false),
        careful: || json!(false),
        is_understood: Value::is_boolean,
    },
];

fn is_risk(value: &Value) -> bool {
    matches!(value.as_str(), Some("low" | "medium" | "high"))
}

/// Whether a tool with this schema is to be told the risk, and the input says nothing about it.
pub(super) fn lacks_risk(input: &Value, schema: &Value) -> bool {
    schema["properties"].get("risk").is_some() && input.get("risk").is_none_or(Value::is_null)
}

/// Completes the advice in the input of a tool with this schema. A missing value that the tool has a default for stays missing, and advice that
/// the tool does not take goes.
pub(super) fn complete(input: &mut Value, schema: &Value) {
    let Some(fields) = input.as_object_mut() else { return };
    let is_taken = |advice: &&Advice| schema["properties"].get(advice.name).is_some();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for advice in ADVICE {
        if !is_taken(&advice) {
            // Models give it to every tool once they gave it to one.
            fields.remove(advice.name);
        } else if fields.get(advice.name).is_none_or(Value::is_null) {
            fields.remove(advice.name);
            if required.iter().any(|name| name == advice.name) {
                fields.insert(advice.name.to_owned(), (advice.missing)());
            }
        } else if !fields.get(advice.name).is_some_and(advice.is_understood) {
            let said = fields.get(advice.name).and_then(as_meant).filter(advice.is_understood);
            fields.insert(advice.name.to_owned(), said.unwrap_or_else(advice.careful));
        }
    }
}

/// A value in another spelling: `"true"`, `"HIGH"`.
fn as_meant(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim().to_ascii_lowercase();
    Some(match text.as_str() {
        "true" => json!(true),
        "false" => json!(false),
        _ => json!(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(mut input: Value) -> Value {
        let names = ["command", "why", "risk", "mutation", "privesc"];
        let properties: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        complete(&mut input, &json!({ "properties": properties, "required": names }));
        input
    }

    #[test]
    fn an_unknown_value_is_the_most_careful_and_a_missing_one_is_medium() {
        let careful = json!({"command": "ls", "why": "", "risk": "high", "mutation": true, "privesc": false});
        let odd = json!({"command": "ls", "why": 3, "risk": "none", "mutation": "maybe", "privesc": null});
        assert_eq!(completed(odd), careful);
        let unsaid =
            json!({"command": "ls", "why": "", "risk": "medium", "mutation": true, "privesc": false});
        assert_eq!(completed(json!({"command": "ls"})), unsaid);
    }

    #[test]
    fn a_default_of_the_tool_stands_for_a_missing_value() {
        let mut input = json!({"command": "ls", "risk": null});
        complete(&mut input, &json!({"properties": {"risk": {}, "mutation": {}}, "required": ["command"]}));
        assert_eq!(input, json!({"command": "ls"}));
    }

    #[test]
    fn what_is_understood_stays_and_other_spellings_are_read() {
        let said = json!({"command": "ls", "why": "x", "risk": "low", "mutation": false, "privesc": true});
        assert_eq!(completed(said.clone()), said);
        let spelt =
            json!({"command": "ls", "why": "x", "risk": "LOW", "mutation": "False", "privesc": "true"});
        assert_eq!(completed(spelt), said);
    }

    #[test]
    fn a_tool_without_advice_gets_none() {
        let mut input = json!({"path": "x", "why": "y", "risk": "low", "mutation": 3, "privesc": null});
        complete(&mut input, &json!({"properties": {"path": {}}}));
        assert_eq!(input, json!({"path": "x"}));
    }
}
