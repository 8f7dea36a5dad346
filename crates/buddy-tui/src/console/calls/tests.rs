//! Rows of calls.

use super::*;
use buddy_protocol::{Envelope, ToolFailure, UnixMillis};

fn words(kind: ToolKind, title: &str, is_done: bool) -> (&'static str, String) {
    let call = ToolCall {
        call_id: String::new(),
        name: "tool".to_owned(),
        kind,
        title: title.to_owned(),
        input: Json::from(serde_json::json!({})),
        output: None,
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    };
    let look = TerminalLook { home: "/home/ann".to_owned(), ..TerminalLook::plain() };
    let CallWords { verb, object, .. } = CallWords::of(&call, is_done, &look, "/home/ann/app");
    (verb, object)
}

/// One call of each of buddy's tools; the test of its registry compares it with the tools.
const CALLS: &str = include_str!("../../../../../fixtures/calls.json");

/// A call that ended with this result.
fn completed(name: &str, kind: ToolKind, title: &str, result: serde_json::Value) -> ToolCall {
    ToolCall {
        call_id: String::new(),
        name: name.to_owned(),
        kind,
        title: title.to_owned(),
        input: Json::from(serde_json::json!({})),
        output: Some(Envelope::new(UnixMillis(0), Ok(result))),
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    }
}

#[test]
fn every_tool_has_its_verb_while_it_runs_when_it_is_done_and_when_it_is_not() {
    let look = TerminalLook { home: "/home/ann".to_owned(), ..TerminalLook::plain() };
    let calls: Vec<Value> = serde_json::from_str(CALLS).unwrap();
    for known in &calls {
        let text = |name: &str| known[name].as_str().unwrap().to_owned();
        let answer = |result: Result<Value, &str>| {
            let result = result.map_err(|message| ToolFailure::new("failed", message));
            Some(Envelope::new(UnixMillis(0), result))
        };
        let call = |output: Option<Envelope>| ToolCall {
            call_id: String::new(),
            name: text("name"),
            kind: serde_json::from_value(known["kind"].clone()).unwrap(),
            title: text("title"),
            input: Json::from(known["input"].clone()),
            output,
            images: Vec::new(),
            target: None,
            had_secrets: false,
            caller: None,
        };
        let (object, name) = (text("object"), text("name"));
        let running = CallWords::of(&call(None), false, &look, "/w");
        assert_eq!((running.verb, &running.object), (text("before").as_str(), &object), "{name}");
        // Tools for processes tell the condition of one.
        let done = call(answer(Ok(serde_json::json!({"id": "dev", "condition": "ended"}))));
        let row = |call: &ToolCall, status| render_ended_call(call, status, "", Details::default(), "/w");
        let is_process = name.starts_with("process_");
        let done = if is_process { done } else { call(answer(Ok(serde_json::json!({})))) };
        let begins = |row: &str, mark: &str, verb: &str| {
            assert!(row.starts_with(&format!("  {mark} {verb:<VERB$}{object}")), "{name}: {row}");
        };
        begins(&row(&done, ItemStatus::Completed), "✓", &text("after"));
        let failed = row(&call(answer(Err("no"))), ItemStatus::Failed);
        begins(&failed, "✗", &text("before"));
        assert!(failed.ends_with("  failed: no"), "{failed}");
        let denied = row(&call(answer(Err("no"))), ItemStatus::Denied);
        begins(&denied, "✗", &text("before"));
        assert!(denied.ends_with("  denied: no"), "{denied}");
    }
}

#[test]
fn new_errors_of_checks_stand_below_the_edit() {
    let result = serde_json::json!({
        "diff": "--- a\n+++ a\n@@ -1 +1 @@\n-one\n+two\n",
        "checks": [
            {"name": "lint", "file": "a.txt", "count": 1, "new": ["a.txt:1: BAD"]},
            {"name": "style", "file": "a.txt", "count": 0, "new": []},
        ],
    });
    let call = completed("edit_file", ToolKind::Edit, "edit a.txt", result);
    let line = render_ended_call(&call, ItemStatus::Completed, "", Details::default(), "/w");
    assert_eq!(line, "  ✓ Edited  a.txt  +1 −1\n            check lint: 1 new error in a.txt");
    let look = TerminalLook::plain();
    let paper = Paper { look: &look, width: 80, cwd: "/w", answered: "" };
    let shown = render_finished_call(&call, ItemStatus::Completed, Duration::ZERO, &paper);
    let rows: Vec<String> = shown.rows.iter().map(StyledLine::text).collect();
    assert_eq!(rows.first().unwrap(), "  ✓ Edited  a.txt  +1 −1");
    assert_eq!(rows.last().unwrap(), "            check lint: 1 new error in a.txt");
}

