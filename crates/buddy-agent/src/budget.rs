//! The budget: money, tokens and model calls that sessions and a day may take, held against what was spent before each call.

use buddy_model::ModelFacts;
use buddy_protocol::{
    Bill, Ledger, PrincipalId, SessionId, Spending, SpendingLimit, SubtreeLimit, UnixMillis, Usage,
};

/// Milliseconds of a day.
const DAY: u64 = 24 * 60 * 60 * 1_000;

/// The most that a run may spend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    /// By a session, those above it and all that they opened.
    pub session: SpendingLimit,
    /// By all sessions of a user on one day, in UTC.
    pub day: SpendingLimit,
}

/// The most that a session may spend: the budget of its run, and the limits in its terms and in those of the sessions above it, each on
/// what the session with that limit spends with those below it.
#[derive(Debug, Clone)]
pub(crate) struct SessionBudget {
    run: Budget,
    terms: Vec<SubtreeLimit>,
    session: SessionId,
    owner: PrincipalId,
}

impl SessionBudget {
    pub(crate) fn new(run: Budget, terms: Vec<SubtreeLimit>, session: SessionId, owner: PrincipalId) -> Self {
        Self { run, terms, session, owner }
    }

    /// Whether anything is limited.
    pub(crate) fn is_set(&self) -> bool {
        self.limits().any(|limit| !limit.is_unset())
    }

    /// The lowest limit for each thing, beside those of a day.
    pub(crate) fn narrowest(&self) -> SpendingLimit {
        self.terms.iter().fold(self.run.session, |narrowest, terms| narrowest.narrowed(terms.limit))
    }

    fn limits(&self) -> impl Iterator<Item = SpendingLimit> {
        [self.run.session, self.run.day].into_iter().chain(self.terms.iter().map(|terms| terms.limit))
    }

    /// Why the next call must not be made without asking; none when it may.
    pub(crate) async fn breach(
        &self,
        ledger: &dyn Ledger,
        now: UnixMillis,
        facts: &ModelFacts,
    ) -> Option<String> {
        if self.limits().any(|limit| limit.cost.is_some()) && facts.cost(&Usage::default()).is_none() {
            return Some("there is a cost limit, but the price of this model is unknown".to_owned());
        }
        for (name, limit, scope) in self.scopes(now) {
            if limit.is_unset() {
                continue;
            }
            match ledger.bill(scope).await {
                Ok(bill) => {
                    if let Some(reason) = breach_of(limit, &name, &bill) {
                        return Some(reason);
                    }
                }
                Err(error) => return Some(format!("cannot read what was spent: {error}")),
            }
        }
        None
    }

    fn scopes(&self, now: UnixMillis) -> Vec<(String, SpendingLimit, Spending)> {
        let today = UnixMillis(now.0 - now.0 % DAY);
        let of_day = Spending::Since { owner: self.owner.clone(), time: today };
        let of_run = [
            ("in this session".to_owned(), self.run.session, Spending::Tree(self.session.clone())),
            ("today".to_owned(), self.run.day, of_day),
        ];
        let of_terms = self.terms.iter().map(|SubtreeLimit { session, limit }| {
            let name = if *session == self.session {
                "under the terms of this session".to_owned()
            } else {
                format!("under the terms of `{session}` above")
            };
            (name, *limit, Spending::Beneath(session.clone()))
        });
        of_run.into_iter().chain(of_terms).collect()
    }
}

fn breach_of(limit: SpendingLimit, name: &str, bill: &Bill) -> Option<String> {
    let cost = limit.cost.filter(|limit| bill.cost >= *limit);
    let tokens = limit.tokens.filter(|limit| bill.tokens() >= *limit);
    let calls = limit.calls.filter(|limit| bill.calls >= *limit);
    let cost = cost.map(|limit| format!("{} of {limit} are spent", bill.cost));
    let tokens = || tokens.map(|limit| format!("{} of {limit} tokens are used", bill.tokens()));
    let calls = || calls.map(|limit| format!("{} of {limit} model calls are made", bill.calls));
    cost.or_else(tokens).or_else(calls).map(|reason| format!("{reason} {name}"))
}
