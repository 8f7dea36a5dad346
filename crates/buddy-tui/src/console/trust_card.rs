//! The card that asks about a folder: what it holds, what yes and no mean. No is the primary answer, and Enter.

use std::io;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::card::{Card, Head, KeyChoice, KeyWeight};
use super::choose::{Chosen, MenuLetters, ask_by_key};
use crate::screen::ScreenFrame;
use crate::text::{Paint, StyledLine, TerminalLook, Tone};

/// The rows that a window needs beside the card.
const SPARE_ROWS: usize = 2;

/// A question about a folder.
#[derive(Debug, Clone)]
pub struct FolderQuestion {
    /// The question, and the same for a narrow window.
    pub title: [&'static str; 2],
    /// At the end of the title where there is room.
    pub tail: &'static str,
    /// The folder, by its path.
    pub folder: String,
    /// The settings found there, or an empty text.
    pub finds: String,
    /// The meaning of yes, whole and in a few words.
    pub yes: [&'static str; 2],
    /// The meaning of no, whole and in a few words.
    pub no: [&'static str; 2],
    /// The words on the key for no, and shorter ones.
    pub keep: [&'static str; 2],
    /// The words on the key for yes, and shorter ones.
    pub allow: [&'static str; 2],
}

/// Asks on the terminal. The answer at 1 is yes; at 0, Enter and Esc are no.
pub async fn ask_about_folder(
    question: &FolderQuestion,
    look: &TerminalLook,
    is_in_tmux: bool,
) -> io::Result<Chosen> {
    let stay = |chosen: Chosen, width: usize| taken(question, chosen, look, width);
    ask_by_key(look, is_in_tmux, MenuLetters::Answer, |size| frame(question, look, size), press, stay).await
}

fn press(key: KeyEvent) -> Option<Chosen> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c' | 'd') if is_control => Some(Chosen::Leave),
        KeyCode::Char('y' | 'Y') if !is_control => Some(Chosen::At(1)),
        KeyCode::Char('n' | 'N') if !is_control => Some(Chosen::At(0)),
        KeyCode::Enter => Some(Chosen::At(0)),
        KeyCode::Esc => Some(Chosen::Escape),
        _ => None,
    }
}

fn frame(question: &FolderQuestion, look: &TerminalLook, (columns, height): (usize, usize)) -> ScreenFrame {
    let card = Card::new(Tone::Medium, look, columns, height.saturating_sub(SPARE_ROWS));
    let place = usize::from(card.is_narrow());
    let pick = |texts: [&'static str; 2]| texts[place];
    let title = pick(question.title);
    let tail = if card.is_narrow() || !card.holds_title(title, question.tail) { "" } else { question.tail };
    let mut body: Vec<StyledLine> = card.own_title(title).into_iter().collect();
    let folder = StyledLine::styled(&look.path(&question.folder), look.style(Paint::Strong));
    body.push(folder.cut(card.width(), look.sign("…", "...")));
    body.extend(card.is_roomy().then(StyledLine::default));
    if !card.is_narrow() && !question.finds.is_empty() {
        body.extend(card.fact("finds", &StyledLine::plain(&question.finds)));
    }
    body.extend(card.fact("yes", &StyledLine::plain(pick(question.yes))));
    body.extend(card.fact("no", &StyledLine::plain(pick(question.no))));
    let keys = [vec![
        KeyChoice::new("n", question.keep[0], question.keep[1], KeyWeight::Primary),
        KeyChoice::new("y", question.allow[0], question.allow[1], KeyWeight::Usual),
    ]];
    // The two keys stand beside each other in any window.
    let end = card.keys(&keys, usize::MAX / 2);
    let head = Head { title: title.to_owned(), tail: tail.to_owned() };
    let framed = card.framed(&head, &body, None, &end);
    let mut rows = framed.view.rows;
    let above = usize::from(card.is_roomy());
    rows.splice(0..0, card.is_roomy().then(StyledLine::default));
    let (row, column) = framed.view.cursor;
    ScreenFrame { rows, cursor: (row + above, column), question: None }
}

/// The answer, as it stays.
fn taken(question: &FolderQuestion, chosen: Chosen, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
    let answer = match chosen {
        Chosen::At(1) => question.allow[0],
        Chosen::At(_) | Chosen::Escape => question.keep[0],
        Chosen::Leave => return Vec::new(),
    };
    let line = StyledLine::styled(look.sign("❯ ", "> "), look.style(Paint::Strong))
        .and(&format!("{}  ", look.path(&question.folder)), look.style(Paint::Dim))
        .and(answer, anstyle::Style::new());
    vec![line.cut(width, look.sign("…", "..."))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> FolderQuestion {
        FolderQuestion {
            title: ["Do you trust this folder?", "Trust this folder?"],
            tail: "Asked once",
            folder: "/home/ann/app".to_owned(),
            finds: "AGENTS.md, .buddy/rules.toml".to_owned(),
            yes: [
                "buddy reads these settings and can edit files here, after asking",
                "edits here, after asking",
            ],
            no: ["the folder stays read-only", "read-only"],
            keep: ["Keep it read-only", "Read-only"],
            allow: ["Trust it", "Trust it"],
        }
    }

    fn shown(size: (usize, usize), is_ascii: bool) -> String {
        let look = TerminalLook { home: "/home/ann".to_owned(), is_ascii, ..TerminalLook::plain() };
        let frame = frame(&question(), &look, size);
        for row in &frame.rows {
            assert!(row.width() <= size.0, "{size:?}: {:?}", row.text());
        }
        frame.rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn the_card_says_what_it_finds_and_what_each_answer_means() {
        let expected = "
 ▲ Do you trust this folder?                                         Asked once
▌
▌ ~/app
▌
▌ finds  AGENTS.md, .buddy/rules.toml
▌ yes    buddy reads these settings and can edit files here, after asking
▌ no     the folder stays read-only
▌
▌ [n] Keep it read-only  [y] Trust it
▌
▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔▔
";
        assert_eq!(shown((80, 24), false), expected);
    }

    #[test]
    fn a_small_window_says_it_in_few_words() {
        let expected = " ! Trust this folder?
| ~/app
| yes    edits here, after asking
| no     read-only
|
| [n] Read-only      [y] Trust it
----------------------------------------
";
        assert_eq!(shown((40, 15), true), expected);
    }

    #[test]
    fn enter_is_no_and_only_y_is_yes() {
        let pressed = |code| press(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(pressed(KeyCode::Enter), Some(Chosen::At(0)));
        assert_eq!(pressed(KeyCode::Char('y')), Some(Chosen::At(1)));
        assert_eq!(pressed(KeyCode::Char('x')), None);
        assert_eq!(pressed(KeyCode::Esc), Some(Chosen::Escape));
    }
}
