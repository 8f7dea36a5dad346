//! Searches for videos through YouTube's results page, which carries its results as JSON in a script.

use serde::Deserialize as _;
use serde_json::Value;

use crate::search::page;
use crate::{Fetcher, Redirects, SearchError, WebUrl};

/// The maximum number of videos.
pub const MAX_VIDEOS: usize = 5;
/// The default search endpoint.
pub const YOUTUBE_ENDPOINT: &str = "https://www.youtube.com/results";

/// The start of the results in the page.
const MARKS: &[&str] = &["var ytInitialData = ", "window[\"ytInitialData\"] = ", "ytInitialData = "];
/// The maximum number of values of the page's JSON to look at. A page has some ten thousand.
const MAX_VALUES: usize = 1_000_000;

/// One video.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Video {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// Its duration, as the page writes it; absent for a live stream.
    pub duration: Option<String>,
    /// Its number of views, as the page writes it.
    pub views: Option<String>,
    /// Its author.
    pub author: Option<String>,
}

/// Fetches the results of a search for videos. An empty list is an answer and not an error.
pub async fn search_youtube(
    fetcher: &Fetcher,
    url: WebUrl,
    redirects: &Redirects,
) -> Result<Vec<Video>, SearchError> {
    let fetched = fetcher.get_within(url, redirects).await?;
    read(&page(&fetched)?)
}

fn read(html: &str) -> Result<Vec<Video>, SearchError> {
    let data = MARKS.iter().find_map(|mark| html.split_once(mark)).map(|(_, data)| data);
    let data = data.ok_or(SearchError::NotUnderstood("it carries no results"))?;
    let mut json = serde_json::Deserializer::from_str(data);
    let data =
        Value::deserialize(&mut json).map_err(|_| SearchError::NotUnderstood("its results are not whole"))?;
    let results = data.get("contents").ok_or(SearchError::NotUnderstood("its results have no contents"))?;
    let renderers = renderers(results);
    let videos: Vec<Video> = renderers.iter().filter_map(|video| video_of(video)).take(MAX_VIDEOS).collect();
    if videos.is_empty() && !renderers.is_empty() {
        return Err(SearchError::NotUnderstood("its videos have no names"));
    }
    Ok(videos)
}

/// All videos of the results, in order. Their position among shelves and advertisements differs from page to
/// page.
fn renderers(results: &Value) -> Vec<&Value> {
    let mut found = Vec::new();
    let mut waiting = vec![results];
    for _ in 0..MAX_VALUES {
        let Some(value) = waiting.pop() else { break };
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("videoRenderer"));
                waiting.extend(fields.values().rev());
            }
            Value::Array(values) => waiting.extend(values.iter().rev()),
            _ => {}
        }
    }
    found
}

fn video_of(renderer: &Value) -> Option<Video> {
    let id = renderer.get("videoId")?.as_str()?;
    let is_id = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if id.is_empty() || !is_id {
        return None;
    }
    Some(Video {
        title: text_of(renderer.get("title")?)?,
        url: format!("https://www.youtube.com/watch?v={id}"),
        duration: renderer.get("lengthText").and_then(text_of),
        views: renderer.get("viewCountText").and_then(text_of),
        author: ["ownerText", "longBylineText", "shortBylineText"]
            .iter()
            .find_map(|field| renderer.get(field))
            .and_then(text_of),
    })
}

/// A text, which the page gives as a whole or in runs.
fn text_of(value: &Value) -> Option<String> {
    if let Some(text) = value.get("simpleText").and_then(Value::as_str) {
        return Some(text.to_owned());
    }
    let runs = value.get("runs")?.as_array()?;
    let text: String = runs.iter().filter_map(|run| run.get("text")?.as_str()).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = include_str!("../fixtures/youtube/results.html");
    const NONE: &str = include_str!("../fixtures/youtube/no_results.html");

    #[test]
    fn videos_are_read_in_their_order() {
        let videos = read(RESULTS).unwrap();
        let first = Video {
            title: "Rust in 100 Seconds".to_owned(),
            url: "https://www.youtube.com/watch?v=aaaaaaaaaa1".to_owned(),
            duration: Some("2:29".to_owned()),
            views: Some("1,234,567 views".to_owned()),
            author: Some("A Channel".to_owned()),
        };
        assert_eq!(videos.len(), MAX_VIDEOS);
        assert_eq!(videos[0], first);
        assert_eq!((videos[1].title.as_str(), &videos[1].duration), ("Live: compiling", &None));
        assert_eq!(videos[2].title, "From a shelf");
    }

    #[test]
    fn an_empty_video_list_differs_from_an_unexpected_page() {
        assert_eq!(read(NONE).unwrap(), []);
        for page in [
            "<html></html>".to_owned(),
            RESULTS.replace("ytInitialData", "data"),
            RESULTS.replace("</script>", "").replace("\"contents\"", "\"other\""),
            RESULTS.replace("\"videoId\"", "\"id\""),
            "var ytInitialData = {\"contents\": {".to_owned(),
        ] {
            assert!(matches!(read(&page), Err(SearchError::NotUnderstood(_))), "{page}");
        }
    }

    #[test]
    fn an_id_that_would_change_the_address_is_left_out() {
        let page = RESULTS.replace("aaaaaaaaaa1", "x&evil=1");
        assert!(read(&page).unwrap().iter().all(|video| !video.url.contains("evil")));
    }
}
