//! Pieces of Markdown as rows.

use unicode_width::UnicodeWidthStr;

use super::highlight::Highlighter;
use super::inline::{InlineShape, shapes};
use super::piece::{BlockPart, ItemMark, Joint, NestStep, SettledPiece, SourceText};
use crate::text::{Paint, StyledLine, TerminalLook, fold, wrap};

/// The narrowest room for text beside marks and quotes. Where there is less, the outer ones are left out.
const LEAST_ROOM: usize = 4;
/// The widest that a line of prose is; tables and code take the room that there is.
pub(super) const MEASURE: usize = 86;
/// How long the line of a rule is.
const RULE: usize = 40;
/// The signs around code where there are no colours.
const FENCE: &str = "```";
/// The lead of each row of code where there are colours.
const CODE_INDENT: &str = "  ";

/// The state between two pieces: an open block of code, and the last row of a paragraph in parts.
#[derive(Clone, Default)]
pub(super) struct MarkdownPainter {
    has_rows: bool,
    code: Option<Code>,
    carried: Option<Carried>,
}

#[derive(Clone)]
struct Code {
    /// The margin of the first row, until that is shown.
    first: Option<StyledLine>,
    highlighter: Option<Highlighter>,
}

#[derive(Clone)]
struct Carried {
    row: StyledLine,
    /// The margin of the paragraph's first row, if this is that row.
    first: Option<StyledLine>,
}

impl MarkdownPainter {
    pub(super) fn rows(&mut self, piece: SettledPiece, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
        let margin = Margin::of(&piece.path, look, width);
        let rows = match piece.part {
            BlockPart::Text(text) => self.text(&text, &piece.path, margin, look),
            BlockPart::Rule => margin.put(vec![rule(margin.room, look)]),
            BlockPart::Html { line, .. } => margin.put(fold(&StyledLine::plain(&line), margin.room)),
            BlockPart::CodeBegin(language) => self.code_begin(&language, &margin, look),
            BlockPart::CodeLine(line) => self.code_line(&line, margin, look),
            BlockPart::CodeEnd => self.code_end(margin, look),
            BlockPart::Nothing => margin.put(vec![StyledLine::default()]),
        };
        let is_code = self.code.is_some();
        let gap =
            piece.gap.filter(|_| self.has_rows && (is_code || self.carried.is_some() || !rows.is_empty()));
        self.has_rows |= !rows.is_empty();
        let gap = gap.map(|common| {
            let shared = piece.path.get(..common).unwrap_or_default();
            Margin::of(shared, look, width).next.trimmed()
        });
        gap.into_iter().chain(rows).collect()
    }

    fn text(
        &mut self,
        text: &SourceText,
        path: &[NestStep],
        mut margin: Margin,
        look: &TerminalLook,
    ) -> Vec<StyledLine> {
        let base =
            if path.contains(&NestStep::Quote) { look.style(Paint::Quote) } else { anstyle::Style::new() };
        let mut shapes = shapes(&text.source, text.follows.is_some(), look, base);
        if let Some(Carried { row, first }) = self.carried.take() {
            margin.first = first.unwrap_or(margin.first);
            join(row, text.follows, &mut shapes);
        }
        let is_marked = margin.first != margin.next;
        if shapes.is_empty() && is_marked {
            shapes.push(InlineShape::Lines(vec![StyledLine::default()]));
        }
        let mut content: Vec<StyledLine> = Vec::new();
        let none = StyledLine::default();
        for shape in shapes {
            if !content.is_empty() {
                content.push(StyledLine::default());
            }
            match shape {
                InlineShape::Lines(lines) => {
                    content.extend(
                        lines.iter().flat_map(|line| wrap(line, margin.room.min(MEASURE), &none, &none)),
                    );
                }
                InlineShape::Table(table) => content.extend(table.lines(look, margin.room)),
            }
        }
        if text.is_cut {
            let row = content.pop().unwrap_or_default();
            let first = content.is_empty().then(|| margin.first.clone());
            self.carried = Some(Carried { row, first });
        }
        margin.put(content.iter().map(StyledLine::trimmed).collect())
    }

    fn code_begin(&mut self, language: &str, margin: &Margin, look: &TerminalLook) -> Vec<StyledLine> {
        let is_plain = look.is_plain();
        let highlighter = if is_plain { None } else { Highlighter::of(language) };
        self.code = Some(Code { first: (!is_plain).then(|| margin.first.clone()), highlighter });
        let fence = StyledLine::plain(&format!("{FENCE}{language}"));
        if is_plain { margin.put(fold(&fence, margin.room)) } else { Vec::new() }
    }

