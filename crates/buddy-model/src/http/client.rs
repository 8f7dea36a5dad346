//! The HTTP client of a route.

use std::sync::Arc;

use reqwest::redirect;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::{Endpoint, ModelError, ModelErrorKind, Settings};

/// Makes ring the process's TLS provider unless another one is set. Needed once, before any TLS connection;
/// routes over https do it themselves.
pub fn install_tls() {
    // The only failure is that a provider is already set, which is as good.
    let _already_there = ring::default_provider().install_default();
}

/// A client for this endpoint.
///
/// It follows no redirects: a model API has no reason to move, and the key must not travel to another host.
/// It uses no proxy for this machine itself. Over plain http it loads no certificates, which keeps the start
/// fast, and uses a new connection for each request.
#[expect(clippy::disallowed_methods, reason = "this crate opens the connections to models")]
pub(crate) fn build(endpoint: &Endpoint, settings: &Settings) -> Result<reqwest::Client, ModelError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("buddy/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(settings.connect_timeout)
        .redirect(redirect::Policy::none());
    if endpoint.is_loopback() {
        builder = builder.no_proxy();
    }
    if endpoint.is_https() {
        install_tls();
    } else {
        // llama.cpp's server closes a connection after each stream although it promises keep-alive, so the
        // next call would sometimes be sent into the closing one. A new connection to a server nearby costs
        // almost nothing.
        builder = builder.tls_backend_preconfigured(without_certificates()?).pool_max_idle_per_host(0);
    }
    builder.build().map_err(cannot_build)
}

fn without_certificates() -> Result<ClientConfig, ModelError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(cannot_build)?;
    Ok(config.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

fn cannot_build(error: impl std::error::Error + Send + Sync + 'static) -> ModelError {
    ModelError::new(ModelErrorKind::Transport, format!("cannot set up the HTTP client: {error}"))
        .with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_schemes_have_a_client_without_any_preparation() {
        for base in ["http://127.0.0.1:1", "https://api.example.com/v1"] {
            let endpoint = Endpoint::parse(base).unwrap();
            assert!(build(&endpoint, &Settings::default()).is_ok(), "{base}");
        }
    }
}
