//! The flows: a code on another device, a browser on this one, refresh, revocation.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use buddy_protocol::Clock;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, sleep, timeout};
use url::Url;

use super::answer::ProviderAnswer;
use super::device::{expired, pause};
use super::loopback::Loopback;
use super::openrouter;
use super::pkce::{challenge, random};
use super::post::{Body, post};
use super::redirect::Expected;
use super::{DeviceCode, LoginProtocol, LoginTiming, Tokens};
use crate::{LoginError, LoginErrorKind, LoginProvider};

/// The grant of RFC 8628.
const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Logs in to one provider. Dropping a flow ends it.
#[derive(Clone)]
pub struct Login {
    pub(super) provider: LoginProvider,
    pub(super) timing: LoginTiming,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Login").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl Login {
    /// Logins to this provider. Checks its addresses first.
    pub fn new(provider: LoginProvider, clock: Arc<dyn Clock>) -> Result<Self, LoginError> {
        provider.check()?;
        Ok(Self { provider, timing: LoginTiming::default(), clock })
    }

    /// The same logins with other timeouts.
    pub fn with_timing(mut self, timing: LoginTiming) -> Self {
        self.timing = timing;
        self
    }

    /// Logs in with a code that the user types on any device. Calls `show` with the code, once.
    pub async fn device(&self, show: impl FnOnce(&DeviceCode)) -> Result<Tokens, LoginError> {
        if self.provider.protocol == LoginProtocol::Chatgpt {
            return self.plan_device(show).await;
        }
        let url = self.provider.device()?;
        let scope = self.provider.scopes.join(" ");
        let answer = self.ask(&url, &self.with_wishes(&scope)).await?;
        let code = DeviceCode::read(&answer, &self.timing)?;
        show(&code);
        let deadline = Instant::now() + code.expires_in;
        let form = [("grant_type", DEVICE_GRANT), ("device_code", code.handle.expose_secret())];
        let token_url = self.provider.token()?;
        let mut wait = code.interval;
        loop {
            if Instant::now() + wait >= deadline {
                return Err(expired());
            }
            sleep(wait).await;
            match post(&self.provider, &token_url, Body::Form, &form, &self.timing).await {
                Ok(answer) => return answer.tokens(self.clock.now()),
                Err(outcome) => wait = pause(wait, outcome, &self.timing)?,
            }
        }
    }

    /// Logs in with a browser. Calls `open` with the address to open. `pasted` resolves to the final address
    /// of the browser if the user pastes it, because the browser is on another machine.
    pub async fn browser(
        &self,
        open: impl FnOnce(&Url),
        pasted: impl Future<Output = String>,
    ) -> Result<LoginGrant, LoginError> {
        let provider = &self.provider;
        let authorize = provider.authorize()?;
        let path = provider.redirect_path.as_deref().unwrap_or("callback").trim_end_matches('/');
        let (verifier, state) = (random(), random());
        let gives_key = provider.protocol == LoginProtocol::Openrouter;
        let path = if gives_key { format!("{path}/{}", state.expose_secret()) } else { path.to_owned() };
        let (host, port) = (self.redirect_host(), provider.redirect_port);
        let loopback = match Loopback::bind(host, port, &path).await {
            // No client is registered with a port, so another one serves as well.
            Err(_) if gives_key && port.is_some() => Loopback::bind(host, None, &path).await?,
            bound => bound?,
        };
        let redirect = loopback.url().to_string();
        let proof = challenge(&verifier);
        let question = if gives_key {
            openrouter::question(authorize, &redirect, &proof)
        } else {
            self.question(authorize, &redirect, &proof, &state)
        };
        open(&question);
        let path = gives_key.then(|| loopback.url().path().to_owned());
        let expected = Expected { state, issuer: provider.issuer.clone(), path };
        let answered = async {
            tokio::select! {
                code = loopback.code(|url| expected.code(url)) => code,
                text = pasted => expected.pasted(&text),
            }
        };
        let code = timeout(self.timing.browser, answered).await.map_err(|_| {
            LoginError::new(LoginErrorKind::Expired, "the login in the browser was not finished in time")
        })??;
        if gives_key {
            return self.exchange_for_key(&code, &verifier).await.map(LoginGrant::Key);
        }
        self.exchange(&code, &redirect, &verifier).await.map(LoginGrant::Tokens)
    }

