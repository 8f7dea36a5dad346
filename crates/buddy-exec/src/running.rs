//! A command that runs: its live output, its end, and the handle that stops it.

use std::fmt;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::room_sign::RoomSign;
use crate::{Chunk, Exit, StdinWriter, TargetError};

/// The size of the largest [`Chunk`].
pub const CHUNK_BYTES: usize = 8 * 1024;

/// The most chunks of one run that are delivered. Later output is in the captured output and in the log only:
/// nobody reads 80 MB live, and every chunk becomes an event for every reader of the session.
pub const MAX_CHUNKS: u64 = 10_000;

/// The number of chunks that wait for a slow reader (2 MiB at most) before further ones are
/// dropped.
pub const QUEUED_CHUNKS: usize = 256;

/// A command that was started. Dropping it kills the whole process tree.
#[derive(Debug)]
pub struct Running {
    /// Bounded; filled without waiting, so a slow reader never slows the command down.
    chunks: mpsc::Receiver<Chunk>,
    /// `None` once the exit was handed out.
    exit: Option<oneshot::Receiver<Result<Exit, TargetError>>>,
    stopper: Stopper,
    /// Told that there is room whenever a chunk was taken; `None` if the command waits for no reader.
    room: Option<RoomSign>,
    /// The stdin of a command that is talked to, until it is taken.
    stdin: Option<StdinWriter>,
    /// The process of this machine that owns the command's tree, if there is one.
    supervisor: Option<i32>,
}

impl Running {
    /// Puts a run together, for implementations of [`crate::Target`].
    ///
    /// If the sender of `exit` is dropped without a value, the run was lost.
    pub fn new(
        chunks: mpsc::Receiver<Chunk>,
        exit: oneshot::Receiver<Result<Exit, TargetError>>,
        stopper: Stopper,
    ) -> Self {
        Self { chunks, exit: Some(exit), stopper, room: None, stdin: None, supervisor: None }
    }

    /// The same run, with the process of this machine that owns its tree.
    pub(crate) fn supervised_by(mut self, supervisor: i32) -> Self {
        self.supervisor = Some(supervisor);
        self
    }

    /// The same run, whose command waits until there is room for its output.
    pub(crate) fn with_room(mut self, room: Option<RoomSign>) -> Self {
        self.room = room;
        self
    }

    /// The same run, whose command reads what is written here.
    pub(crate) fn with_stdin(mut self, stdin: Option<StdinWriter>) -> Self {
        self.stdin = stdin;
        self
    }

    /// The stdin of a command that was started with [`crate::Stdin::Piped`]; handed out once.
    ///
    /// Until it is taken and dropped, the command does not see the end of its stdin.
    pub fn take_stdin(&mut self) -> Option<StdinWriter> {
        self.stdin.take()
    }

    /// The process of this machine that owns the command's tree, if there is one.
    pub(crate) fn supervisor(&self) -> Option<i32> {
        self.supervisor
    }

    /// The next piece of live output; `None` when there will be no more. Cancel safe.
    pub async fn next(&mut self) -> Option<Chunk> {
        let chunk = self.chunks.recv().await;
        if let Some(room) = &self.room {
            room.give();
        }
        chunk
    }

    /// Waits until the command and all its descendants have ended. Cancel safe; hands the exit out once.
    ///
    /// The live output need not be read for that, unless it is whole: then the command may wait for its reader.
    pub async fn wait(&mut self) -> Result<Exit, TargetError> {
        let receiver = self.exit.as_mut().ok_or(TargetError::ExitTaken)?;
        let exit = receiver.await.unwrap_or(Err(TargetError::SupervisorLost));
        self.exit = None;
        exit
    }

    /// Asks the whole process tree to end, and kills the rest of it after the grace.
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// A handle that stops this run from elsewhere.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.exit.is_some() {
            self.stopper.kill();
        }
        self.chunks.close();
        if let Some(room) = &self.room {
            room.give();
        }
    }
}

/// Stops a run. Holding one keeps nothing alive, and using one after the end does nothing.
#[derive(Clone)]
pub struct Stopper(Arc<dyn Stop>);

/// The way a target stops a run. Both methods return at once.
pub trait Stop: Send + Sync {
    /// Asks the whole process tree to end, and kills the rest of it after the grace.
    fn stop(&self);

    /// Kills the whole process tree now.
    fn kill(&self);
}

impl Stopper {
    /// Wraps the way in which a target stops a run.
    pub fn new(stop: Arc<dyn Stop>) -> Self {
        Self(stop)
    }

    /// See [`Stop::stop`].
    pub fn stop(&self) {
        self.0.stop();
    }

    /// See [`Stop::kill`].
    pub fn kill(&self) {
        self.0.kill();
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Stopper")
    }
}
