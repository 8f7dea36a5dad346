//! `web_search`: a search of the web.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use buddy_web::{SearchResult, search};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::{interrupted, search_failure};
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct WebSearch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebSearchInput {
    /// The words to search for.
    query: String,
}

#[async_trait]
impl Tool for WebSearch {
    type Input = WebSearchInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "web_search",
        aliases: &[],
        kind: ToolKind::Search,
        tier: Tier::Auto,
        description: include_str!("web_search.md"),
        text: TextClass::File,
    };

    fn title(input: &WebSearchInput) -> String {
        format!("search the web for {}", input.query)
    }

    fn intent(input: &WebSearchInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Fetch(place.endpoints.search_url(&input.query).to_string()))
    }

    fn question(input: &WebSearchInput, place: &CallPlace) -> Option<String> {
        let address = place.endpoints.search_url(&input.query);
        Some(format!("Search the web for {} ({address})", input.query))
    }

    async fn run(input: WebSearchInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let url = context.place.endpoints.search_url(&input.query);
        let results = tokio::select! {
            results = search(&context.web.fetcher, url, &context.redirects) => results,
            () = context.cancel.cancelled() => return Err(interrupted()),
        };
        let results = results.map_err(|error| search_failure(&error))?;
        let row = |result: &SearchResult| json!({"title": result.title, "url": result.url, "snippet": result.snippet});
        Ok(json!({"query": input.query, "results": results.iter().map(row).collect::<Vec<_>>()}))
    }
}
