//! Hosts that the user lets tools fetch from although they are not on the public internet.

use std::fmt;
use std::str::FromStr;

use crate::WebUrl;

/// A host, with a port or with the default ones: `wiki.home:8080`, `192.168.1.20`, `[::1]:9000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    host: String,
    ports: Vec<u16>,
}

/// An entry that does not name a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host or `host:port`")]
pub struct BadAllowedHost(String);

impl AllowedHost {
    /// The host, without its ports.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether an address is on this host. Compares names only: another name for the same machine is another
    /// host.
    pub(crate) fn covers(&self, url: &WebUrl) -> bool {
        self.names(&url.host(), url.port())
    }

    /// Whether this is the host and one of its ports.
    pub(crate) fn names(&self, host: &str, port: u16) -> bool {
        self.host == host && self.ports.contains(&port)
    }
}

impl FromStr for AllowedHost {
    type Err = BadAllowedHost;

    fn from_str(text: &str) -> Result<Self, BadAllowedHost> {
        let wrong = || BadAllowedHost(text.to_owned());
        if text.contains(['/', '?', '#', '@', '*']) {
            return Err(wrong());
        }
        // A scheme without a default port would lose an explicit `:80`, so the port is read from the text.
        let url = WebUrl::parse(&format!("http://{text}/")).map_err(|_| wrong())?;
        let has_port =
            !text.ends_with(']') && text.rsplit(':').next().is_some_and(is_number) && text.contains(':');
        let ports = if has_port { vec![url.port()] } else { vec![80, 443] };
        Ok(Self { host: url.host(), ports })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ports[..] {
            [port] => write!(formatter, "{}:{port}", self.host),
            _ => formatter.write_str(&self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entry: &str, url: &str, covers: bool) {
        let entry: AllowedHost = entry.parse().unwrap();
        assert_eq!(entry.covers(&WebUrl::parse(url).unwrap()), covers, "{entry} / {url}");
    }

    #[test]
    fn an_entry_is_one_host_at_one_port() {
        check("localhost:8080", "http://localhost:8080/a", true);
        check("localhost:8080", "http://localhost:8081/", false);
        check("localhost:8080", "http://127.0.0.1:8080/", false);
        check("localhost:8080", "http://localhost.evil.test:8080/", false);
        check("localhost:80", "http://localhost/", true);
        check("localhost:80", "https://localhost/", false);
    }

    #[test]
    fn without_a_port_it_is_the_usual_ones() {
        check("Wiki.Home", "https://wiki.home/", true);
        check("Wiki.Home", "http://wiki.home/", true);
        check("Wiki.Home", "http://wiki.home:8080/", false);
        check("[::1]", "http://[::1]/", true);
        check("[::1]:9000", "http://[0:0::1]:9000/", true);
    }

    #[test]
    fn entries_that_name_no_host_are_refused() {
        for text in ["", "http://a", "a/b", "a@b", "a:99999", ":80", "*.home"] {
            assert!(text.parse::<AllowedHost>().is_err(), "{text}");
        }
    }
}
