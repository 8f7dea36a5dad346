//! Model calls with the token of a login.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use buddy_model::{
    Auth, Delta, Endpoint, HttpModel, LoginToken, Model, ModelError, ModelErrorKind, Prompt, Route,
    TokenSource,
};
use buddy_testkit::model::{ModelServer, Turn, turn};
use futures::StreamExt;
use secrecy::{ExposeSecret, SecretString};

/// A source that starts with `token-0` and makes the next token after each refusal.
#[derive(Debug, Default)]
struct Counting {
    asked: Mutex<Vec<Option<String>>>,
    account_id: Option<String>,
}

#[async_trait]
impl TokenSource for Counting {
    async fn token(&self, stale: Option<&SecretString>) -> Result<LoginToken, ModelError> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(stale.map(|stale| stale.expose_secret().to_owned()));
        let renewed = asked.iter().flatten().count();
        let account_id = self.account_id.clone();
        Ok(LoginToken { secret: format!("token-{renewed}").into(), account_id })
    }

    fn hint(&self) -> String {
        "run `buddy login acme`".to_owned()
    }
}

async fn call(turns: impl IntoIterator<Item = Turn>) -> (ModelServer, Arc<Counting>, Result<(), ModelError>) {
    let server = ModelServer::start(turns.into_iter().collect::<Vec<_>>()).await;
    let source = Arc::new(Counting::default());
    let endpoint = Endpoint::parse(&server.url()).unwrap();
    let mut route = Route::chat(endpoint, Auth::Login(source.clone()));
    route.settings.retries = 0;
    let prompt = Prompt { items: vec![buddy_model::PromptItem::user("Hi.")], ..Prompt::default() };
    let mut deltas = HttpModel::new("m", route).unwrap().call(prompt);
    let mut last = None;
    while let Some(delta) = deltas.next().await {
        last = Some(delta);
    }
    let outcome = last.unwrap().map(|delta| assert!(matches!(delta, Delta::Finished(_))));
    (server, source, outcome)
}

fn authorizations(server: &ModelServer) -> Vec<String> {
    server.requests().iter().map(|request| request.headers["authorization"].clone()).collect()
}

#[tokio::test]
async fn a_token_is_asked_for_before_the_call() {
    let (server, source, outcome) = call([turn().text("Yes.")]).await;
    outcome.unwrap();
    assert_eq!(authorizations(&server), ["Bearer token-0"]);
    assert_eq!(*source.asked.lock().unwrap(), [None]);
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let (server, source, outcome) = call([turn().status(401).body("expired"), turn().text("Yes.")]).await;
    outcome.unwrap();
    assert_eq!(authorizations(&server), ["Bearer token-0", "Bearer token-1"]);
    assert_eq!(*source.asked.lock().unwrap(), [None, Some("token-0".to_owned())]);
}

#[tokio::test]
async fn a_token_that_is_refused_again_is_an_error_with_a_way_out() {
    let refusal = || turn().status(401).body("no: token-0 token-1");
    let (server, _, outcome) = call([refusal(), refusal(), turn().text("never")]).await;
    let error = outcome.unwrap_err();
    assert_eq!((error.kind, error.hint.as_deref()), (ModelErrorKind::Auth, Some("run `buddy login acme`")));
    assert!(!error.message.contains("token-1"), "{error}");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn the_account_of_a_plan_is_named_beside_the_token() {
    let server = ModelServer::start(vec![turn().text("Yes.")]).await;
    let source = Counting { account_id: Some("acc-7".to_owned()), ..Counting::default() };
    let route = Route::chat(Endpoint::parse(&server.url()).unwrap(), Auth::Login(Arc::new(source)));
    let prompt = Prompt { items: vec![buddy_model::PromptItem::user("Hi.")], ..Prompt::default() };
    let mut deltas = HttpModel::new("m", route).unwrap().call(prompt);
    while deltas.next().await.is_some() {}
    assert_eq!(server.requests()[0].headers["chatgpt-account-id"], "acc-7");
}
