//! The card: the framed box in which one thing is decided.
//!
//! Top to bottom: a band with the title and the risk, the body behind an edge, the keys, a closing line. A low window loses the
//! empty rows first and then the frame; it never loses the body.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::editor::InputView;
use crate::text::{Colors, Paint, Span, StyledLine, TerminalLook, Tone, wrap};

/// The widest that anything below the conversation is.
pub(super) const WIDEST: usize = 120;
/// In a narrower window labels are words, and keys stand in two columns.
const NARROW: usize = 60;
/// In a lower window a card has no empty rows but the one above its keys.
const ROOMY: usize = 18;
/// In a lower window nothing stands between a line that is written and its keys.
const LOOSE: usize = 13;
/// In a lower or narrower window a card has no frame.
const LEAST: (usize, usize) = (20, 8);
/// Columns of the name of a fact.
const NAME: usize = 7;
/// Columns of the first of two columns of keys.
const COLUMN: usize = 19;

/// A card in a window.
pub(super) struct Card<'a> {
    pub(super) look: &'a TerminalLook,
    tone: Tone,
    columns: usize,
    height: usize,
}

/// The end of a card.
pub(super) struct CardEnd {
    /// The line that is written, with what stands around it.
    pub(super) written: Option<InputView>,
    pub(super) keys: InputView,
}

/// A message between the body and the keys.
pub(super) struct CardNote {
    pub(super) row: StyledLine,
    /// Whether it has empty rows around it where there is room.
    pub(super) is_apart: bool,
}

/// How a key is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyWeight {
    Usual,
    /// The one that the card suggests.
    Primary,
    /// It allows something dangerous.
    Danger,
    /// It does nothing yet.
    Asleep,
    /// It was pressed, and its answer is about to be sent.
    Pressed,
}

/// A key and what it does.
#[derive(Debug, Clone)]
pub(super) struct KeyChoice {
    key: &'static str,
    label: StyledLine,
    /// The label for a row that is too narrow for the whole.
    short: &'static str,
    weight: KeyWeight,
}

impl KeyChoice {
    pub(super) fn new(key: &'static str, label: &str, short: &'static str, weight: KeyWeight) -> Self {
        Self { key, label: StyledLine::plain(label), short, weight }
    }

    pub(super) fn is_key(&self, letter: char) -> bool {
        self.key.chars().eq([letter])
    }

    pub(super) fn press(&mut self) {
        self.weight = KeyWeight::Pressed;
    }

    /// The same with a label in several styles.
    pub(super) fn labelled(
        key: &'static str,
        label: StyledLine,
        short: &'static str,
        weight: KeyWeight,
    ) -> Self {
        Self { key, label, short, weight }
    }
}

impl<'a> Card<'a> {
    pub(super) fn new(tone: Tone, look: &'a TerminalLook, columns: usize, height: usize) -> Self {
        Self { look, tone, columns: columns.min(WIDEST), height }
    }

    fn has_frame(&self) -> bool {
        self.columns >= LEAST.0 && self.height >= LEAST.1
    }

    /// Whether parts of it are kept apart by empty rows.
    pub(super) fn is_roomy(&self) -> bool {
        self.height >= ROOMY
    }

    /// The row between a line that is written and its keys, where there is room for one.
    pub(super) fn gap(&self) -> Option<StyledLine> {
        (self.has_frame() && self.height >= LOOSE).then(StyledLine::default)
    }

    /// Whether there is room for little more than the command.
    pub(super) fn is_narrow(&self) -> bool {
        self.columns < NARROW
    }

    /// Columns of the body.
    pub(super) fn width(&self) -> usize {
        if self.has_frame() { self.columns - 2 } else { self.columns }
    }

    /// The rows of the frame.
    fn frame_rows(&self) -> usize {
        match (self.has_frame(), self.is_roomy()) {
            (true, true) => 5,
            (true, false) => 3,
            (false, _) => 0,
        }
    }

    /// How many rows of the body fit beside so many rows at its end and the row that says what is left out.
    pub(super) fn fitting(&self, end: usize) -> usize {
        let mark = usize::from(self.height >= MARKED);
        self.height.saturating_sub(self.frame_rows() + end + mark).max(1)
    }

    /// Whether a body of so many rows fits with so many at its end.
    pub(super) fn fits(&self, body: usize, end: usize) -> bool {
        self.frame_rows() + body + end <= self.height
    }

    /// The most rows at the end, such that a row of the body stays.
    pub(super) fn most_end(&self) -> usize {
        self.height.saturating_sub(self.frame_rows() + 2).max(1)
    }

    /// Whether there is a row to say how much is left out.
    pub(super) fn is_marked(&self) -> bool {
        self.height >= MARKED
    }

    /// The title where there is no band for it.
    pub(super) fn own_title(&self, title: &str) -> Option<StyledLine> {
        (!self.has_frame()).then(|| StyledLine::styled(title, self.look.style(Paint::Strong)))
    }

