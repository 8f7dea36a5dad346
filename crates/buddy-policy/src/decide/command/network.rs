//! The network of a command: which of its parts use it, and whether a question or a label tells so.

use buddy_protocol::Risk;

use super::Judge;
use super::publication::{is_publishing, may_publish};
use crate::Tier;
use crate::decide::advice::AdvisedRule;
use crate::decide::egress::{self, Destination, is_this_machine};
use crate::decide::file::RuleAllowance;
use crate::decide::sheet::{Sheet, Weight};
use crate::effect::{
    CommandEffect, CommandExamination, CommandLeaf, changes_settings, destinations, goes_by_proxy,
    only_adds_remote, socket,
};
use crate::grant::offers;
use crate::registries::is_package_manager;
use crate::rules::Thing;

impl Judge<'_> {
    /// Whether a rule or a grant lets the line run and says nothing of the network, so that its connections are judged one by one. A
    /// grant of exactly this line names the hosts that stand in it, one of a push says where that goes, and a rule can grant
    /// the network.
    pub(super) fn keeps_broker(
        &self,
        leaves: &[CommandLeaf],
        allowed: &[RuleAllowance],
        is_covered: bool,
    ) -> bool {
        let has_broker = self.policy.has_broker && self.is_held();
        let is_by_letter = !is_covered && self.is_granted_to_the_letter();
        let is_allowed = is_by_letter || (is_covered && allowed.iter().any(|one| *one != RuleAllowance::No));
        if !has_broker || !is_allowed || self.runs_on {
            return false;
        }
        // No grant gives the network to a program that another command could have put there.
        if !self.now.programs.is_empty() {
            return true;
        }
        let networked: Vec<bool> =
            (0..leaves.len()).map(|at| launchers(leaves, at).any(|leaf| self.is_networked(leaf))).collect();
        let publishes = |leaf: &CommandLeaf| is_publishing(leaf) && !self.stays_here(leaf);
        let tells = |leaf: &CommandLeaf| publishes(leaf) || (is_by_letter && self.goes_direct(leaf));
        let has_network = networked.contains(&true) || leaves.iter().any(tells);
        let shows =
            |(leaf, is_networked): (&CommandLeaf, &bool)| *is_networked || self.shows_network_use(leaf);
        !(has_network && leaves.iter().zip(&networked).all(shows))
    }

    /// Whether each connection of the line is judged by the broker if a grant lets the line run. So the grant need not say where it
    /// connects to.
    pub(super) fn is_left_to_broker(&self, leaves: &[CommandLeaf]) -> bool {
        let has_broker = self.policy.has_broker && self.is_held();
        let connects =
            |leaf: &CommandLeaf| is_publishing(leaf) || self.goes_direct(leaf) || self.is_networked(leaf);
        let shows = |leaf: &CommandLeaf| self.shows_network_use(leaf) || self.is_networked(leaf);
        has_broker && !self.runs_on && !(leaves.iter().any(connects) && leaves.iter().all(shows))
    }

    /// Whether a rule grants direct network access to a simple command.
    fn is_networked(&self, leaf: &CommandLeaf) -> bool {
        let thing =
            Thing::Command { program: &leaf.program, words: &leaf.words, is_foreign: leaf.is_foreign };
        self.policy.rules.allows_network(thing, &self.policy.places)
    }

    /// Whether the words of a simple command show that it uses the network directly, or that it uses none. git runs hooks of
    /// the project, which whoever allows a push allows too.
    pub(super) fn shows_network_use(&self, leaf: &CommandLeaf) -> bool {
        leaf.effect != CommandEffect::Unknown || leaf.program == "git" || self.goes_direct(leaf)
    }

    /// Whether the jail decides about the network of the command.
    fn is_held(&self) -> bool {
        self.policy.is_jailed() && !self.policy.is_throwaway
    }

    /// Whether a simple command reaches a host past the broker: its program does not use a proxy, or there is no broker. A server of
    /// this machine counts only if the user named or allowed it; any other is one of the jail.
    fn goes_direct(&self, leaf: &CommandLeaf) -> bool {
        let has_broker = self.policy.has_broker;
        let gives_names =
            || leaf.words.get(1..).is_some_and(|words| only_adds_remote(words) || changes_settings(words));
        if has_broker && is_package_manager(&leaf.program)
            || leaf.program == "git" && (is_publishing(leaf) || gives_names())
        {
            return false;
        }
        let is_direct = |reached: &Destination| {
            (!has_broker || !goes_by_proxy(&leaf.program, reached)) && self.is_open_to(reached)
        };
        destinations(&leaf.program, &leaf.words).iter().any(is_direct)
    }

    /// Whether the network of this machine is meant: neither that of the jail, nor a host that is left to the broker.
    fn is_open_to(&self, reached: &Destination) -> bool {
        let Some(host) = &reached.host else { return !self.is_brokered() };
        let mut aside = Sheet::new(Tier::Auto);
        !is_this_machine(host) || egress::judge(reached, self.policy, self.now, &mut aside)
    }

    /// Notes the hosts in the words of a command. No host opens the network: a program that uses a proxy reaches it by the broker, and
    /// any other asks for all of the network, unless a rule grants that or a grant covers exactly this line.
    pub(super) fn network(
        &self,
        examination: &CommandExamination,
        allowed: &[RuleAllowance],
        uncovered: &[&CommandLeaf],
        sheet: &mut Sheet,
    ) {
        let leaves = &examination.leaves;
        let is_by_letter = self.is_granted_to_the_letter();
        for reached in leaves.iter().flat_map(|leaf| destinations(&leaf.program, &leaf.words)) {
            let authority = reached.authority(self.policy, self.now);
            sheet
                .reached
                .extend(authority.map(|(authority, is_settled)| (authority, is_settled || is_by_letter)));
        }
        let networked: Vec<bool> =
            (0..leaves.len()).map(|at| launchers(leaves, at).any(|leaf| self.is_networked(leaf))).collect();
        let shows =
            |(leaf, is_networked): (&CommandLeaf, &bool)| *is_networked || self.shows_network_use(leaf);
        let is_granted = networked.contains(&true) && leaves.iter().zip(&networked).all(shows);
        // A reader that is asked about reaches the host that the question names.
        let is_asked = uncovered.iter().any(|leaf| may_publish(leaf) && !self.stays_here(leaf))
            || sheet.has_strangers() && leaves.iter().any(|leaf| self.goes_direct(leaf));
        // If the question tells of the network for one part alone, all parts go out by the broker.
        if is_granted || is_asked && uncovered.iter().all(|leaf| self.shows_network_use(leaf)) {
            sheet.tells_network();
            // The question about a push says so, and so does what it offers.
            sheet.opens_network |= !is_granted && self.is_held() && !self.policy.is_offline;
        }
        if is_by_letter || is_granted || !self.is_held() || self.policy.is_offline {
            return;
        }
        // Without a broker a rule and a grant for a command open the network. A command that only reads has none.
        let is_asking = |(leaf, allowed): &(&CommandLeaf, &RuleAllowance)| {
            (self.policy.has_broker || **allowed == RuleAllowance::No)
                && matches!(leaf.effect, CommandEffect::None | CommandEffect::Unknown)
                && self.goes_direct(leaf)
        };
        let mut sockets = examination.touches.iter().filter_map(|touch| socket(&touch.reach));
        let is_socket = sockets.any(|reached| self.is_open_to(&reached));
        let direct = leaves.iter().zip(allowed).find(is_asking).map(|(leaf, _)| leaf.program.as_str());
        let Some(program) = direct.or(is_socket.then_some("bash")) else { return };
        let program = crate::display_command(program);
        let why = if self.policy.has_broker {
            format!("`{program}` does not use buddy's proxy")
        } else {
            "buddy has no proxy for commands on this machine".to_owned()
        };
        let reason = format!("{why}, so a yes gives the command the whole network");
        let line = self.cwd.and_then(|cwd| offers(self.command, cwd, &[], &self.policy.places, &[]).pop());
        let line = line.and_then(|offer| self.bound(offer, &[]));
        match line {
            Some(line) => sheet.ask_with_offer(Weight::Boundary, Risk::Medium, reason, line.with_network()),
            None => sheet.ask(Weight::Boundary, Risk::Medium, reason),
        }
        let way = format!(
            "`--allow '{{ command = \"{program} *\", network = true }}'`, or the same table under `allow` in rules.toml"
        );
        sheet.way_by_rule(way, AdvisedRule::commands(&program).map(AdvisedRule::with_network));
        // No pattern of commands is offered for it.
        sheet.reaches_stranger(None);
        sheet.tells_network();
        sheet.opens_network = true;
    }
}

/// A simple command, the one that launches it, and so on.
pub(super) fn launchers(leaves: &[CommandLeaf], at: usize) -> impl Iterator<Item = &CommandLeaf> {
    std::iter::successors(leaves.get(at), |leaf| leaves.get(leaf.launcher?))
}
