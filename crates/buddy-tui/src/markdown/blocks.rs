//! The blocks of a text, line by line: which quotes, lists and blocks of code are open, and what is finished.
//!
//! The held text is bounded: code and HTML are given line by line, and a paragraph or table that grows too long is given in
//! parts.

use super::piece::{BlockPart, ItemMark, Joint, NestStep, SettledPiece, SourceText};
use super::source::{GivenLine, LONGEST_HEADING};
use super::spacing::Spacing;
use super::starts::{CodeFence, Html, ListStart, Rest};

/// How much of a paragraph or table is held, in bytes: it is read again for every token.
const LONGEST_TEXT: usize = 8 * 1024;
/// How long the head of a table may be that is shown again.
const LONGEST_HEAD: usize = 2 * 1024;
/// How deep quotes and lists nest. What is deeper is text.
const DEEPEST: usize = 12;

#[derive(Debug, Clone, Default)]
pub(super) struct BlockReader {
    around: Vec<Around>,
    leaf: OpenLeaf,
    done: Vec<SettledPiece>,
    spacing: Spacing,
}

/// A quote or list item that is open.
#[derive(Debug, Clone)]
struct Around {
    step: NestStep,
    /// The item and what it is indented by, for an item.
    item: Option<ListStart>,
    /// For an item that began without content: how many empty lines followed. It ends with the first.
    empty_lines: Option<usize>,
}

/// The open block inside them.
#[derive(Debug, Clone, Default)]
enum OpenLeaf {
    #[default]
    None,
    Text {
        source: String,
        follows: Option<Joint>,
        lines: usize,
        is_table: bool,
    },
    Fence(CodeFence),
    /// Code by its indent, and how many empty lines came last.
    Indented(usize),
    Html(Html),
}

impl BlockReader {
    /// The finished pieces so far.
    pub(super) fn take(&mut self) -> Vec<SettledPiece> {
        std::mem::take(&mut self.done)
    }

    pub(super) fn line(&mut self, given: &GivenLine) {
        match given.joint {
            None => self.whole(Rest { text: &given.text }),
            Some(joint) => self.more(&given.text, joint),
        }
        if given.is_settled {
            self.cut_text(Joint::Space);
        }
    }

    /// Whether nothing is open that the next line could go on.
    pub(super) fn is_between(&self) -> bool {
        matches!(self.leaf, OpenLeaf::None)
    }

    /// Whether everything so far of a text that is open was given.
    pub(super) fn is_in_parts(&self) -> bool {
        matches!(&self.leaf, OpenLeaf::Text { source, follows: Some(_), .. } if source.is_empty())
    }

    /// Nothing follows.
    pub(super) fn end(&mut self) {
        self.close_to(0);
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        match &self.leaf {
            OpenLeaf::Text { source, .. } => source.len(),
            _ => 0,
        }
    }

    fn whole(&mut self, line: Rest<'_>) {
        let (matched, rest) = self.matched(line);
        let is_inside = matched == self.around.len();
        if is_inside && self.continues_verbatim(rest) {
            return;
        }
        if rest.is_blank() {
            self.blank(matched);
            return;
        }
        let (rest, matched) = self.open_around(rest, matched);
        self.open_leaf(rest, matched);
    }

