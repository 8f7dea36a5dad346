//! A question with a few answers to choose from, before there is a conversation.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt;
use rustix::termios::{QueueSelector, tcflush};
use tokio::time::timeout;

use super::greeting::{ChoiceGreeting, render_greeting};
use super::terminal::{HeldTerminal, give_back_on_panic};
use crate::picker_rows::{PickerRow, render_choices, render_keys, render_plain_rule, render_title_rule};
use crate::screen::{ScreenFrame, ScreenPainter};
use crate::text::{Paint, StyledLine, TerminalLook, wrap_unindented};

/// Rows of the frame with empty rows in it, and one of the window that stays free.
const ROOMY_FRAME: usize = 7;

/// The longest time between two letters of a paste. Nobody types that fast.
const PASTE_GAP: Duration = Duration::from_millis(40);

/// A question.
#[derive(Debug, Clone, Default)]
pub struct Alternatives {
    /// The lines above the answers.
    pub lines: Vec<String>,
    /// Whether buddy introduces itself above that, and how.
    pub greeting: ChoiceGreeting,
    /// The question, on the rule above the answers.
    pub title: String,
    /// On the right of the title.
    pub note: String,
    /// The answers, and what is said about each.
    pub answers: Vec<(String, String)>,
    /// The effect of Esc.
    pub escape: &'static str,
}

/// The user's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The answer at this place.
    At(usize),
    /// Esc.
    Escape,
    /// They want to leave altogether, or the terminal is gone.
    Leave,
}

/// Asks on the terminal, with arrow keys and Enter or the number of an answer. What was typed before the question was there
/// answers nothing. The question stays on the screen with the answer that was taken.
pub async fn choose(question: &Alternatives, look: &TerminalLook, is_in_tmux: bool) -> io::Result<Chosen> {
    let at = Cell::new(0);
    let show = |size| frame(question, at.get(), look, size);
    let decide = |key| {
        let mut place = at.get();
        let chosen = press(key, &mut place, question);
        at.set(place);
        chosen
    };
    let stay = |chosen, width| taken(question, chosen, look, width);
    ask_by_key(look, is_in_tmux, MenuLetters::Answer, show, decide, stay).await
}

/// The meaning of letters at a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MenuLetters {
    /// They search, so a paste does too.
    Search,
    /// A digit answers if it stands alone. Letters that come at once are a paste, which answers nothing.
    Answer,
}

/// Whether a key is a letter that stands alone. Takes what follows at once, which the paste goes on with.
async fn stands_alone(key: KeyEvent, keys: &mut EventStream) -> bool {
    let is_letter = matches!(key.code, KeyCode::Char(_)) && !key.modifiers.contains(KeyModifiers::CONTROL);
    let mut is_alone = true;
    if !is_letter {
        return is_alone;
    }
    loop {
        match timeout(PASTE_GAP, keys.next()).await {
            Ok(Some(Ok(Event::Key(next)))) if next.kind == KeyEventKind::Release => {}
            Ok(Some(Ok(Event::Key(next)))) if matches!(next.code, KeyCode::Char(_)) => is_alone = false,
            Ok(Some(Ok(_))) => {}
            Ok(Some(Err(_)) | None) | Err(_) => return is_alone,
        }
    }
}

/// Shows a frame until a key decides, and then the rows that stay.
pub(super) async fn ask_by_key(
    look: &TerminalLook,
    is_in_tmux: bool,
    letters: MenuLetters,
    show: impl Fn((usize, usize)) -> ScreenFrame,
    decide: impl Fn(KeyEvent) -> Option<Chosen>,
    stay: impl FnOnce(Chosen, usize) -> Vec<StyledLine>,
) -> io::Result<Chosen> {
    give_back_on_panic();
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    let mut terminal = HeldTerminal::enter(is_in_tmux)?;
    let (columns, height) = HeldTerminal::size();
    let mut painter = ScreenPainter::new(look.clone(), columns, height);
    let mut keys = EventStream::new();
    let chosen = loop {
        let (columns, height) = HeldTerminal::size();
        painter.resize(columns, height);
        terminal.write(&painter.paint(&[], show((columns, height))))?;
        match keys.next().await {
            Some(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => {
                if letters == MenuLetters::Answer && !stands_alone(key, &mut keys).await {
                    continue;
                }
                if let Some(chosen) = decide(key) {
                    break chosen;
                }
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => break Chosen::Leave,
        }
    };
    let rows = stay(chosen, HeldTerminal::size().0);
    terminal.write(&painter.paint(&rows, ScreenFrame::default()))?;
    Ok(chosen)
}

/// Takes a key: it moves the mark, or decides.
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
            let place = number.and_then(|number| number.checked_sub(1)).filter(|place| *place < count);
            return place.map(Chosen::At);
        }
        _ => {}
    }
    None
}

