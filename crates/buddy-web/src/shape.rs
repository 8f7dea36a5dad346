//! The shape of a page, measured before a tree is built from it.
//!
//! A page can be small and its tree enormous: HTML parsers repeat formatting that was left open in every
//! paragraph, and tree walks recurse. So the tags are counted first, in one pass and without a tree. The
//! count errs on the high side only. A closing tag counts only if it closes the innermost open element, since
//! a parser may ignore any other. Once it is uncertain how a parser would read on, no closing tag counts any
//! more.

mod tag;

use tag::Tag;

/// The maximum number of open elements for which a tree is built. Real pages have some dozens. A tree is up
/// to eight times as deep, as a table has its body, row, cell and list by itself, and walking that must fit
/// the stack that pages are read on.
const MAX_DEPTH: usize = 256;
/// The maximum number of elements that a parser may add to a page for which a tree is built.
const MAX_REPEATED: usize = 500_000;

/// Tags that have no content, wherever they are.
const EMPTY: &[&str] = &["br", "hr", "img", "meta", "embed"];
/// Tags that have no content in HTML, but nest in drawings and formulas.
const EMPTY_IN_HTML: &[&str] = &[
    "input", "link", "area", "base", "col", "source", "track", "wbr", "param", "option", "optgroup", "rt",
    "rp",
];
/// Tags that end where the next one of their kind begins, wherever they are.
const FLAT: &[&str] = &["p", "li", "dd", "dt"];
/// Tags that do so in HTML, but nest in drawings and formulas.
const FLAT_IN_HTML: &[&str] = &["td", "th", "tr", "tbody", "thead", "tfoot", "colgroup"];
/// Tags whose end also ends the flat elements within them. The end of any other tag is ignored there.
const SCOPED: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "button",
    "center",
    "details",
    "dialog",
    "div",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "header",
    "hgroup",
    "main",
    "menu",
    "nav",
    "ol",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "ul",
];
/// Tags that begin drawings and formulas.
const FOREIGN: &[&str] = &["svg", "math"];
/// Elements of drawings. None of these ends a drawing, and inside it each may close itself.
const DRAWN: &[&str] = &[
    "path",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "use",
    "stop",
    "g",
    "defs",
    "symbol",
    "mask",
    "clippath",
    "lineargradient",
    "radialgradient",
    "filter",
    "text",
    "tspan",
    "animate",
    "animatetransform",
    "fegaussianblur",
    "feoffset",
    "feblend",
    "fecolormatrix",
    "feflood",
    "femerge",
    "femergenode",
    "fecomposite",
];
/// Tags that a parser reopens in every paragraph until they are closed.
const REPEATED: &[&str] =
    &["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Tags whose text has no tags in it.
const RAW: &[&str] =
    &["script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp", "plaintext"];
/// Tags within which a parser drops most others.
const DROPPING: &[&str] = &["select", "frameset"];

/// The totals of the tags of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The maximum number of elements that are open at once.
    pub(crate) depth: usize,
    /// The number of elements that a parser may add by itself.
    pub(crate) repeated: usize,
}

impl Shape {
    /// Counts the tags of a page.
    pub(crate) fn of(html: &str) -> Self {
        let mut count = Count::default();
        let mut rest = html;
        while let Some((_, after)) = rest.split_once('<') {
            rest = count.take(after);
            // A page beyond the limits is not read to its end.
            if !count.shape.is_sound() {
                break;
            }
        }
        count.shape
    }

    /// Whether a tree of the page stays small enough to build and to walk.
    pub(crate) fn is_sound(self) -> bool {
        self.depth <= MAX_DEPTH && self.repeated <= MAX_REPEATED
    }
}

struct Element {
    name: String,
    /// Whether it ends by itself. Such elements do not add up, but they keep others from being closed.
    is_flat: bool,
}

#[derive(Default)]
struct Count {
    /// Elements that may be open, the innermost last.
    open: Vec<Element>,
    /// The number of them that count.
    depth: usize,
    /// The number of them that are repeated.
    formatting: usize,
    /// Whether a parser is certainly within a drawing now.
    is_drawing: bool,
    /// Whether the parser may see other tags than this count does.
    is_unsure: bool,
    shape: Shape,
}

