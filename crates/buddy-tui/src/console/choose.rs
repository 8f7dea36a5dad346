//! A question with a few answers to choose from, before there is a conversation.

use std::io;

use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt;
use rustix::termios::{QueueSelector, tcflush};

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
    /// Letters that take an answer at once, in the order of the answers; none where only numbers do.
    pub letters: &'static [char],
    /// What Esc means.
    pub escape: &'static str,
}

/// What a user chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The answer at this place.
    At(usize),
    /// Esc.
    Escape,
    /// They want to leave altogether, or the terminal is gone.
    Leave,
}

/// Asks on the terminal, with arrow keys and Enter or the number or letter of an answer. What was typed before the question was
/// there answers nothing. The question stays on the screen with the answer that was taken.
pub async fn choose(question: &Alternatives, look: &Look, is_in_tmux: bool) -> io::Result<Chosen> {
    give_back_on_panic();
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
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
                if let Some(chosen) = press(key, &mut at, question) {
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
fn press(key: KeyEvent, at: &mut usize, question: &Alternatives) -> Option<Chosen> {
    let count = question.answers.len();
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if is_control => return Some(Chosen::Leave),
        KeyCode::Up => *at = at.checked_sub(1).unwrap_or(count.saturating_sub(1)),
        KeyCode::Down | KeyCode::Tab => *at = if *at + 1 < count { *at + 1 } else { 0 },
        KeyCode::Enter => return Some(Chosen::At(*at)),
        KeyCode::Esc => return Some(Chosen::Escape),
        KeyCode::Char(letter) if !is_control => {
            let number = letter.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
            let by_number = number.and_then(|number| number.checked_sub(1)).filter(|place| *place < count);
            let by_letter = || question.letters.iter().position(|own| own.eq_ignore_ascii_case(&letter));
            return by_number.or_else(by_letter).map(Chosen::At);
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
        let style = if is_chosen { look.style(Paint::Person).bold() } else { anstyle::Style::new() };
        let gap = " ".repeat(names.saturating_sub(Line::plain(name).width()) + 2);
        let row = Line::styled(&format!("{mark}{}. {name}", place + 1), style);
        let whole = row.clone().and(&format!("{gap}{note}"), look.style(Paint::Dim));
        // A note that does not fit says nothing in part.
        rows.push(if whole.width() <= width { whole } else { row.cut(width, look.sign("…", "~")) });
    }
    let letters: Vec<String> = question.letters.iter().map(char::to_string).collect();
    let keys = if letters.is_empty() { "a number".to_owned() } else { letters.join(" or ") };
    let hint = format!("arrows and enter, or {keys}; esc {}", question.escape);
    rows.extend(wrapped(&Line::styled(&hint, look.style(Paint::Dim)), width));
    Frame { rows, cursor: (first + at, 0), question: None }
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
        let line = Line::styled(&format!("{}{answer}", look.sign("❯ ", "> ")), look.style(Paint::Person));
        rows.extend(wrapped(&line, width));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(letters: &'static [char]) -> Alternatives {
        let answers = ["one", "two", "three"].map(|name| (name.to_owned(), "a note".to_owned())).to_vec();
        Alternatives { lines: vec!["Which?".to_owned()], answers, letters, escape: "goes back" }
    }

    fn check(keys: &[KeyCode], chosen: Option<Chosen>, place: usize) {
        let mut at = 0;
        let question = question(&['o', 't']);
        let done =
            keys.iter().find_map(|code| press(KeyEvent::new(*code, KeyModifiers::NONE), &mut at, &question));
        assert_eq!((done, at), (chosen, place), "{keys:?}");
    }

    #[test]
    fn arrows_move_the_mark_round_and_numbers_decide_at_once() {
        check(&[KeyCode::Down, KeyCode::Down, KeyCode::Down], None, 0);
        check(&[KeyCode::Up, KeyCode::Enter], Some(Chosen::At(2)), 2);
        check(&[KeyCode::Char('2')], Some(Chosen::At(1)), 0);
        check(&[KeyCode::Char('4'), KeyCode::Char('x')], None, 0);
        check(&[KeyCode::Char('T')], Some(Chosen::At(1)), 0);
        check(&[KeyCode::Esc], Some(Chosen::Escape), 0);
        let mut at = 0;
        let stop = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(press(stop, &mut at, &question(&[])), Some(Chosen::Leave));
    }

    #[test]
    fn a_note_that_does_not_fit_is_left_out() {
        let question = question(&[]);
        let rows = |width| -> Vec<String> {
            frame(&question, 0, &Look::plain(), width).rows.iter().map(Line::text).collect()
        };
        assert_eq!(rows(60)[1], "❯ 1. one    a note");
        assert_eq!(rows(12)[1], "❯ 1. one");
    }
}
