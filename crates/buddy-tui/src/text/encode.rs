//! Lines as bytes for a terminal.

use std::fmt::Write;

use anstyle::{Ansi256Color, AnsiColor, Color, Style};
use anstyle_lossy::palette;
use unicode_width::UnicodeWidthStr;

use super::colors::Colors;
use super::line::StyledLine;
use super::look::TerminalLook;

/// The mark of a prompt (OSC 133), for jumping from one to the next.
const PROMPT_MARK: &str = "\u{1b}]133;A\u{1b}\\";

/// Writes a line in the styles of this look, which are off again at its end.
pub(crate) fn encode(line: &StyledLine, look: &TerminalLook, out: &mut String) {
    if let Some(picture) = line.drawn() {
        picture.encode(look.pictures, out);
    }
    if line.is_prompt() && look.colors > Colors::None {
        out.push_str(PROMPT_MARK);
    }
    for span in line.spans() {
        let link = span.link().filter(|_| look.has_links);
        if let Some(link) = link {
            let _ = write!(out, "\u{1b}]8;;{link}\u{1b}\\");
        }
        let style = reduced(span.style(), look.colors);
        let _ = write!(out, "{style}{}{style:#}", span.text());
        if link.is_some() {
            out.push_str("\u{1b}]8;;\u{1b}\\");
        }
    }
}

/// Writes what is different in `line` from `old`, with the cursor in the row of `old`.
///
/// Their common beginning stays as it is, up to the first character made of several: terminals do not agree on how
/// many columns such a one takes. A row that gets shorter is written anew: tmux takes what was only cleared at its end for a
/// part of it, and breaks it when the window gets narrower.
pub(crate) fn encode_from(old: &StyledLine, line: &StyledLine, look: &TerminalLook, out: &mut String) {
    if old.width() > line.width() || line.drawn().is_some() || line.is_prompt() {
        out.push_str("\r\u{1b}[K");
        return encode(line, look, out);
    }
    let same = old.graphemes().zip(line.graphemes()).take_while(|((old, before), (new, now))| {
        old == new && !is_cluster(new) && before.style() == now.style() && before.link() == now.link()
    });
    let (count, columns) =
        same.fold((0, 0), |(count, columns), ((grapheme, _), _)| (count + 1, columns + grapheme.width()));
    let mut rest = StyledLine::default();
    for (grapheme, span) in line.graphemes().skip(count) {
        rest.push(span.with_clean(grapheme));
    }
    let _ = write!(out, "\u{1b}[{}G", columns + 1);
    encode(&rest, look, out);
    let has_cluster = |line: &StyledLine| line.graphemes().any(|(grapheme, _)| is_cluster(grapheme));
    if has_cluster(old) || has_cluster(line) {
        out.push_str("\u{1b}[K");
    }
}

fn is_cluster(grapheme: &str) -> bool {
    grapheme.chars().nth(1).is_some()
}

fn reduced(style: Style, colors: Colors) -> Style {
    match colors {
        Colors::None => Style::new(),
        Colors::Mono => style.fg_color(None).bg_color(None),
        _ => style
            .fg_color(style.get_fg_color().map(|color| reduce(color, colors)))
            .bg_color(style.get_bg_color().map(|color| reduce(color, colors))),
    }
}

fn reduce(color: Color, colors: Colors) -> Color {
    match (colors, color) {
        (Colors::Palette, Color::Rgb(rgb)) => anstyle_lossy::rgb_to_xterm(rgb).into(),
        (Colors::Sixteen, Color::Rgb(rgb)) => anstyle_lossy::rgb_to_ansi(rgb, palette::DEFAULT).into(),
        (Colors::Sixteen, Color::Ansi256(Ansi256Color(index))) => {
            let color = anstyle_lossy::xterm_to_ansi(Ansi256Color(index), palette::DEFAULT);
            AnsiColor::into(color)
        }
        _ => color,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Paint, Span};

    fn colored(colors: Colors) -> TerminalLook {
        TerminalLook { colors, has_links: true, ..TerminalLook::plain() }
    }

    fn encoded(line: &StyledLine, look: &TerminalLook) -> String {
        let mut out = String::new();
        encode(line, look, &mut out);
        out
    }

    #[test]
    fn colours_are_reduced_to_what_there_is() {
        let line = StyledLine::styled("x", colored(Colors::True).style(Paint::Bad).bold());
        assert_eq!(encoded(&line, &colored(Colors::True)), "\u{1b}[1m\u{1b}[38;2;255;158;155mx\u{1b}[0m");
        assert!(encoded(&line, &colored(Colors::Palette)).starts_with("\u{1b}[1m\u{1b}[38;5;"));
        assert_eq!(encoded(&line, &colored(Colors::Sixteen)).len(), "\u{1b}[1m\u{1b}[91mx\u{1b}[0m".len());
        assert_eq!(encoded(&line, &colored(Colors::Mono)), "\u{1b}[1mx\u{1b}[0m");
        assert_eq!(encoded(&line, &colored(Colors::None)), "x");
    }

    #[test]
    fn links_are_made_where_the_terminal_knows_them() {
        let line = StyledLine::from(Span::new("here", Style::new()).linked("https://a.test/"));
        let look = colored(Colors::None);
        assert_eq!(encoded(&line, &look), "\u{1b}]8;;https://a.test/\u{1b}\\here\u{1b}]8;;\u{1b}\\");
        assert_eq!(encoded(&line, &TerminalLook::plain()), "here");
    }

    #[test]
    fn a_prompt_is_marked_wherever_it_is_written() {
        let (line, look) = (StyledLine::plain("hi").marked_as_prompt(), colored(Colors::Mono));
        assert_eq!(encoded(&line, &look), "\u{1b}]133;A\u{1b}\\hi");
        assert_eq!(encoded(&line.cut(1, ""), &look), "\u{1b}]133;A\u{1b}\\h");
        assert_eq!(encoded(&line, &TerminalLook::plain()), "hi");
        let mut out = String::new();
        encode_from(&StyledLine::plain("hi"), &line, &look, &mut out);
        assert_eq!(out, "\r\u{1b}[K\u{1b}]133;A\u{1b}\\hi");
    }

    #[test]
    fn only_what_changed_is_written() {
        let check = |old: &str, new: &str, bytes: &str| {
            let mut out = String::new();
            encode_from(&StyledLine::plain(old), &StyledLine::plain(new), &TerminalLook::plain(), &mut out);
            assert_eq!(out, bytes);
        };
        check("hello", "hello you", "\u{1b}[6G you");
        check("hello you", "hello", "\r\u{1b}[Khello");
        check("漢a", "漢b", "\u{1b}[3Gb");
    }
}
