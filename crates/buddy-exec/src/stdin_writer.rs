//! The stdin of a command that is talked to.

use std::convert::Infallible;
use std::fmt;
use std::future::Future as _;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

/// Writes to the stdin of a running command.
///
/// A write waits while the command does not read: nothing but the pipes on the way holds bytes. Dropping it,
/// or shutting it down, is the end of file. Once the command has ended, every write fails with
/// [`io::ErrorKind::BrokenPipe`], also one that waits. Bytes that were written before need not have been read.
pub struct StdinWriter {
    pipe: PipeEnd,
    /// Never gets a value; its sender is dropped when the run is over.
    over: oneshot::Receiver<Infallible>,
}

enum PipeEnd {
    /// Not used yet. It is registered with the runtime of its first write.
    New(OwnedFd),
    Open(pipe::Sender),
    Closed,
}

/// Ends the writer of a run when it is dropped.
pub(crate) type WriterEnd = oneshot::Sender<Infallible>;

impl StdinWriter {
    /// A writer to a pipe, and what ends it.
    pub(crate) fn new(pipe: OwnedFd) -> (Self, WriterEnd) {
        let (end, over) = oneshot::channel();
        (Self { pipe: PipeEnd::New(pipe), over }, end)
    }

    fn open(&mut self, context: &mut Context<'_>) -> io::Result<&mut pipe::Sender> {
        if !matches!(self.pipe, PipeEnd::Closed) && Pin::new(&mut self.over).poll(context).is_ready() {
            self.pipe = PipeEnd::Closed;
        }
        if let PipeEnd::New(_) = self.pipe
            && let PipeEnd::New(pipe) = std::mem::replace(&mut self.pipe, PipeEnd::Closed)
        {
            self.pipe = PipeEnd::Open(pipe::Sender::from_owned_fd(pipe)?);
        }
        match &mut self.pipe {
            PipeEnd::Open(pipe) => Ok(pipe),
            PipeEnd::New(_) | PipeEnd::Closed => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl AsyncWrite for StdinWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.open(context) {
            Ok(pipe) => Pin::new(pipe).poll_write(context, bytes),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    /// Nothing is held here: a byte that was taken is in the pipe.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe = PipeEnd::Closed;
        Poll::Ready(Ok(()))
    }
}

impl fmt::Debug for StdinWriter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StdinWriter")
    }
}