impl Count {
    /// Counts the tag at a `<`, and returns the text after it.
    fn take<'a>(&mut self, text: &'a str) -> &'a str {
        if self.is_unsure {
            let name = tag::tag_name(text);
            if !name.is_empty() {
                self.push(&name);
            }
            return text;
        }
        let (tag, rest) = tag::read(text);
        match tag {
            Tag::Open { name, .. } if RAW.contains(&&*name) => return self.take_raw(&name, rest),
            Tag::Open { name, is_self_closing } => self.open(&name, is_self_closing),
            Tag::Close { name } => self.close(&name),
            // The effect of `<![CDATA[` depends on where the parser is.
            Tag::Nothing if text.starts_with("![") && self.may_be(FOREIGN) => self.is_unsure = true,
            Tag::Nothing => {}
        }
        rest
    }

    /// Skips a raw text without tags, where that is certain.
    fn take_raw<'a>(&mut self, name: &str, text: &'a str) -> &'a str {
        self.shape.repeated += self.formatting;
        let Some((inside, end)) = tag::split_at_end(text, name) else {
            self.is_unsure = true;
            return text;
        };
        // A script that contains a comment may continue after its apparent end.
        let is_odd = name == "script" && inside.contains("<!--");
        let has_tags = inside.contains('<');
        if name == "plaintext" || is_odd || self.may_be(DROPPING) || (self.may_be(FOREIGN) && has_tags) {
            self.is_unsure = true;
            return text;
        }
        end
    }

    fn open(&mut self, name: &str, is_self_closing: bool) {
        if self.is_drawing && is_self_closing && DRAWN.contains(&name) {
            return;
        }
        self.is_drawing = match name {
            "svg" => !is_self_closing,
            _ => self.is_drawing && DRAWN.contains(&name),
        };
        self.push(name);
    }

    fn push(&mut self, name: &str) {
        self.shape.repeated += self.formatting;
        let is_html = !self.is_unsure && !self.may_be(FOREIGN);
        if EMPTY.contains(&name) || (is_html && EMPTY_IN_HTML.contains(&name)) {
            return;
        }
        let is_flat =
            (FLAT.contains(&name) || (is_html && FLAT_IN_HTML.contains(&name))) && !self.is_kept_open(name);
        if is_flat {
            // Once is enough, which also bounds the search when something is closed.
            if self.innermost_flat().any(|element| element.name == name) {
                return;
            }
        } else {
            self.formatting += usize::from(REPEATED.contains(&name));
            self.depth += 1;
            self.shape.depth = self.shape.depth.max(self.depth);
        }
        self.open.push(Element { name: name.to_owned(), is_flat });
    }

    /// List items within items of the other kind of list do not end by themselves.
    fn is_kept_open(&self, name: &str) -> bool {
        let others: &[&str] = match name {
            "li" => &["dd", "dt"],
            "dd" | "dt" => &["li"],
            _ => &[],
        };
        self.innermost_flat().any(|element| others.contains(&&*element.name))
    }

    fn innermost_flat(&self) -> impl Iterator<Item = &Element> {
        self.open.iter().rev().take_while(|element| element.is_flat)
    }

    fn close(&mut self, name: &str) {
        self.is_drawing &= DRAWN.contains(&name);
        if self.open.last().is_some_and(|element| element.is_flat && element.name == name) {
            self.open.pop();
            return;
        }
        let Some(at) = self.open.iter().rposition(|element| !element.is_flat) else { return };
        let has_flat = at + 1 < self.open.len();
        let is_repeated = REPEATED.contains(&name);
        if self.open.get(at).is_none_or(|element| element.name != name) {
            return;
        }
        if SCOPED.contains(&name) || !has_flat {
            self.open.truncate(at);
        } else if is_repeated {
            // A parser closes formatting and leaves the surrounding paragraph open.
            self.open.remove(at);
        } else {
            return;
        }
        self.depth -= 1;
        self.formatting -= usize::from(is_repeated);
    }

    fn may_be(&self, within: &[&str]) -> bool {
        self.open.iter().any(|element| within.contains(&&*element.name))
    }
}

