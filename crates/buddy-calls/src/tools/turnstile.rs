//! The order of questions: those about the calls of one answer are put in the order of the calls, however long it takes to find
//! out what each question has to say.

use std::sync::Arc;
use std::task::Poll;

use buddy_protocol::{Answer, Ask, EventSink, SinkClosed};
use futures::poll;
use tokio::sync::watch;

/// The place of a call among those of its answer that may ask.
#[derive(Clone, Default)]
pub(crate) struct Ticket {
    /// Calls before it; true once each has put its question or needs none.
    before: Vec<watch::Receiver<bool>>,
    /// Set for those behind it. Dropped with the call, which tells them the same.
    passed: Arc<watch::Sender<bool>>,
}

impl Ticket {
    /// The ticket behind all of these.
    pub(crate) fn behind<'a>(earlier: impl Iterator<Item = &'a Self>) -> Self {
        Self { before: earlier.map(|ticket| ticket.passed.subscribe()).collect(), passed: Arc::default() }
    }

    /// Lets those behind go on.
    pub(crate) fn release(&self) {
        self.passed.send_replace(true);
    }

    /// Waits until all calls before have put their questions.
    pub(crate) async fn turn(&self) {
        for mut earlier in self.before.clone() {
            // An error means that the sender is gone, and so the call has ended.
            let _ = earlier.wait_for(|passed| *passed).await;
        }
    }
}

/// Puts a question when it is its turn, lets those behind go on, and waits for the answer.
pub(crate) async fn ask_in_turn(
    sink: &dyn EventSink,
    ask: Ask,
    tickets: &[Ticket],
) -> Result<Answer, SinkClosed> {
    if let Some(first) = tickets.first() {
        first.turn().await;
    }
    let mut answer = sink.ask(ask);
    // The first poll puts the question, or queues for it.
    let polled = poll!(&mut answer);
    tickets.iter().for_each(Ticket::release);
    match polled {
        Poll::Ready(answer) => answer,
        Poll::Pending => answer.await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn a_call_waits_for_those_before_it_and_for_none_behind() {
        let first = Ticket::default();
        let second = Ticket::behind([&first].into_iter());
        let third = Ticket::behind([&first, &second].into_iter());
        assert!(first.turn().now_or_never().is_some());
        assert!(second.turn().now_or_never().is_none());
        first.release();
        assert!(second.turn().now_or_never().is_some());
        assert!(third.turn().now_or_never().is_none());
        drop(second);
        assert!(third.turn().now_or_never().is_some(), "a call that ended is waited for no longer");
    }
}
