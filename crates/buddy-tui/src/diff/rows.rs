//! The rows of a diff.

use anstyle::Style;

use super::parse::{DiffEntry, DiffFile, DiffLineKind, parse};
use super::within::marked;
use crate::text::{Paint, Span, StyledLine, TerminalLook, expand_tabs, fold, wrap};

/// The narrowest terminal in which lines have numbers.
const NUMBERED: usize = 30;
/// How many rows a line takes at most; a line of a whole file in one is not what anybody reads.
const LINE_ROWS: usize = 5;
/// Columns of a number, so that the diffs of most files are aligned.
const LEAST_DIGITS: usize = 4;
/// How many columns a tab leads to a multiple of.
const TAB: usize = 4;

/// Whether a diff of one file says which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffHead {
    Shown,
    /// It is said elsewhere. Of several files each is named.
    Hidden,
}

/// The first rows of a diff, `limit` at most. The last one says how many lines more there are.
pub(crate) fn render_diff(
    diff: &str,
    look: &TerminalLook,
    width: usize,
    (limit, head): (usize, DiffHead),
) -> Vec<StyledLine> {
    rows(diff, look, width, (limit, LINE_ROWS), head)
}

/// All rows of a diff, with every line to its end: what somebody must have seen before they allow it.
pub(crate) fn render_whole_diff(
    diff: &str,
    look: &TerminalLook,
    width: usize,
    head: DiffHead,
) -> Vec<StyledLine> {
    rows(diff, look, width, (usize::MAX, usize::MAX), head)
}

/// How many lines a diff adds and removes.
pub(crate) fn count_changes(diff: &str) -> (usize, usize) {
    let entries = parse(diff);
    let count = |wanted| {
        entries.iter().filter(|entry| matches!(entry, DiffEntry::Line(kind, ..) if *kind == wanted)).count()
    };
    (count(DiffLineKind::Added), count(DiffLineKind::Removed))
}

/// The files that a diff is of, by their present names.
pub(crate) fn changed_files(diff: &str) -> Vec<String> {
    let name = |entry: &DiffEntry<'_>| match entry {
        DiffEntry::File(file) => file.new.or(file.old).map(str::to_owned),
        _ => None,
    };
    parse(diff).iter().filter_map(name).collect()
}

fn rows(
    diff: &str,
    look: &TerminalLook,
    width: usize,
    (limit, line_rows): (usize, usize),
    head: DiffHead,
) -> Vec<StyledLine> {
    let mut entries = parse(diff);
    let files = entries.iter().filter(|entry| matches!(entry, DiffEntry::File(_))).count();
    if head == DiffHead::Hidden && files == 1 {
        entries.retain(|entry| !matches!(entry, DiffEntry::File(_)));
    }
    let (partners, digits, width) = (partners(&entries), digits(&entries), width.max(1));
    let painter = DiffPainter { partners, digits, look, width, line_rows };
    let mut rows: Vec<StyledLine> = Vec::new();
    for index in 0..entries.len() {
        let more = painter.rows(&entries, index);
        let is_last = index + 1 == entries.len();
        if rows.len() + more.len() + usize::from(!is_last) > limit {
            let left = entries.len() - index;
            let ending = if left == 1 { "" } else { "s" };
            let text = format!("{} {left} more line{ending}", look.sign("…", "..."));
            rows.push(StyledLine::styled(&text, look.style(Paint::Dim)).cut(painter.width, ""));
            break;
        }
        rows.extend(more);
    }
    rows.truncate(limit);
    tinted(rows, look)
}

/// Rows on a ground of their own, up to the longest of them.
fn tinted(rows: Vec<StyledLine>, look: &TerminalLook) -> Vec<StyledLine> {
    let has_ground =
        |row: &StyledLine| row.spans().first().and_then(|span| span.style().get_bg_color()).is_some();
    let widest = rows.iter().filter(|row| has_ground(row)).map(StyledLine::width).max().unwrap_or(0);
    let pad = |row: StyledLine| {
        let ground = row.spans().first().map(Span::style).filter(|style| style.get_bg_color().is_some());
        match ground {
            Some(style) if !look.is_plain() => {
                let gap = " ".repeat(widest - row.width());
                row.and(&gap, Style::new().bg_color(style.get_bg_color()))
            }
            _ => row,
        }
    };
    rows.into_iter().map(pad).collect()
}

