//! A paragraph, heading or table as styled lines.
//!
//! Without colours the signs of emphasis, code and headings stay, so that nothing is lost.

use anstyle::Style;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::table::MarkdownTable;
use crate::text::{Paint, Span, StyledLine, TerminalLook};

/// The parts of a text.
pub(super) enum InlineShape {
    /// Lines that may be wrapped.
    Lines(Vec<StyledLine>),
    Table(MarkdownTable),
}

/// Stands before a text that goes on, so that its beginning is no sign of a block.
const LEAD: &str = "x ";

/// The shapes of a text. One that goes on from an earlier part begins inside a paragraph.
pub(super) fn shapes(source: &str, goes_on: bool, look: &TerminalLook, base: Style) -> Vec<InlineShape> {
    let led;
    let source = if goes_on {
        led = format!("{LEAD}{source}");
        &led
    } else {
        source
    };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let parser = Parser::new_ext(source, options);
    let definitions = definitions(&parser);
    let mut reader = InlineReader {
        look,
        styles: vec![base],
        marks: Vec::new(),
        links: Vec::new(),
        lines: vec![StyledLine::default()],
        shapes: Vec::new(),
        table: None,
        has_lead: goes_on,
    };
    for event in parser {
        reader.read(event);
    }
    reader.end_lines();
    for (label, address) in definitions {
        reader.definition(&label, &address);
    }
    reader.end_lines();
    reader.shapes
}

/// The addresses that a text defines for its links, in their order. They are shown, since what refers to them may be gone.
fn definitions(parser: &Parser<'_>) -> Vec<(String, String)> {
    let mut found: Vec<_> = parser.reference_definitions().iter().collect();
    found.sort_by_key(|(_, definition)| definition.span.start);
    found.into_iter().map(|(label, definition)| (label.to_owned(), definition.dest.to_string())).collect()
}

struct InlineReader<'a> {
    look: &'a TerminalLook,
    styles: Vec<Style>,
    /// The signs that close what is open, where signs are shown.
    marks: Vec<&'static str>,
    links: Vec<OpenLink>,
    lines: Vec<StyledLine>,
    shapes: Vec<InlineShape>,
    table: Option<MarkdownTable>,
    has_lead: bool,
}

struct OpenLink {
    address: String,
    text: String,
}

