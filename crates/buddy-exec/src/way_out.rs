//! The way out of a jail that has no network: a listener inside of it, which a process outside serves.
//!
//! A socket belongs to the network that it was made in, even if another process holds it. The process inside
//! makes the listener in the command's own network and hands it out; connections of the command then arrive
//! outside, and nothing else does.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use tokio::io::Interest;

use crate::descriptors::receive_descriptors;

/// The port of the listener. The network of a jail is its own, so it is always free.
pub const WAY_OUT_PORT: u16 = 17_787;

/// The end of a way out that a command is given.
#[derive(Debug, Clone)]
pub struct WayOut(Arc<OwnedFd>);

impl AsFd for WayOut {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The end at which its listener arrives.
#[derive(Debug)]
pub struct Outlet(UnixStream);

impl WayOut {
    /// A way out, and the outlet at which its listener arrives.
    pub fn new() -> io::Result<(Self, Outlet)> {
        let (near, far) = UnixStream::pair()?;
        near.set_nonblocking(true)?;
        Ok((Self(Arc::new(far.into())), Outlet(near)))
    }
}

impl Outlet {
    /// Waits for the listener. `None` if the command has no network of its own to make it in.
    pub async fn listener(self) -> io::Result<Option<TcpListener>> {
        let stream = tokio::net::UnixStream::from_std(self.0)?;
        loop {
            stream.readable().await?;
            match stream.try_io(Interest::READABLE, || receive_descriptors(&stream)) {
                Ok(descriptors) => {
                    let Some(listener) = descriptors.into_iter().next().map(TcpListener::from) else {
                        return Ok(None);
                    };
                    listener.set_nonblocking(true)?;
                    return Ok(Some(listener));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}