/// For each line that stands against another version of itself, which that is.
fn partners(entries: &[DiffEntry<'_>]) -> Vec<Option<usize>> {
    let mut partners = vec![None; entries.len()];
    let kind = |index: usize| match entries.get(index) {
        Some(DiffEntry::Line(kind, ..)) => Some(*kind),
        _ => None,
    };
    let mut index = 0;
    while index < entries.len() {
        let run = |start: usize, wanted| {
            (start..entries.len()).take_while(|index| kind(*index) == Some(wanted)).count()
        };
        let removed = run(index, DiffLineKind::Removed);
        let added = run(index + removed, DiffLineKind::Added);
        for offset in 0..removed.min(added) {
            let (old, new) = (index + offset, index + removed + offset);
            for (one, other) in [(old, new), (new, old)] {
                if let Some(partner) = partners.get_mut(one) {
                    *partner = Some(other);
                }
            }
        }
        index += (removed + added).max(1);
    }
    partners
}

/// How many digits the largest number of a line has.
fn digits(entries: &[DiffEntry<'_>]) -> usize {
    let numbers = entries.iter().map(|entry| match entry {
        DiffEntry::Line(_, number, _) => number.unwrap_or(0),
        _ => 0,
    });
    match numbers.max().unwrap_or(0) {
        0 => 0,
        largest => largest.to_string().len().max(LEAST_DIGITS),
    }
}

struct DiffPainter<'a> {
    partners: Vec<Option<usize>>,
    digits: usize,
    look: &'a TerminalLook,
    width: usize,
    /// How many rows a line takes at most.
    line_rows: usize,
}

impl DiffPainter<'_> {
    fn rows(&self, entries: &[DiffEntry<'_>], index: usize) -> Vec<StyledLine> {
        let none = StyledLine::default();
        let plain = |line: &StyledLine| wrap(line, self.width, &none, &none);
        match entries.get(index) {
            Some(DiffEntry::File(file)) => {
                let header = self.header(file, entries.get(index + 1..).unwrap_or_default());
                let gap = (index > 0).then(StyledLine::default);
                gap.into_iter().chain(plain(&header)).collect()
            }
            // Where the first lines are is told by their numbers.
            Some(DiffEntry::Place(..))
                if self.has_numbers()
                    && !matches!(entries.get(index.wrapping_sub(1)), Some(DiffEntry::Line(..))) =>
            {
                Vec::new()
            }
            Some(DiffEntry::Place(number, around)) => plain(&self.place(*number, around)),
            Some(DiffEntry::Note(text)) => plain(&StyledLine::styled(text, self.style(Paint::Dim))),
            Some(DiffEntry::Line(kind, number, text)) => {
                let partner = self.partners.get(index).copied().flatten();
                let other = partner.and_then(|partner| match entries.get(partner) {
                    Some(DiffEntry::Line(_, _, other)) => Some(*other),
                    _ => None,
                });
                self.change(*kind, *number, text, other)
            }
            None => Vec::new(),
        }
    }

    fn style(&self, paint: Paint) -> Style {
        self.look.style(paint)
    }

    /// The file, with how many lines of it were added and removed.
    fn header(&self, file: &DiffFile<'_>, after: &[DiffEntry<'_>]) -> StyledLine {
        let lines = after.iter().take_while(|entry| !matches!(entry, DiffEntry::File(_)));
        let (mut added, mut removed) = (0_usize, 0_usize);
        for entry in lines {
            added += usize::from(matches!(entry, DiffEntry::Line(DiffLineKind::Added, ..)));
            removed += usize::from(matches!(entry, DiffEntry::Line(DiffLineKind::Removed, ..)));
        }
        let name = match (file.old, file.new) {
            (Some(old), Some(new)) if old != new => format!("{old} {} {new}", self.look.sign("→", "->")),
            (_, Some(new)) => new.to_owned(),
            (old, None) => old.unwrap_or_default().to_owned(),
        };
        let note = match (file.old, file.new) {
            (None, Some(_)) => " (new)",
            (Some(_), None) => " (removed)",
            _ => "",
        };
        StyledLine::styled(&name, self.style(Paint::Strong))
            .and(note, self.style(Paint::Dim))
            .and(&format!("  +{added}"), self.style(Paint::Good))
            .and(&format!(" {}{removed}", self.look.sign("−", "-")), self.style(Paint::Bad))
    }

    fn has_numbers(&self) -> bool {
        self.digits > 0 && self.width >= NUMBERED
    }

    fn place(&self, number: Option<usize>, around: &str) -> StyledLine {
        let line = match number {
            Some(number) if !self.has_numbers() => format!(" line {number}"),
            _ => String::new(),
        };
        let text = format!("{}{line} {around}", self.look.sign("…", "..."));
        let gap = if self.has_numbers() { " ".repeat(self.digits + 3) } else { String::new() };
        StyledLine::plain(&gap).and(text.trim_end(), self.style(Paint::Place))
    }

    fn change(
        &self,
        kind: DiffLineKind,
        number: Option<usize>,
        text: &str,
        other: Option<&str>,
    ) -> Vec<StyledLine> {
        let (sign, ink, style, word) = match kind {
            DiffLineKind::Same => (" ", Style::new(), Style::new(), Style::new()),
            DiffLineKind::Removed => (
                self.look.sign("−", "-"),
                self.style(Paint::Bad).bold(),
                self.style(Paint::RemovedLine),
                self.style(Paint::RemovedWord),
            ),
            DiffLineKind::Added => (
                "+",
                self.style(Paint::Good).bold(),
                self.style(Paint::AddedLine),
                self.style(Paint::AddedWord),
            ),
        };
        let ground = |above: Style| above.bg_color(style.get_bg_color());
        let mut first = StyledLine::default();
        if self.has_numbers() {
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            let width = self.digits;
            first = first.and(&format!("{number:>width$} "), ground(self.style(Paint::Dim)));
        }
        first = first.and(sign, ground(ink)).and(" ", ground(Style::new()));
        let next = StyledLine::styled(&" ".repeat(first.width()), ground(Style::new()));
        let text = expand_tabs(text, TAB);
        let other = other.map(|other| expand_tabs(other, TAB));
        let mut line = StyledLine::default();
        match other.as_deref().and_then(|other| marked(&text, other)) {
            Some(pieces) => {
                for (piece, is_changed) in pieces {
                    line.push(Span::new(piece, if is_changed { word } else { style }));
                }
            }
            None => line.push(Span::new(&text, style)),
        }
        let Some(room) = self.width.checked_sub(first.width()).filter(|room| *room > 0) else {
            first.append(line);
            return fold(&first, self.width);
        };
        let margins = std::iter::once(first).chain(std::iter::repeat(next));
        let put = |(mut margin, row): (StyledLine, StyledLine)| {
            margin.append(row);
            margin.trimmed()
        };
        margins
            .zip(fold(&line.cut(room.saturating_mul(self.line_rows), self.look.sign("…", "...")), room))
            .map(put)
            .collect()
    }
}
