//! Making room: results are cleared first, then the older part is summed up, and the user's words stay.

use serde_json::json;

use super::*;

/// A round with a call whose result has about so many tokens.
fn read(bench: &mut Bench, path: &str, tokens: usize) {
    let arguments = Arguments::Object {
        value: serde_json::Map::from_iter([("path".to_owned(), json!(path))]),
        repaired: false,
    };
    let call =
        ReplyItem::ToolCall { id: path.to_owned(), name: "read_file".to_owned(), arguments, private: None };
    let reply = Reply { items: vec![call], stop: StopReason::ToolUse, usage: None, model: None };
    bench.feed(Input::Answered(answered(reply)));
    let item = bench.calls.pop().expect("a call");
    let content = "word ".repeat(tokens);
    let item = Item { status: ItemStatus::Completed, ..item }
        .with_output(Envelope::new(UnixMillis(1), Ok(json!({ "path": path, "content": content }))));
    bench.facts.push(Fact::ItemEnded(ItemEnded { item: item.clone() }));
    bench.feed(Input::CallEnded(item));
}

fn results(bench: &Bench) -> Vec<bool> {
    let whole = |item: &PromptItem| match item {
        PromptItem::ToolResult { output, .. } => Some(output.contains("word word")),
        _ => None,
    };
    bench.history.iter().filter_map(whole).collect()
}

fn texts(bench: &Bench) -> String {
    let text = |item: &PromptItem| match item {
        PromptItem::User { text, .. } => Some(text.clone()),
        _ => None,
    };
    bench.history.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_context_that_overflows_twice_is_cleared_and_then_summed_up() {
    let mut bench = Bench::new(99);
    bench.prompt("Use exactly the name Zebra.");
    for path in ["a", "b", "c", "d"] {
        read(&mut bench, path, 2_000);
    }
    assert_eq!(results(&bench), [true; 4]);
    bench.feed(Input::ContextFull { window: 10_000, used: 9_000 });
    assert_eq!(bench.done[bench.done.len() - 2..], ["clear", "call"], "nothing is summed up yet");
    assert_eq!(results(&bench), [false, false, false, true], "the newest result stays");
    assert_eq!(bench.resumed(), bench.history, "a session that is taken up has the same history");
    bench.feed(Input::ContextFull { window: 10_000, used: 9_000 });
    assert_eq!(bench.done.last(), Some(&"summarise"), "the same results are not cleared again");
    bench.feed(Input::Summarised { summary: Some("short".to_owned()), bills: Vec::new() });
    let told = texts(&bench);
    assert!(told.contains("short") && told.contains("Use exactly the name Zebra."), "{told}");
    bench.reply("done", &[]).prompt("And now?");
    assert_eq!(bench.history.len(), bench.resumed().len());
}

#[test]
fn words_from_before_an_earlier_summary_stay_word_for_word() {
    let mut bench = Bench::new(99);
    for words in ["first wish", "second wish"] {
        bench.prompt(words);
        for path in ["a", "b"] {
            read(&mut bench, &format!("{words} {path}"), 10);
        }
        bench.reply("done", &[]);
        bench.feed(Input::CompactRequested { by: Principal::person("ann"), window: 100 });
        bench.feed(Input::Summarised { summary: Some("short".to_owned()), bills: Vec::new() });
    }
    bench.prompt("third wish");
    let told = texts(&bench);
    let places = ["first wish", "second wish", "third wish"].map(|words| told.find(words));
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{told}");
}

#[test]
fn files_processes_the_plan_and_failures_survive_a_summary() {
    let mut bench = Bench::new(99);
    bench.prompt("go");
    let mut call = |name: &str, input: Value, outcome: Result<Value, ToolFailure>| {
        let Value::Object(value) = input else { panic!("{input}") };
        let arguments = Arguments::Object { value, repaired: false };
        let id = format!("c{}", bench.facts.len());
        let call = ReplyItem::ToolCall { id, name: name.to_owned(), arguments, private: None };
        let reply = Reply { items: vec![call], stop: StopReason::ToolUse, usage: None, model: None };
        bench.feed(Input::Answered(answered(reply)));
        let item = bench.calls.pop().expect("a call");
        let status = if outcome.is_ok() { ItemStatus::Completed } else { ItemStatus::Failed };
        let item = Item { status, ..item }.with_output(Envelope::new(UnixMillis(1), outcome));
        bench.feed(Input::CallEnded(item));
    };
    call("write_file", json!({"path": "a.rs", "content": "x"}), Ok(json!({"path": "/w/a.rs"})));
    call("apply_patch", json!({"patch": "x"}), Ok(json!({"files": ["/w/b.rs"]})));
    call("process_start", json!({"command": "serve"}), Ok(json!({"id": "p1"})));
    call("process_start", json!({"command": "watch"}), Ok(json!({"id": "p2"})));
    call("process_stop", json!({"id": "p2"}), Ok(json!({"id": "p2"})));
    let steps =
        json!([{"text": "read the tests", "state": "done"}, {"text": "mend the parser", "state": "active"}]);
    call("update_plan", json!({"steps": steps}), Ok(json!({"steps": 2})));
    call(
        "run_shell",
        json!({"command": "make"}),
        Err(ToolFailure::new("not_found", "there is no `make` here")),
    );
    bench.reply("done", &[]);
    bench.feed(Input::CompactRequested { by: Principal::person("ann"), window: 100 });
    bench.feed(Input::Summarised { summary: Some("short".to_owned()), bills: Vec::new() });
    bench.prompt("and?");
    let told = texts(&bench);
    assert!(["/w/a.rs", "/w/b.rs", "`p1`"].iter().all(|name| told.contains(name)), "{told}");
    assert!(!told.contains("`p2`"), "{told}");
    let plan = "The plan:\n- [Done] read the tests\n- [Active] mend the parser";
    assert!(told.contains(plan), "{told}");
    assert!(told.contains("Calls that did not work:\n- run_shell: "), "{told}");
    assert!(told.contains("there is no `make` here"), "{told}");
}
