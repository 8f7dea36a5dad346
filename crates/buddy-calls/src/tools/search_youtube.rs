//! `search_youtube`: a search for videos.

use async_trait::async_trait;
use buddy_policy::{Action, Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use buddy_web::Video;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::failure::{interrupted, search_failure};
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

pub(crate) struct SearchYoutube;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchYoutubeInput {
    /// The words to search for.
    query: String,
}

#[async_trait]
impl Tool for SearchYoutube {
    type Input = SearchYoutubeInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "search_youtube",
        aliases: &[],
        kind: ToolKind::Search,
        tier: Tier::Auto,
        description: include_str!("search_youtube.md"),
        text: TextClass::File,
    };

    fn title(input: &SearchYoutubeInput) -> String {
        format!("search YouTube for {}", input.query)
    }

    fn intent(input: &SearchYoutubeInput, place: &CallPlace) -> Intent {
        Intent::of(Action::Fetch(place.endpoints.youtube_url(&input.query).to_string()))
    }

    async fn run(input: SearchYoutubeInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let url = context.place.endpoints.youtube_url(&input.query);
        let videos = tokio::select! {
            videos = buddy_web::search_youtube(&context.web.fetcher, url, &context.redirects) => videos,
            () = context.cancel.cancelled() => return Err(interrupted()),
        };
        let videos = videos.map_err(|error| search_failure(&error))?;
        let row = |video: &Video| {
            json!({
                "title": video.title,
                "url": video.url,
                "duration": video.duration,
                "views": video.views,
                "author": video.author,
            })
        };
        Ok(json!({"query": input.query, "videos": videos.iter().map(row).collect::<Vec<_>>()}))
    }
}
