//! Points in an answer at which the server waits for the test, so that races have one outcome.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// A test that waits longer than this has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A named point in a script. Once open it stays open.
#[derive(Debug, Clone)]
pub struct Gate {
    name: String,
    /// The number of answers that have reached the gate.
    reached: watch::Sender<usize>,
    /// Whether answers may pass.
    opened: watch::Sender<bool>,
}

impl Gate {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), reached: watch::Sender::new(0), opened: watch::Sender::new(false) }
    }

    /// Waits until an answer is at the gate and everything before it is sent.
    pub async fn reached(&self) {
        let mut reached = self.reached.subscribe();
        let arrival = timeout(PATIENCE, reached.wait_for(|count| *count > 0)).await;
        assert!(arrival.is_ok(), "no answer came to gate `{}`", self.name);
    }

    /// Lets answers pass, now and later.
    pub fn open(&self) {
        self.opened.send_replace(true);
    }

    /// Waits until an answer is at the gate, then lets it pass.
    pub async fn pass(&self) {
        self.reached().await;
        self.open();
    }

    /// The server's side: wait here until the test opens the gate.
    pub(super) async fn wait(&self) {
        self.reached.send_modify(|count| *count += 1);
        // The sender lives in `self`, so this ends only by opening.
        let mut opened = self.opened.subscribe();
        let _opened = opened.wait_for(|opened| *opened).await;
    }
}

/// The gates of a server by name, created on demand.
#[derive(Debug, Default)]
pub(super) struct Gates(Mutex<HashMap<String, Gate>>);

impl Gates {
    pub(super) fn get(&self, name: &str) -> Gate {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(name.to_owned()).or_insert_with(|| Gate::new(name)).clone()
    }
}
