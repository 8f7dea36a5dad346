//! Model servers on this machine, asked only when nothing else was found.

use std::time::Duration;

use buddy_model::probe::{self, ServerKind};
use buddy_model::{Auth, Endpoint, Route};
use futures::future::join_all;
use tokio::time::timeout;

use crate::environment::Environment;

/// How long a server has to answer. Each is asked on its own, so that one that hangs hides no other.
const PROBE_TIME: Duration = Duration::from_millis(300);
/// The port of Ollama where `OLLAMA_HOST` names none.
const OLLAMA_PORT: u16 = 11434;

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocalServer {
    /// The built-in profile for this kind of server.
    pub(crate) profile: &'static str,
    /// Where it listens.
    pub(crate) base_url: String,
    /// A model that it has.
    pub(crate) model: Option<String>,
}

/// Servers that answer and have a model, Ollama first. `OLLAMA_HOST` says where Ollama is, which may be elsewhere.
pub(crate) async fn local_servers(environment: &Environment) -> Vec<LocalServer> {
    let ollama = environment.get("OLLAMA_HOST").and_then(ollama_address);
    let usual = ServerKind::DEFAULT_PORTS
        .into_iter()
        .filter(|(kind, _)| *kind != ServerKind::Ollama || ollama.is_none());
    let usual = usual.map(|port| async move {
        let found = timeout(PROBE_TIME, probe::local_servers_on(&[port])).await.unwrap_or_default();
        found.into_iter().next().and_then(|server| local_server(server.kind, server.base_url, server.models))
    });
    let named = async {
        let route = Route::ollama(Endpoint::parse(ollama.as_deref()?).ok()?, Auth::None);
        let models = timeout(PROBE_TIME, probe::models(&route)).await.ok()?.ok()?;
        local_server(
            ServerKind::Ollama,
            ollama.clone()?,
            models.into_iter().map(|model| model.name).collect(),
        )
    };
    let (named, usual) = futures::join!(named, join_all(usual));
    named.into_iter().chain(usual.into_iter().flatten()).collect()
}

fn local_server(kind: ServerKind, base_url: String, models: Vec<String>) -> Option<LocalServer> {
    let profile = match kind {
        ServerKind::Ollama => "ollama",
        ServerKind::LlamaCpp => "llama-cpp",
        ServerKind::LmStudio => "lm-studio",
        ServerKind::Vllm => "vllm",
    };
    // A server without a model has nothing to offer.
    let model = models.into_iter().next()?;
    Some(LocalServer { profile, base_url, model: Some(model) })
}

/// `OLLAMA_HOST` as a URL: it may be a host, a port, both, or a URL, and its wildcard is this machine.
fn ollama_address(host: &str) -> Option<String> {
    let (scheme, rest) = host.trim().split_once("://").unwrap_or(("http", host.trim()));
    let rest = rest.trim_end_matches('/');
    let (name, port) = match rest.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, port.parse().ok()?),
        _ => (rest, if scheme == "https" { 443 } else { OLLAMA_PORT }),
    };
    let name = if matches!(name, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { name };
    Some(format!("{scheme}://{name}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_s_host_is_written_in_many_ways() {
        for (host, address) in [
            ("127.0.0.1", "http://127.0.0.1:11434"),
            ("0.0.0.0:1", "http://127.0.0.1:1"),
            (":5", "http://127.0.0.1:5"),
            ("http://box:8/", "http://box:8"),
            ("https://box", "https://box:443"),
            ("[::1]", "http://[::1]:11434"),
            ("[::]:7", "http://127.0.0.1:7"),
        ] {
            assert_eq!(ollama_address(host).as_deref(), Some(address), "{host}");
        }
        assert_eq!(ollama_address("box:port"), None);
    }

    #[tokio::test]
    async fn nobody_at_the_named_place_is_no_server() {
        // Port 1 is privileged and unused.
        let variables = [("HOME", "/"), ("OLLAMA_HOST", "127.0.0.1:1")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = Environment::of(variables.into()).unwrap();
        let found = local_servers(&environment).await;
        assert!(found.iter().all(|server| server.profile != "ollama"), "{found:?}");
    }
}