    fn code_line(&mut self, text: &str, mut margin: Margin, look: &TerminalLook) -> Vec<StyledLine> {
        let mut line = None;
        if let Some(code) = &mut self.code {
            line = code.highlighter.as_mut().and_then(|highlighter| highlighter.line(text, look));
            if line.is_none() {
                code.highlighter = None;
            }
            margin.first = code.first.take().unwrap_or(margin.first);
        }
        let line = line.unwrap_or_else(|| StyledLine::plain(text));
        if !look.is_plain() {
            margin.indent(CODE_INDENT);
        }
        margin.put(fold(&line, margin.room))
    }

    fn code_end(&mut self, margin: Margin, look: &TerminalLook) -> Vec<StyledLine> {
        let first = self.code.take().and_then(|code| code.first);
        match first {
            // A block without a line.
            Some(first) => Margin { first, ..margin }.put(vec![StyledLine::default()]),
            None if look.is_plain() => margin.put(fold(&StyledLine::plain(FENCE), margin.room)),
            None => Vec::new(),
        }
    }
}

/// Puts what was carried before the text that goes on from it.
fn join(row: StyledLine, joint: Option<Joint>, shapes: &mut Vec<InlineShape>) {
    let Some(InlineShape::Lines(lines)) = shapes.first_mut() else {
        shapes.insert(0, InlineShape::Lines(vec![row]));
        return;
    };
    let Some(line) = lines.first_mut() else { return };
    let rest = std::mem::replace(line, row);
    if joint == Some(Joint::Space) {
        line.append(StyledLine::plain(" "));
    }
    line.append(rest);
}

fn rule(room: usize, look: &TerminalLook) -> StyledLine {
    StyledLine::styled(&look.sign("─", "-").repeat(RULE.min(room)), look.style(Paint::Dim))
}

/// The lead of the rows of a piece.
struct Margin {
    first: StyledLine,
    next: StyledLine,
    /// The columns beside it.
    room: usize,
}

impl Margin {
    /// The margin of what stands inside of these steps.
    fn of(path: &[NestStep], look: &TerminalLook, width: usize) -> Self {
        let width = width.max(1);
        let dim = look.style(Paint::Dim);
        let signs: Vec<String> = path.iter().map(|step| sign(step, look)).collect();
        let mut room = width;
        let fits = signs.iter().rev().take_while(|sign| {
            let less = room.checked_sub(sign.width()).filter(|room| *room >= LEAST_ROOM);
            room = less.unwrap_or(room);
            less.is_some()
        });
        let count = fits.count();
        let (mut first, mut next) = (StyledLine::default(), StyledLine::default());
        for (step, sign) in path.iter().zip(&signs).skip(path.len() - count) {
            let spaces = " ".repeat(sign.width());
            let is_fresh = matches!(step, NestStep::Quote | NestStep::Item { is_fresh: true, .. });
            first = first.and(if is_fresh { sign } else { &spaces }, dim);
            next = next.and(if *step == NestStep::Quote { sign } else { &spaces }, dim);
        }
        Self { first, next, room }
    }

    /// One more indent, where there is room for it.
    fn indent(&mut self, indent: &str) {
        if let Some(room) = self.room.checked_sub(indent.len()).filter(|room| *room >= LEAST_ROOM) {
            self.first.append(StyledLine::plain(indent));
            self.next.append(StyledLine::plain(indent));
            self.room = room;
        }
    }

    /// The rows with what stands before them.
    fn put(&self, rows: Vec<StyledLine>) -> Vec<StyledLine> {
        let margins = std::iter::once(&self.first).chain(std::iter::repeat(&self.next));
        let put = |(margin, row): (&StyledLine, StyledLine)| {
            if row.is_empty() {
                return margin.trimmed();
            }
            let mut whole = margin.clone();
            whole.append(row);
            whole
        };
        margins.zip(rows).map(put).collect()
    }
}

/// The sign of a quote or an item.
fn sign(step: &NestStep, look: &TerminalLook) -> String {
    let mark = match step {
        NestStep::Quote if look.is_plain() => return "> ".to_owned(),
        NestStep::Quote => return look.sign("│ ", "| ").to_owned(),
        NestStep::Item { mark, .. } => *mark,
    };
    match mark {
        ItemMark::Bullet => look.sign("• ", "- ").to_owned(),
        ItemMark::ToDo => look.sign("☐ ", "[ ] ").to_owned(),
        ItemMark::Done => look.sign("☑ ", "[x] ").to_owned(),
        ItemMark::Number { number, delimiter } => format!("{number}{delimiter} "),
    }
}