#[test]
fn a_command_that_was_kept_from_its_host_is_denied_whatever_its_exit_code() {
    let call = |why: &str| ToolCall {
        call_id: String::new(),
        name: "run_shell".to_owned(),
        kind: ToolKind::Execute,
        title: "curl -s http://a.test/".to_owned(),
        input: Json::from(serde_json::json!({"command": "curl -s http://a.test/"})),
        output: Some(Envelope::new(
            UnixMillis(0),
            Ok(serde_json::json!({
                "exit_code": 0, "stdout": "refused\n", "stderr": "",
                "denied_hosts": ["a.test"], "jail": [format!("no way to `a.test`: {why}")],
            })),
        )),
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: None,
    };
    let line = |why: &str| render_ended_call(&call(why), ItemStatus::Completed, "", Details::default(), "/w");
    let denied = line("the user said no: not now");
    assert!(denied.starts_with("  ✗ Run     curl -s http://a.test/  you denied it"), "{denied}");
    assert!(denied.contains("you denied it: not now") && !denied.contains("the user"), "{denied}");
    for why in ["it is not on the list", "nobody is there to ask"] {
        let denied = line(why);
        assert!(denied.starts_with("  ✗ Run     curl -s http://a.test/  host denied"), "{denied}");
    }
}

#[test]
fn the_output_of_a_command_gives_way_before_the_command() {
    let check = |command: &str, printed: &str, row: &str| {
        let result = serde_json::json!({"exit_code": 0, "stdout": printed, "stderr": ""});
        let call = completed("run_shell", ToolKind::Execute, command, result);
        let look = TerminalLook::plain();
        let paper = Paper { look: &look, width: 80, cwd: "/w", answered: "allowed once" };
        let shown = render_finished_call(&call, ItemStatus::Completed, Duration::ZERO, &paper);
        assert_eq!(shown.rows.iter().map(StyledLine::text).collect::<Vec<_>>(), [row]);
        let folded = shown.folded.map(|folded| folded.text);
        assert_eq!(folded, (!row.contains(printed)).then(|| printed.to_owned()), "{row}");
    };
    let page = "<html><body>It works! This is the page of a server</body></html>";
    check(
        "curl -s http://localhost:8123/index",
        page,
        "  ✓ Ran     curl -s http://localhost:8123/index  <html><body>It w…, allowed once",
    );
    check(
        "curl -s http://localhost:8123/a/longer/address.html",
        page,
        "  ✓ Ran     curl -s http://localhost:8123/a/longer/addres…  1 line, allowed once",
    );
}

#[test]
fn calls_are_told_by_a_verb_and_what_they_are_about() {
    let check =
        |kind, title, verb, object: &str| assert_eq!(words(kind, title, true), (verb, object.to_owned()));
    check(ToolKind::Execute, "cargo test", "Ran", "cargo test");
    check(ToolKind::Execute, "read x", "Ran", "read x");
    check(ToolKind::Read, "read main.py", "Read", "main.py");
    check(ToolKind::Edit, "edit /home/ann/app/src/lib.rs", "Edited", "src/lib.rs");
    check(ToolKind::Edit, "write /home/ann/notes (12 bytes)", "Wrote", "~/notes");
    check(ToolKind::Read, "read /etc/hosts", "Read", "/etc/hosts");
    check(ToolKind::Search, "search /home/ann/app for a for b", "Found", "“a for b” in .");
    check(ToolKind::Search, "search the web for rust", "Found", "“rust” on the web");
    check(ToolKind::Edit, "git add a b", "Ran", "git add a b");
    check(ToolKind::Other, "", "Used", "tool");
    assert_eq!(words(ToolKind::Edit, "edit a", false), ("Edit", "a".to_owned()), "it was not done");
}
