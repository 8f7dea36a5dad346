//! Logins as the whole program makes, keeps, renews and forgets them, against a real provider on this machine.

mod calls;
mod crashes;
mod files;
mod flows;
mod keys;
mod presets;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use buddy_testkit::home::Home;
use buddy_testkit::model::{ModelServer, Script, Turn, WhenExhausted};
use buddy_testkit::oauth::{OAuthScript, OAuthServer};
use buddy_testkit::program::{Finished, Program};
use serde_json::{Value, json};

use crate::stage::BUDDY;

/// A model that always answers the same.
fn always(turn: Turn) -> Script {
    Script { when_exhausted: WhenExhausted::RepeatLast, ..Script::from([turn]) }
}

/// A home whose configuration has one provider, `acme`, and two profiles that use it.
struct Scene {
    provider: OAuthServer,
    model: ModelServer,
    home: Home,
}

impl Scene {
    async fn new(provider: OAuthScript, model: impl Into<Script>) -> Self {
        let provider = OAuthServer::start(provider).await;
        let scene = Self { provider, model: ModelServer::start(model).await, home: Home::new() };
        scene.configure("");
        scene
    }

    /// Writes the configuration, with these further lines about the provider.
    fn configure(&self, further: &str) {
        let (id, api) = (self.provider.url(), self.model.url());
        let secret = self.provider.client_secret().map(|secret| format!("client_secret = '{secret}'\n"));
        let text = format!(
            "agent.model = 'one'\n\
             [models.one]\napi_base_url = '{api}/v1'\nauth = 'login'\nmodel = 'scripted'\n\
             [models.two]\napi_base_url = '{api}/v1'\nauth = 'login'\nmodel = 'scripted-2'\n\
             [models.keyed]\napi_base_url = '{api}/v1'\nmodel = 'scripted'\n\
             [login.acme]\naddresses = ['{api}']\nclient_id = '{}'\nscopes = ['models']\n\
             authorize_url = '{id}/authorize'\ntoken_url = '{id}/token'\ndevice_url = '{id}/device'\n\
             revoke_url = '{id}/revoke'\n{}{further}",
            OAuthServer::CLIENT,
            secret.unwrap_or_default()
        );
        std::fs::create_dir_all(self.directory()).unwrap();
        std::fs::set_permissions(self.directory(), std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(self.directory().join("buddy.toml"), text).unwrap();
        std::fs::set_permissions(self.directory().join("buddy.toml"), std::fs::Permissions::from_mode(0o600))
            .unwrap();
    }

    fn directory(&self) -> PathBuf {
        self.home.path().join(".config/buddy")
    }

    fn file(&self) -> PathBuf {
        self.directory().join("auth.json")
    }

    /// The content of `auth.json`.
    fn kept(&self) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.file()).unwrap()).unwrap()
    }

    /// Puts a login into `auth.json` whose token ends in so many seconds.
    fn logged_in(&self, seconds: i64) {
        let (access, refresh) = self.provider.grant();
        let login = json!({
            "access": access,
            "refresh": refresh,
            "expires_at": now_ms() + seconds * 1000,
            "client_id": OAuthServer::CLIENT,
            "token_url": format!("{}/token", self.provider.url()),
            "addresses": [self.model.url()],
        });
        self.keep(&json!({ "version": 1, "logins": { "acme": login }, "api_keys": {} }));
    }

    fn keep(&self, contents: &Value) {
        std::fs::write(self.file(), contents.to_string()).unwrap();
        std::fs::set_permissions(self.file(), std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// buddy, which logs everything that it logs.
    fn buddy<'a>(&self, arguments: impl AsRef<[&'a str]>) -> Program {
        let program = Program::new(BUDDY).cwd(self.home.work()).env("HOME", self.home.path());
        program.env("BUDDY_HOME", self.home.data()).env("BUDDY_LOG", "trace").args(arguments.as_ref())
    }

    /// Runs it; whatever it prints has no secret in it.
    async fn run<'a>(&self, arguments: impl AsRef<[&'a str]>) -> Finished {
        self.checked(self.buddy(arguments).start().finish().await)
    }

    /// Fails when a secret was printed or logged.
    #[track_caller]
    fn checked(&self, finished: Finished) -> Finished {
        let printed = format!("{}{}", String::from_utf8_lossy(&finished.stdout), finished.stderr);
        for secret in self.provider.secrets() {
            assert!(!printed.contains(&secret), "{secret} was printed: {finished}");
        }
        finished
    }

    /// The tokens that the model's server saw, in order.
    fn shown(&self) -> Vec<String> {
        self.model.requests().iter().map(|request| request.headers["authorization"].clone()).collect()
    }
}

#[expect(clippy::disallowed_methods, reason = "the program under test has the system's clock too")]
fn now_ms() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}
