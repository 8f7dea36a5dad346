//! An address on the web that has passed the rules which need no resolver.
//!
//! One parser serves the whole path: the address judged here is the one that is connected to. Texts that
//! parsers are known to read differently (tabs, line ends, backslashes, names before an `@`) are refused, not
//! repaired.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

use crate::FetchError;

/// The maximum length of an address. Browsers and servers stop near this.
const MAX_URL_BYTES: usize = 8 * 1024;
/// The number of characters of a refused address to show.
const SHOWN: usize = 200;

/// An address on the web. Shown with its host in punycode, so that lookalike letters differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebUrl {
    url: Url,
    host: Host,
    port: u16,
}

impl WebUrl {
    /// Parses an absolute address.
    pub fn parse(text: &str) -> Result<Self, FetchError> {
        let text = text.trim_matches(' ');
        check_text(text)?;
        let url = Url::parse(text).map_err(|_| bad(text, "it is not an absolute address"))?;
        Self::checked(url, text)
    }

    /// Parses the target of a redirect on this page.
    pub(crate) fn join(&self, text: &str) -> Result<Self, FetchError> {
        let text = text.trim_matches(' ');
        check_text(text)?;
        let url = self.url.join(text).map_err(|_| bad(text, "it is not an address"))?;
        Self::checked(url, text)
    }

    /// The same address with one more parameter in its query.
    pub(crate) fn with_parameter(&self, name: &str, value: &str) -> Self {
        let mut url = self.url.clone();
        url.query_pairs_mut().append_pair(name, value);
        Self { url, ..self.clone() }
    }

    fn checked(url: Url, text: &str) -> Result<Self, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(text, "only http and https are fetched"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad(text, "it has a name or password before the host"));
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(bad(text, "it has no host"));
        };
        if port == 0 {
            return Err(bad(text, "there is no port 0"));
        }
        let host = host.to_owned();
        Ok(Self { url, host, port })
    }

    /// The address as a whole.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The address for the HTTP client.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The host: a name in punycode, or an address in canonical form, IPv6 in brackets.
    pub fn host(&self) -> String {
        self.host.to_string()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Host and port, in the format of allowed hosts.
    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The literal address in place of a host name, in whatever spelling.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        match self.host {
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
            Host::Domain(_) => None,
        }
    }

    pub(crate) fn is_same_origin(&self, other: &Self) -> bool {
        self.url.origin() == other.url.origin()
    }
}

impl fmt::Display for WebUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

fn check_text(text: &str) -> Result<(), FetchError> {
    if text.len() > MAX_URL_BYTES {
        return Err(bad(text, "it is longer than 8 KiB"));
    }
    if text.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return Err(bad(text, "it has spaces, tabs, line ends or control characters in it"));
    }
    if text.contains('\\') {
        return Err(bad(text, "it has a backslash in it"));
    }
    Ok(())
}

fn bad(text: &str, reason: &'static str) -> FetchError {
    let shown = text.chars().take(SHOWN).flat_map(char::escape_default).collect();
    FetchError::BadUrl { shown, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, part: &str) {
        let error = WebUrl::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }

    #[test]
    fn only_the_web_is_fetched() {
        for text in ["file:///etc/passwd", "gopher://example.org/", "ftp://example.org/", "data:text/plain,x"]
        {
            check_refused(text, "only http and https");
        }
        check_refused("example.org", "not an absolute address");
        check_refused("http://", "not an absolute address");
        check_refused("http://example.org:0/", "port 0");
    }

    #[test]
    fn ambiguous_urls_are_refused() {
        check_refused("http://example.org@127.0.0.1/", "before the host");
        check_refused("http://:secret@example.org/", "before the host");
        check_refused("http://example.org\\@127.0.0.1/", "backslash");
        check_refused("http:\\\\127.0.0.1/", "backslash");
        check_refused("http://exam\tple.org/", "control");
        check_refused("http://example.org/\r\nHost: other", "control");
        check_refused("http://example.org/a b", "spaces");
        check_refused(&format!("http://example.org/{}", "a".repeat(9_000)), "8 KiB");
    }

    #[test]
    fn a_refused_address_is_shown_escaped() {
        let error = WebUrl::parse("http://a/\u{202e}\n").unwrap_err().to_string();
        assert!(error.contains("\\u{202e}\\n") && !error.contains('\u{202e}'), "{error}");
    }

    #[test]
    fn hosts_are_shown_in_punycode() {
        let url = WebUrl::parse("https://аpple.com/").unwrap();
        assert_eq!((url.as_str(), &*url.authority()), ("https://xn--pple-43d.com/", "xn--pple-43d.com:443"));
    }

    #[test]
    fn every_spelling_of_an_address_is_known_as_one() {
        for text in ["127.0.0.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "１２７.0.0.1"]
        {
            let url = WebUrl::parse(&format!("http://{text}:8080/")).unwrap();
            assert_eq!(url.literal(), Some("127.0.0.1".parse().unwrap()), "{text}");
        }
        let mapped = WebUrl::parse("http://[0:0:0:0:0:ffff:127.0.0.1]/").unwrap();
        assert_eq!(mapped.literal(), Some("::ffff:127.0.0.1".parse().unwrap()));
    }
}
