//! The one table that every list is printed as.
//!
//! On a terminal the header is bold, the rows fit the window and one hint closes the list. Anywhere else the same columns come
//! whole, without styles and without the hint, so that a script can rely on them.

use buddy_protocol::UnixMillis;

use crate::list_time::{describe_local_time, describe_moment, describe_time_since};
use crate::printer::{OutputClosed, Printer};
use crate::text::{Paint, StyledLine, TerminalLook, encode, wrap};

/// The width of a terminal that does not tell it.
const USUAL_COLUMNS: usize = 80;
/// Headings that are written in capitals everywhere.
const ACRONYMS: [&str; 4] = ["ID", "PID", "API", "N"];
/// The space between two columns.
const GAP: usize = 2;
/// A free column is not cut below this while another column can be left out.
const MIN_FREE: usize = 12;
/// The least digits of an id on a terminal: its time, and two digits more, so that the length rarely changes.
const SHORT_ID: usize = 12;

/// The width of the terminal.
pub fn terminal_columns() -> usize {
    let columns = crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
    columns.filter(|columns| *columns > 0).unwrap_or(USUAL_COLUMNS)
}

/// How a list is printed.
#[derive(Debug, Clone)]
pub struct ListView {
    look: TerminalLook,
    /// The width of the window; none where the output is not a terminal.
    columns: Option<usize>,
    now: UnixMillis,
    cwd: String,
}

impl ListView {
    /// On the terminal, for a user who works in `cwd`.
    pub fn on_terminal(look: TerminalLook, cwd: &str, now: UnixMillis) -> Self {
        Self { look, columns: Some(terminal_columns()), now, cwd: cwd.to_owned() }
    }

    /// In a file or a pipe.
    pub fn plain() -> Self {
        Self { look: TerminalLook::plain(), columns: None, now: UnixMillis(0), cwd: String::new() }
    }

    /// Without styles, in this many columns, for a conversation that shows it.
    pub fn fitted(columns: usize) -> Self {
        Self { columns: Some(columns), ..Self::plain() }
    }

    /// The same at this time, from which times in the list are counted.
    #[must_use]
    pub fn at(self, now: UnixMillis) -> Self {
        Self { now, ..self }
    }

    /// In a conversation, in a window of this width.
    pub(crate) fn in_window(look: &TerminalLook, columns: usize) -> Self {
        Self { look: look.clone(), columns: Some(columns), now: UnixMillis(0), cwd: String::new() }
    }

    /// On a terminal of this width.
    #[cfg(test)]
    pub(crate) fn sized(look: TerminalLook, columns: usize) -> Self {
        Self { look, columns: Some(columns), now: UnixMillis(0), cwd: "/w".to_owned() }
    }

    pub(crate) fn look(&self) -> &TerminalLook {
        &self.look
    }

    /// How many columns there are.
    pub(crate) fn width(&self) -> usize {
        self.columns.unwrap_or(usize::MAX).max(1)
    }

    /// Whether a user looks at it.
    pub fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// A moment: relative on a terminal, else by the clock.
    pub fn time(&self, time: UnixMillis) -> String {
        if self.is_terminal() { describe_moment(time, self.now) } else { describe_local_time(time) }
    }

    /// How long ago something began: a time span on a terminal, else the moment.
    pub fn since(&self, time: UnixMillis) -> String {
        if self.is_terminal() { describe_time_since(time, self.now) } else { describe_local_time(time) }
    }

    /// A path: on a terminal relative to the working directory or to the home.
    pub fn path(&self, path: &str) -> String {
        if self.is_terminal() { self.look.path_in(path, &self.cwd) } else { path.to_owned() }
    }

    /// The ids of sessions that several rows may share.
    pub fn session_ids(&self, ids: &[&str]) -> Vec<String> {
        let mut each = ids.to_vec();
        each.sort_unstable();
        each.dedup();
        let short: std::collections::BTreeMap<&str, String> =
            each.iter().copied().zip(self.ids(&each)).collect();
        ids.iter().map(|id| short.get(id).cloned().unwrap_or_default()).collect()
    }

