//! The outside world: a listener on this machine that records everything it receives.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::http::{Reply, Server};

/// A listener. Dropping it stops it.
pub(crate) struct Listener {
    server: Server,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    /// A listener that answers everything with a page.
    pub(crate) fn start(host: &str) -> Result<Self> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        let server = Server::start(host, move |request| {
            let text = format!("{}\n{}", request.head, String::from_utf8_lossy(&request.body));
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(text);
            Reply { status: "200 OK", kind: "text/plain", body: "The page of the listener.\n".into() }
        })?;
        Ok(Self { server, heard })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Everything received so far.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
