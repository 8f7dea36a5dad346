//! Servers on this machine, found at their default ports.

use std::time::Duration;

use futures::future::join_all;

use crate::http::fetch::{Fetch, Patience};
use crate::probe::read::{self, ListedModel};
use crate::{Auth, Endpoint, Route};

/// The timeouts for ports on which most likely no server listens.
const PATIENCE: Patience =
    Patience { connect: Duration::from_millis(300), total: Duration::from_millis(1500) };

/// A kind of local server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// Ollama.
    Ollama,
    /// llama.cpp's own server.
    LlamaCpp,
    /// LM Studio.
    LmStudio,
    /// vLLM.
    Vllm,
}

impl ServerKind {
    /// Every kind with its default port.
    pub const DEFAULT_PORTS: [(Self, u16); 4] =
        [(Self::Ollama, 11434), (Self::LlamaCpp, 8080), (Self::LmStudio, 1234), (Self::Vllm, 8000)];

    /// The kind that a model's owner field reveals, whatever port it is on.
    fn by_owner(owner: &str) -> Option<Self> {
        match owner {
            "llamacpp" => Some(Self::LlamaCpp),
            "vllm" => Some(Self::Vllm),
            "library" => Some(Self::Ollama),
            "organization_owner" => Some(Self::LmStudio),
            _ => None,
        }
    }
}

/// A server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The kind of server.
    pub kind: ServerKind,
    /// The address, without a path.
    pub base_url: String,
    /// The models it has; may be empty.
    pub models: Vec<String>,
}

/// The servers at their usual ports.
pub async fn local_servers() -> Vec<LocalServer> {
    local_servers_on(&ServerKind::DEFAULT_PORTS).await
}

/// The servers at these ports, probed concurrently; in the order of the ports.
pub async fn local_servers_on(ports: &[(ServerKind, u16)]) -> Vec<LocalServer> {
    let found = join_all(ports.iter().map(|(kind, port)| local_server(*kind, *port))).await;
    found.into_iter().flatten().collect()
}

async fn local_server(kind: ServerKind, port: u16) -> Option<LocalServer> {
    let base_url = format!("http://127.0.0.1:{port}");
    let endpoint = Endpoint::parse(&base_url).ok()?;
    let route = Route::chat(endpoint.clone(), Auth::None);
    let fetch = Fetch::new(&route, PATIENCE).ok()?;
    let models = if kind == ServerKind::Ollama {
        read::ollama_tags(&fetch.get(endpoint.join_beside("api/tags")).await.ok()?)
    } else {
        read::models(&fetch.get(endpoint.join("models")).await.ok()?)
    };
    let owner = models.iter().find_map(|model: &ListedModel| model.owner.as_deref());
    let kind = owner.and_then(ServerKind::by_owner).unwrap_or(kind);
    Some(LocalServer { kind, base_url, models: models.into_iter().map(|model| model.name).collect() })
}
