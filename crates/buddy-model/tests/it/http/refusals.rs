//! Refusals: which are retried, and the message that the user reads.

use std::time::Duration;

use buddy_model::{Auth, HttpModel, Model, ModelErrorKind};
use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::json;

use super::{Outcome, model, outcome, prompt, route};

async fn answered(turns: impl IntoIterator<Item = Turn>) -> (Outcome, usize) {
    let turns: Vec<Turn> = turns.into_iter().collect();
    let server = ModelServer::start(turns).await;
    let outcome = outcome(model(&server).call(prompt())).await;
    (outcome, server.requests().len())
}

#[tokio::test]
async fn a_wrong_key_fails_without_a_retry() {
    let (outcome, requests) =
        answered([turn().error(401, "invalid_api_key", "Incorrect API key provided")]).await;
    let error = outcome.error();
    assert_eq!((error.kind, error.status, requests), (ModelErrorKind::Auth, Some(401), 1));
    insta::assert_snapshot!(error, @"the provider refused the key (401): Incorrect API key provided");
    insta::assert_snapshot!(error.hint.unwrap(), @"check the API key of this model's provider");
}

#[tokio::test]
async fn a_server_that_quotes_the_key_is_not_quoted() {
    let server = ModelServer::start([turn().error(401, "auth", "no such key: sk-secret")]).await;
    let mut route = route(&server.url());
    route.auth = Auth::Bearer("sk-secret".to_owned().into());
    let error = outcome(HttpModel::new("m", route).unwrap().call(prompt())).await.error();
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
}

#[tokio::test]
async fn a_rate_limit_waits_as_long_as_the_server_asks() {
    let limited = turn().error(429, "rate_limit_exceeded", "slow down").header("retry-after-ms", "15");
    let (outcome, requests) = answered([limited, turn().text("now")]).await;
    let restarts = outcome.restarts();
    assert_eq!(
        restarts,
        [(1, Duration::from_millis(15), "the provider limits the rate of requests (429): slow down")]
    );
    assert_eq!((outcome.text().as_str(), requests), ("now", 2));
}

#[tokio::test]
async fn a_rate_limit_without_a_time_waits_a_little() {
    let (outcome, _) =
        answered([turn().error(429, "rate_limit_exceeded", "slow down"), turn().text("now")]).await;
    let delay = outcome.restarts()[0].1;
    assert!((Duration::from_millis(200)..=Duration::from_millis(220)).contains(&delay), "{delay:?}");
    assert_eq!(outcome.text(), "now");
}

#[tokio::test]
async fn a_rate_limit_beyond_the_budget_fails_at_once() {
    let limited = turn().error(429, "rate_limit_exceeded", "slow down").header("retry-after", "7200");
    let (outcome, requests) = answered([limited]).await;
    let error = outcome.error();
    assert_eq!((error.kind, requests), (ModelErrorKind::RateLimit, 1));
    assert_eq!(error.hint.as_deref(), Some("the server asks to wait 7200 s"));
}

#[tokio::test]
async fn an_empty_account_is_not_asked_again() {
    let (outcome, requests) =
        answered([turn().error(429, "insufficient_quota", "You exceeded your quota")]).await;
    assert_eq!((outcome.error().kind, requests), (ModelErrorKind::Quota, 1));
}

#[tokio::test]
async fn a_server_error_may_pass() {
    let broken = || turn().error(500, "server_error", "oops").header("retry-after-ms", "1");
    let (outcome, requests) = answered([broken(), broken(), turn().text("well again")]).await;
    assert_eq!((outcome.text().as_str(), outcome.restarts().len(), requests), ("well again", 2, 3));
}

#[tokio::test]
async fn a_server_error_that_stays_is_given_up() {
    let broken = turn().error(503, "unavailable_error", "Loading model").header("retry-after-ms", "1");
    let (outcome, requests) = answered(vec![broken; 20]).await;
    assert_eq!((outcome.error().kind, requests), (ModelErrorKind::Overloaded, 18));
}

#[tokio::test]
async fn a_server_error_that_must_stay_is_not_asked_again() {
    let broken = turn().error(500, "server_error", "Failed to parse tool call arguments as JSON");
    let (outcome, requests) = answered([broken]).await;
    assert_eq!((outcome.error().kind, requests), (ModelErrorKind::InvalidRequest, 1));
}

#[tokio::test]
async fn a_refused_field_is_left_out_from_then_on() {
    let refused = turn().error(400, "invalid", "Unrecognized request argument supplied: stream_options");
    let server = ModelServer::start([refused, turn().text("one"), turn().text("two")]).await;
    let model = model(&server);
    let first = outcome(model.call(prompt())).await;
    assert_eq!(
        first.restarts(),
        [(1, Duration::ZERO, "the server does not accept `stream_options`; asking again without it")]
    );
    assert_eq!(first.text(), "one");
    assert_eq!(outcome(model.call(prompt())).await.text(), "two");
    let sent = server.requests();
    let has_field: Vec<bool> =
        sent.iter().map(|request| request.body.get("stream_options").is_some()).collect();
    assert_eq!(has_field, [true, false, false]);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server =
        ModelServer::start([turn().status(307).header("location", "https://elsewhere.example/v1")]).await;
    let error = outcome(model(&server).call(prompt())).await.error();
    insta::assert_snapshot!(error, @"the model server redirects to https://elsewhere.example (307)");
}

#[tokio::test]
async fn web_pages_are_named() {
    let page = "<!doctype html><html><title>Sign in</title></html>";
    let (outcome, requests) =
        answered([turn().status(200).header("content-type", "text/html").body(page)]).await;
    assert_eq!(requests, 1);
    insta::assert_snapshot!(outcome.error(), @"a web page came instead of an answer: “sign in”");
}

#[tokio::test]
async fn an_error_in_a_good_response_is_an_error() {
    let body =
        json!({"error": {"message": "This model's maximum context length is 4096 tokens", "code": 400}});
    let (outcome, _) = answered([turn().status(200).body(body.to_string())]).await;
    assert_eq!(outcome.error().kind, ModelErrorKind::ContextOverflow);
}
