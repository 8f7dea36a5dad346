//! The greeting: buddy's lamp beside two lines at the first start, and one row above the first prompt of a conversation.

use anstyle::{Color, RgbColor, Style};

use super::state::Console;
use crate::text::{Colors, Paint, StyledLine, TerminalLook, wrap};

/// In a narrower window there is no lamp.
const LAMP_COLUMNS: usize = 60;

/// The lamp, two rows of pixels for each row of text.
const PIXELS: [&str; 14] = [
    "........aa....",
    ".......aabb...",
    "......aabb....",
    "......abb.....",
    "....aabbbb....",
    "..aabbbbbbbb..",
    ".aabbbbbbbbbb.",
    ".abbebbbbebbb.",
    ".abbebbbbebbb.",
    ".bbpbbkkbbpbb.",
    ".bbbbbbbbbbbb.",
    "..bbbyyyybbb..",
    "...cccccccc...",
    "..............",
];

fn pixel(letter: u8) -> Option<Color> {
    let (red, green, blue) = match letter {
        b'a' => (0xa8, 0xf0, 0xdd),
        b'b' => (0x4f, 0xc7, 0xc0),
        b'c' => (0x2d, 0x8f, 0x92),
        b'e' => (0x0d, 0x2b, 0x33),
        b'p' => (0xf2, 0xa5, 0x8e),
        b'k' => (0x1a, 0x6a, 0x70),
        b'y' => (0xe6, 0xf7, 0xb8),
        _ => return None,
    };
    Some(RgbColor(red, green, blue).into())
}

/// How buddy introduces itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChoiceGreeting {
    /// Not at all.
    #[default]
    None,
    /// In words.
    Words,
    /// With its lamp, where that can be drawn.
    Lamp,
}

/// The rows in which buddy introduces itself. The lamp needs 256 colours.
pub(super) fn render_greeting(
    greeting: ChoiceGreeting,
    look: &TerminalLook,
    width: usize,
) -> Vec<StyledLine> {
    if greeting == ChoiceGreeting::None {
        return Vec::new();
    }
    let hello =
        StyledLine::styled(look.sign("Hello, I’m buddy.", "Hello, I'm buddy."), look.style(Paint::Strong));
    let about = "I work in this folder and ask before anything leaves it.";
    let about = StyledLine::styled(about, look.style(Paint::Soft));
    if width < LAMP_COLUMNS {
        let lamp = StyledLine::styled(look.sign("● ", "* "), look.style(Paint::Agent));
        return vec![StyledLine::default(), lamp.and_line(hello), StyledLine::default()];
    }
    if greeting == ChoiceGreeting::Words || look.colors < Colors::Palette || look.is_ascii {
        let indent = StyledLine::plain("  ");
        return vec![
            StyledLine::default(),
            indent.clone().and_line(hello),
            indent.and_line(about).cut(width, ""),
            StyledLine::default(),
        ];
    }
    let mut rows = vec![StyledLine::default()];
    for (place, pair) in PIXELS.chunks(2).enumerate() {
        let words = match place {
            3 => hello.clone(),
            4 => about.clone(),
            _ => StyledLine::default(),
        };
        let row = StyledLine::plain("  ").and_line(lamp_row(pair)).and("   ", Style::new()).and_line(words);
        rows.push(row.trimmed().cut(width, ""));
    }
    rows.push(StyledLine::default());
    rows
}

impl Console {
    /// Shows the lines above the first prompt: buddy's name and the session beside its mark, then notices, each apart
    /// from the rest and from the prompt.
    pub(super) fn greet(&mut self, lines: &[String]) {
        let dim = self.look.style(Paint::Dim);
        let indent = StyledLine::plain("  ");
        for (place, text) in lines.iter().enumerate() {
            if place == 0 {
                let lamp = StyledLine::styled(self.look.sign("● ", "* "), self.look.style(Paint::Agent));
                let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
                let name = StyledLine::styled(name, self.look.style(Paint::Strong));
                let rest = rest.replace(", ", "  ");
                self.show(wrap(&name.and(&format!(" {rest}"), dim), self.columns, &lamp, &indent));
                continue;
            }
            self.show((place == 1).then(StyledLine::default));
            for line in text.lines() {
                self.show(wrap(
                    &StyledLine::sentence(line.trim_start(), dim),
                    self.columns,
                    &indent,
                    &indent,
                ));
            }
        }
        self.is_said_last = true;
    }
}

fn lamp_row(pair: &[&str]) -> StyledLine {
    let (upper, lower) =
        (pair.first().copied().unwrap_or_default(), pair.last().copied().unwrap_or_default());
    let mut row = StyledLine::default();
    for (above, below) in upper.bytes().zip(lower.bytes()) {
        let (sign, style) = match (pixel(above), pixel(below)) {
            (None, None) => (" ", Style::new()),
            (Some(above), None) => ("▀", Style::new().fg_color(Some(above))),
            (None, Some(below)) => ("▄", Style::new().fg_color(Some(below))),
            (Some(above), Some(below)) => ("▀", Style::new().fg_color(Some(above)).bg_color(Some(below))),
        };
        row = row.and(sign, style);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(colors: Colors, width: usize) -> String {
        let look = TerminalLook { colors, ..TerminalLook::plain() };
        let rows = render_greeting(ChoiceGreeting::Lamp, &look, width);
        assert!(rows.iter().all(|row| row.width() <= width), "{width}");
        rows.iter().map(|row| row.text() + "\n").collect()
    }

    fn greeted(columns: usize) -> Vec<String> {
        let session = format!("ses_{:026}", 1).parse().unwrap();
        let mut console =
            Console::new(session, TerminalLook::plain(), columns, Vec::new(), std::time::Instant::now());
        let lines = ["buddy 0.1.0, session ses_1", "This folder is untrusted.\n  Run /trust.", "More."];
        console.greet(&lines.map(str::to_owned));
        console.take_rows().iter().map(StyledLine::text).collect()
    }

    #[test]
    fn the_greeting_stands_beside_its_mark_and_notices_apart_from_it() {
        let notices = ["", "  This folder is untrusted.", "  Run /trust.", "  More."];
        assert_eq!(greeted(80), [&["● buddy 0.1.0  session ses_1"][..], &notices].concat());
        assert_eq!(greeted(20)[..2], ["● buddy 0.1.0", "  session ses_1"]);
    }

    #[test]
    fn the_lamp_is_drawn_where_it_has_its_colours_and_room() {
        for colors in [Colors::True, Colors::Palette] {
            let shown = text(colors, 80);
            assert!(shown.contains('▀') && shown.contains("   Hello, I’m buddy."), "{shown}");
            assert_eq!(shown.lines().count(), 9);
        }
        for (colors, width) in [(Colors::Sixteen, 80), (Colors::Mono, 80), (Colors::True, 40)] {
            let shown = text(colors, width);
            assert!(!shown.contains('▀') && shown.contains("Hello, I’m buddy."), "{shown}");
        }
        let look = TerminalLook { colors: Colors::True, ..TerminalLook::plain() };
        assert_eq!(render_greeting(ChoiceGreeting::Words, &look, 80).len(), 4);
        assert_eq!(render_greeting(ChoiceGreeting::None, &look, 80), []);
    }
}
