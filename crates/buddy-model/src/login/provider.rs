//! A provider that supports logins: values in, checked addresses out.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{Endpoint, LoginError, LoginErrorKind};

/// Parameters that a login sets itself.
const OWN_PARAMETERS: &[&str] = &[
    "client_id",
    "client_secret",
    "code",
    "code_challenge",
    "code_challenge_method",
    "code_verifier",
    "device_code",
    "grant_type",
    "redirect_uri",
    "refresh_token",
    "response_type",
    "scope",
    "state",
];

/// How a provider logs people in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoginProtocol {
    /// As the standards say.
    #[default]
    Oauth,
    /// A plan of `ChatGPT`: device codes of its own, and a header that names the account.
    Chatgpt,
    /// OpenRouter: the browser brings a code that is exchanged for an API key. No client is registered.
    Openrouter,
}

/// A provider, as it is configured.
#[derive(Debug, Clone, Default)]
pub struct LoginProvider {
    /// The user's name for it.
    pub name: String,
    /// How it logs people in.
    pub protocol: LoginProtocol,
    /// Who buddy is there.
    pub client_id: String,
    /// The secret of that client, if the provider issued one.
    pub client_secret: Option<SecretString>,
    /// The authorization endpoint, which asks the user in a browser.
    pub authorize_url: Option<String>,
    /// The token endpoint.
    pub token_url: String,
    /// The endpoint for device codes.
    pub device_url: Option<String>,
    /// The revocation endpoint.
    pub revoke_url: Option<String>,
    /// The scopes to request.
    pub scopes: Vec<String>,
    /// Extra parameters of the first request, such as `audience`.
    pub extra: BTreeMap<String, String>,
    /// The port of the redirect address; `None` takes a free one.
    pub redirect_port: Option<u16>,
    /// The path of the redirect address; `None` takes `/callback`.
    pub redirect_path: Option<String>,
    /// The issuer that the provider must name in the redirect (RFC 9207); `None` does not check it.
    pub issuer: Option<String>,
}

impl LoginProvider {
    /// Fails unless every address is usable and no extra parameter overrides one of buddy's own.
    pub fn check(&self) -> Result<(), LoginError> {
        if self.client_id.is_empty() && self.protocol != LoginProtocol::Openrouter {
            return Err(self.setup("`client_id` is not set"));
        }
        self.token()?;
        for (name, url) in [
            ("authorize_url", &self.authorize_url),
            ("device_url", &self.device_url),
            ("revoke_url", &self.revoke_url),
        ] {
            if let Some(url) = url {
                self.address(name, url)?;
            }
        }
        match self.extra.keys().find(|name| OWN_PARAMETERS.contains(&name.as_str())) {
            Some(name) => Err(self.setup(format!("`extra` must not set `{name}`"))),
            None => Ok(()),
        }
    }

    /// The token endpoint.
    pub(super) fn token(&self) -> Result<Url, LoginError> {
        self.address("token_url", &self.token_url)
    }

    /// The authorization endpoint.
    pub(super) fn authorize(&self) -> Result<Url, LoginError> {
        self.optional("authorize_url", self.authorize_url.as_deref())
    }

    /// The endpoint for device codes.
    pub(super) fn device(&self) -> Result<Url, LoginError> {
        self.optional("device_url", self.device_url.as_deref())
    }

    fn optional(&self, name: &str, url: Option<&str>) -> Result<Url, LoginError> {
        let url = url.ok_or_else(|| self.setup(format!("`{name}` is not set")))?;
        self.address(name, url)
    }

    pub(super) fn address(&self, name: &str, url: &str) -> Result<Url, LoginError> {
        safe_url(url).map_err(|message| self.setup(format!("`{name}` {message}")))
    }

    pub(super) fn setup(&self, message: impl std::fmt::Display) -> LoginError {
        LoginError::new(LoginErrorKind::Setup, format!("login `{}`: {message}", self.name))
    }
}

/// An address that buddy may use, show and open: https, or http on this machine, without a user or password.
pub(super) fn safe_url(text: &str) -> Result<Url, String> {
    let endpoint = Endpoint::parse(text).map_err(|_| "is not an https address".to_owned())?;
    if !endpoint.is_https() && !endpoint.is_loopback() {
        return Err("must be https, or http on this machine".to_owned());
    }
    Url::parse(text.trim()).map_err(|_| "is not an https address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_this_machine() {
        for good in ["https://id.example.com/token", "http://127.0.0.1:8080/t", "http://[::1]/t"] {
            assert!(safe_url(good).is_ok(), "{good}");
        }
        for bad in [
            "--help",
            "$(reboot)",
            "",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "http://example.com",
            "http://127.0.0.1.example.com",
            "https://me:secret@example.com",
        ] {
            assert!(safe_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn errors_name_the_bad_setting_and_no_secrets() {
        let mut provider = LoginProvider {
            name: "acme".to_owned(),
            client_id: "buddy".to_owned(),
            client_secret: Some("hush".into()),
            token_url: "https://id.example.com/token".to_owned(),
            ..LoginProvider::default()
        };
        assert_eq!(provider.check(), Ok(()));
        assert!(!format!("{provider:?}").contains("hush"));
        provider.revoke_url = Some("http://id.example.com/revoke".to_owned());
        let message = provider.check().unwrap_err().message;
        assert_eq!(message, "login `acme`: `revoke_url` must be https, or http on this machine");
        provider.revoke_url = None;
        provider.extra.insert("state".to_owned(), "x".to_owned());
        assert_eq!(provider.check().unwrap_err().message, "login `acme`: `extra` must not set `state`");
        provider.client_id.clear();
        assert_eq!(provider.check().unwrap_err().kind, LoginErrorKind::Setup);
    }
}
