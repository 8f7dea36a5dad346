//! Egress: whether data may go to a host. One judgement for the tools that fetch and for commands.
//!
//! A host needs no question if a rule or a grant covers it, or if the user named it. After a secret was read, a name is not
//! enough. The answer to a question about a host holds for the call that was asked about, and opens nothing here.

use std::net::IpAddr;

use buddy_protocol::Risk;
use url::Url;

use super::file::{Allowed, rule};
use super::sheet::{Sheet, Weight};
use crate::grant::fetch_offer;
use crate::rules::Thing;
use crate::trail::host_of;
use crate::{Now, Policy, Tier};

/// A place that data would go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destination {
    /// The host; `None` if it cannot be read.
    pub(crate) host: Option<String>,
    /// The whole address, if there is one.
    pub(crate) address: Option<Url>,
    /// Whether a body goes along.
    pub(crate) has_body: bool,
    /// Whether it is a search where the configuration says that tools search.
    is_search: bool,
}

impl Destination {
    pub(crate) fn unknown() -> Self {
        Self { host: None, address: None, has_body: false, is_search: false }
    }

    pub(crate) fn host(host: String) -> Self {
        Self { host: Some(host), ..Self::unknown() }
    }

    pub(crate) fn address(address: Url) -> Self {
        Self { host: host_of(&address), address: Some(address), ..Self::unknown() }
    }

    /// Whether it is an address that a program can ask a proxy for.
    pub(crate) fn is_http(&self) -> bool {
        self.address.as_ref().is_some_and(|address| matches!(address.scheme(), "http" | "https"))
    }

    /// The port of an address.
    fn port(&self) -> Option<u16> {
        self.address.as_ref().filter(|_| self.is_http())?.port_or_known_default()
    }

    /// The host with its port, and whether a rule, a grant or the user's words settle exactly that.
    pub(crate) fn authority(&self, policy: &Policy, now: &Now<'_>) -> Option<(String, bool)> {
        let (host, port) = (self.host.as_ref()?, self.port()?);
        let authority = format!("{host}:{port}");
        let mut aside = Sheet::new(Tier::Auto);
        let is_settled = covers(host, policy, now, &mut aside)
            || (now.trail.is_named_at(host, port) && !now.trail.has_read_secret());
        Some((authority, is_settled))
    }
}

/// Judges a fetch by a tool.
pub(crate) fn fetch(address: &str, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    if policy.is_offline {
        return sheet.deny("the network is off: `tools.network` is false");
    }
    // A text that is no address is refused by the fetcher, with the same parser.
    let Some(mut destination) = Url::parse(address).ok().map(Destination::address) else { return };
    let Some(host) = destination.host.clone() else { return };
    // A command has no use for the page of a search, and through the broker only its host would be known.
    destination.is_search = policy.searches.iter().any(|page| is_page(page, &destination));
    let is_clear = judge(&destination, policy, now, sheet);
    if is_clear && policy.fetch_confirm && !covers(&host, policy, now, sheet) {
        sheet.ask(Weight::Soft, Risk::Low, format!("it fetches from `{host}`"));
        sheet.offer(fetch_offer(&host, &policy.places));
    }
}

/// Judges one destination. Returns true if it needs no question.
pub(crate) fn judge(destination: &Destination, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) -> bool {
    let Some(host) = &destination.host else {
        sheet.reaches_stranger(None);
        if policy.limits.hosts.is_some() {
            sheet.deny(
                "it is not known which host it reaches, and `tools.fetch_allowed_hosts` lists the only ones",
            );
        }
        sheet.ask(Weight::Boundary, Risk::Medium, "it is not known which host it reaches");
        return false;
    };
    if let Some(reason) = policy.limits.closed_host(host) {
        sheet.deny(reason);
        return false;
    }
    if covers(host, policy, now, sheet) || is_open(host, destination, policy, now) {
        return true;
    }
    let (risk, mut reason) = if now.trail.has_read_secret() {
        (Risk::High, format!("it reaches `{host}`, and this session could have read a secret"))
    } else {
        (Risk::Medium, format!("it reaches `{host}`, which you did not name"))
    };
    let data = data(destination, now);
    if !data.is_empty() {
        reason = format!("{reason}; data can leave in {}", data.join(", "));
    }
    sheet.reaches_stranger(Some(host.clone()));
    sheet.ask_with_offer(Weight::Boundary, risk, reason, fetch_offer(host, &policy.places));
    sheet.way(format!(
        "`--allow '{{ fetch = \"{host}\" }}'`, or `{{ fetch = \"{host}\" }}` under `allow` in rules.toml"
    ));
    false
}

/// Whether a host is this machine itself, which data does not leave.
pub(crate) fn is_this_machine(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether a rule or a grant covers a host, even after a secret was read.
fn covers(host: &str, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) -> bool {
    rule(Thing::Fetch(host), policy, sheet) != Allowed::No
        || now.grants.iter().any(|grant| grant.covers_fetch(host, &policy.places))
}

/// Whether the conversation or the configuration opens the way to a host.
fn is_open(host: &str, destination: &Destination, policy: &Policy, now: &Now<'_>) -> bool {
    let trail = now.trail;
    let is = |held: fn(&crate::Trail, &str) -> bool| {
        destination.address.as_ref().is_some_and(|address| held(trail, address.as_str()))
            && !destination.has_body
    };
    let is_known = trail.is_named(host)
        || destination.is_search
        || policy.known_hosts.iter().any(|known| known == host)
        || is(crate::Trail::is_listed);
    // No part of the secret can be in an address that was fetched before it was read.
    is_known && (!trail.has_read_secret() || is(crate::Trail::is_used))
}

/// Whether a destination is a page, whatever it is asked for.
fn is_page(page: &str, destination: &Destination) -> bool {
    let (Ok(page), Some(address)) = (Url::parse(page), &destination.address) else { return false };
    address.origin() == page.origin() && address.path() == page.path()
}

/// Parts of a destination that can carry data, in words for people.
fn data(destination: &Destination, now: &Now<'_>) -> Vec<&'static str> {
    let mut parts = Vec::new();
    if let Some(address) = &destination.address {
        let is_written = now.trail.is_written(address.as_str());
        let carries = [
            (!address.username().is_empty() || address.password().is_some(), "its user info"),
            (address.path().len() > 1, "its path"),
            (address.query().is_some(), "its query string"),
            (address.fragment().is_some(), "its fragment"),
        ];
        parts.extend(carries.iter().filter(|(is_there, _)| *is_there && !is_written).map(|(_, part)| *part));
    }
    if destination.has_body {
        parts.push("its body");
    }
    parts
}
