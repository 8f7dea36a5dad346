//! The painter against a real terminal emulator.

use std::num::NonZero;

use proptest::prelude::*;

use super::*;

/// A terminal with a painter at work on it.
struct Stage {
    terminal: vt100::Parser,
    painter: ScreenPainter,
    bytes: usize,
}

fn sized(number: u16) -> NonZero<u16> {
    NonZero::new(number).unwrap()
}

fn stage(columns: u16, height: u16) -> Stage {
    let mut terminal = vt100::Parser::new(sized(height), sized(columns), 500);
    terminal.process(b"\x1b[?7l");
    Stage {
        terminal,
        painter: ScreenPainter::new(TerminalLook::plain(), columns.into(), height.into()),
        bytes: 0,
    }
}

fn lines(texts: &[&str]) -> Vec<StyledLine> {
    texts.iter().map(|text| StyledLine::plain(text)).collect()
}

impl Stage {
    fn paint(&mut self, finished: &[&str], live: &[&str], cursor: (usize, usize)) {
        let bytes =
            self.painter.paint(&lines(finished), ScreenFrame { rows: lines(live), cursor, question: None });
        self.bytes = bytes.len();
        self.terminal.process(bytes.as_bytes());
    }

    /// The rows of the screen without the empty ones at its end.
    fn screen(&self) -> Vec<String> {
        let columns = self.terminal.screen().size().1.get();
        let mut rows: Vec<String> =
            self.terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    fn cursor(&self) -> (u16, u16) {
        self.terminal.screen().cursor_position()
    }

    /// Everything that scrolled out and the screen.
    fn everything(&mut self) -> Vec<String> {
        let height = usize::from(self.terminal.screen().size().0.get());
        let screen = self.terminal.screen_mut();
        screen.set_scrollback(usize::MAX);
        let above = screen.scrollback();
        let mut rows = Vec::new();
        for back in (1..=above).rev() {
            self.terminal.screen_mut().set_scrollback(back);
            let columns = self.terminal.screen().size().1.get();
            rows.extend(self.terminal.screen().rows(0, columns).next().map(|row| row.trim_end().to_owned()));
        }
        self.terminal.screen_mut().set_scrollback(0);
        rows.extend(self.screen());
        assert!(rows.len() <= above + height);
        rows
    }
}

#[test]
fn live_rows_are_repainted_and_finished_ones_stay() {
    let mut stage = stage(20, 10);
    stage.paint(&[], &["> "], (0, 2));
    assert_eq!((stage.screen(), stage.cursor()), (vec![">".to_owned()], (0, 2)));
    stage.paint(&["you: hi"], &["thinking", "> a"], (1, 3));
    assert_eq!(
        (stage.screen(), stage.cursor()),
        (vec!["you: hi".into(), "thinking".into(), "> a".into()], (2, 3))
    );
    stage.paint(&["hello"], &["> a"], (0, 3));
    assert_eq!(
        (stage.screen(), stage.cursor()),
        (vec!["you: hi".into(), "hello".into(), "> a".into()], (2, 3))
    );
    stage.painter.leave();
}

#[test]
fn what_is_already_there_is_not_written_again() {
    let mut stage = stage(80, 10);
    stage.paint(&[], &["The quick brown fox", "> "], (1, 2));
    stage.paint(&[], &["The quick brown fox jumps", "> "], (1, 2));
    assert!(stage.bytes < 60, "a token costs {} bytes", stage.bytes);
    stage.paint(&["The quick brown fox jumps"], &["over", "> "], (1, 2));
    assert!(stage.bytes < 60, "a row that is finished as it was costs {} bytes", stage.bytes);
    stage.paint(&[], &["over", "> "], (1, 2));
    assert_eq!(stage.bytes, 0);
}

#[test]
fn rows_scroll_into_the_history_of_the_terminal() {
    let mut stage = stage(20, 4);
    stage.paint(&[], &["> "], (0, 2));
    let rows: Vec<String> = (0..30).map(|number| format!("row {number}")).collect();
    for pair in rows.chunks(3) {
        let finished: Vec<&str> = pair.iter().map(String::as_str).collect();
        stage.paint(&finished, &["busy", "> "], (1, 2));
    }
    let expected: Vec<String> = rows.into_iter().chain(["busy".to_owned(), ">".to_owned()]).collect();
    assert_eq!(stage.everything(), expected);
}

#[test]
fn too_many_live_rows_show_those_around_the_cursor() {
    let mut stage = stage(20, 3);
    stage.paint(&["before"], &["a", "b", "c", "d", "> "], (4, 2));
    assert_eq!(stage.screen(), ["c", "d", ">"]);
    stage.paint(&[], &["> ", "1", "2", "3", "4"], (0, 2));
    assert_eq!((stage.screen(), stage.cursor()), (vec![">".into(), "1".into(), "2".into()], (0, 2)));
}

#[test]
fn leaving_takes_the_live_rows_away() {
    let mut stage = stage(20, 5);
    stage.paint(&["said"], &["status", "> draft"], (1, 7));
    let bytes = stage.painter.leave();
    stage.terminal.process(bytes.as_bytes());
    assert_eq!((stage.screen(), stage.cursor()), (vec!["said".to_owned()], (1, 0)));
}

#[test]
fn a_wider_or_lower_window_is_painted_anew() {
    let mut stage = stage(20, 6);
    stage.paint(&["said"], &["status", "> draft"], (1, 7));
    stage.terminal.screen_mut().set_size(sized(6), sized(40));
    stage.painter.resize(40, 6);
    stage.paint(&[], &["a status with more in it", "> draft"], (1, 7));
    assert_eq!(stage.screen(), ["said", "a status with more in it", "> draft"]);
}

#[test]
fn what_is_finished_stays_where_a_narrower_terminal_cuts_rows() {
    let mut stage = stage(20, 8);
    stage.painter.set_look(TerminalLook { cuts_rows: true, ..TerminalLook::plain() });
    stage.paint(
        &["said first", "said then"],
        &["an answer with words", "and more of the same", "> a draft"],
        (2, 9),
    );
    stage.terminal.screen_mut().set_size(sized(8), sized(7));
    stage.painter.resize(7, 8);
    stage.paint(&["an", "answer"], &["with", "words", "> a"], (2, 3));
    assert_eq!(stage.screen(), ["said fi", "said th", "an", "answer", "with", "words", "> a"]);
    assert_eq!(stage.cursor(), (6, 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever was painted, the terminal shows every finished row once, in order, and the live rows below them.
    #[test]
    fn the_terminal_shows_what_was_said(
        steps in prop::collection::vec(
            (prop::collection::vec("[a-z漢👍é ]{0,12}", 0..4), prop::collection::vec("[a-z漢é ]{0,30}", 1..4), any::<bool>()),
            1..12,
        )
    ) {
        let mut stage = stage(24, 6);
        let mut said = Vec::new();
        let mut live = Vec::new();
        for (finished, rows, is_forgotten) in &steps {
            if *is_forgotten {
                stage.painter.forget();
            }
            let finished: Vec<&str> = finished.iter().map(String::as_str).collect();
            live = rows.iter().map(String::as_str).collect::<Vec<_>>();
            stage.paint(&finished, &live, (live.len() - 1, 3));
            said.extend(finished.iter().map(|text| text.trim_end().to_owned()));
        }
        said.extend(live.iter().map(|text| StyledLine::plain(text).cut(24, "").text().trim_end().to_owned()));
        while said.last().is_some_and(String::is_empty) {
            said.pop();
        }
        prop_assert_eq!(stage.everything(), said);
    }
}
