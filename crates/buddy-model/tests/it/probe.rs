//! Looking around on real servers of this machine.

use buddy_model::probe::{self, ContextWindow, ServerKind, local_servers_on};
use buddy_model::{Auth, Endpoint, ModelErrorKind};
use buddy_testkit::model::{ModelServer, turn};

fn port(url: &str) -> u16 {
    url.rsplit(':').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn models_and_their_context() {
    let server = ModelServer::start([turn()]).await;
    let endpoint = Endpoint::parse(&server.url()).unwrap();
    let models = probe::models(&endpoint, &Auth::None).await.unwrap();
    assert_eq!(models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["scripted"]);
    let context = probe::context_window(&endpoint, &Auth::None, "scripted").await.unwrap();
    assert_eq!(context, ContextWindow { loaded: Some(8192), possible: Some(131_072) });
    assert_eq!(server.requests().len(), 0, "no turn is spent on looking around");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let endpoint = Endpoint::parse(&ModelServer::unreachable_url().await).unwrap();
    let error = probe::models(&endpoint, &Auth::None).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Transport);
    assert!(probe::context_window(&endpoint, &Auth::None, "m").await.is_err());
}

#[tokio::test]
async fn local_servers_are_found_where_they_listen() {
    let (one, other) = (ModelServer::start([turn()]).await, ModelServer::start([turn()]).await);
    let nobody = port(&ModelServer::unreachable_url().await);
    let found = local_servers_on(&[
        (ServerKind::Ollama, port(&one.url())),
        (ServerKind::LmStudio, nobody),
        (ServerKind::LlamaCpp, port(&other.url())),
    ])
    .await;
    let found: Vec<_> =
        found.iter().map(|server| (server.kind, server.base_url.as_str(), &server.models[..])).collect();
    assert_eq!(
        found,
        [
            (ServerKind::Ollama, one.url().as_str(), &["scripted:latest".to_owned()][..]),
            (ServerKind::LlamaCpp, other.url().as_str(), &["scripted".to_owned()][..]),
        ]
    );
}
