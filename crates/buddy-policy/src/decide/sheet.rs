//! What is found while an intent is judged, and the verdict on all of it together.

use std::path::PathBuf;

use buddy_protocol::Risk;

use crate::{Approvals, Decision, Execution, Needs, Offer, Tier, Verdict};

/// How much it takes to let something go on without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// A rule or a grant, or a person who accepts edits.
    Edit,
    /// A rule or a grant.
    Soft,
    /// No grant; a window of time that a person opened.
    Firm,
    /// A person, each time.
    Hard,
}

/// The most simple commands that are named.
const MAX_PARTS: usize = 50;

/// What was found.
pub(crate) struct Sheet {
    denials: Vec<String>,
    asks: Vec<(Weight, String)>,
    tier: Tier,
    risk: Risk,
    parts: Vec<String>,
    offers: Vec<Offer>,
    execution: Execution,
    pins: Vec<PathBuf>,
    is_read_only: bool,
    pub(crate) needs: Needs,
}

impl Sheet {
    pub(crate) fn new(tier: Tier) -> Self {
        Self {
            denials: Vec::new(),
            asks: Vec::new(),
            tier,
            risk: Risk::Low,
            parts: Vec::new(),
            offers: Vec::new(),
            execution: Execution::Shell,
            pins: Vec::new(),
            is_read_only: true,
            needs: Needs::default(),
        }
    }

    pub(crate) fn deny(&mut self, reason: impl Into<String>) {
        self.denials.push(reason.into());
    }

    pub(crate) fn ask(&mut self, weight: Weight, risk: Risk, reason: impl Into<String>) {
        self.raise(risk);
        if weight == Weight::Hard {
            self.tier = Tier::Individual;
        }
        let reason = reason.into();
        if !self.asks.iter().any(|(_, known)| *known == reason) {
            self.asks.push((weight, reason));
        }
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

    /// For what no grant would let go on.
    pub(crate) fn offer_nothing(&mut self) {
        self.offers.clear();
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

    /// Whether nothing speaks against it so far.
    pub(crate) fn is_clear(&self) -> bool {
        self.asks.is_empty() && self.denials.is_empty()
    }

    pub(crate) fn decide(mut self, approvals: Approvals) -> Decision {
        let heaviest = self.asks.iter().map(|(weight, _)| *weight).max();
        let verdict = match (self.denials.is_empty(), heaviest, approvals) {
            (false, _, _) | (true, Some(_), Approvals::None) => Verdict::Deny,
            (true, None, _)
            | (true, Some(_), Approvals::All)
            | (true, Some(Weight::Edit | Weight::Soft | Weight::Firm), Approvals::Window)
            | (true, Some(Weight::Edit), Approvals::Edits) => Verdict::Allow,
            (true, Some(_), Approvals::Ask | Approvals::Window | Approvals::Edits) => Verdict::Ask,
        };
        // The heaviest first: that is what a person reads.
        self.asks.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        let reasons =
            self.denials.into_iter().chain(self.asks.into_iter().map(|(_, reason)| reason)).collect();
        let may_offer = verdict == Verdict::Ask && heaviest <= Some(Weight::Soft);
        Decision {
            verdict,
            tier: self.tier,
            risk: self.risk,
            reasons,
            parts: self.parts,
            offers: if may_offer { self.offers } else { Vec::new() },
            execution: self.execution,
            pins: self.pins,
            is_read_only: self.is_read_only,
            needs: self.needs,
        }
    }
}