    /// Ids as they are listed: on a terminal without their prefix and with as few digits as tell them apart, else whole.
    pub fn ids(&self, ids: &[&str]) -> Vec<String> {
        let bare: Vec<&str> =
            ids.iter().map(|id| id.split_once('_').map_or(*id, |(_, digits)| digits)).collect();
        let longest = bare.iter().map(move |id| id.chars().count()).max().unwrap_or(0);
        let cut = |length: usize| bare.iter().map(move |id| id.chars().take(length).collect::<String>());
        let is_unique = |length: usize| {
            let mut all: Vec<String> = cut(length).collect();
            all.sort_unstable();
            all.windows(2).all(|pair| pair.first() != pair.last())
        };
        if !self.is_terminal() {
            return ids.iter().map(|id| (*id).to_owned()).collect();
        }
        let length = (SHORT_ID..longest).find(|length| is_unique(*length)).unwrap_or(longest);
        cut(length).collect()
    }
}

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct TableColumn {
    name: &'static str,
    kind: ColumnKind,
    /// Which column is left out first where the window is too narrow: the one with the highest rank. 0 always stays.
    rank: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Word,
    Number,
    Free,
    Wrapped,
}

impl ColumnKind {
    /// Whether the column can be narrower than its text.
    fn can_shrink(self) -> bool {
        matches!(self, Self::Free | Self::Wrapped)
    }
}

impl TableColumn {
    /// A column of short words, which are never cut while another column can be.
    pub const fn word(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Word, rank: 0 }
    }

    /// A column of numbers, aligned on the right.
    pub const fn number(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Number, rank: 0 }
    }

    /// A column of free text, which is cut to fit the window.
    pub const fn free(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Free, rank: 0 }
    }

    /// A column of free text that nobody can do without: it goes on in the next row.
    pub const fn wrapped(name: &'static str) -> Self {
        Self { name, kind: ColumnKind::Wrapped, rank: 0 }
    }

    /// The same column, left out of a narrow window before those of a lower rank.
    #[must_use]
    pub const fn dropped_at(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }
}

/// The text at one place of a table.
#[derive(Debug, Clone)]
pub struct TableCell {
    text: String,
    paint: Option<Paint>,
}

impl TableCell {
    /// Something that waits for the user.
    pub fn waiting(text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: Some(Paint::Warning) }
    }

    /// Something that failed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), paint: Some(Paint::Bad) }
    }
}

impl<T: Into<String>> From<T> for TableCell {
    fn from(text: T) -> Self {
        Self { text: text.into(), paint: None }
    }
}

/// A list, ready to be printed.
#[derive(Debug)]
pub struct Table {
    columns: Vec<TableColumn>,
    rows: Vec<Vec<TableCell>>,
    empty: String,
    hint: String,
}

