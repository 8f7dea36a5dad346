//! How the input looks: the prompt, the draft broken into rows, and where the cursor stands in them.

use anstyle::Style;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::menu::{Menu, MenuChoice};
use crate::picker_rows::{PickerRow, render_choices};
use crate::text::{Span, StyledLine, TerminalLook};

/// How many choices of a menu are shown.
pub(crate) const MENU_ROWS: usize = 6;

/// The rows of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputView {
    pub(crate) rows: Vec<StyledLine>,
    /// Row and column of the cursor.
    pub(crate) cursor: (usize, usize),
}

/// The input: the prompt, then the text with the cursor before the byte `cursor` of it. Rows after the first are indented
/// to the text of the first.
pub(crate) fn render_input(prompt: &StyledLine, text: &str, cursor: usize, width: usize) -> InputView {
    let indent = if prompt.width() * 2 <= width { prompt.width() } else { 0 };
    let gap = StyledLine::plain(&" ".repeat(indent));
    let mut rows = vec![prompt.clone()];
    let mut column = prompt.width();
    let mut place = (0, column);
    for (at, grapheme) in text.grapheme_indices(true) {
        let is_end = grapheme == "\n";
        let shown = Span::new(grapheme, Style::new());
        let columns = shown.text().width();
        // A full row has no place for the cursor, so one column stays free.
        if is_end && at < cursor || column + columns >= width.max(2) {
            rows.push(gap.clone());
            column = indent;
        }
        if at == cursor {
            place = (rows.len() - 1, column);
        }
        if is_end && at >= cursor {
            rows.push(gap.clone());
            column = indent;
        }
        if !is_end {
            if let Some(row) = rows.last_mut() {
                row.push(shown);
            }
            column += columns;
        }
    }
    if cursor >= text.len() {
        place = (rows.len() - 1, column);
    }
    InputView { rows, cursor: place }
}

/// The rows of a menu, at most `most` of them.
pub(crate) fn render_menu(menu: &Menu, most: usize, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    let (shown, at, _) = menu.window(most);
    let mut rows = Vec::new();
    for (place, choice) in shown.iter().enumerate() {
        let MenuChoice { name, note } = choice;
        rows.push(PickerRow { name, note, is_chosen: place == at, wish: menu.wish() });
    }
    render_choices(&rows, look, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, width: usize, rows: &[&str]) {
        let cursor = text.find('|').unwrap();
        let view = render_input(&StyledLine::plain("> "), &text.replace('|', ""), cursor, width);
        let mut shown: Vec<String> = view.rows.iter().map(StyledLine::text).collect();
        // The place in bytes of a column.
        let row = &mut shown[view.cursor.0];
        let mut columns = 0;
        let place = row
            .char_indices()
            .find(|(_, letter)| {
                let is_there = columns >= view.cursor.1;
                columns += letter.to_string().width();
                is_there
            })
            .map_or(row.len(), |(at, _)| at);
        row.insert(place, '|');
        assert_eq!(shown, rows);
    }

    #[test]
    fn the_cursor_stands_where_the_next_letter_goes() {
        check("|", 20, &["> |"]);
        check("hello|", 20, &["> hello|"]);
        check("he|llo", 20, &["> he|llo"]);
        check("one\ntwo|", 20, &["> one", "  two|"]);
        check("one|\ntwo", 20, &["> one|", "  two"]);
        check("one\n|", 20, &["> one", "  |"]);
        check("one\n|two", 20, &["> one", "  |two"]);
        check("漢字|漢", 20, &["> 漢字|漢"]);
    }

    #[test]
    fn long_lines_are_broken_with_room_for_the_cursor() {
        check("abcdefgh|", 8, &["> abcde", "  fgh|"]);
        check("abcde|", 8, &["> abcde|"]);
        check("abcde|f", 8, &["> abcde", "  |f"]);
        check("漢字漢|", 8, &["> 漢字", "  漢|"]);
    }
}
