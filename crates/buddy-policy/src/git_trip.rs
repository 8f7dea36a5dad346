//! Trips of git: uses of it that connect to a repository elsewhere. Settings decide where a trip ends, so its words alone say little.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A use of git that connects, as far as its words tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitTrip {
    /// The directory in which git looks for its repository.
    pub directory: PathBuf,
    /// The remote.
    pub remote: TripRemote,
    /// Whether it pushes. All others only fetch.
    pub pushes: bool,
    /// Whether git can connect for submodules too.
    pub recurses: bool,
}

impl GitTrip {
    /// Whether another trip is the same, wherever it starts. The repository that git finds there is a part of its end.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (&self.remote, self.pushes, self.recurses) == (&other.remote, other.pushes, other.recurses)
    }
}

/// The remote of a trip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TripRemote {
    /// The one with this name or address.
    Named(String),
    /// The one that git uses if no name is given.
    Usual,
    /// All of them.
    All,
}

/// The end of a trip: where git connects to, from which repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TripEnd {
    /// The own directory of the repository.
    pub repository: PathBuf,
    /// Marks of this directory and of the one that it shares, by which another one at the same path is known.
    pub identity: String,
    /// The addresses, after all rewriting and without logins.
    pub addresses: Vec<String>,
    /// The digest of settings that decide how git connects, such as proxies.
    pub connects: String,
}

/// A trip as the host has it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitDestination {
    /// The trip.
    pub trip: GitTrip,
    /// Its end; none if that cannot be read from the settings.
    pub end: Option<TripEnd>,
}

/// A trip with the end that it had when the user allowed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedTrip {
    /// The trip.
    pub trip: GitTrip,
    /// Its end.
    pub end: TripEnd,
}

impl TripEnd {
    /// Whether every address is a folder of the host itself, which git reaches without a network.
    pub(crate) fn is_here(&self) -> bool {
        !self.addresses.is_empty() && self.addresses.iter().all(|address| is_folder(address))
    }
}

/// Whether git takes an address for a folder: `host:path`, `scheme://…` and `helper::…` are none.
fn is_folder(address: &str) -> bool {
    if let Some(path) = address.strip_prefix("file://") {
        return path.starts_with('/');
    }
    let before = address.split('/').next().unwrap_or_default();
    !address.is_empty() && !before.contains(':')
}

/// An address without the login in it. An account of `ssh` stays, as it is a part of the place.
pub fn without_login(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let Some((login, host)) = authority.rsplit_once('@') else { return address.to_owned() };
    let account = login.split(':').next().unwrap_or_default();
    let keeps_account = scheme.rsplit('+').next() == Some("ssh") && !account.is_empty();
    let account = if keeps_account { format!("{account}@") } else { String::new() };
    format!("{scheme}://{account}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_left_out_and_the_host_stays() {
        for (address, shown) in [
            ("https://example.org/a.git", "https://example.org/a.git"),
            ("https://ann:token@example.org/a.git", "https://example.org/a.git"),
            ("https://token@example.org", "https://example.org"),
            ("https://good.example@evil.example/a@b", "https://evil.example/a@b"),
            ("https://a:p@ss@evil.example/x", "https://evil.example/x"),
            ("ssh://git:pw@example.org:22/a.git", "ssh://git@example.org:22/a.git"),
            ("git@example.org:a.git", "git@example.org:a.git"),
            ("../a.git", "../a.git"),
        ] {
            assert_eq!(without_login(address), shown, "{address}");
        }
    }
}
