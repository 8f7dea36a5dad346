//! The findings about an intent, and the verdict on all of them together.

use std::path::PathBuf;

use buddy_protocol::{ApprovalPolicy, Risk};

use super::advice::{AdvisedRule, AdvisedWay};
use crate::{
    Attendance, Decision, Execution, Mode, Needs, Now, Offer, Policy, Scope, SentWork, Tier, Verdict,
};

/// The approval that a finding needs to run without a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// A rule or a grant, or a user who accepts edits.
    Edit,
    /// A rule or a grant.
    Soft,
    /// A rule or a grant. It works beyond the jail, later or in an open terminal, so `auto` does not cover
    /// it.
    Seen,
    /// No grant; a window of time that the user opened.
    Firm,
    /// The user, each time, if nothing holds the command to the workspace; or `all`.
    Contained,
    /// The user, each time; or `all`.
    Hard,
    /// It crosses the boundary of the jail and the workspace: it reads a secret, changes a file that decides
    /// who may say yes, or sends to a host that nobody named. The user, each time; `all` only in production.
    Boundary,
}

/// The verdict on a finding of this weight if no rule denies it.
fn verdict(weight: Weight, approvals: ApprovalPolicy, policy: &Policy) -> Verdict {
    let is_allowed = match approvals {
        ApprovalPolicy::Ask | ApprovalPolicy::None => false,
        ApprovalPolicy::Edits => weight == Weight::Edit,
        ApprovalPolicy::Window { .. } => weight <= Weight::Firm,
        ApprovalPolicy::Auto => policy.is_confined() && weight <= Weight::Contained && weight != Weight::Seen,
        ApprovalPolicy::All => weight != Weight::Boundary || policy.mode == Mode::Production,
    };
    match (is_allowed, approvals) {
        (true, _) => Verdict::Allow,
        (false, ApprovalPolicy::None) => Verdict::Deny,
        (false, _) => Verdict::Ask,
    }
}

fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    }
}

/// A reason to ask the user.
struct SheetConcern {
    weight: Weight,
    reason: String,
    /// Whether one of the offers settles it.
    has_offer: bool,
}

/// The most simple commands that are named.
const MAX_PARTS: usize = 50;

/// The findings.
pub(crate) struct Sheet {
    denials: Vec<String>,
    asks: Vec<SheetConcern>,
    ways: Vec<AdvisedWay>,
    /// Rules for its commands that no rule covers.
    commands: Vec<AdvisedRule>,
    tier: Tier,
    risk: Risk,
    parts: Vec<String>,
    risky: Vec<String>,
    offers: Vec<Offer>,
    execution: Execution,
    pins: Vec<PathBuf>,
    pub(crate) changed_orders: Vec<PathBuf>,
    pub(crate) changed_secrets: Vec<PathBuf>,
    is_read_only: bool,
    reads_secret: bool,
    strangers: Vec<Option<String>>,
    tells_network: bool,
    /// Whether each of its programs that is not known to only read goes to a server of this machine.
    pub(crate) reaches_here: bool,
    pub(crate) needs: Needs,
    /// Whether a yes gives it the whole network.
    pub(crate) opens_network: bool,
    /// Hosts with their ports in its words, and whether something other than an answer settles them.
    pub(crate) reached: Vec<(String, bool)>,
    /// Whether a grant lets it run that says nothing of the network.
    pub(crate) keeps_broker: bool,
    /// Whether the broker is left to judge a host that cannot be read off the words.
    pub(crate) needs_broker: bool,
    /// Work that its commands send to others.
    pub(crate) sends: Option<SentWork>,
}

impl Sheet {
    pub(crate) fn new(tier: Tier) -> Self {
        Self {
            denials: Vec::new(),
            asks: Vec::new(),
            ways: Vec::new(),
            commands: Vec::new(),
            tier,
            risk: Risk::Low,
            parts: Vec::new(),
            risky: Vec::new(),
            offers: Vec::new(),
            execution: Execution::Shell,
            pins: Vec::new(),
            changed_orders: Vec::new(),
            changed_secrets: Vec::new(),
            is_read_only: true,
            reads_secret: false,
            strangers: Vec::new(),
            tells_network: false,
            reaches_here: false,
            needs: Needs::default(),
            opens_network: false,
            reached: Vec::new(),
            needs_broker: false,
            keeps_broker: false,
            sends: None,
        }
    }

    pub(crate) fn deny(&mut self, reason: impl Into<String>) {
        self.denials.push(reason.into());
    }

