//! The credentials of a request.

use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::clean::masked;
use crate::{ModelError, ModelErrorKind, TokenSource};

/// The credentials of a route. Debug output never shows them.
#[derive(Debug, Clone, Default)]
pub enum Auth {
    /// No credentials.
    #[default]
    None,
    /// `Authorization: Bearer …`.
    Bearer(SecretString),
    /// A provider-specific header, such as `x-api-key`.
    Header {
        /// The header's name.
        name: HeaderName,
        /// Its value.
        value: SecretString,
    },
    /// `Authorization: Bearer …` with the token of a login, which is requested before each call.
    Login(Arc<dyn TokenSource>),
}

impl Auth {
    /// The key in an `x-api-key` header, as Anthropic requires.
    pub fn api_key(value: impl Into<SecretString>) -> Self {
        Self::Header { name: HeaderName::from_static("x-api-key"), value: value.into() }
    }

    /// The header to send, if it is the same for all calls.
    pub(crate) fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>, ModelError> {
        let (name, text) = match self {
            Self::None | Self::Login(_) => return Ok(None),
            Self::Bearer(key) => (AUTHORIZATION, format!("Bearer {}", key.expose_secret())),
            Self::Header { name, value } => (name.clone(), value.expose_secret().to_owned()),
        };
        // The cause is left out on purpose: it could quote the key.
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            let message = "the API key contains characters that cannot be sent";
            ModelError::new(ModelErrorKind::Auth, message)
        })?;
        value.set_sensitive(true);
        Ok(Some((name, value)))
    }

    /// The text without the key: servers quote it back.
    pub(crate) fn redacted(&self, text: String) -> String {
        match self {
            Self::Bearer(key) | Self::Header { value: key, .. } => masked(&text, key.expose_secret()),
            _ => text,
        }
    }
}
