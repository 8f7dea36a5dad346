//! Searches the web through DuckDuckGo's page for browsers without scripts.

use dom_query::{Document, Selection};

use crate::charset::decode;
use crate::shape::Shape;
use crate::{FetchError, Fetched, Fetcher, Redirects, WebUrl};

/// The maximum number of results.
pub const MAX_RESULTS: usize = 8;
/// The default search endpoint.
pub const SEARCH_ENDPOINT: &str = "https://html.duckduckgo.com/html/";

/// Words that mark the page which asks for proof of a human.
const CHALLENGES: &[&str] =
    &["anomaly-modal", "anomaly.js", "g-recaptcha", "cf-challenge", "id=\"challenge-form\""];

/// One result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchResult {
    /// The title of the page.
    pub title: String,
    /// Its address.
    pub url: String,
    /// An excerpt.
    pub snippet: String,
}

/// The reason why there is no list of results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The search engine could not be reached.
    #[error("the search engine cannot be reached")]
    Fetch(#[from] FetchError),
    /// It answered with an error status.
    #[error("the search engine answered with status {0}")]
    Status(u16),
    /// It asks for proof of a human.
    #[error(
        "the search engine asks for proof that a human is searching, and gives no results until it has it"
    )]
    Challenge,
    /// It answered with an unexpected page.
    #[error("the results page is not understood ({0}); the search engine has changed it")]
    NotUnderstood(&'static str),
}

/// Fetches the results of a search. An empty list is an answer and not an error.
pub async fn search(
    fetcher: &Fetcher,
    url: WebUrl,
    redirects: &Redirects,
) -> Result<Vec<SearchResult>, SearchError> {
    let fetched = fetcher.get_within(url, redirects).await?;
    read(&page(&fetched)?)
}

/// The text of a results page.
pub(crate) fn page(fetched: &Fetched) -> Result<String, SearchError> {
    let text = decode(&fetched.body, fetched.content_type.as_deref());
    // DuckDuckGo sends its challenge with a success status.
    if CHALLENGES.iter().any(|mark| text.contains(mark)) {
        return Err(SearchError::Challenge);
    }
    match fetched.status {
        200 => Ok(text),
        status => Err(SearchError::Status(status)),
    }
}

fn read(html: &str) -> Result<Vec<SearchResult>, SearchError> {
    if !Shape::of(html).is_sound() {
        return Err(SearchError::NotUnderstood("its shape is that of no such page"));
    }
    let document = Document::from(html);
    let rows = document.select("div.result:not(.result--ad):not(.result--no-result)");
    let results: Vec<SearchResult> = rows.iter().filter_map(|row| row_of(&row)).take(MAX_RESULTS).collect();
    if !results.is_empty() {
        return Ok(results);
    }
    if rows.length() > 0 {
        return Err(SearchError::NotUnderstood("it has results, but no links in them"));
    }
    match document.select(".no-results, .result--no-result").length() {
        0 => Err(SearchError::NotUnderstood("it has neither results nor a word that there are none")),
        _ => Ok(Vec::new()),
    }
}

fn row_of(row: &Selection<'_>) -> Option<SearchResult> {
    let link = row.select("a.result__a").first();
    let url = unwrap_link(&link.attr("href")?)?;
    let title = words(&link.text());
    let snippet = words(&row.select(".result__snippet").first().text());
    (!title.is_empty()).then_some(SearchResult { title, url, snippet })
}

/// The target of a link: past DuckDuckGo's own `/l/?uddg=…`. Leaves out links that lead nowhere on the web,
/// and advertisements, which lead through `/y.js`.
fn unwrap_link(href: &str) -> Option<String> {
    let base = url::Url::parse(SEARCH_ENDPOINT).ok()?;
    let url = base.join(href).ok()?;
    let is_own =
        url.host_str().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    let target = match (is_own, url.path()) {
        (true, "/l/") => url.query_pairs().find(|(name, _)| name == "uddg")?.1.into_owned(),
        (true, "/y.js") => return None,
        _ => url.to_string(),
    };
    WebUrl::parse(&target).ok().map(|url| url.to_string())
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = include_str!("../fixtures/duckduckgo/results.html");
    const NONE: &str = include_str!("../fixtures/duckduckgo/no_results.html");
    const CHALLENGE: &str = include_str!("../fixtures/duckduckgo/challenge.html");

    fn fetched(status: u16, body: &str) -> Fetched {
        Fetched {
            url: WebUrl::parse(SEARCH_ENDPOINT).unwrap(),
            status,
            content_type: Some("text/html; charset=UTF-8".to_owned()),
            content_length: None,
            body: body.as_bytes().to_vec(),
            is_cut: false,
        }
    }

    #[test]
    fn results_are_read_and_their_links_unwrapped() {
        let results = read(RESULTS).unwrap();
        assert_eq!(results.len(), MAX_RESULTS);
        let first = SearchResult {
            title: "Rust Programming Language".to_owned(),
            url: "https://www.rust-lang.org/".to_owned(),
            snippet: "A language empowering everyone to build reliable & efficient software.".to_owned(),
        };
        assert_eq!(results[0], first);
        assert_eq!(results[1].url, "https://doc.rust-lang.org/book/?a=b&c=d");
        assert_eq!(results[2].url, "https://direct.example/page");
        assert!(results.iter().all(|result| !result.url.contains("duckduckgo.com")), "{results:?}");
        assert!(results.iter().all(|result| result.title != "An advertisement"));
    }

    #[test]
    fn an_empty_result_differs_from_an_unexpected_page() {
        assert_eq!(read(NONE).unwrap(), []);
        let changed = RESULTS.replace("result__a", "link__title");
        assert!(matches!(read(&changed), Err(SearchError::NotUnderstood(_))));
        let other = "<html><body><h1>Welcome</h1></body></html>";
        assert!(matches!(read(other), Err(SearchError::NotUnderstood(_))));
    }

    #[test]
    fn a_challenge_and_a_status_are_named() {
        assert!(matches!(page(&fetched(202, CHALLENGE)), Err(SearchError::Challenge)));
        assert!(matches!(page(&fetched(403, "no")), Err(SearchError::Status(403))));
        assert!(page(&fetched(200, RESULTS)).is_ok());
    }

    #[test]
    fn links_that_lead_nowhere_on_the_web_are_left_out() {
        assert_eq!(unwrap_link("//duckduckgo.com/l/?uddg=file%3A%2F%2F%2Fetc%2Fpasswd"), None);
        assert_eq!(unwrap_link("//duckduckgo.com/l/?x=1"), None);
        assert_eq!(unwrap_link("javascript:alert(1)"), None);
        assert_eq!(unwrap_link("https://duckduckgo.com/y.js?ad=1"), None);
    }
}
