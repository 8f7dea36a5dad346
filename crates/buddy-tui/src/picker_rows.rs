//! The rows of everything that is picked from a list: the rule with the title, the choices, the keys below.

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

use crate::text::{Paint, StyledLine, TerminalLook};

/// The widest that anything below the conversation is.
pub(crate) const WIDEST: usize = 120;
/// The least columns of notes beside names that are whole.
const LEAST_NOTE: usize = 20;
/// The same beside names that are cut.
const LEAST_CUT: usize = 8;
/// The widest name before its note, where not all of both fits.
const NAME_COLUMNS: usize = 44;

/// One choice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PickerRow<'a> {
    pub(crate) name: &'a str,
    pub(crate) note: &'a str,
    pub(crate) is_chosen: bool,
    /// The typed text, which is underlined in the name.
    pub(crate) wish: &'a str,
}

/// A rule with the title on its left and a note on its right, each where it fits.
pub(crate) fn render_title_rule(title: &str, note: &str, look: &TerminalLook, columns: usize) -> StyledLine {
    let width = columns.min(WIDEST);
    let (sign, edge) = (look.sign("─", "-"), look.style(Paint::Edge));
    let mut row = StyledLine::styled(&sign.repeat(2), edge).and(" ", Style::new());
    row = row.and(title, look.style(Paint::Strong)).and(" ", Style::new());
    let tail = note.width() + 4;
    let has_note = !note.is_empty() && row.width() + tail + 2 <= width;
    let gap = width.saturating_sub(row.width() + if has_note { tail } else { 0 });
    row = row.and(&sign.repeat(gap), edge);
    if has_note {
        row = row.and(&format!(" {note} "), look.style(Paint::Dim)).and(&sign.repeat(2), edge);
    }
    row.cut(width, "")
}

/// A rule.
pub(crate) fn render_plain_rule(look: &TerminalLook, columns: usize) -> StyledLine {
    StyledLine::styled(&look.sign("─", "-").repeat(columns.min(WIDEST)), look.style(Paint::Edge))
}

