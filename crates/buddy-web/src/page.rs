//! Converts a response into a text that a model can read.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};

use crate::charset::decode;
use crate::shape::Shape;
use crate::{Fetched, WebUrl};

/// The maximum number of elements of a page whose article is extracted: the extraction takes more than linear
/// time.
const MAX_ARTICLE_ELEMENTS: usize = 20_000;
/// The maximum depth of such a page, for the same reason.
const MAX_ARTICLE_DEPTH: usize = 128;
/// The minimum length of an article, in characters. A shorter one is not taken for the whole content of a
/// page.
const MIN_ARTICLE_CHARS: usize = 200;
/// The stack size for reading pages. A test walks the deepest permitted trees on it.
const READER_STACK: usize = 32 * 1024 * 1024;
/// Elements without content for a reader.
const SILENT: &[&str] = &["script", "style", "noscript", "template", "svg", "iframe", "head", "nav", "form"];

/// A text, or the report that the response is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Page {
    /// A page, as markdown.
    Html {
        /// Its title.
        title: Option<String>,
        /// Its article, or the whole page if it has none.
        markdown: String,
        /// Whether `markdown` is the article alone.
        is_article: bool,
    },
    /// Text, JSON and the like, as it came.
    Text(String),
    /// Something that is not text.
    Binary,
}

impl Page {
    /// Converts a response. Takes a while for a large page: call it where blocking is harmless.
    pub fn of(fetched: &Fetched) -> Self {
        let content_type = fetched.content_type.as_deref();
        match Form::of(content_type, &fetched.body) {
            Form::Html => read_apart(&decode(&fetched.body, content_type), &fetched.url),
            Form::Text => Self::Text(decode(&fetched.body, content_type)),
            Form::Binary => Self::Binary,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Form {
    Html,
    Text,
    Binary,
}

impl Form {
    fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        let media = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
        let media = media.trim().to_ascii_lowercase();
        match &*media {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "application/json"
            | "application/xml"
            | "application/javascript"
            | "application/x-ndjson"
            | "application/yaml"
            | "application/toml" => Self::Text,
            _ if media.starts_with("text/") || media.ends_with("+json") || media.ends_with("+xml") => {
                Self::Text
            }
            // No content type: detect binary data as browsers do, by bytes that a text cannot contain.
            "" if body.contains(&0) => Self::Binary,
            "" if begins_as_html(body) => Self::Html,
            "" => Self::Text,
            _ => Self::Binary,
        }
    }
}

fn begins_as_html(body: &[u8]) -> bool {
    let head = String::from_utf8_lossy(body.get(..512).unwrap_or(body)).to_ascii_lowercase();
    let head = head.trim_start();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

/// Reads a page on a separate stack, since tree walks recurse. If the reader panics or no thread can be
/// started, the page becomes its plain words.
fn read_apart(html: &str, url: &WebUrl) -> Page {
    let read = std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(READER_STACK);
        reader.spawn_scoped(scope, || read_html(html, url)).ok()?.join().ok()
    });
    read.unwrap_or_else(|| words_of(html))
}

fn words_of(html: &str) -> Page {
    Page::Html { title: None, markdown: without_tags(html), is_article: false }
}

fn read_html(html: &str, url: &WebUrl) -> Page {
    let shape = Shape::of(html);
    if !shape.is_sound() {
        return words_of(html);
    }
    let article = (shape.depth <= MAX_ARTICLE_DEPTH).then(|| article(html, url)).flatten();
    article.unwrap_or_else(|| whole(html))
}

fn article(html: &str, url: &WebUrl) -> Option<Page> {
    let config = Config {
        max_elements_to_parse: MAX_ARTICLE_ELEMENTS,
        text_mode: TextMode::Markdown,
        ..Config::default()
    };
    let article = Readability::new(html, Some(url.as_str()), Some(config)).ok()?.parse().ok()?;
    let markdown = article.text_content.trim().to_owned();
    let title = Some(article.title.trim().to_owned()).filter(|title| !title.is_empty());
    (markdown.chars().count() >= MIN_ARTICLE_CHARS).then_some(Page::Html {
        title,
        markdown,
        is_article: true,
    })
}

fn whole(html: &str) -> Page {
    let document = Document::from(html);
    let title = document.select("title").first().text().trim().to_owned();
    let markdown = document.md(Some(SILENT)).trim().to_owned();
    Page::Html { title: Some(title).filter(|title| !title.is_empty()), markdown, is_article: false }
}

fn without_tags(html: &str) -> String {
    let texts = html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    texts.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content_type: Option<&str>, body: &str) -> Page {
        Page::of(&Fetched {
            url: WebUrl::parse("https://example.org/dir/page").unwrap(),
            status: 200,
            content_type: content_type.map(str::to_owned),
            content_length: None,
            body: body.as_bytes().to_vec(),
            is_cut: false,
        })
    }

