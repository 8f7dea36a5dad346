//! `fetch_url`: what is at an address on the web, as text.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use buddy_web::{Fetched, Page, WebUrl};
use futures::FutureExt;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::{fetch_failure, interrupted};
use crate::tools::tool::{Preview, Sight, Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct FetchUrl;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FetchUrlInput {
    /// The address, with `http://` or `https://`.
    url: String,
}

#[async_trait]
impl Tool for FetchUrl {
    type Input = FetchUrlInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "fetch_url",
        aliases: &[],
        kind: ToolKind::Fetch,
        tier: Tier::Auto,
        description: include_str!("fetch_url.md"),
        text: TextClass::File,
    };

    fn title(input: &FetchUrlInput) -> String {
        format!("fetch {}", shown(&input.url))
    }

    fn intent(input: &FetchUrlInput, _: &CallPlace) -> Intent {
        Intent::of(Action::Fetch(shown(&input.url)))
    }

    fn preview(input: &FetchUrlInput, sight: Sight) -> Option<Preview> {
        let url = input.url.clone();
        let look = async move {
            let url = WebUrl::parse(&url).map_err(|error| fetch_failure(&error))?;
            let refused = sight.web.fetcher.refuses(&url);
            refused.map_or(Ok(None), |error| Err(fetch_failure(&error)))
        };
        Some(look.boxed())
    }

    async fn run(input: FetchUrlInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let url = WebUrl::parse(&input.url).map_err(|error| fetch_failure(&error))?;
        let fetched = tokio::select! {
            fetched = context.web.fetcher.get_within(url, &context.redirects) => fetched,
            () = context.cancel.cancelled() => return Err(interrupted()),
        };
        let fetched = fetched.map_err(|error| fetch_failure(&error))?;
        // Reading a large page takes its time, and no task may wait for it.
        let read = tokio::task::spawn_blocking(move || (Page::of(&fetched), fetched)).await;
        let (page, fetched) =
            read.map_err(|_| ToolFailure::new("failed", "the page could not be read: its reader fell over"))?;
        Ok(outcome(page, &fetched))
    }
}

/// The address as it would be fetched, with its host in punycode; as it came, escaped, where it is none.
fn shown(url: &str) -> String {
    let escaped = |_| url.chars().flat_map(char::escape_default).collect();
    WebUrl::parse(url).map_or_else(escaped, |url| url.to_string())
}

fn outcome(page: Page, fetched: &Fetched) -> Value {
    let mut result = json!({
        "url": fetched.url.as_str(),
        "status": fetched.status,
        "content_type": fetched.content_type,
        "bytes": fetched.body.len(),
        "truncated": fetched.is_cut,
    });
    match page {
        Page::Html { title, markdown, is_article } => {
            result["title"] = json!(title);
            result["is_article"] = json!(is_article);
            result["text"] = json!(markdown);
        }
        Page::Text(text) => result["text"] = json!(text),
        Page::Binary => {
            result["bytes"] = json!(fetched.content_length.unwrap_or(fetched.body.len() as u64));
            result["note"] = json!("this is not text, so its content is not given");
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_judged_and_shown_as_it_would_be_fetched() {
        let input = |url: &str| FetchUrlInput { url: url.to_owned() };
        assert_eq!(FetchUrl::title(&input("https://аpple.com")), "fetch https://xn--pple-43d.com/");
        assert_eq!(FetchUrl::title(&input("http://0x7f.1/")), "fetch http://127.0.0.1/");
        assert_eq!(FetchUrl::title(&input("file:///a\u{202e}b")), "fetch file:///a\\u{202e}b");
    }
}
