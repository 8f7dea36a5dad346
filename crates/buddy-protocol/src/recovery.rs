//! Recovery: the facts that close everything a dead writer left open, so that the log is whole again.
//!
//! A tool call whose intent was written but whose result was not may have had effects. Recovery closes it as
//! interrupted with an unknown outcome. buddy never runs it again by itself.

use crate::{
    Answer, Answered, AuthoredFact, Envelope, Fact, Item, ItemEnded, ItemStatus, Principal, ToolFailure,
    Transcript, TurnEnded, TurnOutcome, UnixMillis,
};

/// The facts to append before anything else happens in the session; empty if the session was left whole. buddy itself
/// is their author.
pub fn recovery(transcript: &Transcript, now: UnixMillis) -> Vec<AuthoredFact> {
    let asks = transcript
        .asks()
        .iter()
        .map(|ask| Fact::Answered(Answered { ask: ask.id.clone(), answer: Answer::Withdrawn }));
    let items = transcript.open_items().map(|item| Fact::ItemEnded(ItemEnded { item: closed(item, now) }));
    let turn = transcript.turn().map(|turn| {
        Fact::TurnEnded(TurnEnded {
            turn: turn.clone(),
            outcome: TurnOutcome::Interrupted,
            stop_reason: None,
            failure: None,
        })
    });
    let buddy = Principal::system();
    asks.chain(items).chain(turn).map(|fact| AuthoredFact::new(&buddy, fact)).collect()
}

fn closed(item: &Item, now: UnixMillis) -> Item {
    let failure = match item.status {
        ItemStatus::Pending => {
            ToolFailure::new("not_run", "the call was not run: buddy stopped before it started")
        }
        _ => ToolFailure::new("outcome_unknown", "buddy stopped while the call ran; its outcome is unknown")
            .hint("check what it did before you repeat it"),
    };
    Item { status: ItemStatus::Interrupted, ..item.clone() }.with_output(Envelope::new(now, Err(failure)))
}
