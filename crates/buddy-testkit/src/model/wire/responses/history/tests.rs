//! Valid and invalid inputs.

use serde_json::json;

use super::*;

fn fault(items: &[Value]) -> String {
    let body = json!({"model": "m", "include": ["reasoning.encrypted_content"], "input": items});
    check(&body, &Seal::default()).err().map(|complaint| complaint.message).unwrap_or_default()
}

fn user() -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]})
}

fn said(id: &str) -> Value {
    let content = json!([{"type": "output_text", "text": "x"}]);
    json!({"type": "message", "role": "assistant", "id": id, "content": content})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": "{}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "x"})
}

fn thought(id: &str, model: &str) -> Value {
    let blob = Seal::default().close(model, "hm");
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": blob})
}

#[test]
fn good_histories_pass() {
    assert_eq!(fault(&[user(), thought("rs_1", "m"), call("a"), call("b"), output("b"), output("a")]), "");
    assert_eq!(fault(&[user(), call("a"), said("msg_1"), output("a"), said("msg_2"), user()]), "");
    assert_eq!(fault(&[user(), thought("rs_1", "m"), thought("rs_2", "m"), said("msg_1"), user()]), "");
}

#[test]
fn each_fault_is_named() {
    let check = |items: &[Value], expected: &str| {
        let fault = fault(items);
        assert!(fault.contains(expected), "{fault}");
    };
    check(&[call("a"), user()], "No tool output found for function call a");
    check(&[call("a")], "No tool output found for function call a");
    check(&[call("a"), call("b"), output("a"), said("msg_1"), output("b")], "No tool output found");
    check(&[user(), output("a")], "No tool call found");
    check(&[call("a"), output("a"), output("a")], "No tool call found");
    check(&[call("a"), output("a"), call("a"), output("a")], "Duplicate item");
    check(&[said("msg_1"), said("msg_1")], "Duplicate item found with id msg_1");
    check(&[said("fc_1")], "begins with 'msg'");
    check(&[user(), thought("rs_1", "m"), user()], "without its required following item");
    check(&[user(), thought("rs_1", "m")], "without its required following item");
    check(&[user(), thought("rs_1", "n"), said("msg_1")], "could not be verified");
    let mut touched = thought("rs_1", "m");
    touched["encrypted_content"] = json!("sealed.00.00");
    check(&[touched, said("msg_1")], "could not be verified");
    let reference = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    check(&[reference, said("msg_1")], "Item with id 'rs_1' not found");
    let mut wrong_part = user();
    wrong_part["content"][0]["type"] = json!("output_text");
    check(&[wrong_part], "Invalid value: 'output_text'");
    let mut bad_arguments = call("a");
    bad_arguments["arguments"] = json!("{");
    check(&[bad_arguments, output("a")], "not a JSON object");
    check(&[json!({"type": "hologram"})], "Invalid value: 'hologram'");
}
