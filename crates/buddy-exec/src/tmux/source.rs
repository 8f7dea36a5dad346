//! The source of a pane's stream: its spool, followed over the target below, and resumed where it stopped
//! when the connection was lost.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::host::Host;
use super::nonce::nonce;
use super::spool::{Part, Position, Reading};
use crate::{Running, Stream, TargetError};

/// The pause before a lost connection is restored; doubled after each try.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// An event of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came {
    Parts(Vec<Part>),
    /// The connection was lost; it is being restored.
    Away,
    /// The connection is back.
    Back,
    /// There will be no more: the pane is closed.
    End,
    /// There will be no more, as the host could not be reached again.
    OutOfReach,
}

/// The stream of one pane.
pub(super) struct Source {
    host: Arc<Host>,
    spool: String,
    flow: Flow,
}

enum Flow {
    Open(Open),
    Opening(Pin<Box<dyn Future<Output = Result<Open, TargetError>> + Send>>),
}

struct Open {
    running: Running,
    reading: Reading,
}

impl Source {
    /// Opens the beginning of a spool.
    pub(super) async fn open(host: Arc<Host>, spool: String) -> Result<Self, TargetError> {
        let open = follow(&host, &spool, Position::default()).await?;
        Ok(Self { host, spool, flow: Flow::Open(open) })
    }

    /// The next event. Cancel safe.
    pub(super) async fn next(&mut self) -> Came {
        loop {
            match &mut self.flow {
                Flow::Opening(opening) => match opening.await {
                    Ok(open) => {
                        self.flow = Flow::Open(open);
                        return Came::Back;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "the stream of a pane is out of reach");
                        return Came::OutOfReach;
                    }
                },
                Flow::Open(open) => match open.running.next().await {
                    Some(chunk) if chunk.stream == Stream::Stdout => {
                        return Came::Parts(open.reading.push(&chunk.bytes));
                    }
                    Some(_) => {}
                    None if is_lost(&open.running.wait().await) => {
                        let position = open.reading.position();
                        let opening = reopen(self.host.clone(), self.spool.clone(), position);
                        self.flow = Flow::Opening(Box::pin(opening));
                        return Came::Away;
                    }
                    None => return Came::End,
                },
            }
        }
    }
}

fn is_lost<T>(result: &Result<T, TargetError>) -> bool {
    matches!(result, Err(error) if error.is_connection())
}

async fn follow(host: &Host, spool: &str, position: Position) -> Result<Open, TargetError> {
    let mark = nonce()?;
    let running = host.follow(spool, position, &mark).await?;
    Ok(Open { running, reading: Reading::new(&mark, position) })
}

/// Tries again until the host answers or the time is over.
async fn reopen(host: Arc<Host>, spool: String, position: Position) -> Result<Open, TargetError> {
    let mut last = None;
    let tries = async {
        let mut pause = FIRST_PAUSE;
        loop {
            sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
            match follow(&host, &spool, position).await {
                Err(error) if error.is_connection() => last = Some(error),
                done => return done,
            }
        }
    };
    let done = timeout(host.reconnect_within, tries).await;
    done.unwrap_or_else(|_| {
        let reason = format!("no answer within {} s", host.reconnect_within.as_secs());
        Err(last.unwrap_or(TargetError::Unreachable { target: host.target.describe().name.clone(), reason }))
    })
}
