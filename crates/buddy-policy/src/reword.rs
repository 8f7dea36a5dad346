//! Other words for an offer: the user may allow less than an offer says, and never more.

use std::path::{Path, PathBuf};

use crate::path::{clean, shown};
use crate::{
    CommandPattern, GitDestination, Grant, Intent, Now, Offer, PatternError, PinnedTrip, Policy, Scope,
    Verdict, decide,
};
use buddy_protocol::ApprovalPolicy;

/// The reason why the user's words cannot be saved as a grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RewordError {
    /// They are no pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// They are no directory.
    #[error("`{0}`: give a full path, such as `write beneath /srv/notes`")]
    Directory(String),
    /// The call would be asked for again.
    #[error("`{0}` does not cover this call")]
    Misses(String),
    /// They say more than was offered.
    #[error("`{words}` is wider than what can be allowed here; the widest is `{most}`")]
    Wider {
        /// The words.
        words: String,
        /// The widest offer.
        most: String,
    },
    /// No pattern of it can be allowed.
    #[error("buddy can remember only exactly `{0}`, not a pattern of it")]
    Exact(String),
}

/// The grant that these words mean, if they cover the intent and say no more than one of its offers.
///
/// Coverage is judged like any call, with the grant among those that apply; so a pattern of a program that
/// could do anything covers nothing here either.
pub fn reword(
    words: &str,
    offers: &[Offer],
    intent: &Intent,
    policy: &Policy,
    grants: &[Grant],
) -> Result<Grant, RewordError> {
    let words = words.trim();
    if let Some(offer) = offers.iter().find(|offer| offer.grant.to_string() == words) {
        return Ok(offer.grant.clone());
    }
    let scope = match offers.first().map(|offer| &offer.grant.scope) {
        Some(Scope::Writes(_)) => Scope::Writes(directory(words)?),
        Some(
            Scope::Fetches(_)
            | Scope::Nearby(_)
            | Scope::Hosts { .. }
            | Scope::File(_)
            | Scope::Repository { .. },
        )
        | None => {
            return Err(RewordError::Misses(told(words)));
        }
        Some(Scope::Commands(_) | Scope::Command { .. }) => Scope::Commands(CommandPattern::parse(words)?),
    };
    let offered = offers.first().map(|offer| &offer.grant);
    let programs = offered.map(|grant| grant.programs.clone()).unwrap_or_default();
    let destinations = offered.map(|grant| grant.destinations.clone()).unwrap_or_default();
    let network = offered.is_some_and(|grant| grant.network);
    let grant = Grant { target: policy.places.target.clone(), scope, programs, destinations, network };
    if offers.iter().any(|offer| is_within(&grant, &offer.grant)) {
        return if is_covering(&grant, intent, policy, grants) {
            Ok(grant)
        } else {
            Err(RewordError::Misses(told(words)))
        };
    }
    Err(match offers.first() {
        Some(Offer { grant: Grant { scope: Scope::Command { line, .. }, .. }, .. }) => {
            RewordError::Exact(told(line))
        }
        Some(most) if is_covering(&grant, intent, policy, grants) => {
            RewordError::Wider { words: told(words), most: most.grant.to_string() }
        }
        _ => RewordError::Misses(told(words)),
    })
}

fn told(words: &str) -> String {
    crate::display_command(words)
}

/// The directory that is meant by `write beneath /w/src`, `write /w/src`, or by `/w/src`.
fn directory(words: &str) -> Result<PathBuf, RewordError> {
    let words = words.strip_prefix("write ").unwrap_or(words).trim_start();
    let path = Path::new(words.strip_prefix("beneath ").unwrap_or(words).trim());
    if path.is_absolute() { Ok(clean(path)) } else { Err(RewordError::Directory(shown(path))) }
}

/// Whether a grant says no more than another one.
fn is_within(grant: &Grant, most: &Grant) -> bool {
    match (&grant.scope, &most.scope) {
        (Scope::Commands(pattern), Scope::Commands(most)) => pattern.is_within(most),
        (Scope::Writes(directory), Scope::Writes(most)) => directory.starts_with(clean(most)),
        _ => false,
    }
}

/// Whether the intent would be allowed with this grant. The model's claims about its call ask by themselves,
/// regardless of grants.
fn is_covering(grant: &Grant, intent: &Intent, policy: &Policy, grants: &[Grant]) -> bool {
    let intent = Intent { claims: None, ..intent.clone() };
    let grants: Vec<Grant> = grants.iter().chain([grant]).cloned().collect();
    let end = |PinnedTrip { trip, end }: PinnedTrip| GitDestination { trip, end: Some(end) };
    let destinations: Vec<GitDestination> = grant.destinations.iter().cloned().map(end).collect();
    let now = Now { grants: &grants, destinations: &destinations, ..Now::with(ApprovalPolicy::Ask) };
    decide(&intent, policy, &now).verdict == Verdict::Allow
}
