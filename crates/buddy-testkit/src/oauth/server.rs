//! The server: a provider on a free port of this machine.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::oauth::provider::{CLIENT, OAuthRequest, Shared};
use crate::oauth::script::OAuthScript;
use crate::oauth::{standard, vendors};

/// A running provider; dropping it closes everything.
#[derive(Debug)]
pub struct OAuthServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Owns the serving task.
    _tasks: JoinSet<()>,
}

impl OAuthServer {
    /// The only client that may log in.
    pub const CLIENT: &str = CLIENT;

    /// Starts a provider on a free port of this machine.
    pub async fn start(script: OAuthScript) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound listener");
        let shared = Arc::new(Shared::new(format!("http://{address}"), script));
        let router = standard::routes().merge(vendors::routes()).with_state(shared.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { drop(axum::serve(listener, router).await) });
        Self { address, shared, _tasks: tasks }
    }

    /// Its address, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes its behaviour from now on.
    pub fn change(&self, change: impl FnOnce(&mut OAuthScript)) {
        change(&mut self.shared.inner().script);
    }

    /// The secret of the client, if it has one.
    pub fn client_secret(&self) -> Option<String> {
        self.shared.inner().script.client_secret.clone()
    }

    /// Logs a user in without asking: returns the access token and the refresh token.
    pub fn grant(&self) -> (String, String) {
        let issued = self.shared.inner().grants.grant();
        (issued.access, issued.refresh.unwrap_or_default())
    }

    /// Whether an access token is the newest of a valid login.
    pub fn is_good(&self, access: &str) -> bool {
        self.shared.inner().grants.is_good(access)
    }

    /// The number of valid logins.
    pub fn live_logins(&self) -> usize {
        self.shared.inner().grants.live()
    }

    /// Every secret that it ever issued.
    pub fn secrets(&self) -> Vec<String> {
        self.shared.inner().grants.secrets()
    }

    /// Its requests, in order.
    pub fn requests(&self) -> Vec<OAuthRequest> {
        self.shared.inner().requests.clone()
    }

    /// The number of refresh requests.
    pub fn refreshes(&self) -> usize {
        let is_refresh = |request: &&OAuthRequest| {
            request.fields.get("grant_type").is_some_and(|kind| kind == "refresh_token")
        };
        self.requests().iter().filter(is_refresh).count()
    }
}
