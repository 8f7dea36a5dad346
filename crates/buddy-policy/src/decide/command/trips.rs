//! Trips of git in a command line: a grant covers them only as long as they end where they ended when the user gave it.

use buddy_protocol::Risk;

use super::publication::is_publishing;
use super::{Judge, JudgedLine};
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::{
    CommandExamination, CommandLeaf, LineTrips, examine, git_keeps_settings, leaf_trips, line_trips,
};
use crate::path::shown;
use crate::{GitTrip, Grant, Now, Offer, Policy, Scope, TripEnd, TripRemote};

/// The reason to ask each time about a push whose end is not known.
const UNREAD: &str = "buddy cannot read from the settings of git where it connects to, so it asks each time";

/// Whether a grant of exactly this line covers it, with the ends that its trips of git have now.
pub(in crate::decide) fn is_granted_line(line: JudgedLine<'_>, policy: &Policy, now: &Now<'_>) -> bool {
    let examined = examine(line.command, line.cwd, &policy.places);
    examined.is_ok_and(|examination| {
        let judge = Judge::of(line, &examination, policy, now);
        judge.trips.connects() && judge.is_granted_to_the_letter()
    })
}

impl<'a> Judge<'a> {
    pub(super) fn of(
        line: JudgedLine<'a>,
        examination: &CommandExamination,
        policy: &'a Policy,
        now: &'a Now<'a>,
    ) -> Self {
        let JudgedLine { command, cwd, runs_on } = line;
        let trips = line_trips(&examination.leaves);
        let mut judge =
            Self { command, cwd, runs_on, policy, now, trips, leaves_to_broker: false, holds_trips: false };
        judge.leaves_to_broker = judge.is_left_to_broker(&examination.leaves);
        judge.holds_trips = judge.leaves_to_broker && git_keeps_settings(&examination.leaves);
        judge
    }
}

impl Judge<'_> {
    /// Whether a grant is about trips that end where these end now. If the broker judges each connection, a trip of an unknown end is
    /// left to it.
    pub(super) fn binds(&self, grant: &Grant, trips: &LineTrips) -> bool {
        let is_same = |trip: &GitTrip| match self.end(trip) {
            Some(end) => grant.leads(trip, end),
            None => self.leaves_to_broker,
        };
        (trips.is_whole || self.leaves_to_broker) && trips.trips.iter().all(is_same)
    }

    /// The trips of a simple command, which are whole only if nothing else in the line changes where they lead.
    pub(super) fn trips_of(&self, leaf: &CommandLeaf) -> LineTrips {
        let own = leaf_trips(leaf);
        let is_whole = own.is_whole && (!own.connects() || self.trips.is_whole);
        LineTrips { is_whole, ..own }
    }

    /// Whether git goes to no other host for a simple command: each of its trips ends at a folder. Where the broker judges each
    /// connection and the jail opens no other folder, a program beside it changes nothing about that.
    pub(super) fn stays_here(&self, leaf: &CommandLeaf) -> bool {
        let LineTrips { trips, is_whole } = leaf_trips(leaf);
        let is_whole = is_whole && (self.trips.is_whole || self.holds_trips);
        let is_here = |trip: &GitTrip| self.end(trip).is_some_and(TripEnd::is_here);
        is_whole && !trips.is_empty() && !self.policy.places.remote && trips.iter().all(is_here)
    }

    fn end(&self, trip: &GitTrip) -> Option<&TripEnd> {
        self.now.destinations.iter().find(|known| known.trip == *trip)?.end.as_ref()
    }

    /// The same offer for the trips of the line, or of these simple commands, as they end now. None if one of them cannot be told
    /// from another and nothing else judges it.
    pub(super) fn bound(&self, offer: Offer, uncovered: &[&CommandLeaf]) -> Option<Offer> {
        let is_exact = matches!(offer.grant.scope, Scope::Command { .. });
        let own = if is_exact {
            vec![self.trips.clone()]
        } else {
            uncovered.iter().map(|leaf| self.trips_of(leaf)).collect()
        };
        let mut offer = offer;
        for LineTrips { trips, is_whole } in own {
            if !is_whole && !self.leaves_to_broker {
                return None;
            }
            for trip in &trips {
                offer = match self.end(trip) {
                    Some(end) if offer.grant.leads(trip, end) => offer,
                    Some(end) => offer.bound(trip, end),
                    None if self.leaves_to_broker => offer,
                    None => return None,
                };
            }
        }
        Some(offer)
    }

    /// Tells of trips that the user allowed and that end elsewhere now.
    pub(super) fn redirected(&self, uncovered: &[&CommandLeaf], sheet: &mut Sheet) {
        let (places, links) = (&self.policy.places, self.now.named_links);
        let is_by_words = |grant: &&Grant| {
            self.cwd.is_some_and(|cwd| grant.covers_line(self.command, cwd, places))
                || uncovered.iter().any(|leaf| grant.covers_command(leaf, places, links))
        };
        let allowed: Vec<&Grant> = self.now.grants.iter().filter(is_by_words).collect();
        let weight =
            if uncovered.iter().any(|leaf| is_publishing(leaf)) { Weight::Seen } else { Weight::Soft };
        for trip in &self.trips.trips {
            let Some(now) = self.end(trip) else { continue };
            let last = allowed.iter().flat_map(|grant| grant.pinned_ends(trip)).last();
            if let Some(before) = last.filter(|_| !allowed.iter().any(|grant| grant.leads(trip, now))) {
                sheet.ask(weight, Risk::High, difference(trip, before, now));
            }
        }
    }

    /// Tells of a push whose end is not known, so that nothing is offered for it.
    pub(super) fn unread(&self, uncovered: &[&CommandLeaf], sheet: &mut Sheet) {
        let is_known = self.trips.is_whole && self.trips.trips.iter().all(|trip| self.end(trip).is_some());
        if !is_known && !self.leaves_to_broker && uncovered.iter().any(|leaf| is_publishing(leaf)) {
            sheet.ask(Weight::Seen, Risk::High, UNREAD);
        }
    }
}

/// The difference between the end of a trip that the user allowed and its end now, for people.
fn difference(trip: &GitTrip, allowed: &TripEnd, now: &TripEnd) -> String {
    let list = |addresses: &[String]| {
        let shown: Vec<String> =
            addresses.iter().map(|address| format!("`{}`", crate::display_command(address))).collect();
        if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") }
    };
    let remote = match &trip.remote {
        TripRemote::Named(name) => format!("`{}`", crate::display_command(name)),
        TripRemote::Usual | TripRemote::All => "it".to_owned(),
    };
    if allowed.addresses != now.addresses {
        return format!(
            "{remote} now leads to {}; you allowed {}",
            list(&now.addresses),
            list(&allowed.addresses)
        );
    }
    if allowed.repository != now.repository {
        return format!(
            "git now works in the repository `{}`; you allowed `{}`",
            shown(&now.repository),
            shown(&allowed.repository)
        );
    }
    if allowed.identity != now.identity {
        return format!(
            "the repository `{}` is another one than when you allowed this",
            shown(&now.repository)
        );
    }
    format!("settings that decide how git connects to {remote} have changed since you allowed this")
}
