//! `[login.<provider>]` of the configuration: a provider that one can log in to.

use std::collections::BTreeMap;

use buddy_model::{Endpoint, LoginProtocol, LoginProvider};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Secret;

/// A provider that one can log in to.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct LoginSection {
    /// How the provider logs people in: `oauth`, `chatgpt` or `openrouter`.
    #[schemars(with = "String")]
    pub(crate) protocol: LoginProtocol,
    /// The addresses of the APIs that take its tokens. Profiles with `auth = "login"` find their provider by them.
    pub(crate) addresses: Vec<String>,
    /// The client that the provider knows buddy as.
    pub(crate) client_id: String,
    /// The secret of that client, where the provider gave one out.
    pub(crate) client_secret: Option<Secret>,
    /// Where a browser asks the user.
    pub(crate) authorize_url: Option<String>,
    /// Where tokens come from.
    pub(crate) token_url: String,
    /// Where codes for another device come from.
    pub(crate) device_url: Option<String>,
    /// Where tokens are given back at `buddy logout`.
    pub(crate) revoke_url: Option<String>,
    /// The purpose of the tokens.
    pub(crate) scopes: Vec<String>,
    /// The API that the tokens are for, where the provider wants that said.
    pub(crate) audience: Option<String>,
    /// Further parameters of the first request.
    pub(crate) extra: BTreeMap<String, String>,
    /// The port on this machine that the browser comes back to; absent takes a free one.
    pub(crate) redirect_port: Option<u16>,
    /// The path that the browser comes back to; absent takes `/callback`.
    pub(crate) redirect_path: Option<String>,
    /// The name that the provider must give itself when the browser comes back.
    pub(crate) issuer: Option<String>,
}

impl LoginSection {
    /// The provider, under its name.
    pub(crate) fn provider(&self, name: &str) -> LoginProvider {
        let mut extra = self.extra.clone();
        extra.extend(self.audience.iter().map(|audience| ("audience".to_owned(), audience.clone())));
        LoginProvider {
            name: name.to_owned(),
            protocol: self.protocol,
            client_id: self.client_id.clone(),
            client_secret: self.client_secret.as_ref().map(|secret| secret.0.clone()),
            authorize_url: self.authorize_url.clone(),
            token_url: self.token_url.clone(),
            device_url: self.device_url.clone(),
            revoke_url: self.revoke_url.clone(),
            scopes: self.scopes.clone(),
            extra,
            redirect_port: self.redirect_port,
            redirect_path: self.redirect_path.clone(),
            issuer: self.issuer.clone(),
        }
    }

    /// Whether it gives an API key, which is kept like any other, instead of tokens.
    pub(crate) fn gives_key(&self) -> bool {
        self.protocol == LoginProtocol::Openrouter
    }

    /// Its addresses as they are compared: scheme, host and port.
    pub(crate) fn origins(&self) -> Vec<String> {
        let origins = self.addresses.iter().filter_map(|address| Endpoint::parse(address).ok());
        origins.map(|endpoint| endpoint.to_string()).collect()
    }

    /// Whether its tokens are for this address.
    pub(crate) fn serves(&self, address: &str) -> bool {
        self.origins().iter().any(|origin| origin == address)
    }
}
