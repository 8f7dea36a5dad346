//! The live sessions of a process: found, opened once, and unloaded to make room.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use buddy_protocol::{ItemId, Principal, SessionId, SessionsError};
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::CancellationToken;

use crate::access::SessionResource;
use crate::feed::Feed;
use crate::live::Live;

/// A session that is live or being opened, shared by all who use it.
pub(crate) type LiveCell = Arc<SessionCell>;

/// A session that is live or being opened.
#[derive(Default)]
pub(crate) struct SessionCell {
    live: OnceCell<Live>,
    /// Of those who wait for the opening now. Locked for an exchange only.
    give_up: Mutex<CancellationToken>,
}

impl SessionCell {
    /// The session, once it is open.
    pub(crate) fn get(&self) -> Option<&Live> {
        self.live.get()
    }

    /// The session, opened by `open` unless it is open. `open` must heed the token.
    pub(crate) async fn get_or_open<F>(
        &self,
        open: impl FnOnce(CancellationToken) -> F,
    ) -> Result<&Live, SessionsError>
    where
        F: Future<Output = Result<Live, SessionsError>>,
    {
        let give_up = self.give_up().clone();
        self.live.get_or_try_init(|| open(give_up)).await
    }

    fn give_up(&self) -> MutexGuard<'_, CancellationToken> {
        self.give_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the opening up for all who wait for it. A later caller can open the session again.
    fn interrupt_opening(&self) {
        std::mem::take(&mut *self.give_up()).cancel();
    }

    /// Stops the session and frees it for other processes, also while it is being opened.
    async fn close(&self) {
        self.interrupt_opening();
        let opening = self.live.get_or_try_init(|| async { Err(SessionsError::Closed) });
        if let Ok(live) = opening.await {
            live.close().await;
        }
    }
}

/// The live sessions of a process, and those that are being opened.
pub(crate) struct LiveSessions {
    /// Locked for lookups only, never while waiting.
    cells: Mutex<HashMap<SessionId, LiveCell>>,
    /// Followers of the store look here for their session.
    turnover: watch::Sender<Turnover>,
    max_live: usize,
}

/// Counts of what happened to all sessions together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Turnover {
    /// Sessions that were opened.
    pub(crate) opened: u64,
    /// Times that all sessions were closed.
    pub(crate) closed: u64,
}

impl LiveSessions {
    pub(crate) fn new(max_live: usize) -> Self {
        Self { cells: Mutex::default(), turnover: watch::Sender::new(Turnover::default()), max_live }
    }

    fn cells(&self) -> MutexGuard<'_, HashMap<SessionId, LiveCell>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session if it is live.
    fn get(&self, session: &SessionId) -> Option<LiveCell> {
        let cells = self.cells();
        cells.get(session).filter(|cell| cell.get().is_some_and(|live| !live.is_closed())).cloned()
    }

    /// The properties of a live session that decide who may do what in it.
    pub(crate) fn access(&self, session: &SessionId) -> Option<SessionResource> {
        Some(self.get(session)?.get()?.access.clone())
    }

    /// A subscription to a session if it is live.
    pub(crate) async fn feed(&self, session: &SessionId) -> Option<Feed> {
        let cell = self.get(session)?;
        // An actor that stops at this moment has no feed, and its log no more events.
        cell.get()?.subscribe().await.ok()
    }

    /// The client that made a call which runs in a live session.
    pub(crate) async fn caller(&self, session: &SessionId, item: &ItemId) -> Option<Principal> {
        let cell = self.get(session)?;
        cell.get()?.caller(item.clone()).await
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Turnover> {
        self.turnover.subscribe()
    }

    /// Tells followers that a session was opened.
    pub(crate) fn note_opened(&self) {
        self.turnover.send_modify(|turnover| turnover.opened += 1);
    }

    /// The cell of a session that is to be opened or used. Waits until a session that is being unloaded is gone, and makes
    /// room if too many are live.
    pub(crate) async fn cell(&self, session: &SessionId) -> Result<LiveCell, SessionsError> {
        loop {
            let Some(cell) = self.cells().get(session).cloned() else { break };
            match cell.get().filter(|live| live.is_closed()) {
                None => return Ok(cell),
                Some(live) => live.close().await,
            }
            self.forget(session, &cell);
        }
        self.make_room().await?;
        Ok(self.cells().entry(session.clone()).or_default().clone())
    }

    /// Whether a session is being opened. If so, and if `is_meant`, the opening is given up.
    pub(crate) fn interrupt_opening(&self, session: &SessionId, is_meant: bool) -> bool {
        let cells = self.cells();
        // A cell that only this table has is not being opened.
        let is_opening = |cell: &&LiveCell| cell.get().is_none() && Arc::strong_count(cell) > 1;
        let Some(cell) = cells.get(session).filter(is_opening) else { return false };
        if is_meant {
            cell.interrupt_opening();
        }
        true
    }

    fn forget(&self, session: &SessionId, cell: &LiveCell) {
        let mut cells = self.cells();
        if cells.get(session).is_some_and(|known| Arc::ptr_eq(known, cell)) {
            cells.remove(session);
        }
    }

    /// Unloads the idle session that was used least recently, if as many are live as may be.
    async fn make_room(&self) -> Result<(), SessionsError> {
        let mut used: Vec<(tokio::time::Instant, SessionId, LiveCell)> = {
            let mut cells = self.cells();
            if cells.len() < self.max_live {
                return Ok(());
            }
            // A cell that nobody is opening holds a session that failed to open, or one that was closed.
            cells.retain(|_, cell| {
                Arc::strong_count(cell) > 1 || cell.get().is_some_and(|live| !live.is_closed())
            });
            if cells.len() < self.max_live {
                return Ok(());
            }
            let live = cells.iter().filter_map(|(id, cell)| Some((cell.get()?.last_used(), id, cell)));
            live.map(|(used, id, cell)| (used, id.clone(), cell.clone())).collect()
        };
        used.sort_by_key(|(used, _, _)| *used);
        for (_, session, cell) in used {
            if let Some(live) = cell.get()
                && live.unload().await
            {
                self.forget(&session, &cell);
                return Ok(());
            }
        }
        Err(SessionsError::Conflict(format!("{} sessions are live and none is idle", self.max_live)))
    }

    /// Stops all sessions and frees them for other processes.
    pub(crate) async fn close(&self) {
        let cells: Vec<LiveCell> = self.cells().drain().map(|(_, cell)| cell).collect();
        let close = |cell: LiveCell| async move { cell.close().await };
        futures::future::join_all(cells.into_iter().map(close)).await;
        self.turnover.send_modify(|turnover| turnover.closed += 1);
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;

    #[tokio::test]
    async fn an_interrupt_gives_the_opening_up_for_all_who_wait() {
        let cell = SessionCell::default();
        // Opens only when it is given up, as a host that does not answer.
        let open = |give_up: CancellationToken| async move {
            give_up.cancelled().await;
            Err(SessionsError::Closed)
        };
        let (mut first, mut second) = (Box::pin(cell.get_or_open(open)), Box::pin(cell.get_or_open(open)));
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        cell.interrupt_opening();
        assert!(first.await.is_err() && second.await.is_err());
        let mut later = Box::pin(cell.get_or_open(open));
        assert!(poll!(&mut later).is_pending(), "a later caller opens the session again");
    }
}
