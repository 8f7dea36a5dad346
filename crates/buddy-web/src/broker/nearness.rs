//! Whether a host is on this machine or in a private network.

use std::net::IpAddr;
use std::time::Duration;

use crate::address::{Whereabouts, literal_address, whereabouts};
use crate::resolver::{SystemResolver, lookup};

/// How long a question may wait for a look-up.
const WITHIN: Duration = Duration::from_secs(3);

/// Endings of names that only private networks use, and the metadata services of clouds.
const PRIVATE_ENDINGS: &[&str] =
    &["localhost", "local", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa"];

/// Whether a host is nearby, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nearness {
    /// An address of it that is nearby; none where all are elsewhere or not known.
    pub address: Option<IpAddr>,
    /// Whether the host is that address itself.
    pub is_literal: bool,
}

impl Nearness {
    /// That of a host by its spelling alone; a name is not looked up.
    pub fn of_literal(host: &str) -> Self {
        let address = literal_address(host).filter(|&address| whereabouts(address) == Whereabouts::Nearby);
        Self { address, is_literal: address.is_some() }
    }

    /// That of a host, which is looked up if it is a name.
    pub async fn of(host: &str) -> Self {
        if literal_address(host).is_some() {
            return Self::of_literal(host);
        }
        let found = lookup(&SystemResolver, host, WITHIN).await.unwrap_or_default();
        let worst = found.into_iter().max_by_key(|&address| whereabouts(address));
        let address = worst.filter(|&address| whereabouts(address) == Whereabouts::Nearby);
        Self { address, is_literal: false }
    }
}

/// Whether a name is one that only a private network would know: of one word, or with such an ending.
pub(crate) fn is_private_name(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    let is_ending = |ending: &str| {
        host.strip_suffix(ending).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    !host.contains('.') || PRIVATE_ENDINGS.iter().any(|ending| is_ending(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_private_networks_are_told_by_their_endings() {
        for name in ["intranet", "metadata.google.internal", "printer.local", "a.localhost", "nas.lan."] {
            assert!(is_private_name(name), "{name}");
        }
        for name in ["example.com", "local.example.com", "mylocal.test", "internal.test"] {
            assert!(!is_private_name(name), "{name}");
        }
    }

    #[test]
    fn an_address_says_where_it_is() {
        assert!(Nearness::of_literal("127.0.0.2").is_literal && Nearness::of_literal("[::1]").is_literal);
        for host in ["93.184.216.34", "169.254.169.254", "localhost"] {
            assert_eq!(Nearness::of_literal(host), Nearness { address: None, is_literal: false }, "{host}");
        }
    }
}
