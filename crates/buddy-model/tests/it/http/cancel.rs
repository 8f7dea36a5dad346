//! Dropping a call ends it everywhere.

use buddy_model::{Delta, Model};
use buddy_testkit::model::{ModelServer, turn};
use futures::StreamExt;

use super::{model, outcome, prompt};

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let server = ModelServer::start([turn().text("hi")]).await;
    drop(model(&server).call(prompt()));
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = ModelServer::start([turn().text("Hello").gate("middle").text(", world")]).await;
    let mut stream = model(&server).call(prompt());
    assert_eq!(stream.next().await.unwrap().unwrap(), Delta::Text("Hello".to_owned()));
    server.gate("middle").reached().await;
    drop(stream);
    server.wait_for_departures(1).await;
}

#[tokio::test]
async fn dropping_while_nothing_has_come_closes_it_too() {
    let server = ModelServer::start([turn().gate("start").text("Hello")]).await;
    let mut stream = model(&server).call(prompt());
    let gate = server.gate("start");
    tokio::select! {
        delta = stream.next() => panic!("{delta:?}"),
        () = gate.reached() => {}
    }
    drop(stream);
    server.wait_for_departures(1).await;
}

#[tokio::test]
async fn a_gate_lets_the_rest_through() {
    let server = ModelServer::start([turn().text("Hello").gate("middle").text(", world")]).await;
    let model = model(&server);
    let gate = server.gate("middle");
    let (outcome, ()) = tokio::join!(outcome(model.call(prompt())), gate.pass());
    assert_eq!(outcome.text(), "Hello, world");
}
