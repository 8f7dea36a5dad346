//! The blocks that are found line by line are those that a parser of the whole text finds.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::markdown::blocks::BlockReader;
use crate::markdown::piece::{BlockPart, NestStep};
use crate::markdown::source::UnreadSource;

/// The blocks of a text with what is around each, such as `>-text` for a paragraph in a list in a quote. Blocks without
/// content are left out.
fn expected(text: &str) -> Vec<String> {
    let mut found = Found::default();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => found.enter('>'),
            Event::Start(Tag::Item) => found.enter('-'),
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Item) => found.leave(),
            Event::Start(Tag::List(_)) | Event::End(TagEnd::List(_)) => found.is_in_item_text = false,
            Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::Table(_)) => found.leaf("text"),
            Event::Start(Tag::CodeBlock(_)) => found.leaf("code"),
            Event::Start(Tag::HtmlBlock) => found.leaf("html"),
            Event::Rule => {
                found.leaf("rule");
                found.end_leaf();
            }
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Table
                | TagEnd::CodeBlock
                | TagEnd::HtmlBlock,
            ) => found.end_leaf(),
            _ => found.inline(),
        }
    }
    found.blocks
}

#[derive(Default)]
struct Found {
    path: String,
    blocks: Vec<String>,
    is_in_leaf: bool,
    /// Items may hold text without a paragraph around it.
    is_in_item_text: bool,
}

impl Found {
    fn enter(&mut self, sign: char) {
        self.path.push(sign);
        self.is_in_item_text = false;
    }

    fn leave(&mut self) {
        self.path.pop();
        self.is_in_item_text = false;
    }

    fn leaf(&mut self, kind: &str) {
        self.blocks.push(format!("{}{kind}", self.path));
        self.is_in_leaf = true;
    }

    fn end_leaf(&mut self) {
        self.is_in_leaf = false;
        self.is_in_item_text = false;
    }

    fn inline(&mut self) {
        if !self.is_in_leaf && !std::mem::replace(&mut self.is_in_item_text, true) {
            self.blocks.push(format!("{}text", self.path));
        }
    }
}

fn found(text: &str) -> Vec<String> {
    let mut source = UnreadSource::default();
    let mut blocks = BlockReader::default();
    source.push(text);
    while let Some(given) = source.next() {
        blocks.line(&given);
    }
    if let Some(given) = source.last() {
        blocks.line(&given);
    }
    blocks.end();
    let mut found = Vec::new();
    for piece in blocks.take() {
        let signs = piece.path.iter().map(|step| if *step == NestStep::Quote { '>' } else { '-' });
        let path: String = signs.collect();
        match piece.part {
            // Lines that look like one paragraph may be several blocks, or none.
            BlockPart::Text(text) => {
                found.extend(expected(&text.source).iter().map(|block| path.clone() + block));
            }
            BlockPart::Rule => found.push(path + "rule"),
            BlockPart::Html { follows: false, .. } => found.push(path + "html"),
            BlockPart::CodeBegin(_) => found.push(path + "code"),
            BlockPart::Html { .. } | BlockPart::CodeLine(_) | BlockPart::CodeEnd | BlockPart::Nothing => {}
        }
    }
    found
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n", "\n", "\n\n", " ", "  ", "    ", "- ", "* ", "1. ", "2. ", "> ", "# ", "```", "```\n", "~~~",
        "a", "b", "---\n", "===\n", "<div>", "\n- ", "\n> ", "\n  ", "\n   ", "\n\n    ",
    ]);
    prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_are_those_of_the_whole_text(text in texts()) {
        prop_assert_eq!(found(&text), expected(&text));
    }
}

#[test]
fn the_two_readings_see_what_is_there() {
    let text = "> - a\n>   b\n>\n>   ```\n>   c\n\n***\n<div>\n";
    assert_eq!(found(text), [">-text", ">-code", "rule", "html"]);
    assert_eq!(expected(text), found(text));
}