impl Table {
    /// A table without rows. `empty` is said if none is added.
    pub fn new(columns: &[TableColumn], empty: &str) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new(), empty: empty.to_owned(), hint: String::new() }
    }

    /// Adds a row, one cell a column.
    pub fn add(&mut self, cells: impl IntoIterator<Item = TableCell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The closing line on a terminal. Words in backticks are for typing.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Prints it.
    pub fn print(&self, view: &ListView, printer: &mut Printer) -> Result<(), OutputClosed> {
        if self.rows.is_empty() {
            printer.status(&self.empty);
            return Ok(());
        }
        let mut text = String::new();
        for line in self.lines(view) {
            encode(&line, &view.look, &mut text);
            text.push('\n');
        }
        printer.styled(&text)
    }

    /// The table as lines of text without styles.
    pub fn text(&self, view: &ListView) -> String {
        self.lines(view).iter().map(StyledLine::text).collect::<Vec<_>>().join("\n")
    }

    /// The rows of the table, with its header and its hint.
    pub(crate) fn lines(&self, view: &ListView) -> Vec<StyledLine> {
        let shown = self.fitted(view.columns);
        if self.breaks_words(&shown, view.width()) {
            return self.stacked(&shown, view);
        }
        let style = view.look.style(Paint::Strong);
        let header = shown.iter().map(|(place, width)| {
            let column = self.columns.get(*place);
            let name = column.map(|column| column.name).unwrap_or_default();
            (padded(&StyledLine::styled(&heading(name, view), style), *width, column, view), *width)
        });
        let header = joined(header.map(|(line, _)| line), view);
        let rows = self.rows.iter().flat_map(|row| self.row_lines(row, &shown, view));
        let hint = (view.is_terminal() && !self.hint.is_empty()).then(|| hint_rows(&self.hint, view));
        std::iter::once(header).chain(rows).chain(hint.into_iter().flatten()).collect()
    }

    /// Whether a word of a column that goes on in the next row would be broken.
    fn breaks_words(&self, shown: &[(usize, usize)], window: usize) -> bool {
        shown.iter().any(|(place, width)| {
            let is_wrapped =
                self.columns.get(*place).is_some_and(|column| column.kind == ColumnKind::Wrapped);
            let texts = self.rows.iter().filter_map(|row| row.get(*place));
            let longest = texts.map(|cell| longest_word(&cell.text, window.saturating_sub(2))).max();
            is_wrapped && shown.len() > 1 && longest > Some(*width)
        })
    }

    /// The rows for a window that is too narrow for columns: of each row, the cells stand below each other, and all but the first are
    /// indented.
    fn stacked(&self, shown: &[(usize, usize)], view: &ListView) -> Vec<StyledLine> {
        let (none, indent) = (StyledLine::default(), StyledLine::plain("  "));
        let mut lines = Vec::new();
        for row in &self.rows {
            let cells = shown.iter().filter_map(|(place, _)| row.get(*place));
            for (number, cell) in cells.filter(|cell| !cell.text.is_empty()).enumerate() {
                let style = cell.paint.map(|paint| view.look.style(paint)).unwrap_or_default();
                let lead = if number == 0 { &none } else { &indent };
                lines.extend(wrap(&StyledLine::styled(&cell.text, style), view.width(), lead, &indent));
            }
        }
        let hint = Some(&self.hint).filter(|hint| view.is_terminal() && !hint.is_empty());
        lines.into_iter().chain(hint.into_iter().flat_map(|hint| hint_rows(hint, view))).collect()
    }

    /// The lines of one row: as many as its highest cell has.
    fn row_lines(&self, row: &[TableCell], shown: &[(usize, usize)], view: &ListView) -> Vec<StyledLine> {
        let cells: Vec<Vec<StyledLine>> = shown
            .iter()
            .map(|(place, width)| {
                let cell = row.get(*place).cloned().unwrap_or_else(|| "".into());
                let style = cell.paint.map(|paint| view.look.style(paint)).unwrap_or_default();
                let line = StyledLine::styled(&cell.text, style);
                match self.columns.get(*place).map(|column| column.kind) {
                    Some(ColumnKind::Wrapped) => {
                        wrap(&line, *width, &StyledLine::default(), &StyledLine::default())
                    }
                    _ => vec![line],
                }
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let parts = shown.iter().zip(&cells).map(|((place, width), cell)| {
                let part = cell.get(number).cloned().unwrap_or_default();
                padded(&part, *width, self.columns.get(*place), view)
            });
            joined(parts, view)
        };
        (0..height).map(line).collect()
    }

    /// The columns that are shown, by their places and widths.
    fn fitted(&self, window: Option<usize>) -> Vec<(usize, usize)> {
        let width = |place: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(place));
            let name = self.columns.get(place).map_or(0, |column| column.name.len());
            cells.map(|cell| StyledLine::plain(&cell.text).width()).max().unwrap_or(0).max(name)
        };
        let all = self.columns.iter().enumerate().map(|(place, column)| (place, *column, width(place)));
        // A column in which no row says anything is left out.
        let is_said = |place: usize| {
            self.rows.iter().any(|row| row.get(place).is_some_and(|cell| !cell.text.is_empty()))
        };
        let mut shown: Vec<(usize, TableColumn, usize)> =
            all.filter(|(place, column, _)| column.rank == 0 || is_said(*place)).collect();
        let Some(window) = window else {
            return shown.into_iter().map(|(place, _, width)| (place, width)).collect();
        };
        loop {
            let least = |(_, column, width): &(usize, TableColumn, usize)| match column.kind {
                ColumnKind::Free | ColumnKind::Wrapped => (*width).min(MIN_FREE),
                ColumnKind::Word | ColumnKind::Number => *width,
            };
            let last = shown.iter().map(|(_, column, _)| column.rank).max().unwrap_or(0);
            if total(shown.iter().map(least)) <= window || last == 0 {
                break;
            }
            shown.retain(|(_, column, _)| column.rank != last);
        }
        while total(shown.iter().map(|(_, _, width)| *width)) > window {
            let is_any_free = shown.iter().any(|(_, column, width)| column.kind.can_shrink() && *width > 1);
            let can_shrink = |column: &TableColumn| column.kind.can_shrink() || !is_any_free;
            let widest = shown.iter_mut().filter(|(_, column, _)| can_shrink(column));
            match widest.max_by_key(|(_, _, width)| *width) {
                Some((_, _, width)) if *width > 1 => *width -= 1,
                _ => break,
            }
        }
        shown.into_iter().map(|(place, _, width)| (place, width)).collect()
    }
}

