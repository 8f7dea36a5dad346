//! The budget: money, tokens and model calls that a session's tree and a day may take, held against what was spent before each call.

use buddy_model::ModelFacts;
use buddy_protocol::{
    Bill, Ledger, MicroUsd, PrincipalId, SessionId, Spending, SpendingLimit, UnixMillis, Usage,
};

/// Milliseconds of a day.
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// The most that may be spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// By a session and all that it opened.
    pub session: Limit,
    /// By all sessions of a user on one day, in UTC.
    pub day: Limit,
}

/// A limit on spending; what is absent is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limit {
    /// Money.
    pub cost: Option<MicroUsd>,
    /// Tokens, in and out.
    pub tokens: Option<u64>,
    /// Model calls, those for summaries included.
    pub calls: Option<u64>,
}

impl Budget {
    /// The same, with no more for the session than a limit of its own allows.
    pub(crate) fn within(self, limit: SpendingLimit) -> Self {
        let Limit { cost, tokens, calls } = self.session;
        let SpendingLimit { cost, tokens, calls } = SpendingLimit { cost, tokens, calls }.narrowed(limit);
        Self { session: Limit { cost, tokens, calls }, ..self }
    }

    /// Whether anything is limited.
    pub fn is_set(&self) -> bool {
        [self.session, self.day].iter().any(|limit| *limit != Limit::default())
    }

    /// Why the next call must not be made without asking; none when it may.
    pub(crate) async fn breach(
        &self,
        ledger: &dyn Ledger,
        session: &SessionId,
        owner: &PrincipalId,
        now: UnixMillis,
        facts: &ModelFacts,
    ) -> Option<String> {
        if !self.is_set() {
            return None;
        }
        let has_money = self.session.cost.is_some() || self.day.cost.is_some();
        if has_money && facts.cost(&Usage::default()).is_none() {
            return Some("there is a cost limit, but the price of this model is unknown".to_owned());
        }
        let today = UnixMillis(now.0 - now.0 % DAY);
        let scopes = [
            ("in this session", self.session, Spending::Tree(session.clone())),
            ("today", self.day, Spending::Since { owner: owner.clone(), time: today }),
        ];
        for (name, limit, scope) in scopes {
            if limit == Limit::default() {
                continue;
            }
            match ledger.bill(scope).await {
                Ok(bill) => {
                    if let Some(reason) = limit.breach(name, &bill) {
                        return Some(reason);
                    }
                }
                Err(error) => return Some(format!("cannot read what was spent: {error}")),
            }
        }
        None
    }
}

impl Limit {
    fn breach(&self, name: &str, bill: &Bill) -> Option<String> {
        let cost = self.cost.filter(|limit| bill.cost >= *limit);
        let tokens = self.tokens.filter(|limit| bill.tokens() >= *limit);
        let calls = self.calls.filter(|limit| bill.calls >= *limit);
        let cost = cost.map(|limit| format!("{} of {limit} are spent", bill.cost));
        let tokens = || tokens.map(|limit| format!("{} of {limit} tokens are used", bill.tokens()));
        let calls = || calls.map(|limit| format!("{} of {limit} model calls are made", bill.calls));
        cost.or_else(tokens).or_else(calls).map(|reason| format!("{reason} {name}"))
    }
}
