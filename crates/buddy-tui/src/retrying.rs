//! A model that is asked again and again: told as one line where a face can paint over it, and seldom where it cannot.

use std::time::Duration;

use buddy_protocol::{Fact, Notice};

/// The word of a notice that a model is asked again.
const MODEL_RETRY: &str = "model_retry";
/// The beginning of such a notice, before the seconds.
const ASKING: &str = "trying again in ";

/// The notice that a model is asked again, if a fact is one.
pub(crate) fn find_retry(fact: &Fact) -> Option<&Notice> {
    match fact {
        Fact::Notice(notice) if notice.code == MODEL_RETRY => Some(notice),
        _ => None,
    }
}

/// The text of a retry at a later moment: the time that is left counts down.
pub(crate) fn count_down(text: &str, since: Duration) -> String {
    let rest = || Some(text.strip_prefix(ASKING)?.split_once(" s, ")?.1);
    match wait_seconds(text).zip(rest()) {
        Some((seconds, rest)) if seconds > since.as_secs_f32() => {
            format!("{ASKING}{:.0} s, {rest}", (seconds - since.as_secs_f32()).ceil())
        }
        Some((_, rest)) => format!("trying again, {rest}"),
        None => text.to_owned(),
    }
}

/// The seconds that a retry waits.
fn wait_seconds(text: &str) -> Option<f32> {
    text.strip_prefix(ASKING)?.split_once(" s, ")?.0.parse().ok()
}

/// The parts of a line that [`count_down`] gives.
pub(crate) struct RetryWords<'a> {
    /// The time that is left; none while the model is asked.
    pub(crate) seconds: Option<u64>,
    /// Which attempt it is.
    pub(crate) attempt: &'a str,
    /// Why the last one failed.
    pub(crate) why: &'a str,
}

/// The parts of such a line.
pub(crate) fn read_retry(line: &str) -> Option<RetryWords<'_>> {
    let (seconds, rest) = match line.strip_prefix(ASKING) {
        Some(rest) => {
            let (seconds, rest) = rest.split_once(" s, ")?;
            (Some(seconds.parse().ok()?), rest)
        }
        None => (None, line.strip_prefix("trying again, ")?),
    };
    let (attempt, why) = rest.split_once(": ")?;
    Some(RetryWords { seconds, attempt, why })
}

/// Whether a fact shows that the model answers, or that nobody waits for it any more.
pub(crate) fn ends_retries(fact: &Fact) -> bool {
    matches!(fact, Fact::ItemStarted(_) | Fact::ItemDelta(_) | Fact::ItemEnded(_) | Fact::TurnEnded(_))
}

/// A retry that waits longer is told, so that no face is silent for minutes.
const LONG_WAIT_SECONDS: f32 = 5.0;

/// For faces that cannot paint over a line: of several retries the first is told, and each that waits long.
#[derive(Debug, Default)]
pub(crate) struct RetryNews {
    is_told: bool,
}

impl RetryNews {
    /// Whether a fact is to be told.
    pub(crate) fn is_news(&mut self, fact: &Fact) -> bool {
        if let Some(notice) = find_retry(fact) {
            let is_long = wait_seconds(&notice.text).is_some_and(|seconds| seconds >= LONG_WAIT_SECONDS);
            return !std::mem::replace(&mut self.is_told, true) || is_long;
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
    fn the_time_that_is_left_counts_down() {
        let check = |text: &str, millis, expected: &str| {
            assert_eq!(count_down(text, Duration::from_millis(millis)), expected);
        };
        check("trying again in 6.8 s, attempt 7: busy", 0, "trying again in 7 s, attempt 7: busy");
        check("trying again in 6.8 s, attempt 7: busy", 5_900, "trying again in 1 s, attempt 7: busy");
        check("trying again in 6.8 s, attempt 7: busy", 9_000, "trying again, attempt 7: busy");
        check("busy", 9_000, "busy");
    }

    #[test]
    fn the_first_of_several_retries_and_those_that_wait_long_are_told() {
        let waiting = |code: &str, seconds: &str| {
            let text = format!("trying again in {seconds} s, attempt 2: busy");
            Fact::Notice(Notice { level: NoticeLevel::Warning, code: code.to_owned(), text })
        };
        let notice = |code: &str| waiting(code, "0.4");
        let turn = format!("trn_{:026}", 1).parse().unwrap();
        let ended = Fact::TurnEnded(TurnEnded {
            turn,
            outcome: TurnOutcome::Failed,
            stop_reason: None,
            failure: None,
        });
        let long = waiting(MODEL_RETRY, "12.8");
        let facts =
            [notice(MODEL_RETRY), notice("other"), notice(MODEL_RETRY), long, ended, notice(MODEL_RETRY)];
        let mut news = RetryNews::default();
        assert_eq!(facts.map(|fact| news.is_news(&fact)), [true, true, false, true, true, true]);
    }
}