/// Choices below each other, their notes in one column. The chosen one has a mark and, where there are colours, a ground.
pub(crate) fn render_choices(
    choices: &[PickerRow<'_>],
    look: &TerminalLook,
    columns: usize,
) -> Vec<StyledLine> {
    let width = columns.min(WIDEST);
    let widest = choices.iter().map(|choice| choice.name.width()).max().unwrap_or(0);
    let longest = choices.iter().map(|choice| choice.note.width()).max().unwrap_or(0);
    // Names that leave too little for the notes stand alone; names that are too long share the window with them.
    let whole = width.saturating_sub(longest + 4);
    let most = NAME_COLUMNS.max(whole).min(width.saturating_sub(4) * 3 / 5).max(1);
    let room = width.saturating_sub(widest.min(most) + 4);
    let least = if widest > most { LEAST_CUT } else { LEAST_NOTE };
    let has_notes = longest > 0 && room >= longest.min(least);
    let names = has_notes.then(|| widest.min(most));
    choices.iter().map(|choice| choice_row(choice, names, look, width)).collect()
}

/// One of them, with its note after so many columns of names.
fn choice_row(choice: &PickerRow<'_>, names: Option<usize>, look: &TerminalLook, width: usize) -> StyledLine {
    let ellipsis = look.sign("…", "...");
    let ground = if choice.is_chosen { look.style(Paint::Selected) } else { Style::new() };
    let ink = if choice.is_chosen { ground.bold() } else { ground };
    let mark = if choice.is_chosen { look.sign("❯ ", "> ") } else { "  " };
    let mut row = StyledLine::styled(mark, ink);
    row.append(underlined(choice.name, choice.wish, ink).cut(names.unwrap_or(width), ellipsis));
    if let Some(names) = names.filter(|_| !choice.note.is_empty()) {
        let room = width.saturating_sub(names + 4);
        let gap = names + 4 - row.width();
        let dim = look.style(Paint::Dim).bg_color(ground.get_bg_color());
        row = row.and(&" ".repeat(gap), ground);
        row.append(StyledLine::styled(choice.note, dim).cut(room, ellipsis));
    }
    let row = row.cut(width, ellipsis);
    // A ground that ends with the text would look torn.
    let rest = if ground.get_bg_color().is_some() { width.saturating_sub(row.width()) } else { 0 };
    row.and(&" ".repeat(rest), ground)
}

/// A name with the typed part underlined.
fn underlined(name: &str, wish: &str, ink: Style) -> StyledLine {
    let found = name.to_lowercase().find(&wish.to_lowercase()).filter(|_| !wish.is_empty());
    let parts = found
        .and_then(|at| Some((name.get(..at)?, name.get(at..at + wish.len())?, name.get(at + wish.len()..)?)));
    match parts {
        Some((before, found, after)) => {
            StyledLine::styled(before, ink).and(found, ink.bold().underline()).and(after, ink)
        }
        None => StyledLine::styled(name, ink),
    }
}

/// Keys and their words: `↑↓ choose   enter select   esc close`. Those at the end go first where not all fit.
pub(crate) fn render_keys(keys: &[(&str, &str)], look: &TerminalLook, columns: usize) -> StyledLine {
    let shown = |keys: &[(&str, &str)]| {
        let mut row = StyledLine::plain("  ");
        for (place, (key, word)) in keys.iter().enumerate() {
            let gap = if place > 0 { "   " } else { "" };
            let key = if look.is_ascii { key.replace("↑↓", "up/down") } else { (*key).to_owned() };
            row = row.and(gap, Style::new()).and(&key, look.style(Paint::Strong));
            row = row.and(&format!(" {word}"), look.style(Paint::Dim));
        }
        row
    };
    let mut keys = keys.to_vec();
    while shown(&keys).width() > columns && keys.len() > 1 {
        // The last one leads out, so it stays.
        keys.remove(keys.len() - 2);
    }
    shown(&keys).cut(columns, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Colors;

    fn rows(columns: usize, look: &TerminalLook) -> Vec<String> {
        let row = |name, note, is_chosen| PickerRow { name, note, is_chosen, wish: "" };
        let choices = [
            row("1  Paste an API key", "Anthropic, OpenAI or OpenRouter", true),
            row("2  Sign in", "opens your browser", false),
        ];
        let mut lines = vec![render_title_rule("Connect a model", "no model found", look, columns)];
        lines.extend(render_choices(&choices, look, columns));
        lines.extend([
            render_plain_rule(look, columns),
            render_keys(&[("↑↓", "choose"), ("enter", "select"), ("esc", "demo")], look, columns),
        ]);
        for line in &lines {
            assert!(line.width() <= columns, "{columns}: {:?}", line.text());
        }
        lines.iter().map(StyledLine::text).collect()
    }

    #[test]
    fn a_picker_has_its_title_on_the_rule_and_its_keys_below() {
        let expected = [
            "── Connect a model ─────────────────────── no model found ──",
            "❯ 1  Paste an API key  Anthropic, OpenAI or OpenRouter",
            "  2  Sign in           opens your browser",
            "────────────────────────────────────────────────────────────",
            "  ↑↓ choose   enter select   esc demo",
        ];
        assert_eq!(rows(60, &TerminalLook::plain()), expected);
    }

    #[test]
    fn a_narrow_window_leaves_out_what_does_not_fit() {
        let ascii = TerminalLook { is_ascii: true, ..TerminalLook::plain() };
        let expected = [
            "-- Connect a model -----------------",
            "> 1  Paste an API key",
            "  2  Sign in",
            "------------------------------------",
            "  up/down choose   esc demo",
        ];
        assert_eq!(rows(36, &ascii), expected);
        assert_eq!(rows(28, &ascii)[1], "> 1  Paste an...  Anthrop...");
        for columns in 1..130 {
            rows(columns, &ascii);
        }
    }

    #[test]
    fn the_chosen_row_has_a_ground_to_its_end_and_the_typed_part_is_underlined() {
        let look = TerminalLook { colors: Colors::True, ..TerminalLook::plain() };
        let row = PickerRow { name: "/compact", note: "", is_chosen: true, wish: "/co" };
        let line = render_choices(&[row], &look, 30).remove(0);
        assert_eq!(line.width(), 30);
        assert!(line.spans().iter().all(|span| span.style().get_bg_color().is_some()));
        let typed = line.spans().iter().find(|span| span.text() == "/co").unwrap();
        assert!(typed.style().get_effects().contains(anstyle::Effects::UNDERLINE));
    }
}