    pub(crate) fn ask(&mut self, weight: Weight, risk: Risk, reason: impl Into<String>) {
        self.concern(SheetConcern { weight, reason: reason.into(), has_offer: weight <= Weight::Seen }, risk);
    }

    /// Asks for a call that a grant of its own settles, regardless of its weight.
    pub(crate) fn ask_with_offer(&mut self, weight: Weight, risk: Risk, reason: String, offer: Offer) {
        self.concern(SheetConcern { weight, reason, has_offer: true }, risk);
        self.offer(offer);
    }

    /// Asks for a call that one of the offers which follow settles, regardless of its weight.
    pub(crate) fn ask_for_grant(&mut self, weight: Weight, risk: Risk, reason: String) {
        self.concern(SheetConcern { weight, reason, has_offer: true }, risk);
    }

    fn concern(&mut self, concern: SheetConcern, risk: Risk) {
        self.raise(risk);
        if concern.weight >= Weight::Contained {
            self.tier = Tier::Individual;
        }
        if !self.asks.iter().any(|known| known.reason == concern.reason) {
            self.asks.push(concern);
        }
    }

    /// Marks words of the command that a reason is about.
    pub(crate) fn mark(&mut self, words: &str) {
        if self.risky.len() < MAX_PARTS && !self.risky.iter().any(|known| known == words) {
            self.risky.push(words.to_owned());
        }
    }

    /// Marks words if there are more reasons than so many.
    pub(crate) fn mark_since(&mut self, before: usize, words: Option<&str>) {
        if let Some(words) = words.filter(|_| self.asks.len() > before) {
            self.mark(words);
        }
    }

    /// The number of reasons to ask so far.
    pub(crate) fn count_asks(&self) -> usize {
        self.asks.len()
    }

    /// Names a way to allow it beforehand, for the reader of a denial in a run where nobody could be asked.
    pub(crate) fn way(&mut self, text: String) {
        self.advise(AdvisedWay { text, rule: None, opens: None });
    }

    /// The same of a setting that opens a directory.
    pub(crate) fn way_by_opening(&mut self, text: String, directory: PathBuf) {
        self.advise(AdvisedWay { text, rule: None, opens: Some(directory) });
    }

    /// The same of a way that is a rule of the run.
    pub(crate) fn way_by_rule(&mut self, text: String, rule: Option<AdvisedRule>) {
        self.advise(AdvisedWay { text, rule, opens: None });
    }

    fn advise(&mut self, way: AdvisedWay) {
        if !self.ways.contains(&way) {
            self.ways.push(way);
        }
    }

    /// Notes a rule that would cover one of its commands.
    pub(crate) fn advise_command(&mut self, rule: AdvisedRule) {
        if self.commands.len() < MAX_PARTS && !self.commands.contains(&rule) {
            self.commands.push(rule);
        }
    }

    /// The ways that its findings name, and rules for its commands.
    pub(crate) fn advice(&self) -> (Vec<AdvisedWay>, Vec<AdvisedRule>) {
        (self.ways.clone(), self.commands.clone())
    }

    pub(crate) fn raise(&mut self, risk: Risk) {
        self.risk = self.risk.max(risk);
    }

    /// Names a simple command that was read.
    pub(crate) fn name_part(&mut self, part: String) {
        if self.parts.len() < MAX_PARTS {
            self.parts.push(part);
        }
    }

    pub(crate) fn offer(&mut self, offer: Offer) {
        self.offers.push(offer);
    }

    /// Takes the offers away that were made so far.
    pub(crate) fn take_offers(&mut self) -> Vec<Offer> {
        std::mem::take(&mut self.offers)
    }

    /// For calls that no grant would allow.
    pub(crate) fn offer_nothing(&mut self) {
        self.offers.clear();
    }

    /// For calls that only a grant of exactly their line would allow.
    pub(crate) fn offer_only_lines(&mut self) {
        self.offers.retain(|offer| matches!(offer.grant.scope, Scope::Command { .. }));
    }

    pub(crate) fn pin(&mut self, pins: Vec<PathBuf>) {
        self.pins.extend(pins);
    }

    pub(crate) fn execute(&mut self, execution: Execution) {
        self.execution = execution;
    }

