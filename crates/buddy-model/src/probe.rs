//! Discovery: the models of a server, their context windows, and the servers that run on this machine.
//!
//! All functions send small requests with short timeouts, over the route of the calls, and trust the answers.
//! `probe::read` parses them, without I/O.

mod local;
mod read;

use std::time::Duration;

use futures::future::join;
use serde_json::json;

use crate::http::fetch::{Fetch, Patience};
use crate::{ModelError, Route};

pub use local::{LocalServer, ServerKind, local_servers, local_servers_on};
pub use read::{ContextWindow, ListedModel, LlamaCppProps, OLLAMA_WINDOW};

/// The timeouts for a server that the user named: it may be far away, or busy with a model.
const PATIENCE: Patience = Patience { connect: Duration::from_secs(1), total: Duration::from_secs(5) };

/// The timeouts for a server nearby while the user waits.
const NEARBY: Patience = Patience { connect: Duration::from_millis(300), total: Duration::from_secs(1) };

/// The models of a server: `GET /models`, or Ollama's own list if there is no such page.
pub async fn models(route: &Route) -> Result<Vec<ListedModel>, ModelError> {
    let (fetch, endpoint) = (Fetch::new(route, PATIENCE)?, &route.endpoint);
    match fetch.get(endpoint.join("models")).await {
        Ok(answer) => Ok(read::models(&answer)),
        Err(error) => match fetch.get(endpoint.join_beside("api/tags")).await {
            Ok(answer) => Ok(read::ollama_tags(&answer)),
            Err(_) => Err(error),
        },
    }
}

/// The context window of one model, from any endpoint of the server that reports it. A server that reports
/// none is not an error.
pub async fn context_window(route: &Route, model: &str) -> Result<ContextWindow, ModelError> {
    let beside = join(ollama_context(route, model), llama_cpp_props(route));
    let (listed, beside) = join(models(route), beside).await;
    let (ollama, llama_cpp) = beside;
    let listed = listed?.into_iter().find(|listed| read::is_same_model(&listed.name, model));
    let listed = listed.map(|listed| listed.context).unwrap_or_default();
    let ollama = ollama.unwrap_or_default();
    let props = llama_cpp.unwrap_or_default();
    Ok(ContextWindow {
        loaded: props.context.or(ollama.loaded).or(listed.loaded),
        possible: ollama.possible.or(listed.possible),
    })
}

/// The context window of an Ollama model: the maximum from `/api/show` and the loaded size from `/api/ps`.
pub async fn ollama_context(route: &Route, model: &str) -> Result<ContextWindow, ModelError> {
    let (fetch, endpoint) = (Fetch::new(route, PATIENCE)?, &route.endpoint);
    let question = json!({ "model": model });
    let shown = fetch.post(endpoint.join_beside("api/show"), &question);
    let running = fetch.get(endpoint.join_beside("api/ps"));
    let (shown, running) = join(shown, running).await;
    let loaded = running.ok().and_then(|running| read::ollama_loaded(&running, model));
    Ok(ContextWindow { loaded, possible: read::ollama_possible(&shown?) })
}

/// The context window that calls of one model get, from one short round of requests to a server nearby.
/// Ollama's calls set the size themselves, so for it this is a sensible size to ask for. `None` if the server
/// does not report it.
pub async fn window(route: &Route, model: &str) -> Result<Option<u64>, ModelError> {
    let (fetch, endpoint) = (Fetch::new(route, NEARBY)?, &route.endpoint);
    if route.protocol.wire() == "ollama" {
        let question = json!({ "model": model });
        let shown = fetch.post(endpoint.join_beside("api/show"), &question).await?;
        return Ok(read::ollama_wish(&shown));
    }
    let (props, listed) =
        join(fetch.get(endpoint.join_beside("props")), fetch.get(endpoint.join("models"))).await;
    let of_props = props.ok().and_then(|props| read::llama_cpp_props(&props).context);
    let models = listed.map(|answer| read::models(&answer));
    match (of_props, models) {
        (Some(context), _) => Ok(Some(context)),
        (None, Ok(models)) => {
            let listed = models.into_iter().find(|listed| read::is_same_model(&listed.name, model));
            Ok(listed.and_then(|listed| listed.context.loaded))
        }
        (None, Err(error)) => Err(error),
    }
}

/// The `/props` of a llama.cpp server.
pub async fn llama_cpp_props(route: &Route) -> Result<LlamaCppProps, ModelError> {
    let fetch = Fetch::new(route, PATIENCE)?;
    Ok(read::llama_cpp_props(&fetch.get(route.endpoint.join_beside("props")).await?))
}