/// The heading of a column: for a user in sentence case, for a script as it is.
fn heading(name: &str, view: &ListView) -> String {
    if !view.is_terminal() || ACRONYMS.contains(&name.trim()) {
        return name.to_owned();
    }
    let first = name.find(|letter: char| letter.is_alphabetic()).unwrap_or(0);
    let mut letters = name.chars();
    let head: String = letters.by_ref().take(first + 1).collect();
    head + &letters.as_str().to_lowercase()
}

/// The width of the longest word that fits into so many columns.
fn longest_word(text: &str, columns: usize) -> usize {
    text.split(' ')
        .map(|word| StyledLine::plain(word).width())
        .filter(|width| *width <= columns)
        .max()
        .unwrap_or(0)
}

fn total(widths: impl Iterator<Item = usize>) -> usize {
    let (sum, count) = widths.fold((0, 0_usize), |(sum, count), width| (sum + width, count + 1));
    sum + count.saturating_sub(1) * GAP
}

/// A cell as wide as its column.
fn padded(cell: &StyledLine, width: usize, column: Option<&TableColumn>, view: &ListView) -> StyledLine {
    let cell = cell.cut(width, view.look.sign("…", "..."));
    let gap = StyledLine::plain(&" ".repeat(width.saturating_sub(cell.width())));
    match column.map(|column| column.kind) {
        Some(ColumnKind::Number) => gap.and_line(cell),
        _ => cell.and_line(gap),
    }
}

fn joined(cells: impl Iterator<Item = StyledLine>, view: &ListView) -> StyledLine {
    let mut row = StyledLine::default();
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            row = row.and(&" ".repeat(GAP), anstyle::Style::new());
        }
        row.append(cell);
    }
    let row = row.trimmed();
    view.columns.map_or(row.clone(), |columns| row.cut(columns, ""))
}