    /// Whether a title fits the band beside this.
    pub(super) fn holds_title(&self, title: &str, tail: &str) -> bool {
        title.width() + tail.width() + 5 <= self.columns
    }

    /// Puts the frame around a body and what stands at its end, of which the cursor is in the latter. Returns with it the row
    /// that the body begins in.
    pub(super) fn framed(
        &self,
        head: &Head,
        body: &[StyledLine],
        note: Option<CardNote>,
        end: &InputView,
    ) -> Framed {
        let mut rows = Vec::new();
        if self.has_frame() {
            rows.push(self.band(head));
            rows.extend(self.is_roomy().then(|| self.edged(&StyledLine::default())));
        }
        let begin = rows.len();
        rows.extend(body.iter().map(|row| self.edged(row)));
        if self.has_frame() || note.is_some() {
            // A message stands apart from what is above and from the keys, as far as there is room.
            let used = self.frame_rows() + body.len() + end.rows.len();
            let is_apart = note.as_ref().is_some_and(|note| note.is_apart);
            let free = if is_apart { self.height.saturating_sub(used) } else { 0 };
            let empty = || self.edged(&StyledLine::default());
            rows.extend((free > 1).then(empty));
            let row = note.map(|note| note.row.cut(self.width(), self.look.sign("…", "~")));
            rows.push(self.edged(&row.unwrap_or_default()));
            rows.extend((free > 0).then(empty));
        }
        let first = rows.len();
        rows.extend(end.rows.iter().map(|row| self.edged(row)));
        let indent = self.columns - self.width();
        let cursor = (first + end.cursor.0, indent + end.cursor.1);
        if self.has_frame() {
            rows.extend(self.is_roomy().then(|| self.edged(&StyledLine::default())));
            let style = self.look.style(Paint::CardEdge(self.tone));
            rows.push(StyledLine::styled(&self.look.sign("▔", "-").repeat(self.columns), style));
        }
        Framed { view: InputView { rows, cursor }, begin }
    }

    fn band(&self, head: &Head) -> StyledLine {
        let style = self.look.style(Paint::Band(self.tone));
        let sign = match self.tone {
            Tone::Low | Tone::Question => self.look.sign("●", "*"),
            Tone::Medium => self.look.sign("▲", "!"),
            Tone::High => self.look.sign("◆", "#"),
        };
        let title = format!(" {sign} {}", head.title);
        let room = self.columns.saturating_sub(head.tail.width() + 2);
        let title = StyledLine::styled(&title, style.bold()).cut(room, self.look.sign("…", "~"));
        let gap = self.columns.saturating_sub(title.width() + head.tail.width() + 1);
        title.and(&" ".repeat(gap), style).and(&format!("{} ", head.tail), style).cut(self.columns, "")
    }

    fn edged(&self, row: &StyledLine) -> StyledLine {
        if !self.has_frame() {
            return row.clone();
        }
        let style = self.look.style(Paint::CardEdge(self.tone));
        let edge = StyledLine::styled(self.look.sign("▌", "|"), style);
        if row.is_empty() {
            return edge;
        }
        let mut edge = edge.and(" ", Style::new());
        edge.append(row.clone());
        edge
    }

    /// The first of these texts that fits a row; the last one is cut if it must be.
    pub(super) fn one_row(&self, texts: &[String], paint: Paint) -> StyledLine {
        let fits = |text: &&String| text.width() <= self.width();
        let text = texts.iter().find(fits).or(texts.last()).map(String::as_str).unwrap_or_default();
        StyledLine::styled(text, self.look.style(paint)).cut(self.width(), self.look.sign("…", "~"))
    }

    /// A fact with its name.
    pub(super) fn fact(&self, name: &str, value: &StyledLine) -> Vec<StyledLine> {
        let lead = StyledLine::styled(&format!("{name:<NAME$}"), self.look.style(Paint::Dim));
        let next = StyledLine::plain(&" ".repeat(NAME));
        wrap(value, self.width(), &lead, &next)
    }

    /// The keys: one a line where they fit below a body of so many rows, else one row a group, else in two columns. The cursor
    /// is at the first of them.
    pub(super) fn keys(&self, groups: &[Vec<KeyChoice>], body: usize) -> InputView {
        let count = groups.iter().map(Vec::len).sum();
        let rows = if self.is_narrow() {
            self.columns_of(groups)
        } else if self.fits(body, count) {
            groups.iter().flatten().map(|choice| self.chip(choice, &choice.label)).collect()
        } else {
            self.rows_of(groups)
        };
        InputView { rows, cursor: (0, 1.min(self.width().saturating_sub(1))) }
    }

