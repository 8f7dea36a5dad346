//! Advice: what a model says about its own call. It may raise the gate, so a call that leaves it out, or says something that nobody
//! understands, counts as saying the most careful thing. It never makes a call fail.
//!
//! `privesc` is the exception: a call that says nothing of it claims no rights. Policy knows the programs that take them, and no
//! jail leaves them to a command.

use serde_json::{Value, json};

/// What a field of advice is taken as where it is missing or makes no sense.
struct Advice {
    name: &'static str,
    careful: fn() -> Value,
    is_understood: fn(&Value) -> bool,
}

const ADVICE: &[Advice] = &[
    Advice { name: "why", careful: || json!(""), is_understood: Value::is_string },
    Advice { name: "risk", careful: || json!("high"), is_understood: is_risk },
    Advice { name: "mutation", careful: || json!(true), is_understood: Value::is_boolean },
    Advice { name: "privesc", careful: || json!(false), is_understood: Value::is_boolean },
];

fn is_risk(value: &Value) -> bool {
    matches!(value.as_str(), Some("low" | "medium" | "high"))
}

/// Puts careful advice where the input of a tool with this schema has none, or none that is understood.
pub(super) fn complete(input: &mut Value, schema: &Value) {
    let Some(fields) = input.as_object_mut() else { return };
    let is_taken = |advice: &&Advice| schema["properties"].get(advice.name).is_some();
    for advice in ADVICE.iter().filter(is_taken) {
        if !fields.get(advice.name).is_some_and(advice.is_understood) {
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
        complete(&mut input, &json!({ "properties": properties }));
        input
    }

    #[test]
    fn what_is_missing_or_unknown_is_the_most_careful() {
        let careful = json!({"command": "ls", "why": "", "risk": "high", "mutation": true, "privesc": false});
        assert_eq!(completed(json!({"command": "ls"})), careful);
        let odd = json!({"command": "ls", "why": 3, "risk": "none", "mutation": "maybe", "privesc": null});
        assert_eq!(completed(odd), careful);
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
        let mut input = json!({"path": "x"});
        complete(&mut input, &json!({"properties": {"path": {}}}));
        assert_eq!(input, json!({"path": "x"}));
    }
}
