//! The way to another host: a program of this machine that runs a command there, with its streams attached.
//!
//! A transport knows the way to the host and nothing of the work there. The code that runs a command so that
//! it can be stopped, and that reads and writes files, is the same for every transport and sits in `remote`.

mod client;
mod container;
mod ssh;
mod way;

use std::path::PathBuf;

use async_trait::async_trait;

pub(crate) use client::say;
pub use container::{ContainerSettings, ContainerTransport};
pub use ssh::{SshSettings, SshTransport};
pub use way::Way;

use crate::TargetError;

/// A way to run commands on another host.
#[async_trait]
pub trait Transport: Send + Sync {
    /// The name of the target, such as `ssh:ann@atlas`.
    fn name(&self) -> &str;

    /// Makes sure that the host can be reached now, and restores the connection if there was one. Cheap when
    /// it stands; bounded in tries and in time.
    async fn connect(&self) -> Result<(), TargetError>;

    /// The program of this machine that runs `argv` on the host, exactly as given. Its three streams are
    /// those of the command; it ends when the command has ended, and ending it closes the command's streams.
    fn client(&self, argv: &[&str]) -> Client;

    /// Ends a connection that is kept open between calls, for good: later calls fail.
    fn hang_up(&self) {}

    /// The way for a user to get there by hand.
    fn way(&self) -> Way {
        Way::Here
    }
}

/// A program of this machine to start.
#[derive(Debug, Clone)]
pub struct Client {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
}
