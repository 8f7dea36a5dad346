//! Answers that go wrong, and how each wire recovers.

use std::time::Duration;

use buddy_model::{Delta, HttpModel, MAX_SAID_BYTES, Model, ModelErrorKind};
use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::json;

use super::{WIRES, Wire};
use crate::http::{outcome, prompt};

/// A call with chunks that can be cut off; on wires with whole calls, the text before it has them.
fn call(wire: &Wire) -> Turn {
    let words = if wire.whole_calls { "Hm. Let me have a look at that." } else { "Hm." };
    turn().text(words).call("read_file", json!({"path": "a/long/path/in/many/chunks"})).chunk_chars(4)
}

#[tokio::test]
async fn a_broken_answer_is_asked_for_again_and_leaves_nothing_behind() {
    for wire in WIRES {
        let call = call(wire);
        let broken =
            [call.clone().cut_after(6), call.clone().truncate_after(7), call.clone().malformed_after(6)];
        let (outcome, server) = wire.ask(broken.into_iter().chain([call])).await;
        assert_eq!((outcome.restarts().len(), server.requests().len()), (3, 4), "{wire}");
        let last = outcome.deltas.iter().rposition(|delta| matches!(delta, Delta::Restarted { .. })).unwrap();
        let arguments = outcome.deltas[last..].iter().filter_map(|delta| match delta {
            Delta::ToolArguments { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let arguments: String = arguments.collect();
        assert_eq!(arguments, r#"{"path":"a/long/path/in/many/chunks"}"#, "{wire}");
        assert_eq!(outcome.end.unwrap().items.len(), 2, "{wire}");
    }
}

#[tokio::test]
async fn storms_pass() {
    for wire in WIRES {
        for status in [429, 500, 502, 503, 529] {
            let storm = turn().error(status, "unavailable", "not now").header("retry-after-ms", "1");
            let (outcome, server) = wire.ask([storm.clone(), storm.clone(), storm, turn().text("ok")]).await;
            assert_eq!(outcome.text(), "ok", "{wire} {status}");
            assert_eq!((outcome.restarts().len(), server.requests().len()), (3, 4), "{wire} {status}");
        }
    }
}

#[tokio::test]
async fn storms_that_do_not_pass_are_given_up() {
    for (status, kind) in [(429, ModelErrorKind::RateLimit), (529, ModelErrorKind::Overloaded)] {
        for wire in WIRES {
            let storm = turn().error(status, "unavailable", "not now").header("retry-after-ms", "1");
            let (outcome, server) = wire.ask(vec![storm; 20]).await;
            assert_eq!((outcome.error().kind, server.requests().len()), (kind, 18), "{wire} {status}");
        }
    }
}

#[tokio::test]
async fn a_reported_failure_surfaces_though_the_connection_stays_open() {
    for wire in WIRES {
        let failing = turn().text("Let me see").chunk_chars(2);
        let quota = failing.clone().fail_after(4, "insufficient_quota", "You exceeded your current quota");
        let (outcome, server) = wire.ask([failing.fail_after(4, "server_error", "oops"), quota]).await;
        assert_eq!((outcome.restarts().len(), server.requests().len()), (1, 2), "{wire}");
        assert_eq!(outcome.error().kind, ModelErrorKind::Quota, "{wire}");
        server.wait_for_departures(2).await;
    }
}

#[tokio::test]
async fn silence_is_not_waited_out() {
    for wire in WIRES {
        let server = ModelServer::start([turn().text("Hello, world, again").hang_after(2)]).await;
        let mut route = wire.route(&server);
        route.settings.idle_timeout = Duration::from_millis(50);
        route.settings.retries = 0;
        let error = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await.error();
        assert_eq!(error.kind, ModelErrorKind::Timeout, "{wire}");
        server.wait_for_departures(1).await;
    }
}

#[tokio::test]
async fn a_limit_that_says_when_it_is_lifted_is_waited_for() {
    for wire in WIRES {
        let limited = turn().error(429, "rate_limit_exceeded", "slow down");
        let limited = limited.header("x-ratelimit-reset-tokens", "15ms");
        let (outcome, _server) = wire.ask([limited, turn().text("now")]).await;
        assert_eq!(outcome.restarts()[0].1, Duration::from_millis(15), "{wire}");
        assert_eq!(outcome.text(), "now", "{wire}");
    }
}

/// An endless answer is cut at a bound, is not retried, and the connection is closed.
#[tokio::test]
async fn an_answer_without_end_is_cut() {
    // The first chunks may only open the answer; each later one has this size.
    let (piece, opened) = (64 * 1024, 12);
    let long = "x".repeat(20 * piece);
    for wire in WIRES {
        for (what, endless, after) in [
            ("text", turn().text(long.clone()), opened),
            ("reasoning", turn().reasoning(long.clone()), opened),
            (
                "arguments",
                turn().call_raw("read_file", long.clone()),
                if wire.whole_calls { 1 } else { opened },
            ),
        ] {
            let server = ModelServer::start([endless.chunk_chars(piece).endless_after(after)]).await;
            let outcome = outcome(wire.model(&server).call(prompt())).await;
            let shown: usize = outcome.deltas.iter().map(shown).sum();
            assert!(shown <= MAX_SAID_BYTES, "{wire} {what}: {shown} bytes were passed on");
            assert_eq!(outcome.error().kind, ModelErrorKind::BadStream, "{wire} {what}");
            assert_eq!(server.requests().len(), 1, "{wire} {what}");
            server.wait_for_departures(1).await;
        }
    }
}

fn shown(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Reasoning(text) | Delta::ToolArguments { text, .. } => text.len(),
        Delta::Apart | Delta::Restarted { .. } | Delta::Finished(_) => 0,
    }
}
