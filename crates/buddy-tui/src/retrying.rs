//! A model that is asked again and again: told as one line, however often.

use buddy_protocol::{Fact, Notice};

/// The word of a notice that a model is asked again.
const MODEL_RETRY: &str = "model_retry";

/// The notice that a model is asked again, if a fact is one.
pub(crate) fn retry(fact: &Fact) -> Option<&Notice> {
    match fact {
        Fact::Notice(notice) if notice.code == MODEL_RETRY => Some(notice),
        _ => None,
    }
}

/// Whether a fact shows that the model answers, or that nobody waits for it any more.
pub(crate) fn ends_retries(fact: &Fact) -> bool {
    matches!(fact, Fact::ItemStarted(_) | Fact::ItemDelta(_) | Fact::ItemEnded(_) | Fact::TurnEnded(_))
}

/// For faces that cannot paint over a line: the first of several retries is told, and the others are not.
#[derive(Debug, Default)]
pub(crate) struct FirstRetry {
    is_told: bool,
}

impl FirstRetry {
    /// Whether a fact is to be told.
    pub(crate) fn is_news(&mut self, fact: &Fact) -> bool {
        if retry(fact).is_some() {
            return !std::mem::replace(&mut self.is_told, true);
        }
        self.is_told &= !ends_retries(fact);
        true
    }
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{NoticeLevel, TurnEnded, TurnOutcome};

    use super::*;

    #[test]
    fn one_of_several_retries_is_told() {
        let notice = |code: &str| {
            let (level, code, text) = (NoticeLevel::Warning, code.to_owned(), "busy".to_owned());
            Fact::Notice(Notice { level, code, text })
        };
        let turn = format!("trn_{:026}", 1).parse().unwrap();
        let ended = Fact::TurnEnded(TurnEnded {
            turn,
            outcome: TurnOutcome::Failed,
            stop_reason: None,
            failure: None,
        });
        let facts = [notice(MODEL_RETRY), notice("other"), notice(MODEL_RETRY), ended, notice(MODEL_RETRY)];
        let mut first = FirstRetry::default();
        assert_eq!(facts.map(|fact| first.is_news(&fact)), [true, true, false, true, true]);
    }
}
