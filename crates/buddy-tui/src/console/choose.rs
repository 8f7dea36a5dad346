//! A question with a few answers to choose from, before there is a conversation.

use std::io;

use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt;

use super::items::wrapped;
use super::terminal::{Terminal, give_back_on_panic};
use crate::screen::{Frame, Painter};
use crate::text::{Line, Look, Paint};

/// A question.
pub struct Alternatives {
    /// What is said before the answers.
    pub lines: Vec<String>,
    /// The answers, and what is said about each.
    pub answers: Vec<(String, String)>,
    /// What Esc means.
    pub escape: &'static str,
}

/// What a person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The answer at this place.
    At(usize),
    /// Esc.
    Escape,
    /// They want to leave altogether, or the terminal is gone.
    Leave,
}

/// Asks on the terminal, with arrow keys and Enter or the number of an answer. The question stays on the screen with the
/// answer that was taken.
pub async fn choose(question: &Alternatives, look: &Look, is_in_tmux: bool) -> io::Result<Chosen> {
    give_back_on_panic();
    let mut terminal = Terminal::enter(is_in_tmux)?;
    let (columns, height) = Terminal::size();
    let mut painter = Painter::new(look.clone(), columns, height);
    let mut keys = EventStream::new();
    let mut at = 0;
    let chosen = loop {
        let (columns, height) = Terminal::size();
        painter.resize(columns, height);
        terminal.write(&painter.paint(&[], frame(question, at, look, columns)))?;
        match keys.next().await {
            Some(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => {
                if let Some(chosen) = press(key, &mut at, question.answers.len()) {
                    break chosen;
                }
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => break Chosen::Leave,
        }
    };
    let rows = taken(question, chosen, look, Terminal::size().0);
    terminal.write(&painter.paint(&rows, Frame::default()))?;
    Ok(chosen)
}

/// What a key does: moves the mark, or decides.
fn press(key: KeyEvent, at: &mut usize, count: usize) -> Option<Chosen> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if is_control => return Some(Chosen::Leave),
        KeyCode::Up => *at = at.checked_sub(1).unwrap_or(count.saturating_sub(1)),
        KeyCode::Down | KeyCode::Tab => *at = if *at + 1 < count { *at + 1 } else { 0 },
        KeyCode::Enter => return Some(Chosen::At(*at)),
        KeyCode::Esc => return Some(Chosen::Escape),
        KeyCode::Char(letter) if !is_control => {
            let number = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
            let place = number.and_then(|number| number.checked_sub(1)).filter(|place| *place < count);
            return place.map(Chosen::At);
        }
        _ => {}
    }
    None
}

fn frame(question: &Alternatives, at: usize, look: &Look, width: usize) -> Frame {
    let mut rows: Vec<Line> =
        question.lines.iter().flat_map(|line| wrapped(&Line::plain(line), width)).collect();
    let first = rows.len();
    let names = question.answers.iter().map(|(name, _)| Line::plain(name).width()).max().unwrap_or(0);
    for (place, (name, note)) in question.answers.iter().enumerate() {
        let is_chosen = place == at;
        let mark = if is_chosen { look.sign("❯ ", "> ") } else { "  " };
        let style = if is_chosen { look.theme.style(Paint::Person).bold() } else { anstyle::Style::new() };
        let gap = " ".repeat(names.saturating_sub(Line::plain(name).width()) + 2);
        let row = Line::styled(&format!("{mark}{}. {name}", place + 1), style);
        let whole = row.clone().and(&format!("{gap}{note}"), look.theme.style(Paint::Dim));
        // A note that does not fit says nothing in part.
        rows.push(if whole.width() <= width { whole } else { row.cut(width, look.sign("…", "~")) });
    }
    let hint = format!("arrows and enter, or a number; esc {}", question.escape);
    rows.extend(wrapped(&Line::styled(&hint, look.theme.style(Paint::Dim)), width));
    Frame { rows, cursor: (first + at, 0) }
}

/// The question with its answer, as it stays.
fn taken(question: &Alternatives, chosen: Chosen, look: &Look, width: usize) -> Vec<Line> {
    let answer = match chosen {
        Chosen::At(place) => question.answers.get(place).map(|(name, _)| name.as_str()),
        Chosen::Escape | Chosen::Leave => None,
    };
    let mut rows: Vec<Line> =
        question.lines.iter().flat_map(|line| wrapped(&Line::plain(line), width)).collect();
    if let Some(answer) = answer {
        let line =
            Line::styled(&format!("{}{answer}", look.sign("❯ ", "> ")), look.theme.style(Paint::Person));
        rows.extend(wrapped(&line, width));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &[KeyCode], chosen: Option<Chosen>, place: usize) {
        let mut at = 0;
        let done = keys.iter().find_map(|code| press(KeyEvent::new(*code, KeyModifiers::NONE), &mut at, 3));
        assert_eq!((done, at), (chosen, place), "{keys:?}");
    }

    #[test]
    fn arrows_move_the_mark_round_and_numbers_decide_at_once() {
        check(&[KeyCode::Down, KeyCode::Down, KeyCode::Down], None, 0);
        check(&[KeyCode::Up, KeyCode::Enter], Some(Chosen::At(2)), 2);
        check(&[KeyCode::Char('2')], Some(Chosen::At(1)), 0);
        check(&[KeyCode::Char('4'), KeyCode::Char('x')], None, 0);
        check(&[KeyCode::Esc], Some(Chosen::Escape), 0);
        let mut at = 0;
        let stop = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(press(stop, &mut at, 3), Some(Chosen::Leave));
    }

    #[test]
    fn a_note_that_does_not_fit_is_left_out() {
        let answers = vec![("one".to_owned(), "a note".to_owned())];
        let question = Alternatives { lines: vec!["Which?".to_owned()], answers, escape: "goes back" };
        let rows = |width| -> Vec<String> {
            frame(&question, 0, &Look::plain(), width).rows.iter().map(Line::text).collect()
        };
        assert_eq!(rows(60)[1], "❯ 1. one  a note");
        assert_eq!(rows(12)[1], "❯ 1. one");
    }
}
