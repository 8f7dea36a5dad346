//! The picker of `buddy resume`: sessions before there is a conversation, with the search of the pickers in one.

use std::cell::RefCell;
use std::io;

use anstyle::Style;
use buddy_protocol::{SessionId, SessionSummary, UnixMillis};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::choose::{Chosen, MenuLetters, ask_by_key};
use super::picker::Picker;
use crate::screen::ScreenFrame;
use crate::text::{Paint, StyledLine, TerminalLook, wrap_unindented};

/// Lets the user pick one of these sessions; none if they leave.
pub async fn choose_session(
    sessions: &[SessionSummary],
    look: &TerminalLook,
    now: UnixMillis,
    is_in_tmux: bool,
) -> io::Result<Option<SessionId>> {
    let picker = RefCell::new(Picker::all_sessions(sessions, look, now));
    let show = |(width, height)| {
        let view = picker.borrow().view(look, width, height);
        ScreenFrame { rows: view.rows, cursor: view.cursor, question: None }
    };
    let decide = |key| press(key, &mut picker.borrow_mut());
    let stay = |chosen, width| match chosen {
        Chosen::At(_) => {
            let name = picker.borrow().chosen_name();
            let line = StyledLine::styled(look.sign("❯ ", "> "), look.style(Paint::Strong))
                .and("Resume a session", look.style(Paint::Dim))
                .and(&format!("  {name}"), Style::new());
            wrap_unindented(&line, width)
        }
        Chosen::Escape | Chosen::Leave => Vec::new(),
    };
    let chosen = ask_by_key(look, is_in_tmux, MenuLetters::Search, show, decide, stay).await?;
    Ok(match chosen {
        Chosen::At(_) => picker.borrow().chosen_session().cloned(),
        Chosen::Escape | Chosen::Leave => None,
    })
}

/// Takes a key: it moves the mark, searches, or decides.
fn press(key: KeyEvent, picker: &mut Picker) -> Option<Chosen> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if is_control => return Some(Chosen::Leave),
        KeyCode::Up => picker.up(),
        KeyCode::Down | KeyCode::Tab => picker.down(),
        KeyCode::Backspace => picker.widen(),
        KeyCode::Esc => return Some(Chosen::Escape),
        // Enter chooses nothing while nothing fits.
        KeyCode::Enter => return picker.chosen_place().map(Chosen::At),
        KeyCode::Char(letter) if !is_control => picker.narrow(letter.encode_utf8(&mut [0; 4])),
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{Bill, Principal, SessionState};

    use super::*;

    fn session(number: u32, title: &str) -> SessionSummary {
        SessionSummary {
            id: format!("ses_{number:026}").parse().unwrap(),
            owner: Principal::person("ann"),
            agent: "buddy".to_owned(),
            cwd: "/w".to_owned(),
            model: None,
            parent: None,
            forked_from: None,
            title: Some(title.to_owned()),
            state: SessionState::Idle,
            created: UnixMillis(0),
            updated: UnixMillis(0),
            head: 1,
            turns: 1,
            bill: Bill::default(),
            asks: Vec::new(),
        }
    }

    fn picker() -> Picker {
        let titles = ["Fix the overflow", "Add 2 limits", "Move the notes"];
        let sessions: Vec<SessionSummary> =
            (1..).zip(titles).map(|(number, title)| session(number, title)).collect();
        Picker::all_sessions(&sessions, &TerminalLook::plain(), UnixMillis(0))
    }

    #[track_caller]
    fn check(keys: &str, chosen: Option<&str>) {
        let mut picker = picker();
        let code = |letter: char| match letter {
            '\n' => KeyCode::Enter,
            '↓' => KeyCode::Down,
            '←' => KeyCode::Backspace,
            letter => KeyCode::Char(letter),
        };
        let mut keys = keys.chars().map(|letter| KeyEvent::new(code(letter), KeyModifiers::NONE));
        let done = keys.find_map(|key| press(key, &mut picker));
        assert_eq!(done.map(|_| picker.chosen_name()).as_deref(), chosen);
    }

    #[test]
    fn typing_searches_and_digits_do_too() {
        check("\n", Some("Fix the overflow"));
        check("↓↓\n", Some("Move the notes"));
        check("notes\n", Some("Move the notes"));
        check("2\n", Some("Add 2 limits"));
        check("zzz\n", None);
        check("zzz←←←\n", Some("Fix the overflow"));
        let mut open = picker();
        let stop = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(press(stop, &mut open), Some(Chosen::Leave));
    }
}
