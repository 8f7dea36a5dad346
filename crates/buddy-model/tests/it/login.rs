//! Logins against a real provider on this machine.

mod browser;
mod calls;
mod device;
mod refresh;
mod vendors;

use std::sync::Arc;
use std::time::Duration;

use buddy_model::{Login, LoginProvider, LoginTiming};
use buddy_protocol::{Clock, UnixMillis};
use buddy_testkit::oauth::{OAuthScript, OAuthServer};

const NOW: u64 = 1_700_000_000_000;

struct StandingClock;

impl Clock for StandingClock {
    fn now(&self) -> UnixMillis {
        UnixMillis(NOW)
    }
}

fn provider(server: &OAuthServer) -> LoginProvider {
    let url = |path: &str| format!("{}/{path}", server.url());
    LoginProvider {
        name: "acme".to_owned(),
        client_id: OAuthServer::CLIENT.to_owned(),
        client_secret: server.client_secret().map(Into::into),
        authorize_url: Some(url("authorize")),
        token_url: url("token"),
        device_url: Some(url("device")),
        revoke_url: Some(url("revoke")),
        scopes: vec!["models".to_owned(), "offline_access".to_owned()],
        extra: [("audience".to_owned(), "https://api.example.com".to_owned())].into(),
        ..LoginProvider::default()
    }
}

/// Logins that wait for milliseconds where real ones wait for seconds.
fn login(provider: LoginProvider) -> Login {
    let timing = LoginTiming {
        request: Duration::from_secs(5),
        interval: Duration::from_millis(1),
        slow_down: Duration::from_millis(40),
        ..LoginTiming::default()
    };
    Login::new(provider, Arc::new(StandingClock)).unwrap().with_timing(timing)
}

async fn stage(script: OAuthScript) -> (OAuthServer, Login) {
    let server = OAuthServer::start(script).await;
    let login = login(provider(&server));
    (server, login)
}

/// Fails if a text contains any secret that the provider issued.
#[track_caller]
fn without_secrets(server: &OAuthServer, text: &str) {
    for secret in server.secrets() {
        assert!(!text.contains(&secret), "{secret} is in {text}");
    }
}