/// The rows above the answers.
fn introduction(question: &Alternatives, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    let mut rows = render_greeting(question.greeting, look, width);
    rows.extend(question.lines.iter().flat_map(|line| wrap_unindented(&StyledLine::plain(line), width)));
    rows
}

fn frame(
    question: &Alternatives,
    at: usize,
    look: &TerminalLook,
    (width, height): (usize, usize),
) -> ScreenFrame {
    let numbered: Vec<String> =
        (1..).zip(&question.answers).map(|(number, (name, _))| format!("{number}  {name}")).collect();
    let choices: Vec<PickerRow<'_>> = numbered
        .iter()
        .zip(&question.answers)
        .enumerate()
        .map(|(place, (name, (_, note)))| PickerRow { name, note, is_chosen: place == at, wish: "" })
        .collect();
    let before = introduction(question, look, width);
    let is_roomy = before.len() + choices.len() + ROOMY_FRAME <= height;
    let gap = || is_roomy.then(StyledLine::default);
    let mut rows: Vec<StyledLine> = before.into_iter().chain(gap()).collect();
    rows.push(render_title_rule(&question.title, &question.note, look, width));
    rows.extend(gap());
    let first = rows.len();
    rows.extend(render_choices(&choices, look, width));
    rows.extend(gap());
    rows.push(render_plain_rule(look, width));
    let keys = [("↑↓", "choose"), ("enter", "select"), ("esc", question.escape)];
    rows.push(render_keys(&keys, look, width));
    ScreenFrame { rows, cursor: (first + at, 0), question: None }
}

/// The question with its answer, as it stays.
fn taken(question: &Alternatives, chosen: Chosen, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    let answer = match chosen {
        Chosen::At(place) => question.answers.get(place).map(|(name, _)| name.as_str()),
        Chosen::Escape | Chosen::Leave => None,
    };
    let mut rows = introduction(question, look, width);
    if let Some(answer) = answer {
        let line = StyledLine::styled(look.sign("❯ ", "> "), look.style(Paint::Strong))
            .and(&question.title, look.style(Paint::Dim))
            .and(&format!("  {answer}"), anstyle::Style::new());
        rows.extend(wrap_unindented(&line, width));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Alternatives {
        let answers = ["one", "two", "three"].map(|name| (name.to_owned(), "a note".to_owned())).to_vec();
        Alternatives { title: "Which?".to_owned(), answers, escape: "back", ..Alternatives::default() }
    }

    fn check(keys: &[KeyCode], chosen: Option<Chosen>, place: usize) {
        let mut at = 0;
        let question = question();
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
        check(&[KeyCode::Esc], Some(Chosen::Escape), 0);
        let mut at = 0;
        let stop = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(press(stop, &mut at, &question()), Some(Chosen::Leave));
    }

    #[test]
    fn a_low_window_has_no_empty_rows_and_a_narrow_one_no_notes() {
        let rows = |size| -> Vec<String> {
            frame(&question(), 0, &TerminalLook::plain(), size).rows.iter().map(StyledLine::text).collect()
        };
        let wide = rows((60, 24));
        assert_eq!((wide.len(), wide[3].as_str()), (9, "❯ 1  one    a note"));
        assert_eq!(wide.last().unwrap(), "  ↑↓ choose   enter select   esc back");
        let small = rows((14, 8));
        assert_eq!((small.len(), small[1].as_str()), (6, "❯ 1  one"));
    }
}
