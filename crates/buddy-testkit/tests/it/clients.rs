//! The providers' own clients against the scripted server: an answer that they accept is valid.
//!
//! The clients are installed from the package registries on first use, at the versions in `tests/clients`,
//! into the build directory. If they cannot be installed, these tests fail: a server that is strict only by
//! its own rules proves nothing.

mod install;

use buddy_testkit::model::{ModelServer, Script, Turn, turn};
use serde_json::{Value, json};

use install::{node, python};

/// The key that the clients send.
const KEY: &str = "sk-test";

/// One conversation of one client.
struct Case {
    wire: &'static str,
    name: &'static str,
    /// For each request, whether it asks for a stream.
    turns: &'static [bool],
    script: Script,
    expected: Expected,
}

enum Expected {
    /// Exactly these outcomes.
    Outcomes(Value),
    /// An error of this class and status, whose message contains this text.
    Error(&'static str, Option<u16>, &'static str),
}

/// The words of each wire for an end and for waiting for results.
const ENDS: [(&str, &str, &str); 3] = [
    ("chat", "stop", "tool_calls"),
    ("responses", "completed", "completed"),
    ("messages", "end_turn", "tool_use"),
];

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (wire, end, waiting) in ENDS {
        // Another test covers the hidden form of reasoning on Responses; the client shows none.
        let thought = if wire == "responses" { "" } else { "Hm." };
        let said =
            json!({"text": "Two files.", "calls": [], "stop": end, "usage": [100, 20], "reasoning": thought});
        let calls = json!([["read_file", {"path": "a"}], ["read_file", {"path": "ü/\"b\""}]]);
        let called = json!({"text": "Reading.", "calls": calls, "stop": waiting, "usage": [7, 3], "reasoning": thought});
        let says = || turn().reasoning("Hm.").text("Two files.");
        let calling = || {
            let more = json!({"path": "ü/\"b\""});
            let turn = turn().reasoning("Hm.").text("Reading.").call("read_file", json!({"path": "a"}));
            turn.call("read_file", more).usage(7, 3).chunk_chars(3)
        };
        let mut add = |name, turns, script: Vec<Turn>, expected| {
            cases.push(Case { wire, name, turns, script: Script::from(script).with_key(KEY), expected });
        };
        let outcomes = |outcomes: &[&Value]| Expected::Outcomes(json!(outcomes));
        add("whole", &[false], vec![says()], outcomes(&[&said]));
        add("streamed", &[true], vec![says()], outcomes(&[&said]));
        add("loop", &[false, false], vec![calling(), says()], outcomes(&[&called, &said]));
        add("streamed loop", &[true, true], vec![calling(), says()], outcomes(&[&called, &said]));
        let limited = turn().error(429, "rate_limit_error", "Slow down");
        add("limited", &[true], vec![limited], Expected::Error("RateLimitError", Some(429), "Slow down"));
        add(
            "exhausted",
            &[false],
            vec![],
            Expected::Error("BadRequestError", Some(400), "no turn for request 1"),
        );
        let failing = says().chunk_chars(2).fail_after(4, "overloaded_error", "Overloaded");
        add("failing", &[true], vec![failing], Expected::Error("", None, "Overloaded"));
        cases.push(Case {
            wire,
            name: "stranger",
            turns: &[false],
            script: Script::from([says()]).with_key("another key"),
            expected: Expected::Error("AuthenticationError", Some(401), "Incorrect API key"),
        });
    }
    let beside = |wire, name, outcome| Case {
        wire,
        name,
        turns: &[],
        script: Script::from([turn()]),
        expected: Expected::Outcomes(json!([outcome])),
    };
    cases.push(beside("chat", "listed", json!({"models": ["scripted"]})));
    cases.push(beside("messages", "counted", json!({"tokens": 19})));
    cases
}

#[tokio::test(flavor = "multi_thread")]
async fn python_clients_understand_the_server() {
    check(|cases| python("clients.py", &cases)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn javascript_clients_understand_the_server() {
    check(|cases| node("clients.mjs", &cases)).await;
}

async fn check(run: impl FnOnce(String) -> String + Send + 'static) {
    let cases = cases();
    let (mut servers, mut given) = (Vec::new(), Vec::new());
    for case in &cases {
        let server = ModelServer::start(case.script.clone()).await;
        let url = server.url();
        given
            .push(json!({"wire": case.wire, "case": case.name, "url": url, "key": KEY, "turns": case.turns}));
        servers.push(server);
    }
    let given = Value::from(given).to_string();
    let printed = tokio::task::spawn_blocking(move || run(given)).await.unwrap();
    let results: Vec<Value> = serde_json::from_str(&printed).unwrap();
    assert_eq!(results.len(), cases.len());
    for (case, result) in cases.iter().zip(&results) {
        let what = format!("{} {}: {result}", case.wire, case.name);
        match &case.expected {
            Expected::Outcomes(expected) => assert_eq!(result, expected, "{what}"),
            Expected::Error(class, status, words) => {
                let error = &result[0];
                let message = error["message"].as_str().unwrap_or_default();
                assert!(message.contains(words), "{what}");
                assert!(class.is_empty() || error["error"] == *class, "{what}");
                assert!(status.is_none() || error["status"].as_u64() == status.map(u64::from), "{what}");
            }
        }
    }
}
