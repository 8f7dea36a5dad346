//! What a caller wants of a run in a pane: that it goes on, or that it stops.

use std::time::Duration;

use tokio::sync::watch;

use crate::Stop;

/// The signals to the foreground, and the time that each has to work. The shell itself ends a loop only by an
/// interrupt, so there is one again after the kill.
pub(super) const STOPPING: &[(&str, Duration)] = &[
    ("INT", Duration::from_secs(1)),
    ("TERM", Duration::from_secs(1)),
    ("KILL", Duration::from_millis(500)),
    ("INT", Duration::from_millis(500)),
    ("KILL", Duration::from_millis(500)),
];

pub(super) const KILLING: &[(&str, Duration)] = &[
    ("KILL", Duration::from_millis(500)),
    ("INT", Duration::from_millis(500)),
    ("KILL", Duration::from_millis(500)),
];

/// Whether a run is to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wish {
    #[default]
    GoOn,
    Stop,
    Kill,
}

/// The handle that requests a stop of a run.
pub(super) struct Brake(pub(super) watch::Sender<Wish>);

impl Stop for Brake {
    fn stop(&self) {
        self.0.send_modify(|wish| *wish = (*wish).max(Wish::Stop));
    }

    fn kill(&self) {
        self.0.send_modify(|wish| *wish = Wish::Kill);
    }
}
