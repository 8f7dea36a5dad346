//! A table in the columns there are.

use pulldown_cmark::Alignment;

use crate::text::{Paint, StyledLine, TerminalLook, wrap};

/// The narrowest column that cells are wrapped in. A table that would need narrower ones is shown as a list.
const NARROWEST: usize = 6;
/// The columns between two cells.
const BETWEEN: usize = 3;

/// The cells of a table, the head first. A cell has lines.
pub(super) struct MarkdownTable {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Vec<StyledLine>>>,
    row: Vec<Vec<StyledLine>>,
}

impl MarkdownTable {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), row: Vec::new() }
    }

    pub(super) fn cell(&mut self, lines: Vec<StyledLine>) {
        self.row.push(lines);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// The rows on the screen.
    pub(super) fn lines(&self, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
        match self.widths(width) {
            // Read aloud, the cells of a grid have lost their names.
            _ if look.is_read_aloud => self.list(look, width),
            Some(widths) => self.grid(&widths, look),
            None => self.list(look, width),
        }
    }

    /// How wide each column is, if all fit: narrow ones as they need, and the others share what is left.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let count = self.alignments.len();
        let room = width.checked_sub(BETWEEN * count.saturating_sub(1))?;
        let needs: Vec<usize> = (0..count).map(|column| self.need(column)).collect();
        let taken = |most: usize| needs.iter().map(|need| (*need).min(most)).sum::<usize>();
        let widest = needs.iter().copied().max().unwrap_or(0);
        if taken(widest) <= room {
            return Some(needs);
        }
        let most = (NARROWEST..widest).rev().find(|most| taken(*most) <= room)?;
        let mut spare = room - taken(most);
        let share = |need: usize| {
            let more = usize::from(need > most && spare > 0);
            spare -= more;
            need.min(most) + more
        };
        Some(needs.iter().copied().map(share).collect())
    }

    fn need(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.flatten().map(StyledLine::width).max().unwrap_or(0).max(1)
    }

    fn grid(&self, widths: &[usize], look: &TerminalLook) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            self.grid_row(row, widths, look, &mut lines);
            if index == 0 {
                let dashes = widths.iter().map(|width| look.sign("─", "-").repeat(*width));
                let rule = dashes.collect::<Vec<_>>().join(look.sign("─┼─", "-+-"));
                lines.push(StyledLine::styled(&rule, look.style(Paint::Dim)));
            }
        }
        lines
    }

    fn grid_row(
        &self,
        row: &[Vec<StyledLine>],
        widths: &[usize],
        look: &TerminalLook,
        lines: &mut Vec<StyledLine>,
    ) {
        let none = StyledLine::default();
        let cells: Vec<Vec<StyledLine>> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| {
                let cell = row.get(column).map(Vec::as_slice).unwrap_or_default();
                cell.iter().flat_map(|line| wrap(line, *width, &none, &none)).collect()
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for index in 0..height {
            let mut line = StyledLine::default();
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if column > 0 {
                    line.append(StyledLine::styled(look.sign(" │ ", " | "), look.style(Paint::Dim)));
                }
                let alignment = self.alignments.get(column).copied().unwrap_or(Alignment::None);
                line.append(aligned(cell.get(index).unwrap_or(&none), *width, alignment));
            }
            lines.push(line.trimmed());
        }
    }

    /// Each row as an item with a line for each of its cells.
    fn list(&self, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
        let dim = look.style(Paint::Dim);
        let (first, next) = (StyledLine::styled(look.sign("• ", "- "), dim), StyledLine::plain("  "));
        let none = Vec::new();
        let (head, rows) = self.rows.split_first().map_or((&none, &[][..]), |(head, rows)| (head, rows));
        let mut lines = Vec::new();
        for row in if rows.is_empty() { std::slice::from_ref(head) } else { rows } {
            let mut mark = &first;
            for (column, cell) in row.iter().enumerate() {
                let mut line = StyledLine::default();
                if let Some(name) = head.get(column).filter(|name| !rows.is_empty() && !is_empty(name)) {
                    line.append(joined(name));
                    line = line.and(": ", dim);
                }
                line.append(joined(cell));
                lines.extend(wrap(&line, width, mark, &next));
                mark = &next;
            }
        }
        lines
    }
}

fn is_empty(cell: &[StyledLine]) -> bool {
    cell.iter().all(StyledLine::is_empty)
}

fn joined(cell: &[StyledLine]) -> StyledLine {
    let mut joined = StyledLine::default();
    for (index, line) in cell.iter().enumerate() {
        if index > 0 {
            joined.append(StyledLine::plain(" "));
        }
        joined.append(line.clone());
    }
    joined
}

fn aligned(text: &StyledLine, width: usize, alignment: Alignment) -> StyledLine {
    let spare = width.saturating_sub(text.width());
    let before = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => spare / 2,
        Alignment::Right => spare,
    };
    let after = spare - before;
    let mut line = StyledLine::plain(&" ".repeat(before));
    line.append(text.clone());
    line.and(&" ".repeat(after), anstyle::Style::new())
}
