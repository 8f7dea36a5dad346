//! Keys as in vim, for people who have them in their fingers: two modes, motions, operators, and putting back.
//!
//! Keys that type no letter do what they always do.

use crossterm::event::{KeyCode, KeyModifiers};

use super::draft::TextDraft;
use super::keymap::EditorKey;
use super::motion::{Motion, line_end, line_start, next, previous};

/// The mode and what is half typed.
#[derive(Debug, Default)]
pub(crate) struct Vim {
    mode: VimMode,
    operator: Option<Operator>,
    /// Whether what was cut last is whole lines.
    has_lines: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum VimMode {
    #[default]
    Insert,
    Normal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Copy,
}

/// The outcome of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VimTyped {
    /// It is none of vim's.
    Passed,
    /// It was carried out.
    Done,
    /// The earlier prompt, as the draft has no line above.
    Older,
    /// The later prompt, as the draft has no line below.
    Newer,
}

impl Vim {
    /// The mode by its name.
    pub(crate) fn name(&self) -> &'static str {
        match self.mode {
            VimMode::Insert => "insert",
            VimMode::Normal => "normal",
        }
    }

    /// Whether letters are commands.
    pub(crate) fn is_normal(&self) -> bool {
        self.mode == VimMode::Normal
    }

    /// A new draft is typed.
    pub(crate) fn begin(&mut self) {
        (self.mode, self.operator) = (VimMode::Insert, None);
    }

    /// Takes a key.
    pub(crate) fn key(&mut self, key: EditorKey, draft: &mut TextDraft) -> VimTyped {
        match (self.mode, key.code, key.held) {
            (VimMode::Insert, KeyCode::Esc, KeyModifiers::NONE) => {
                self.mode = VimMode::Normal;
                draft.close_group();
                let (text, at) = (draft.shown(), draft.cursor());
                draft.go(if at > line_start(text, at) { previous(text, at) } else { at });
                VimTyped::Done
            }
            (VimMode::Normal, KeyCode::Esc, _) if self.operator.take().is_some() => VimTyped::Done,
            (VimMode::Normal, KeyCode::Char('r'), KeyModifiers::CONTROL) => {
                draft.redo();
                VimTyped::Done
            }
            (VimMode::Normal, KeyCode::Char('?'), _) if draft.is_empty() => VimTyped::Passed,
            (VimMode::Normal, KeyCode::Char(letter), KeyModifiers::NONE) => {
                let typed = self.letter(letter, draft);
                if self.mode == VimMode::Normal {
                    settle(draft);
                }
                typed
            }
            _ => VimTyped::Passed,
        }
    }

    fn letter(&mut self, letter: char, draft: &mut TextDraft) -> VimTyped {
        if let Some(operator) = self.operator.take() {
            self.operate(operator, letter, draft);
            return VimTyped::Done;
        }
        match letter {
            'd' => self.operator = Some(Operator::Delete),
            'c' => self.operator = Some(Operator::Change),
            'y' => self.operator = Some(Operator::Copy),
            'D' => self.operate(Operator::Delete, '$', draft),
            'C' => self.operate(Operator::Change, '$', draft),
            'S' => self.operate(Operator::Change, 'c', draft),
            's' => self.operate(Operator::Change, 'l', draft),
            'x' => self.operate(Operator::Delete, 'l', draft),
            'X' => self.operate(Operator::Delete, 'h', draft),
            'i' => self.insert_at(draft, |_, at| at),
            'a' => self.insert_at(draft, |text, at| next(text, at).min(line_end(text, at))),
            'A' => self.insert_at(draft, line_end),
            'I' => self.insert_at(draft, |text, at| Motion::FirstLetter.from(text, at)),
            'o' => {
                self.insert_at(draft, line_end);
                draft.insert_text("\n");
            }
            'O' => {
                self.insert_at(draft, line_start);
                draft.insert_text("\n");
                draft.left();
            }
            'u' => draft.undo(),
            'p' => self.put(draft, VimSide::After),
            'P' => self.put(draft, VimSide::Before),
            'k' if !draft.up() => return VimTyped::Older,
            'j' if !draft.down() => return VimTyped::Newer,
            _ => {
                if let Some(motion) = Motion::named(letter) {
                    draft.go(motion.from(draft.shown(), draft.cursor()));
                }
            }
        }
        VimTyped::Done
    }

    fn insert_at(&mut self, draft: &mut TextDraft, place: impl FnOnce(&str, usize) -> usize) {
        self.mode = VimMode::Insert;
        draft.open_group();
        draft.go(place(draft.shown(), draft.cursor()));
    }

    /// Carries out an operator over a motion, or over the line where its own letter is typed again. Another letter ends it.
    fn operate(&mut self, operator: Operator, letter: char, draft: &mut TextDraft) {
        let (text, at) = (draft.shown(), draft.cursor());
        let is_line = letter == operator.letter();
        let range = match (operator, letter) {
            (Operator::Change, 'c') => Some((line_start(text, at), line_end(text, at))),
            _ if is_line => Some(whole_line(text, at)),
            // The space behind a word that is changed stays.
            (Operator::Change, 'w') => Some(Motion::WordEnd.over(text, at)),
            _ => Motion::named(letter).map(|motion| motion.over(text, at)),
        };
        let Some((from, to)) = range else { return };
        self.has_lines = is_line;
        if operator == Operator::Change {
            self.mode = VimMode::Insert;
            draft.open_group();
        }
        match operator {
            Operator::Copy => draft.keep(from, to),
            Operator::Delete | Operator::Change => draft.cut(from, to),
        }
        if operator == Operator::Change {
            draft.go(from);
        }
    }

    /// Puts back what was cut: lines above or below this one, else before or behind the cursor.
    fn put(&mut self, draft: &mut TextDraft, side: VimSide) {
        let cut = draft.kept().to_owned();
        if cut.is_empty() {
            return;
        }
        let (text, at) = (draft.shown(), draft.cursor());
        if !self.has_lines {
            let place = if side == VimSide::After { next(text, at).min(line_end(text, at)) } else { at };
            draft.go(place);
            draft.insert_text(&cut);
            return draft.go(previous(draft.shown(), draft.cursor()));
        }
        let lines = cut.trim_matches('\n');
        let place = if side == VimSide::After { line_end(text, at) } else { line_start(text, at) };
        draft.go(place);
        if side == VimSide::After {
            draft.insert_text(&format!("\n{lines}"));
            draft.go(place + 1);
        } else {
            draft.insert_text(&format!("{lines}\n"));
            draft.go(place);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VimSide {
    Before,
    After,
}

impl Operator {
    fn letter(self) -> char {
        match self {
            Self::Delete => 'd',
            Self::Change => 'c',
            Self::Copy => 'y',
        }
    }
}

/// The line with the end that keeps it apart: its own, or that of the line before for the last one.
fn whole_line(text: &str, at: usize) -> (usize, usize) {
    let (start, end) = (line_start(text, at), line_end(text, at));
    if end < text.len() { (start, end + 1) } else { (start.saturating_sub(1), end) }
}

/// The cursor stands on a letter and not behind the last one of a line.
fn settle(draft: &mut TextDraft) {
    let (text, at) = (draft.shown(), draft.cursor());
    if at == line_end(text, at) && at > line_start(text, at) {
        draft.go(previous(text, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types keys in normal mode; `|` is the cursor.
    #[track_caller]
    fn check(before: &str, keys: &str, after: &str) -> Vim {
        let mut draft = TextDraft::default();
        draft.set(&before.replace('|', ""));
        draft.go(before.find('|').unwrap());
        let mut vim = Vim { mode: VimMode::Normal, ..Vim::default() };
        for letter in keys.chars() {
            let key = match letter {
                '␛' => EditorKey::named("esc").unwrap(),
                '®' => EditorKey::named("ctrl-r").unwrap(),
                letter => EditorKey { code: KeyCode::Char(letter), held: KeyModifiers::NONE },
            };
            if vim.key(key, &mut draft) == VimTyped::Passed {
                draft.insert(letter);
            }
        }
        let mut shown = draft.shown().to_owned();
        shown.insert(draft.cursor(), '|');
        assert_eq!(shown, after, "{before} {keys}");
        vim
    }

    #[test]
    fn motions_go_over_letters_words_and_lines() {
        check("one two|-three", "w", "one two-|three");
        check("|one  two", "w", "one  |two");
        check("|one two", "e", "on|e two");
        check("on|e two", "e", "one tw|o");
        check("one two|", "b", "one |two");
        check("|one two", "$", "one tw|o");
        check("  one tw|o", "0", "|  one two");
        check("  one tw|o", "^", "  |one two");
        check("|ab", "lll", "a|b");
        check("a\n|b", "h", "a\n|b");
        check("o|ne\ntwo", "j", "one\nt|wo");
        check("one\nt|wo", "k", "o|ne\ntwo");
        check("漢|字", "h", "|漢字");
    }

    #[test]
    fn operators_cut_over_motions_and_lines() {
        check("a|bc", "x", "a|c");
        check("ab|c", "x", "a|b");
        check("|one two", "dw", "|two");
        check("one |two", "db", "|two");
        check("one |two", "D", "one| ");
        check("one\nt|wo\nthree", "dd", "one\n|three");
        check("one\nt|wo", "dd", "on|e");
        check("|one two", "cwx", "x| two");
        check("one\nt|wo", "ccx", "one\nx|");
        check("|one two", "dz", "|one two");
        check("|one two", "d␛w", "one |two");
    }

    #[test]
    fn insertion_begins_where_each_key_says() {
        check("a|b", "ix", "ax|b");
        check("a|b", "ax", "abx|");
        check("|ab", "Ax", "abx|");
        check("  a|b", "Ix", "  x|ab");
        check("|ab", "ox", "ab\nx|");
        check("|ab", "Ox", "x|\nab");
        assert_eq!(check("ab|", "ix␛", "ab|x").name(), "normal");
        assert_eq!(check("|ab", "i", "|ab").name(), "insert");
    }

    #[test]
    fn what_was_cut_is_put_back_and_undone() {
        check("|one two", "dwp", "tone| wo");
        check("|a\nb", "ddp", "b\n|a");
        check("a\n|b", "yyP", "a\n|b\nb");
        check("|one two", "ywP", "one| one two");
        check("|one two", "dwu", "|one two");
        check("|one two", "dwu®", "|two");
        check("|one two", "cwa b c␛u", "|one two");
        check("|one", "oa b␛u", "on|e");
    }

    #[test]
    fn history_is_reached_from_the_first_and_the_last_line() {
        let mut draft = TextDraft::default();
        let mut vim = Vim { mode: VimMode::Normal, ..Vim::default() };
        let key = |letter| EditorKey { code: KeyCode::Char(letter), held: KeyModifiers::NONE };
        assert_eq!(vim.key(key('k'), &mut draft), VimTyped::Older);
        assert_eq!(vim.key(key('j'), &mut draft), VimTyped::Newer);
        assert_eq!(vim.key(key('?'), &mut draft), VimTyped::Passed, "help is help");
        assert_eq!(
            vim.key(EditorKey::named("esc").unwrap(), &mut draft),
            VimTyped::Passed,
            "escape interrupts"
        );
        assert_eq!(vim.key(key('q'), &mut draft), VimTyped::Done, "other letters type nothing");
        assert!(draft.is_empty());
    }
}