/// A hint: dim, with the words to type as they are.
pub(crate) fn hint_rows(hint: &str, view: &ListView) -> Vec<StyledLine> {
    let none = StyledLine::default();
    wrap(&StyledLine::hint(hint, view.look.style(Paint::Dim)), view.width(), &none, &none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Colors;

    const COLUMNS: [TableColumn; 4] = [
        TableColumn::word("ID"),
        TableColumn::word("STATUS").dropped_at(1),
        TableColumn::number("COST").dropped_at(2),
        TableColumn::free("TITLE"),
    ];

    fn table() -> Table {
        let mut table = Table::new(&COLUMNS, "nothing").hint("Open one with `buddy resume ID`");
        table.add(["01m7hzvm", "idle", "$12.40", "Fix the overflow in parse_number"].map(TableCell::from));
        table.add([
            "01m7gwyb".into(),
            TableCell::waiting("waits"),
            "$0.10".into(),
            "漢字漢字漢字漢字漢字".into(),
        ]);
        table
    }

    fn shown(view: &ListView) -> Vec<String> {
        table().lines(view).iter().map(StyledLine::text).collect()
    }

    fn terminal(columns: usize, look: TerminalLook) -> ListView {
        ListView::sized(look, columns)
    }

    #[test]
    fn a_wide_window_has_everything_and_the_hint() {
        let expected = [
            "ID        Status    Cost  Title",
            "01m7hzvm  idle    $12.40  Fix the overflow in parse_number",
            "01m7gwyb  waits    $0.10  漢字漢字漢字漢字漢字",
            "Open one with buddy resume ID",
        ];
        assert_eq!(shown(&terminal(80, TerminalLook::plain())), expected);
    }

    #[test]
    fn elsewhere_there_is_no_hint_and_nothing_is_cut() {
        let plain = shown(&ListView::plain());
        assert_eq!(plain[0], "ID        STATUS    COST  TITLE");
        assert_eq!(plain[1..], shown(&terminal(80, TerminalLook::plain()))[1..3]);
    }

    #[test]
    fn a_narrow_window_cuts_the_free_text_then_leaves_columns_out() {
        assert_eq!(
            shown(&terminal(45, TerminalLook::plain()))[1],
            "01m7hzvm  idle    $12.40  Fix the overflow i…"
        );
        assert_eq!(shown(&terminal(35, TerminalLook::plain()))[1], "01m7hzvm  idle    Fix the overflow…");
        let ascii = TerminalLook { is_ascii: true, ..TerminalLook::plain() };
        assert_eq!(shown(&terminal(24, ascii))[1], "01m7hzvm  Fix the ove...");
    }

    #[test]
    fn no_row_is_wider_than_any_window() {
        for columns in 1..90 {
            for (row, line) in table().lines(&terminal(columns, TerminalLook::plain())).iter().enumerate() {
                assert!(line.width() <= columns, "{columns}, row {row}: {:?}", line.text());
            }
        }
    }

    #[test]
    fn a_wrapped_column_goes_on_in_the_next_row_and_loses_nothing() {
        let columns = [TableColumn::wrapped("KEY"), TableColumn::wrapped("VALUE")];
        let mut table = Table::new(&columns, "nothing");
        table.add(["agent.model", "a name that is long enough to be broken twice"].map(TableCell::from));
        table.add(["display.theme", "dark"].map(TableCell::from));
        let lines: Vec<String> =
            table.lines(&terminal(36, TerminalLook::plain())).iter().map(StyledLine::text).collect();
        let expected = [
            "Key            Value",
            "agent.model    a name that is long",
            "               enough to be broken",
            "               twice",
            "display.theme  dark",
        ];
        assert_eq!(lines, expected);
        let letters = |width: usize| {
            let text = table.text(&terminal(width, TerminalLook::plain()));
            text.chars().filter(|letter| !letter.is_whitespace()).count()
        };
        for width in 1..60 {
            let lines = table.lines(&terminal(width, TerminalLook::plain()));
            assert!(lines.iter().all(|line| line.width() <= width), "{width}");
            // In fewer columns cells stand below each other, without a header.
            let header = if lines[0].text().starts_with("Key ") { 0 } else { "KeyValue".len() };
            assert!(width < 20 || letters(width) + header == letters(200), "{width}");
        }
    }

    #[test]
    fn words_that_would_be_broken_stand_below_each_other() {
        let columns =
            [TableColumn::wrapped("KEY"), TableColumn::wrapped("VALUE"), TableColumn::wrapped("SET BY")];
        let mut table = Table::new(&columns, "nothing").hint("Change one with `buddy config set KEY VALUE`");
        let address = "https://chatgpt.com/backend-api/codex";
        table.add(["models.chatgpt.api_base_url", address, "built in"].map(TableCell::from));
        table.add(["display.theme", "dark", "~/.config/buddy/buddy.toml"].map(TableCell::from));
        let lines = |width| {
            let lines = table.lines(&terminal(width, TerminalLook::plain()));
            assert!(lines.iter().all(|line| line.width() <= width), "{width}");
            lines.iter().map(StyledLine::text).collect::<Vec<_>>()
        };
        let expected = [
            "models.chatgpt.api_base_url",
            "  https://chatgpt.com/backend-api/codex",
            "  built in",
            "display.theme",
            "  dark",
            "  ~/.config/buddy/buddy.toml",
            "Change one with",
            "buddy config set KEY VALUE",
        ];
        assert_eq!(lines(40), expected);
        assert_eq!(lines(200)[0].split_whitespace().collect::<Vec<_>>(), ["Key", "Value", "Set", "by"]);
        for width in 40..=200 {
            let shown = lines(width).join("\n");
            for word in ["models.chatgpt.api_base_url", address, "~/.config/buddy/buddy.toml"] {
                assert!(shown.contains(word), "{width}: {shown}");
            }
        }
    }

    #[test]
    fn the_header_is_bold_and_the_hint_dim_but_for_what_is_typed() {
        let view = terminal(80, TerminalLook { colors: Colors::Mono, ..TerminalLook::plain() });
        let lines = table().lines(&view);
        let encoded = |place: usize| {
            let mut text = String::new();
            encode(&lines[place], &view.look, &mut text);
            text
        };
        assert!(encoded(0).starts_with("\u{1b}[1mID"), "{:?}", encoded(0));
        assert_eq!(encoded(3), "\u{1b}[2mOpen one with \u{1b}[0mbuddy resume ID");
    }

    #[test]
    fn ids_have_as_many_digits_as_tell_them_apart() {
        let view = terminal(80, TerminalLook::plain());
        let apart = ["ses_01m7hzvmaa0123aa", "ses_01m7gwybaa0123aa"];
        assert_eq!(view.ids(&apart), ["01m7hzvmaa01", "01m7gwybaa01"]);
        let alike = ["ses_01m7hzvmaa0123ab", "ses_01m7hzvmaa0123ac"];
        assert_eq!(view.ids(&alike), ["01m7hzvmaa0123ab", "01m7hzvmaa0123ac"]);
        assert_eq!(ListView::plain().ids(&["ses_01m7hzvmaa"]), ["ses_01m7hzvmaa"]);
    }
}