    /// The name of this machine in the address that the browser comes back to. Both vendors know that one alone.
    fn redirect_host(&self) -> &'static str {
        match self.provider.protocol {
            LoginProtocol::Oauth => "127.0.0.1",
            LoginProtocol::Chatgpt | LoginProtocol::Openrouter => "localhost",
        }
    }

    /// Tokens for a code that belongs to this address.
    pub(super) async fn exchange(
        &self,
        code: &SecretString,
        redirect: &str,
        verifier: &SecretString,
    ) -> Result<Tokens, LoginError> {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.expose_secret()),
            ("redirect_uri", redirect),
            ("code_verifier", verifier.expose_secret()),
        ];
        self.ask(&self.provider.token()?, &form).await?.tokens(self.clock.now())
    }

    /// The key for a code of OpenRouter.
    async fn exchange_for_key(
        &self,
        code: &SecretString,
        verifier: &SecretString,
    ) -> Result<SecretString, LoginError> {
        let fields = [
            ("code", code.expose_secret()),
            ("code_verifier", verifier.expose_secret()),
            ("code_challenge_method", "S256"),
        ];
        let answer = self.send(&self.provider.token()?, Body::Json, &fields).await?;
        openrouter::key(&answer)
    }

    /// New tokens for a refresh token. If the provider issues no new refresh token, the old one stays valid
    /// and is in the answer.
    pub async fn refresh(&self, refresh: &SecretString) -> Result<Tokens, LoginError> {
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose_secret())];
        let mut tokens = self.ask(&self.provider.token()?, &form).await?.tokens(self.clock.now())?;
        tokens.refresh.get_or_insert_with(|| refresh.clone());
        Ok(tokens)
    }

    /// Revokes tokens (RFC 7009). The answer says whether the provider supports that.
    pub async fn revoke(&self, tokens: &Tokens) -> Result<Revocation, LoginError> {
        let Some(url) = &self.provider.revoke_url else { return Ok(Revocation::NotOffered) };
        let url = self.provider.address("revoke_url", url)?;
        // A refresh token takes its access tokens with it; the access token is named only if there is none.
        let (token, hint) = match &tokens.refresh {
            Some(refresh) => (refresh, "refresh_token"),
            None => (&tokens.access, "access_token"),
        };
        self.ask(&url, &[("token", token.expose_secret()), ("token_type_hint", hint)]).await?;
        Ok(Revocation::Done)
    }

    async fn ask(&self, url: &Url, form: &[(&str, &str)]) -> Result<ProviderAnswer, LoginError> {
        self.send(url, Body::Form, form).await
    }

    pub(super) async fn send(
        &self,
        url: &Url,
        body: Body,
        fields: &[(&str, &str)],
    ) -> Result<ProviderAnswer, LoginError> {
        let sent = post(&self.provider, url, body, fields, &self.timing).await;
        sent.map_err(super::post::NotAccepted::into_error)
    }

    /// The parameters that the user configured for the first request of a login.
    fn with_wishes<'a>(&'a self, scope: &'a str) -> Vec<(&'a str, &'a str)> {
        let extra = self.provider.extra.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        extra.chain((!scope.is_empty()).then_some(("scope", scope))).collect()
    }

    fn question(&self, mut url: Url, redirect: &str, challenge: &str, state: &SecretString) -> Url {
        let scope = self.provider.scopes.join(" ");
        url.query_pairs_mut()
            .extend_pairs(self.with_wishes(&scope))
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.provider.client_id)
            .append_pair("redirect_uri", redirect)
            .append_pair("code_challenge", challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("state", state.expose_secret());
        url
    }
}

/// The tokens of a login in a browser.
#[derive(Debug)]
pub enum LoginGrant {
    /// Tokens, which are renewed.
    Tokens(Tokens),
    /// An API key, which is kept like any other.
    Key(SecretString),
}

/// The outcome of tokens that were to be given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// The provider revoked them.
    Done,
    /// The provider does not support it.
    NotOffered,
}