    pub(crate) fn changes_something(&mut self) {
        self.is_read_only = false;
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Notes that a secret would be read.
    pub(crate) fn reads_secret(&mut self) {
        self.reads_secret = true;
    }

    /// Whether a secret would be read or changed.
    pub(crate) fn names_secret(&self) -> bool {
        self.reads_secret || !self.needs.asked.is_empty()
    }

    /// Notes a host that is asked about; `None` if it is not known.
    pub(crate) fn reaches_stranger(&mut self, host: Option<String>) {
        self.strangers.push(host);
    }

    /// Notes that the reasons say that all of it uses the network.
    pub(crate) fn tells_network(&mut self) {
        self.tells_network = true;
    }

    pub(crate) fn has_strangers(&self) -> bool {
        !self.strangers.is_empty()
    }

    /// Whether there is no objection so far.
    pub(crate) fn is_clear(&self) -> bool {
        self.asks.is_empty() && self.denials.is_empty()
    }

    /// The verdict on all of it: the strictest on any finding.
    pub(crate) fn decide(mut self, policy: &Policy, now: &Now<'_>) -> Decision {
        let heaviest = self.asks.iter().map(|concern| concern.weight).max();
        let verdicts = self.asks.iter().map(|concern| verdict(concern.weight, now.approvals, policy));
        let by_weight = verdicts.max_by_key(|verdict| strictness(*verdict)).unwrap_or(Verdict::Allow);
        let is_asked = self.denials.is_empty() && by_weight == Verdict::Ask;
        let is_unasked = self.denials.is_empty()
            && (by_weight == Verdict::Deny || (is_asked && now.attendance == Attendance::Nobody));
        let verdict = match (self.denials.is_empty(), is_unasked) {
            (false, _) | (true, true) => Verdict::Deny,
            (true, false) => by_weight,
        };
        let is_by_policy = match now.approvals {
            // A rule alone decides for itself, in `keeps_broker`.
            ApprovalPolicy::Auto => policy.is_confined() && (heaviest.is_some() || self.needs_broker),
            ApprovalPolicy::All | ApprovalPolicy::Window { .. } => heaviest.is_some(),
            ApprovalPolicy::Ask | ApprovalPolicy::Edits | ApprovalPolicy::None => false,
        };
        // A command that only reads needs no network, and a program that a project's settings make it run
        // gets none.
        let only_reads = self.is_read_only && self.needs.runs && policy.holds_to_reading();
        let stays_inside = policy.mode == Mode::Development
            && verdict == Verdict::Allow
            && (only_reads || self.keeps_broker || is_by_policy);
        // The heaviest first: the user reads that one.
        self.asks.sort_by_key(|concern| std::cmp::Reverse(concern.weight));
        let may_offer = verdict == Verdict::Ask && self.asks.iter().all(|concern| concern.has_offer);
        // A grant of the host alone would ask again for everything else that asks about a command.
        let is_asking =
            |concern: &&SheetConcern| self::verdict(concern.weight, now.approvals, policy) == Verdict::Ask;
        if self.needs.runs && self.asks.iter().filter(is_asking).count() > 1 {
            self.offers.retain(|offer| !offer.grant.scope.is_of_hosts());
        }
        // Beside a heavier reason, that a program runs or a file is edited says nothing. A refusal names the reason that refuses,
        // and nothing that would only have been asked about.
        let is_refused = !self.denials.is_empty();
        let says_something = |concern: &SheetConcern| {
            !is_refused && (heaviest <= Some(Weight::Soft) || concern.weight > Weight::Soft)
        };
        let asks = self.asks.into_iter().filter(says_something).map(|concern| concern.reason);
        // Without a broker a yes opens the network to all of it.
        let has_network = policy.is_jailed() && !policy.has_broker && !policy.is_offline;
        let is_untold =
            verdict == Verdict::Ask && self.needs.runs && !self.is_read_only && !self.tells_network;
        let network = (has_network && is_untold).then(|| "it can reach the network".to_owned());
        let is_settled = |(_, is_settled): &(String, bool)| *is_settled || verdict == Verdict::Ask;
        let (reached, addressed): (Vec<_>, Vec<_>) = self.reached.into_iter().partition(is_settled);
        let authorities =
            |found: Vec<(String, bool)>| found.into_iter().map(|(authority, _)| authority).collect();
        let reasons = self.denials.into_iter().chain(asks).chain(network).collect();
        Decision {
            verdict,
            tier: self.tier,
            risk: self.risk,
            reasons,
            ways: if is_unasked { self.ways.into_iter().map(|way| way.text).collect() } else { Vec::new() },
            is_unasked,
            is_mode_denial: is_unasked && by_weight == Verdict::Deny,
            sends: self.sends,
            parts: self.parts,
            risky: self.risky,
            offers: if may_offer { self.offers } else { Vec::new() },
            execution: self.execution,
            pins: self.pins,
            changed_orders: self.changed_orders,
            changed_secrets: self.changed_secrets,
            is_read_only: self.is_read_only,
            reads_secret: self.reads_secret,
            strangers: self.strangers.into_iter().flatten().collect(),
            tells_network: self.tells_network,
            reaches_here: self.reaches_here,
            reached: authorities(reached),
            addressed: authorities(addressed),
            is_grave: heaviest >= Some(Weight::Contained),
            needs: self.needs,
            stays_inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(mode: Mode) -> Policy {
        Policy { mode, ..Policy::plain("/w".into()) }
    }

    /// Verdicts by weight, from `Edit` to `Boundary`: allow, ask, deny.
    #[track_caller]
    fn check(approvals: ApprovalPolicy, policy: &Policy, verdicts: &str) {
        let weights = [
            Weight::Edit,
            Weight::Soft,
            Weight::Seen,
            Weight::Firm,
            Weight::Contained,
            Weight::Hard,
            Weight::Boundary,
        ];
        let letter = |weight| match verdict(weight, approvals, policy) {
            Verdict::Allow => 'a',
            Verdict::Ask => '?',
            Verdict::Deny => 'd',
        };
        let found: String = weights.into_iter().map(letter).collect();
        assert_eq!(found, verdicts, "{approvals:?} {:?}", policy.mode);
    }

    #[test]
    fn every_cell_of_the_table_of_verdicts() {
        for mode in [Mode::Development, Mode::Plan, Mode::Production] {
            check(ApprovalPolicy::Ask, &policy(mode), "???????");
            check(ApprovalPolicy::Edits, &policy(mode), "a??????");
            check(ApprovalPolicy::Window { seconds: 60 }, &policy(mode), "aaaa???");
            check(ApprovalPolicy::None, &policy(mode), "ddddddd");
        }
        check(ApprovalPolicy::All, &policy(Mode::Development), "aaaaaa?");
        check(ApprovalPolicy::All, &policy(Mode::Plan), "aaaaaa?");
        check(ApprovalPolicy::All, &policy(Mode::Production), "aaaaaaa");
        check(ApprovalPolicy::Auto, &policy(Mode::Development), "aa?aa??");
        for mode in [Mode::Plan, Mode::Production] {
            check(ApprovalPolicy::Auto, &policy(mode), "???????");
        }
        let mut elsewhere = policy(Mode::Development);
        elsewhere.places.remote = true;
        check(ApprovalPolicy::Auto, &elsewhere, "???????");
        let mut untrusted = policy(Mode::Development);
        untrusted.places.untrusted = Some("/w".into());
        check(ApprovalPolicy::Auto, &untrusted, "???????");
    }

    #[test]
    fn a_lighter_concern_that_asks_is_not_hidden_by_a_heavier_one_that_does_not() {
        let mut sheet = Sheet::new(Tier::Auto);
        sheet.ask(Weight::Seen, Risk::Low, "it runs later");
        sheet.ask(Weight::Contained, Risk::Medium, "it is unclear");
        let decision = sheet.decide(&policy(Mode::Development), &Now::with(ApprovalPolicy::Auto));
        assert_eq!(decision.verdict, Verdict::Ask);
    }

    #[test]
    fn unattended_questions_are_denials_that_say_so() {
        for (approvals, is_unasked) in
            [(ApprovalPolicy::Ask, true), (ApprovalPolicy::Edits, true), (ApprovalPolicy::All, false)]
        {
            let mut sheet = Sheet::new(Tier::Auto);
            sheet.ask(Weight::Soft, Risk::Low, "it writes");
            sheet.way("a rule".to_owned());
            let now = Now { attendance: Attendance::Nobody, ..Now::with(approvals) };
            let decision = sheet.decide(&policy(Mode::Development), &now);
            assert_eq!(decision.is_unasked, is_unasked, "{approvals:?}");
            assert_eq!(decision.verdict, if is_unasked { Verdict::Deny } else { Verdict::Allow });
            assert_eq!(decision.ways.is_empty(), !is_unasked);
        }
    }

    #[test]
    fn a_denial_by_a_rule_is_not_called_unattended() {
        let mut sheet = Sheet::new(Tier::Auto);
        sheet.deny("a rule");
        sheet.ask(Weight::Boundary, Risk::High, "it reads a secret");
        let now = Now { attendance: Attendance::Nobody, ..Now::with(ApprovalPolicy::All) };
        let decision = sheet.decide(&policy(Mode::Production), &now);
        assert_eq!((decision.verdict, decision.is_unasked), (Verdict::Deny, false));
    }
}