    /// A row for each group.
    fn rows_of(&self, groups: &[Vec<KeyChoice>]) -> Vec<StyledLine> {
        let whole = |choice: &KeyChoice| self.chip(choice, &choice.label);
        let short = |choice: &KeyChoice| self.chip(choice, &StyledLine::plain(choice.short));
        self.aligned(groups, whole)
            .or_else(|| self.aligned(groups, short))
            .unwrap_or_else(|| self.columns_of(groups))
    }

    /// The groups below each other with their second keys in one column; none where a row would be too wide.
    fn aligned(
        &self,
        groups: &[Vec<KeyChoice>],
        chip: impl Fn(&KeyChoice) -> StyledLine,
    ) -> Option<Vec<StyledLine>> {
        let first =
            groups.iter().filter_map(|group| group.first()).map(|choice| chip(choice).width()).max()?;
        let mut rows = Vec::new();
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let mut row = StyledLine::default();
            for (place, choice) in group.iter().enumerate() {
                let from = match place {
                    0 => 0,
                    1 => first + 2,
                    _ => row.width() + 2,
                };
                row = row.clone().and(&" ".repeat(from.saturating_sub(row.width())), Style::new());
                row.append(chip(choice));
            }
            rows.push(row);
        }
        rows.iter().all(|row| row.width() <= self.width()).then_some(rows)
    }

    /// Two keys a row in short words: the first group on the left, the second on the right.
    fn columns_of(&self, groups: &[Vec<KeyChoice>]) -> Vec<StyledLine> {
        let short = |choice: &KeyChoice| {
            self.chip(choice, &StyledLine::plain(choice.short)).cut(self.width(), self.look.sign("…", "~"))
        };
        let (left, right) = if let [left, right, ..] = groups {
            (left.clone(), right.clone())
        } else {
            // One group goes from the left to the right.
            let all = groups.iter().flatten().cloned().enumerate();
            let (left, right): (Vec<_>, Vec<_>) = all.partition(|(place, _)| place % 2 == 0);
            let keys = |side: Vec<(usize, KeyChoice)>| side.into_iter().map(|(_, choice)| choice).collect();
            (keys(left), keys(right))
        };
        let mut rows = Vec::new();
        for place in 0..left.len().max(right.len()) {
            let (one, other) = (left.get(place), right.get(place));
            let mut row = one.map(short).unwrap_or_default();
            if let Some(other) = other {
                let other = short(other);
                if COLUMN + other.width() > self.width() {
                    return self.flow_of(groups.iter().flatten().map(short));
                }
                row = row.clone().and(&" ".repeat(COLUMN.saturating_sub(row.width())), Style::new());
                row.append(other);
            }
            rows.push(row);
        }
        rows
    }

    /// As many keys a row as fit, for windows that are too narrow for two columns.
    fn flow_of(&self, chips: impl Iterator<Item = StyledLine>) -> Vec<StyledLine> {
        let mut rows: Vec<StyledLine> = Vec::new();
        for chip in chips {
            match rows.last_mut() {
                Some(row) if row.width() + 1 + chip.width() <= self.width() => {
                    *row = row.clone().and(" ", Style::new()).and_line(chip);
                }
                _ => rows.push(chip),
            }
        }
        rows
    }

    fn chip(&self, choice: &KeyChoice, label: &StyledLine) -> StyledLine {
        let KeyChoice { key, weight, .. } = choice;
        let look = self.look;
        if *weight == KeyWeight::Primary && look.colors != Colors::None {
            let style = look.style(Paint::Primary);
            return StyledLine::styled(&format!(" {key} "), style.bold())
                .and(&format!(" {} ", label.text()), style);
        }
        let is_capped = look.colors >= Colors::Palette;
        let cap = if is_capped { format!(" {key} ") } else { format!("[{key}]") };
        let style = if is_capped { look.style(Paint::Key) } else { look.style(Paint::Strong) };
        let style = match weight {
            KeyWeight::Danger => style.fg_color(look.style(Paint::Bad).get_fg_color()),
            KeyWeight::Asleep => look.style(Paint::Dim),
            KeyWeight::Pressed => look.style(Paint::Primary).bold(),
            KeyWeight::Usual | KeyWeight::Primary => style,
        };
        let mut line = StyledLine::styled(&cap, style).and(" ", Style::new());
        match weight {
            KeyWeight::Asleep => line.push(Span::new(&label.text(), look.style(Paint::Dim))),
            KeyWeight::Pressed => {
                let style = look.style(Paint::Strong);
                line = line.and(&label.text(), style).and(look.sign(" ✓", " *"), style);
            }
            _ => line.append(label.clone()),
        }
        line
    }
}

/// The fewest rows of a window in which one says how much there is.
const MARKED: usize = 3;

/// The text of the band.
pub(super) struct Head {
    pub(super) title: String,
    /// At its end: the risk, and which of several it is.
    pub(super) tail: String,
}

/// A card in rows.
pub(super) struct Framed {
    pub(super) view: InputView,
    /// The row that the body begins in.
    pub(super) begin: usize,
}