    #[track_caller]
    fn markdown(body: &str) -> (Option<String>, String, bool) {
        match page(Some("text/html; charset=utf-8"), body) {
            Page::Html { title, markdown, is_article } => (title, markdown, is_article),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_article_is_separated_from_its_surroundings() {
        let paragraph =
            "Rust compiles to machine code, and its checks run before the program does. ".repeat(5);
        let html = format!(
            "<html><head><title>On Rust</title></head><body><nav><a href=/home>Home</a></nav>\
             <article><h2>Why</h2><p>{paragraph}</p><p>See <a href=\"more.html\">more</a>. {paragraph}</p></article>\
             <footer>Imprint</footer><script>alert(1)</script></body></html>"
        );
        let (title, markdown, is_article) = markdown(&html);
        assert_eq!((title.as_deref(), is_article), (Some("On Rust"), true));
        assert!(markdown.contains("## Why") && markdown.contains("checks run before"), "{markdown}");
        assert!(markdown.contains("(https://example.org/dir/more.html)"), "{markdown}");
        assert!(!markdown.contains("alert") && !markdown.contains("Imprint"), "{markdown}");
    }

    #[test]
    fn a_page_without_an_article_is_given_whole() {
        let (title, markdown, is_article) =
            markdown("<title>Short</title><h1>Hello</h1><ul><li>one<li>two</ul><script>x()</script>");
        assert_eq!((title.as_deref(), is_article), (Some("Short"), false));
        assert!(
            markdown.contains("# Hello") && markdown.contains("one") && !markdown.contains("x()"),
            "{markdown}"
        );
    }

    #[test]
    fn a_page_that_would_make_a_huge_tree_gives_its_words() {
        let (_, deep, _) =
            markdown(&format!("{}deep words{}", "<b>".repeat(100_000), "</b>".repeat(100_000)));
        assert_eq!(deep, "deep words");
        let open = (0..200).map(|number| format!("<i title={number}>")).collect::<Vec<_>>().concat();
        let (_, repeated, _) = markdown(&format!("{open}{}", "<p>word".repeat(50_000)));
        assert!(repeated.starts_with("word word"));
    }

    #[test]
    fn a_page_at_the_limit_is_walked_without_falling_over() {
        for tag in ["b", "div", "blockquote", "ul><li", "table><td", "table><td><dd><p"] {
            let html = format!("{}deep words", format!("<{tag}>").repeat(250));
            assert!(markdown(&html).1.contains("deep words"), "{tag}");
        }
    }

    #[test]
    fn text_and_json_come_as_they_are_and_data_not_at_all() {
        assert_eq!(page(Some("application/json"), "{\"a\": 1}"), Page::Text("{\"a\": 1}".to_owned()));
        assert_eq!(page(Some("application/ld+json"), "{}"), Page::Text("{}".to_owned()));
        assert_eq!(page(Some("text/markdown"), "# x"), Page::Text("# x".to_owned()));
        assert_eq!(page(None, "plain"), Page::Text("plain".to_owned()));
        assert_eq!(page(Some("image/png"), "\u{89}PNG"), Page::Binary);
        assert_eq!(page(Some("application/octet-stream"), "x"), Page::Binary);
        assert_eq!(page(None, "a\0b"), Page::Binary);
        assert!(matches!(page(None, "<!DOCTYPE html><p>x"), Page::Html { .. }));
    }
}
