//! The network of a command: which of its parts use it, and whether a question or a label tells so.

use buddy_protocol::Risk;

use super::Judge;
use crate::Tier;
use crate::decide::egress;
use crate::decide::file::Allowed;
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::{Effect, Leaf, destinations, git_alias, publishes};
use crate::registries::is_package_manager;
use crate::rules::Thing;

/// The reason to ask about a push.
const PUBLISHES: &str = "it publishes commits, which others see and nobody takes back";

impl Judge<'_> {
    /// Whether a rule or a grant lets the line run and says nothing of the network, so that its connections are judged one by one. A
    /// grant of exactly this line names the hosts that stand in it, one of a push says where that goes, and a rule can grant
    /// the network.
    pub(super) fn keeps_broker(&self, leaves: &[Leaf], allowed: &[Allowed], is_covered: bool) -> bool {
        let has_broker = self.policy.is_confined() && self.policy.has_broker && !self.policy.is_throwaway;
        let is_by_letter = !is_covered && self.is_granted_to_the_letter();
        let is_allowed = is_by_letter || (is_covered && allowed.iter().any(|one| *one != Allowed::No));
        if !has_broker || !is_allowed || self.runs_on {
            return false;
        }
        let networked: Vec<bool> =
            (0..leaves.len()).map(|at| launchers(leaves, at).any(|leaf| self.is_networked(leaf))).collect();
        let names_host = |leaf: &Leaf| {
            let mut hosts = destinations(&leaf.program, &leaf.words).into_iter();
            is_by_letter && hosts.any(|destination| destination.host.is_some())
        };
        let tells = |leaf: &Leaf| is_publishing(leaf) || names_host(leaf) || self.names_its_hosts(leaf);
        let has_network = networked.contains(&true) || leaves.iter().any(tells);
        let shows = |(leaf, is_networked): (&Leaf, &bool)| *is_networked || self.shows_network_use(leaf);
        !(has_network && leaves.iter().zip(&networked).all(shows))
    }

    /// Whether a rule grants direct network access to a simple command.
    fn is_networked(&self, leaf: &Leaf) -> bool {
        let thing =
            Thing::Command { program: &leaf.program, words: &leaf.words, is_foreign: leaf.is_foreign };
        self.policy.rules.allows_network(thing, &self.policy.places)
    }

    /// Whether the words of a simple command show that it uses the network, or that it uses none. git runs hooks of the
    /// project, which whoever allows a push allows too.
    pub(super) fn shows_network_use(&self, leaf: &Leaf) -> bool {
        let goes_by_broker = self.policy.has_broker && is_package_manager(&leaf.program);
        leaf.effect != Effect::Unknown
            || leaf.program == "git"
            || (!goes_by_broker && !destinations(&leaf.program, &leaf.words).is_empty())
    }

    /// Whether every host that a simple command reaches can be read off its words and needs no question. A package manager reaches
    /// more than it names, and so do the scripts that it runs.
    pub(super) fn names_its_hosts(&self, leaf: &Leaf) -> bool {
        if self.policy.has_broker && is_package_manager(&leaf.program) {
            return false;
        }
        let reached = destinations(&leaf.program, &leaf.words);
        let mut aside = Sheet::new(Tier::Auto);
        !reached.is_empty()
            && reached.iter().all(|host| egress::judge(host, self.policy, self.now, &mut aside))
    }
}

/// A simple command, the one that launches it, and so on.
pub(super) fn launchers(leaves: &[Leaf], at: usize) -> impl Iterator<Item = &Leaf> {
    std::iter::successors(leaves.get(at), |leaf| leaves.get(leaf.launcher?))
}

/// Whether a simple command publishes commits.
fn is_publishing(leaf: &Leaf) -> bool {
    leaf.program == "git" && leaf.words.get(1..).is_some_and(publishes)
}

/// Whether a simple command publishes commits, or runs an alias that can.
pub(super) fn may_publish(leaf: &Leaf) -> bool {
    let is_alias = || leaf.words.get(1..).is_some_and(|words| git_alias(words).is_some());
    is_publishing(leaf) || (leaf.program == "git" && is_alias())
}

/// Asks about publishing the work here.
pub(super) fn published(uncovered: &[&Leaf], sheet: &mut Sheet) {
    if uncovered.iter().any(|leaf| is_publishing(leaf)) {
        sheet.ask(Weight::Seen, Risk::High, PUBLISHES);
    }
    let git = uncovered.iter().filter(|leaf| leaf.program == "git");
    for alias in git.filter_map(|leaf| git_alias(leaf.words.get(1..)?)) {
        let alias = crate::display_command(&alias);
        let reason =
            format!("`git {alias}` is no command of git itself, and an alias can do anything, also push");
        sheet.ask(Weight::Seen, Risk::Medium, reason);
    }
}