impl InlineReader<'_> {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) => self.code(&code),
            Event::InlineHtml(html) if is_break(&html) => self.lines.push(StyledLine::default()),
            Event::Html(text) | Event::InlineHtml(text) => self.raw(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.put(&text),
            Event::FootnoteReference(name) => self.put(&format!("[^{name}]")),
            Event::SoftBreak => self.put(" "),
            Event::HardBreak => self.lines.push(StyledLine::default()),
            Event::Rule => self.end_lines(),
            Event::TaskListMarker(is_done) => self.put(if is_done { "[x] " } else { "[ ] " }),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Emphasis => self.open(Style::new().italic(), "*"),
            Tag::Strong => self.open(self.look.style(Paint::Strong), "**"),
            Tag::Strikethrough => self.open(Style::new().strikethrough(), "~~"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.open_link(dest_url),
            Tag::Heading { level, .. } => self.open_heading(level),
            Tag::Table(alignments) => {
                self.end_lines();
                self.table = Some(MarkdownTable::new(alignments));
            }
            Tag::TableHead => self.open(self.look.style(Paint::Strong), ""),
            Tag::TableCell => self.lines = vec![StyledLine::default()],
            Tag::FootnoteDefinition(name) => {
                self.end_lines();
                self.put(&format!("[^{name}]: "));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::TableHead => {
                self.close();
                if let (TagEnd::TableHead, Some(table)) = (tag, &mut self.table) {
                    table.end_row();
                }
            }
            TagEnd::Link | TagEnd::Image => self.close_link(),
            TagEnd::Heading(_) => {
                self.end_lines();
                self.close();
            }
            TagEnd::TableCell => {
                let cell = std::mem::replace(&mut self.lines, vec![StyledLine::default()]);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Table => self.shapes.extend(self.table.take().map(InlineShape::Table)),
            _ => self.end_lines(),
        }
    }

    fn text(&mut self, text: &str) {
        let text = match text.strip_prefix(LEAD) {
            Some(text) if self.has_lead => text,
            _ => text,
        };
        self.has_lead = false;
        self.put(text);
    }

    /// Code within a sentence, between as many signs as it takes to be told from its content.
    fn code(&mut self, code: &str) {
        let sign = if code.contains('`') { "``" } else { "`" };
        self.open(self.look.style(Paint::Code), sign);
        self.put(code);
        self.close();
    }

    /// HTML, which may be of several lines.
    fn raw(&mut self, html: &str) {
        for (index, line) in html.lines().enumerate() {
            if index > 0 {
                self.lines.push(StyledLine::default());
            }
            self.put(line);
        }
        if html.ends_with('\n') {
            self.lines.push(StyledLine::default());
        }
    }

    fn put(&mut self, text: &str) {
        let style = self.styles.last().copied().unwrap_or_default();
        let mut span = Span::new(text, style);
        for link in &mut self.links {
            link.text.push_str(text);
        }
        if let Some(link) = self.links.last().filter(|link| leads_somewhere(&link.address)) {
            span = span.linked(&link.address);
        }
        match self.lines.last_mut() {
            Some(line) => line.push(span),
            None => self.lines.push(span.into()),
        }
    }

    /// Begins a style. Where there are none, `mark` stands around the text.
    fn open(&mut self, style: Style, mark: &'static str) {
        let mark = if self.look.is_plain() { mark } else { "" };
        let base = self.styles.last().copied().unwrap_or_default();
        self.styles.push(over(base, style));
        self.marks.push(mark);
        self.put(mark);
    }

    fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or_default();
        self.put(mark);
        self.styles.pop();
    }

    fn open_heading(&mut self, level: HeadingLevel) {
        let style = self.look.style(Paint::Heading);
        self.end_lines();
        self.open(if level == HeadingLevel::H1 { style.underline() } else { style }, "");
        if self.look.is_plain() {
            self.put(&format!("{} ", "#".repeat(level as usize)));
        }
    }

    fn open_link(&mut self, address: CowStr<'_>) {
        let base = self.styles.last().copied().unwrap_or_default();
        self.styles.push(over(base, self.look.style(Paint::Link)));
        self.links.push(OpenLink { address: address.into_string(), text: String::new() });
    }

    /// Ends a link, with its address behind it unless the terminal leads there or the text says it.
    fn close_link(&mut self) {
        if self.links.last().is_some_and(|link| link.text.is_empty()) {
            let address = self.links.last().map(|link| link.address.clone()).unwrap_or_default();
            self.put(&address);
        }
        self.styles.pop();
        let Some(OpenLink { address, text }) = self.links.pop() else { return };
        let is_said = text == address || address.strip_prefix("mailto:") == Some(&text);
        let is_linked = self.look.has_links && leads_somewhere(&address) && !text.contains("://");
        if !is_said && !is_linked && !address.is_empty() {
            let style = self.styles.last().copied().unwrap_or_default();
            self.styles.push(over(style, self.look.style(Paint::Dim)));
            self.put(&format!(" ({address})"));
            self.styles.pop();
        }
    }

    fn definition(&mut self, label: &str, address: &str) {
        self.put(&format!("[{label}]: "));
        self.open_link(address.into());
        self.put(address);
        self.close_link();
        self.lines.push(StyledLine::default());
    }

    /// Ends a block, without the empty lines that breaks at its edges or in a row make.
    fn end_lines(&mut self) {
        let mut lines = std::mem::replace(&mut self.lines, vec![StyledLine::default()]);
        lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
        if lines.first().is_some_and(StyledLine::is_empty) {
            lines.remove(0);
        }
        if lines.last().is_some_and(StyledLine::is_empty) {
            lines.pop();
        }
        if !lines.is_empty() {
            self.shapes.push(InlineShape::Lines(lines));
        }
    }
}

fn is_break(html: &str) -> bool {
    matches!(html, "<br>" | "<br/>" | "<br />")
}

/// Whether an address is one that a terminal may open on a click.
fn leads_somewhere(address: &str) -> bool {
    ["https://", "http://", "mailto:"].iter().any(|scheme| address.starts_with(scheme))
        && address.bytes().all(|byte| (0x21..0x7f).contains(&byte))
}

/// One style on top of another.
fn over(base: Style, top: Style) -> Style {
    (base | top.get_effects())
        .fg_color(top.get_fg_color().or(base.get_fg_color()))
        .bg_color(top.get_bg_color().or(base.get_bg_color()))
}
