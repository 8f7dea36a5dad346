//! Egress: whether data may go to a host. One judgement for the tools that fetch and for commands.
//!
//! A host needs no question if a rule or a grant covers it, or if the user named it. After a secret was read, a name is not
//! enough. The answer to a question about a host holds for the call that was asked about, and opens nothing here.

use std::net::{IpAddr, Ipv4Addr};

use buddy_protocol::Risk;
use url::Url;

use super::advice::AdvisedRule;
use super::file::{RuleAllowance, rule};
use super::sheet::{Sheet, Weight};
pub(crate) use crate::grant::is_this_machine;
use crate::grant::{Offer, fetch_offer, nearby_offer};
use crate::rules::Thing;
use crate::trail::host_of;
use crate::{Now, Policy, Tier};

/// The reason where the user switched the network off.
pub(crate) const OFFLINE: &str = "the network is off: `tools.network` is false";

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
        let is_settled = covers(self, policy, now, &mut aside)
            || (now.trail.is_named_at(host, port) && !now.trail.has_read_secret());
        Some((authority, is_settled))
    }
}

/// Judges a fetch by a tool.
pub(crate) fn fetch(address: &str, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) {
    if policy.is_offline {
        return sheet.deny(OFFLINE);
    }
    // A text that is no address is refused by the fetcher, with the same parser.
    let Some(mut destination) = Url::parse(address).ok().map(Destination::address) else { return };
    if destination.host.is_none() {
        return;
    }
    // A command has no use for the page of a search, and through the broker only its host would be known.
    destination.is_search = policy.searches.iter().any(|page| is_page(page, &destination));
    let is_clear = judge(&destination, policy, now, sheet);
    if is_clear && policy.fetch_confirm && !covers(&destination, policy, now, sheet) {
        let host = destination.host.as_deref().unwrap_or_default();
        sheet.ask(Weight::Soft, Risk::Low, format!("it fetches from `{host}`"));
        if let Some(offer) = host_offer(&destination, policy) {
            sheet.offer(offer);
        }
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
    if covers(destination, policy, now, sheet) || is_open(host, destination, policy, now) {
        return true;
    }
    let (risk, mut reason) = match (now.trail.has_read_secret(), now.trail.is_named(host)) {
        (true, true) => {
            let reason =
                format!("it reaches `{host}`: you named it, but this session could have read a secret");
            (Risk::High, reason)
        }
        (true, false) => {
            (Risk::High, format!("it reaches `{host}`, and this session could have read a secret"))
        }
        (false, _) => (Risk::Medium, format!("it reaches `{host}`, which you did not name")),
    };
    let data = data(destination, now);
    if !data.is_empty() {
        reason = format!("{reason}; {} can send data there", data.join(" and "));
    }
    sheet.reaches_stranger(Some(host.clone()));
    match host_offer(destination, policy) {
        Some(offer) => sheet.ask_with_offer(Weight::Boundary, risk, reason, offer),
        // A grant of exactly this command settles it.
        None => sheet.ask_for_grant(Weight::Boundary, risk, reason),
    }
    let way = format!(
        "`--allow '{{ fetch = \"{host}\" }}'`, or `{{ fetch = \"{host}\" }}` under `allow` in rules.toml"
    );
    sheet.way_by_rule(way, AdvisedRule::of("fetch", host));
    false
}

/// Whether the spelling of a host says that it is on this machine or in a private network. A name that only a look-up leads there is
/// asked about when it is reached.
fn is_nearby(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    let is_shared = |address: Ipv4Addr| matches!(address.octets(), [100, 64..=127, ..]);
    let is_private = match literal.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => address.is_private() || address.is_loopback() || is_shared(address),
        Ok(IpAddr::V6(address)) => address.is_unique_local() || address.is_loopback(),
        Err(_) => false,
    };
    is_private || is_this_machine(host)
}

/// The offer to reach a host; none if a grant would have to be bound to a port that is not known.
fn host_offer(destination: &Destination, policy: &Policy) -> Option<Offer> {
    let host = destination.host.as_ref()?;
    if !is_nearby(host) {
        return Some(fetch_offer(host, &policy.places));
    }
    Some(nearby_offer(&format!("{host}:{}", destination.port()?), &policy.places.target))
}

/// Whether a rule or a grant covers a destination, even after a secret was read. Each port of this machine and of a private network is
/// another service, so a grant there is about one port.
fn covers(destination: &Destination, policy: &Policy, now: &Now<'_>, sheet: &mut Sheet) -> bool {
    let Some(host) = &destination.host else { return false };
    if rule(Thing::Fetch(host), policy, sheet) != RuleAllowance::No {
        return true;
    }
    if !is_nearby(host) {
        return now.grants.iter().any(|grant| grant.covers_fetch(host, &policy.places));
    }
    let authority = destination.port().map(|port| format!("{host}:{port}"));
    let is_granted =
        |authority: &String| now.grants.iter().any(|grant| grant.covers_nearby(authority, &policy.places));
    authority.as_ref().is_some_and(is_granted)
}

/// Whether a rule or a grant covers a destination.
pub(crate) fn is_covered(destination: &Destination, policy: &Policy, now: &Now<'_>) -> bool {
    covers(destination, policy, now, &mut Sheet::new(Tier::Auto))
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
            (!address.username().is_empty() || address.password().is_some(), "the user name in its URL"),
            (address.path().len() > 1, "the path of its URL"),
            (address.query().is_some(), "the query string of its URL"),
            (address.fragment().is_some(), "the fragment of its URL"),
        ];
        parts.extend(carries.iter().filter(|(is_there, _)| *is_there && !is_written).map(|(_, part)| *part));
    }
    if destination.has_body {
        parts.push("the content that it uploads");
    }
    parts
}
