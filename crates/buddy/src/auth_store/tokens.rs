//! The token of a login, for a route: read from the file for each call, renewed under the lock when it must be.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use buddy_model::{
    Endpoint, Login, LoginErrorKind, LoginProvider, LoginToken, ModelError, ModelErrorKind, TokenSource,
};
use buddy_protocol::Clock;
use secrecy::SecretString;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::contents::{AuthContents, StoredLogin};
use super::file::{AuthStore, AuthStoreError};

/// The tokens of one provider for one address.
pub(super) struct LoginTokens {
    renewer: Arc<Renewer>,
    /// Refreshes under way. They outlive the calls that wanted them: a call that is given up must not throw away an
    /// answer that has the only good refresh token in it. Held for a spawn only, never across an await.
    refreshes: Mutex<JoinSet<()>>,
}

/// The parts that a refresh needs.
pub(super) struct Renewer {
    pub(super) store: AuthStore,
    pub(super) provider: LoginProvider,
    pub(super) login: Login,
    pub(super) address: String,
    pub(super) clock: Arc<dyn Clock>,
}

impl LoginTokens {
    pub(super) fn new(renewer: Renewer) -> Self {
        Self { renewer: Arc::new(renewer), refreshes: Mutex::default() }
    }

    fn renew(&self, stale: Option<SecretString>) -> oneshot::Receiver<Result<LoginToken, ModelError>> {
        let (sender, receiver) = oneshot::channel();
        let renewer = self.renewer.clone();
        let mut refreshes = self.refreshes.lock().unwrap_or_else(PoisonError::into_inner);
        while refreshes.try_join_next().is_some() {}
        refreshes.spawn(async move {
            // The caller may be gone; the file has the tokens all the same.
            let _ = sender.send(renewer.renew(stale.as_ref()).await);
        });
        receiver
    }

    /// Waits for refreshes that are under way.
    pub(super) async fn settle(&self) {
        let mut refreshes = {
            let mut refreshes = self.refreshes.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *refreshes)
        };
        while refreshes.join_next().await.is_some() {}
    }
}

impl fmt::Debug for LoginTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoginTokens")
            .field("provider", &self.renewer.provider.name)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl TokenSource for LoginTokens {
    async fn token(&self, stale: Option<&SecretString>) -> Result<LoginToken, ModelError> {
        let renewer = &self.renewer;
        let contents = renewer.store.read().map_err(unkept)?;
        let kept = renewer.mine(&contents)?;
        if kept.is_fresh(stale, renewer.clock.now()) {
            return Ok(kept.token());
        }
        let renewed = self.renew(stale.cloned()).await;
        renewed.unwrap_or_else(|_| Err(renewer.refuse("the login was not renewed")))
    }

    fn hint(&self) -> String {
        self.renewer.hint()
    }
}

impl Renewer {
    /// Renews the tokens unless somebody else has just done so. The new ones are in the file before any is used.
    async fn renew(&self, stale: Option<&SecretString>) -> Result<LoginToken, ModelError> {
        let locked = self.store.lock().await.map_err(unkept)?;
        let mut contents = locked.read().map_err(unkept)?;
        let kept = self.mine(&contents)?.clone();
        let now = self.clock.now();
        if kept.is_fresh(stale, now) {
            return Ok(kept.token());
        }
        let Some(refresh) = &kept.refresh else {
            return Err(self.refuse("the login has expired, and the provider gave no token to renew it"));
        };
        tracing::info!(provider = self.provider.name, "renewing the login");
        fail::fail_point!("login.refreshing");
        let tokens = match self.login.refresh(&refresh.0).await {
            Ok(tokens) => tokens,
            // The token is renewed early, so that there is time for a network that is away for a moment.
            Err(error) if error.kind == LoginErrorKind::Transport && stale.is_none() && kept.is_live(now) => {
                tracing::warn!(provider = self.provider.name, %error, "the login was not renewed");
                return Ok(kept.token());
            }
            Err(error) => return Err(self.advised(error.into())),
        };
        fail::fail_point!("login.refreshed");
        let renewed = kept.renewed(tokens);
        let token = renewed.token();
        contents.logins.insert(self.provider.name.clone(), renewed);
        locked.write(&contents).map_err(unkept)?;
        fail::fail_point!("login.saved");
        Ok(token)
    }

    /// The login in the file, if it is one for this address and from this provider.
    pub(super) fn mine<'a>(&self, contents: &'a AuthContents) -> Result<&'a StoredLogin, ModelError> {
        let name = &self.provider.name;
        let kept = contents.logins.get(name).ok_or_else(|| self.refuse("not logged in"))?;
        if !kept.addresses.contains(&self.address) {
            let address = &self.address;
            return Err(
                self.refuse(&format!("this login is not for {address}, so its token is not sent there"))
            );
        }
        let origin = |url: &str| Endpoint::parse(url).ok().map(|endpoint| endpoint.to_string());
        let is_same = kept.client_id == self.provider.client_id
            && origin(&kept.token_url) == origin(&self.provider.token_url);
        if !is_same {
            return Err(self.refuse("the provider's settings changed since you logged in"));
        }
        Ok(kept)
    }

    fn refuse(&self, message: &str) -> ModelError {
        let message = format!("login `{}`: {message}", self.provider.name);
        ModelError::new(ModelErrorKind::Auth, message).with_hint(self.hint())
    }

    fn advised(&self, error: ModelError) -> ModelError {
        let is_refusal = error.kind == ModelErrorKind::Auth;
        if is_refusal { self.refuse(&error.message) } else { error }
    }

    fn hint(&self) -> String {
        format!("run `buddy login {}`", self.provider.name)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn unkept(error: AuthStoreError) -> ModelError {
    let hint = "fix that file, then log in again";
    ModelError::new(ModelErrorKind::Auth, error.to_string()).with_hint(hint)
}