    /// How many of the blocks around go on in this line, and the line inside of them.
    fn matched<'a>(&self, mut rest: Rest<'a>) -> (usize, Rest<'a>) {
        for (index, around) in self.around.iter().enumerate() {
            let inner = match around.item {
                None => rest.quoted(),
                Some(_) if rest.is_blank() => Some(rest),
                Some(_) if around.empty_lines > Some(0) => None,
                Some(item) => (rest.indent() >= item.content).then(|| rest.without_spaces(item.content)),
            };
            match inner {
                Some(inner) => rest = inner,
                None => return (index, rest),
            }
        }
        (self.around.len(), rest)
    }

    /// Takes a line of code or HTML, if such is open.
    fn continues_verbatim(&mut self, rest: Rest<'_>) -> bool {
        match &mut self.leaf {
            OpenLeaf::Fence(fence) if rest.ends(fence) => self.close_leaf(),
            OpenLeaf::Fence(fence) => {
                let line = rest.without_spaces(fence.indent).text.to_owned();
                self.give(BlockPart::CodeLine(line));
            }
            OpenLeaf::Indented(blanks) if rest.is_blank() => *blanks += 1,
            OpenLeaf::Indented(_) if rest.indent() >= 4 => self.indented_line(rest),
            OpenLeaf::Html(html) if html.end.is_some() || !rest.is_blank() => {
                let html = *html;
                self.html_line(rest, html, true);
            }
            _ => return false,
        }
        true
    }

    fn indented_line(&mut self, rest: Rest<'_>) {
        let blanks = match &mut self.leaf {
            OpenLeaf::Indented(blanks) => std::mem::take(blanks),
            _ => 0,
        };
        for _ in 0..blanks {
            self.give(BlockPart::CodeLine(String::new()));
        }
        self.give(BlockPart::CodeLine(rest.without_spaces(4).text.to_owned()));
    }

    fn html_line(&mut self, rest: Rest<'_>, html: Html, follows: bool) {
        self.give(BlockPart::Html { line: rest.text.to_owned(), follows });
        if html.end.is_some_and(|end| rest.text.to_ascii_lowercase().contains(end)) {
            self.close_leaf();
        }
    }

    fn blank(&mut self, matched: usize) {
        self.close_leaf();
        self.close_to(matched);
        if let Some(Around { step: NestStep::Item { is_fresh: true, .. }, empty_lines, .. }) =
            self.around.last_mut()
        {
            *empty_lines = empty_lines.map(|count| count.saturating_add(1));
        }
        self.spacing.has_blank = true;
    }

    /// Opens the quotes and items that begin in this line.
    fn open_around<'a>(&mut self, mut rest: Rest<'a>, mut matched: usize) -> (Rest<'a>, usize) {
        while matched < DEEPEST {
            if let Some(inner) = rest.quoted() {
                self.close_to_inside(matched);
                if let Some(around) = self.around.last_mut() {
                    around.empty_lines = None;
                }
                self.around.push(Around { step: NestStep::Quote, item: None, empty_lines: None });
                rest = inner;
            } else if let Some((item, inner)) = rest.item().filter(|_| !rest.is_rule())
                && self.may_begin(item, inner, rest, matched)
            {
                rest = self.open_item(item, inner, matched);
            } else {
                break;
            }
            matched = self.around.len();
        }
        (rest, matched)
    }

    /// Whether an item may begin here: in the middle of a paragraph only one that is clearly meant.
    fn may_begin(&self, item: ListStart, inner: Rest<'_>, line: Rest<'_>, matched: usize) -> bool {
        let is_in_text = matched == self.around.len() && matches!(self.leaf, OpenLeaf::Text { .. });
        let is_meant = !inner.is_blank() && item.number.is_none_or(|number| number == 1);
        !is_in_text || (is_meant && !line.is_underline() && !line.is_table_line())
    }

    fn open_item<'a>(&mut self, mut item: ListStart, inner: Rest<'a>, matched: usize) -> Rest<'a> {
        let before = self.around.get(matched).and_then(|around| around.item);
        let same = before.filter(|before| before.sign == item.sign);
        self.close_to_inside(matched);
        if let Some(before) = same {
            item.number = before.number.map(|number| number.saturating_add(1));
            self.spacing.is_sibling = true;
        }
        let (mark, inner) = match (item.number, inner.check_box()) {
            (None, Some((true, inner))) => (ItemMark::Done, inner),
            (None, Some((false, inner))) => (ItemMark::ToDo, inner),
            (None, None) => (ItemMark::Bullet, inner),
            (Some(number), _) => (ItemMark::Number { number, delimiter: item.sign }, inner),
        };
        let step = NestStep::Item { mark, is_fresh: true };
        let empty_lines = inner.is_blank().then_some(0);
        self.around.push(Around { step, item: Some(item), empty_lines });
        inner
    }

    /// Opens what the line begins inside of its blocks, or adds it to what is open.
    fn open_leaf(&mut self, rest: Rest<'_>, matched: usize) {
        let is_inside = matched == self.around.len();
        let in_text = matches!(self.leaf, OpenLeaf::Text { .. });
        let in_table = matches!(self.leaf, OpenLeaf::Text { is_table: true, .. });
        // A text of which a part was given is neither a heading nor the head of a table any more.
        let is_whole = is_inside && !matches!(self.leaf, OpenLeaf::Text { follows: Some(_), .. });
        let is_short = matches!(&self.leaf, OpenLeaf::Text { source, .. } if source.len() <= LONGEST_HEADING);
        if rest.is_blank() {
            return;
        }
        if in_text && is_whole && is_short && !in_table && rest.is_underline() {
            self.add_to_text(rest.text, "\n");
            self.close_leaf();
        } else if rest.is_rule() {
            self.close_to_inside(matched);
            self.give(BlockPart::Rule);
        } else if rest.is_heading() {
            self.close_to_inside(matched);
            self.give_text(rest.text.to_owned());
        } else if let Some(fence) = rest.fence() {
            self.close_to_inside(matched);
            self.give(BlockPart::CodeBegin(fence.language.clone()));
            self.leaf = OpenLeaf::Fence(fence);
        } else if let Some(html) = rest.html().filter(|html| html.is_strong || !in_text) {
            self.close_to_inside(matched);
            self.leaf = OpenLeaf::Html(html);
            self.html_line(rest, html, false);
        } else if in_text && is_whole && rest.is_table_line() {
            self.add_to_text(rest.text, "\n");
            if let OpenLeaf::Text { lines: 2, is_table, .. } = &mut self.leaf {
                *is_table = true;
            }
        } else if in_text && !in_table && (rest.is_underline() || !is_whole && rest.is_table_line()) {
            // Such a line means something only below a whole text that is short, inside of all that is around it.
            self.add_to_text(&format!("\\{}", rest.text.trim_start()), "\n");
        } else if in_text && (is_inside || !in_table) {
            self.add_to_text(rest.text, "\n");
        } else if rest.indent() >= 4 {
            self.close_to_inside(matched);
            self.give(BlockPart::CodeBegin(String::new()));
            self.leaf = OpenLeaf::Indented(0);
            self.indented_line(rest);
        } else {
            self.close_to_inside(matched);
            self.add_to_text(rest.text, "\n");
        }
    }

    /// Takes the next part of a line that was too long.
    fn more(&mut self, text: &str, joint: Joint) {
        match self.leaf {
            OpenLeaf::Fence(_) | OpenLeaf::Indented(_) => self.give(BlockPart::CodeLine(text.to_owned())),
            OpenLeaf::Html(html) => self.html_line(Rest { text }, html, true),
            OpenLeaf::None | OpenLeaf::Text { .. } => {
                self.add_to_text(text, if joint == Joint::Space { " " } else { "" });
            }
        }
    }

    fn add_to_text(&mut self, text: &str, between: &str) {
        let held = match &self.leaf {
            OpenLeaf::Text { source, .. } => source.len(),
            _ => 0,
        };
        if held > 0 && held + text.len() > LONGEST_TEXT {
            self.cut_text(if between.is_empty() { Joint::Nothing } else { Joint::Space });
        }
        match &mut self.leaf {
            OpenLeaf::Text { source, lines, .. } => {
                *lines += usize::from(between == "\n");
                if !source.is_empty() && !source.ends_with('\n') {
                    source.push_str(between);
                }
                source.push_str(text);
            }
            _ => {
                self.leaf =
                    OpenLeaf::Text { source: text.to_owned(), follows: None, lines: 1, is_table: false }
            }
        }
    }

    /// Gives what there is of a long text. A table goes on with its head.
    fn cut_text(&mut self, joint: Joint) {
        let OpenLeaf::Text { source, follows, lines, is_table } = std::mem::take(&mut self.leaf) else {
            return;
        };
        let head: String = source.split_inclusive('\n').take(2).collect();
        let is_table = is_table && head.len() <= LONGEST_HEAD && head.ends_with('\n');
        let next = if is_table {
            OpenLeaf::Text { source: head, follows: None, lines, is_table }
        } else {
            // More lines than one, so that no table begins in the middle of a paragraph.
            OpenLeaf::Text { source: String::new(), follows: Some(joint), lines: lines + 1, is_table }
        };
        self.give(BlockPart::Text(SourceText { source, follows, is_cut: !is_table }));
        self.leaf = next;
    }

    fn give_text(&mut self, source: String) {
        self.give(BlockPart::Text(SourceText { source, follows: None, is_cut: false }));
    }

    /// Closes what is open inside of the first blocks around, and the others.
    fn close_to_inside(&mut self, matched: usize) {
        self.close_leaf();
        self.close_to(matched);
    }

    fn close_to(&mut self, depth: usize) {
        self.close_leaf();
        while self.around.len() > depth {
            let is_fresh = |around: &Around| matches!(around.step, NestStep::Item { is_fresh: true, .. });
            if self.around.last().is_some_and(is_fresh) {
                self.give(BlockPart::Nothing);
            }
            self.around.pop();
            self.spacing.leave(self.around.len());
        }
    }

    fn close_leaf(&mut self) {
        match std::mem::take(&mut self.leaf) {
            OpenLeaf::None | OpenLeaf::Html(_) => {}
            OpenLeaf::Text { source, follows, .. } => {
                self.give(BlockPart::Text(SourceText { source, follows, is_cut: false }));
            }
            OpenLeaf::Fence(_) => self.give(BlockPart::CodeEnd),
            OpenLeaf::Indented(blanks) => {
                self.give(BlockPart::CodeEnd);
                self.spacing.has_blank |= blanks > 0;
            }
        }
    }

    fn give(&mut self, part: BlockPart) {
        let goes_on = match &part {
            BlockPart::CodeLine(_) | BlockPart::CodeEnd => true,
            BlockPart::Html { follows, .. } => *follows,
            BlockPart::Text(text) => text.follows.is_some(),
            _ => false,
        };
        let is_item: Vec<bool> = self.around.iter().map(|around| around.item.is_some()).collect();
        let gap = self.spacing.gap(&is_item).filter(|_| !goes_on);
        let path = self.around.iter().map(|around| around.step.clone()).collect();
        for around in &mut self.around {
            if let NestStep::Item { is_fresh, .. } = &mut around.step {
                *is_fresh = false;
            }
        }
        self.spacing = Spacing::after(self.around.len());
        self.done.push(SettledPiece { path, gap, part });
    }
}