#[cfg(test)]
mod tests {
    use dom_query::{Document, NodeRef};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(html: &str, depth: usize) {
        assert_eq!(Shape::of(html).depth, depth, "{html}");
    }

    #[test]
    fn well_formed_pages_count_as_they_are() {
        check("<html><body><div><p>a<br>b<img src=x></div><div></div></body></html>", 3);
        check("<ul><li>a<li>b<li><b>c</b></ul>", 2);
        check("<table><tr><td>1<td>2<tr><td>3</table>", 1);
        check("<script>if (a < b) { s = '<div><div><div>' }</script><div>", 1);
        check("<noscript><img src=x></noscript><textarea></div></textarea><div>", 1);
        check("plain < text, 1 <2, and <!-- a <b> comment -->", 0);
        check("<svg><title>x</title><path d='M0'/><g><path d='M1'/></g></svg><div></div>", 2);
    }

    #[test]
    fn closing_tags_that_a_parser_may_ignore_close_nothing() {
        check(&"<b></i>".repeat(20), 20);
        check(&"<b><table><td></b></table>".repeat(20), 21);
        check(&"<b title='</b>'>".repeat(20), 20);
        check(&"<b><!--</b>-->".repeat(20), 20);
        check(&"<b><textarea></b></textarea>".repeat(20), 20);
        check(&"<span><p></span></p>".repeat(20), 20);
        check(&"<div><p></div>".repeat(20), 1);
        check("</div></div><div>", 1);
    }

    #[test]
    fn elements_that_are_flat_in_html_nest_in_drawings() {
        check(&"<link>".repeat(20), 0);
        check(&format!("<svg>{}", "<link>".repeat(20)), 21);
        check(&format!("<svg><script>{}", "<g>".repeat(20)), 21);
        check(&format!("<svg></svg>{}", "<g/>".repeat(20)), 20);
        check(&format!("<svg><p>{}", "<g/>".repeat(20)), 21);
    }

    #[test]
    fn deep_pages_and_those_that_a_parser_blows_up_are_not_sound() {
        assert!(Shape::of(&"<div>".repeat(256)).is_sound());
        assert!(!Shape::of(&"<div>".repeat(257)).is_sound());
        let open = (0..200).map(|number| format!("<b title={number}>")).collect::<Vec<_>>().concat();
        assert!(Shape::of(&open).is_sound());
        assert!(!Shape::of(&(open + &"<p>x".repeat(5_000))).is_sound());
    }

    fn real_depth(node: &NodeRef<'_>) -> usize {
        node.children().iter().map(|child| 1 + real_depth(child)).max().unwrap_or(0)
    }

    fn piece() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "<b>",
            "</b>",
            "<i a=1>",
            "</i>",
            "<div>",
            "</div>",
            "<p>",
            "</p>",
            "<table>",
            "</table>",
            "<td>",
            "<tr>",
            "<svg>",
            "</svg>",
            "<g/>",
            "<g>",
            "</g>",
            "<link>",
            "<title>",
            "</title>",
            "<script>",
            "</script>",
            "<style>",
            "</style>",
            "<textarea>",
            "</textarea>",
            "<select>",
            "</select>",
            "<option>",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "\"",
            "'",
            "<a b=\"",
            ">",
            "/>",
            "<math>",
            "</math>",
            "<noscript>",
            "</noscript>",
            "<template>",
            "</template>",
            "<li>",
            "<ul>",
            "</ul>",
            "x",
            "<desc>",
            "</desc>",
            "<iframe>",
            "<span>",
            "</span>",
            "<dd>",
            "<hr>",
            "<object>",
            "</object>",
            "</iframe>",
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        /// Flat elements are within others, and a parser adds rows, bodies and repeated formatting: a small
        /// factor.
        #[test]
        fn a_tree_is_never_much_deeper_than_its_shape(pieces in prop::collection::vec(piece(), 0..40), times in 1..40usize) {
            let html = pieces.concat().repeat(times);
            let shape = Shape::of(&html);
            prop_assume!(shape.is_sound());
            let real = real_depth(&Document::from(&*html).root());
            prop_assert!(real <= 8 * shape.depth + 8, "{} > {} in {}", real, shape.depth, html);
        }
    }
}
