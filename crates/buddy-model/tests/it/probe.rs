//! Discovery on real servers of this machine.

use std::sync::Arc;

use async_trait::async_trait;
use buddy_model::probe::{self, ContextWindow, ServerKind, local_servers_on};
use buddy_model::{Auth, Endpoint, ModelError, ModelErrorKind, Route, TokenSource};
use buddy_testkit::model::{ModelServer, Script, turn};
use secrecy::SecretString;

fn port(url: &str) -> u16 {
    url.rsplit(':').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn models_and_their_context() {
    let server = ModelServer::start([turn()]).await;
    let route = Route::chat(Endpoint::parse(&server.url()).unwrap(), Auth::None);
    let models = probe::models(&route).await.unwrap();
    assert_eq!(models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["scripted"]);
    let context = probe::context_window(&route, "scripted").await.unwrap();
    assert_eq!(context, ContextWindow { loaded: Some(8192), possible: Some(131_072) });
    assert_eq!(server.requests().len(), 0, "no turn is spent on looking around");
}

#[tokio::test]
async fn an_unreachable_server_is_an_error() {
    let endpoint = Endpoint::parse(&ModelServer::unreachable_url().await).unwrap();
    let route = Route::chat(endpoint, Auth::None);
    let error = probe::models(&route).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Transport);
    assert!(probe::context_window(&route, "m").await.is_err());
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

#[derive(Debug)]
struct Token;

#[async_trait]
impl TokenSource for Token {
    async fn token(&self, _: Option<&SecretString>) -> Result<buddy_model::LoginToken, ModelError> {
        Ok(SecretString::from("sk-own").into())
    }

    fn hint(&self) -> String {
        String::new()
    }
}

/// The values of these headers in the only request that a server with a key got and answered.
async fn sent(route: impl FnOnce(Endpoint) -> Route, names: [&str; 4]) -> [Option<String>; 4] {
    let server = ModelServer::start(Script::from([turn()]).with_key("sk-own")).await;
    let mut route = route(Endpoint::parse(&server.url()).unwrap());
    route.options.headers.insert("x-account".to_owned(), "seven".to_owned());
    let models = probe::models(&route).await.unwrap();
    assert_eq!(models.len(), 1);
    let looks = server.looks();
    assert_eq!(looks.len(), 1);
    names.map(|name| looks[0].headers.get(name).cloned())
}

#[tokio::test]
async fn a_probe_sends_the_credentials_of_a_call() {
    let names = ["authorization", "x-api-key", "anthropic-version", "x-account"];
    let [bearer, key, version, account] =
        ["Bearer sk-own", "sk-own", "2023-06-01", "seven"].map(|text| Some(text.to_owned()));
    let chat = sent(|endpoint| Route::chat(endpoint, Auth::Bearer("sk-own".into())), names).await;
    assert_eq!(chat, [bearer.clone(), None, None, account.clone()]);
    let messages = sent(|endpoint| Route::messages(endpoint, Auth::api_key("sk-own")), names).await;
    assert_eq!(messages, [None, key, version, account.clone()]);
    let login = sent(|endpoint| Route::responses(endpoint, Auth::Login(Arc::new(Token))), names).await;
    assert_eq!(login, [bearer, None, None, account]);
}
