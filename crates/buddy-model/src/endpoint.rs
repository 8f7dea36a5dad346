//! The address of a model server: a base URL as users write it, joined with a protocol's path exactly once.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// A checked base URL.
///
/// `http://host:8080`, `http://host:8080/v1` and the full `…/v1/chat/completions` all mean the same; a path
/// without a version gets `/v1`. To use another path, write it out in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    base: Url,
}

/// The reason why a base URL is unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Not a URL at all.
    #[error("the provider's address is not a URL: {0}")]
    NotAUrl(#[from] url::ParseError),
    /// A scheme other than http and https.
    #[error("the provider's address must start with http:// or https://, not {0}:")]
    Scheme(String),
    /// A user or a password in the URL; it would show up in messages.
    #[error("the provider's address must not contain a user or password; set them as the key")]
    Credentials,
}

impl Endpoint {
    /// Parses a base URL. A URL without a scheme gets `http` on this machine and in the local network, else
    /// `https`.
    pub fn parse(base: &str) -> Result<Self, EndpointError> {
        let base = with_scheme(base.trim())?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(EndpointError::Scheme(base.scheme().to_owned()));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(EndpointError::Credentials);
        }
        Ok(Self { base })
    }

    /// The URL of a protocol's path, such as `chat/completions`. Keeps the query of the base.
    pub fn join(&self, path: &str) -> Url {
        let base = self.base.path().trim_end_matches('/');
        let joined = if base.ends_with(&format!("/{path}")) {
            base.to_owned()
        } else if base.split('/').any(is_rooted) {
            format!("{base}/{path}")
        } else {
            format!("{base}/v1/{path}")
        };
        let mut url = self.base.clone();
        url.set_path(&joined);
        url
    }

    /// The URL of a path beside the versioned API, such as `api/chat`: a base that ends in `/v1` or in the
    /// path's own first segment means the same as one without.
    pub fn join_beside(&self, path: &str) -> Url {
        let base = self.base.path().trim_end_matches('/');
        let base = base.strip_suffix(&format!("/{path}")).unwrap_or(base);
        let (above, last) = base.rsplit_once('/').unwrap_or(("", ""));
        let first = path.split('/').next().unwrap_or_default();
        let base = if is_rooted(last) || last == first { above } else { base };
        let mut url = self.base.clone();
        url.set_path(&format!("{base}/{path}"));
        url
    }

    /// Whether it is reached over TLS.
    pub fn is_https(&self) -> bool {
        self.base.scheme() == "https"
    }

    /// Whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        match self.base.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => IpAddr::V4(address).is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).is_loopback(),
            None => false,
        }
    }
}

/// An address with its own scheme, or the one that its host suggests.
fn with_scheme(text: &str) -> Result<Url, url::ParseError> {
    if text.contains("://") || text.is_empty() {
        return Url::parse(text);
    }
    if !text.starts_with(|first: char| first.is_alphanumeric() || first == '[') {
        return Err(url::ParseError::RelativeUrlWithoutBase);
    }
    let guessed = Url::parse(&format!("https://{text}"))?;
    let is_near = match guessed.host() {
        // A name without a dot belongs to the local network.
        Some(Host::Domain(name)) => {
            !name.contains('.') || matches!(name.rsplit('.').next(), Some("local" | "localhost"))
        }
        Some(Host::Ipv4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Some(Host::Ipv6(address)) => address.is_loopback() || address.is_unique_local(),
        None => false,
    };
    if is_near { Url::parse(&format!("http://{text}")) } else { Ok(guessed) }
}

/// The address without its path and query, for messages.
impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.base.origin().ascii_serialization())
    }
}

/// A path segment that a protocol's path follows directly: a version, or a deployment in place of one.
fn is_rooted(segment: &str) -> bool {
    let mut letters = segment.chars();
    let is_version =
        letters.next() == Some('v') && letters.next().is_some_and(|digit| digit.is_ascii_digit());
    is_version || segment == "deployments" || segment == "backend-api"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str) -> String {
        Endpoint::parse(base).unwrap().join("chat/completions").to_string()
    }

    #[test]
    fn a_path_is_joined_once() {
        let expected = "http://127.0.0.1:8080/v1/chat/completions";
        for base in ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/"] {
            assert_eq!(check(&format!("http://127.0.0.1:8080{base}")), expected, "{base}");
        }
    }

    #[test]
    fn versions_are_found_anywhere() {
        assert_eq!(check("https://openrouter.ai/api"), "https://openrouter.ai/api/v1/chat/completions");
        assert_eq!(check("https://openrouter.ai/api/v1"), "https://openrouter.ai/api/v1/chat/completions");
        assert_eq!(check("https://h/v1beta/openai/"), "https://h/v1beta/openai/chat/completions");
        assert_eq!(check("https://h/api/paas/v4"), "https://h/api/paas/v4/chat/completions");
        assert_eq!(check("https://h/chat/completions"), "https://h/chat/completions");
        assert_eq!(check("https://h/backend-api/codex"), "https://h/backend-api/codex/chat/completions");
        assert_eq!(
            check("https://h/openai/deployments/gpt?api-version=2024-10-21"),
            "https://h/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
        );
    }

    #[test]
    fn a_path_beside_the_version() {
        let check = |base: &str| Endpoint::parse(base).unwrap().join_beside("api/chat").to_string();
        for base in ["", "/", "/v1", "/v1/", "/api", "/api/", "/api/chat"] {
            assert_eq!(check(&format!("http://h:11434{base}")), "http://h:11434/api/chat", "{base}");
        }
        assert_eq!(check("https://h/ollama/v1"), "https://h/ollama/api/chat");
        assert_eq!(check("https://h/ollama"), "https://h/ollama/api/chat");
    }

    #[test]
    fn unusable_addresses_are_refused() {
        for nonsense in ["", "no sense", "javascript:alert(1)", "--help", "$(reboot)", "/v1", "http://"] {
            assert!(matches!(Endpoint::parse(nonsense), Err(EndpointError::NotAUrl(_))), "{nonsense}");
        }
        assert!(matches!(Endpoint::parse("file:///etc/passwd"), Err(EndpointError::Scheme(_))));
        assert_eq!(Endpoint::parse("http://me:secret@h"), Err(EndpointError::Credentials));
    }

    #[test]
    fn a_missing_scheme_is_completed() {
        for (base, origin) in [
            ("localhost:8080", "http://localhost:8080"),
            ("127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
            ("192.168.1.7:8000", "http://192.168.1.7:8000"),
            ("[::1]:9", "http://[::1]:9"),
            ("atlas:8000", "http://atlas:8000"),
            ("atlas.local", "http://atlas.local"),
            ("api.example.com/v1", "https://api.example.com"),
            ("8.8.8.8:443", "https://8.8.8.8"),
        ] {
            assert_eq!(Endpoint::parse(base).unwrap().to_string(), origin, "{base}");
        }
    }

    #[test]
    fn loopback_is_known_by_name_and_number() {
        let is_loopback = |base: &str| Endpoint::parse(base).unwrap().is_loopback();
        assert!(
            is_loopback("http://localhost:1")
                && is_loopback("http://127.8.0.1")
                && is_loopback("http://[::1]:9")
        );
        assert!(!is_loopback("http://example.com") && !is_loopback("http://10.0.0.1"));
    }

    #[test]
    fn messages_show_the_origin_only() {
        assert_eq!(Endpoint::parse("https://h/v1?key=secret").unwrap().to_string(), "https://h");
    }
}
