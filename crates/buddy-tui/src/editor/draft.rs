//! The text being typed, with its cursor, the last cut and the steps back.

use unicode_segmentation::UnicodeSegmentation;

use super::keymap::EditAction;
use super::pastes::Pastes;
use super::text_buffer::TextBuffer;

/// How many steps back there are.
const MAX_UNDO: usize = 200;

/// A text under way.
#[derive(Debug, Default)]
pub(crate) struct TextDraft {
    buffer: TextBuffer,
    /// The last cut, for putting it back.
    cut: String,
    undo: Vec<(String, usize)>,
    redo: Vec<(String, usize)>,
    /// Whether the last change was a letter, which later ones belong to.
    is_typing: bool,
    group: StepGroup,
    pastes: Pastes,
}

/// Changes that are one step back together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum StepGroup {
    /// Each change is a step.
    #[default]
    None,
    /// The next change is the first of a group.
    Next,
    /// Changes belong to the step before.
    Open,
}

impl TextDraft {
    /// A draft that begins with a text, with the cursor at its end. There is no way back to before it.
    pub(crate) fn holding(text: &str) -> Self {
        let mut draft = Self::default();
        draft.set(text);
        draft.undo.clear();
        draft
    }

    /// The text as it is shown, with long pastes collapsed.
    pub(crate) fn shown(&self) -> &str {
        self.buffer.text()
    }

    /// Where the cursor is in it, in bytes.
    pub(crate) fn cursor(&self) -> usize {
        self.buffer.cursor()
    }

    /// The text as it is meant.
    pub(crate) fn whole(&self) -> String {
        self.pastes.expand(self.shown())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shown().is_empty()
    }

    /// The text before the cursor.
    pub(crate) fn before(&self) -> &str {
        self.buffer.before()
    }

    /// Takes the text out and starts afresh.
    pub(crate) fn take(&mut self) -> String {
        let whole = self.whole();
        // The mark of a paste means nothing without it.
        let cut = self.pastes.expand(&self.cut);
        *self = Self { cut, ..Self::default() };
        whole
    }

    /// Puts another text in the place of this one, with the cursor at its end.
    pub(crate) fn set(&mut self, text: &str) {
        self.change(|buffer| buffer.set(text.to_owned()));
    }

    /// Types a letter.
    pub(crate) fn insert(&mut self, letter: char) {
        if !self.is_typing || letter.is_whitespace() {
            self.note();
        }
        self.is_typing = true;
        self.buffer.insert_char(letter);
    }

    /// Puts in a text, whole.
    pub(crate) fn insert_text(&mut self, text: &str) {
        self.change(|buffer| buffer.insert_text(text));
    }

    /// Puts in what was pasted: as it is if it is short, else as a word that stands for it.
    pub(crate) fn paste(&mut self, text: &str) {
        let shown = self.pastes.take(text);
        self.insert_text(&shown);
    }

    /// Puts a text in the place of the last `length` bytes before the cursor.
    pub(crate) fn complete(&mut self, length: usize, text: &str) {
        let end = self.cursor();
        let start = end.saturating_sub(length);
        self.change(|buffer| buffer.replace(start..end, text));
    }

    /// Carries out an action that concerns the text alone.
    pub(crate) fn carry_out(&mut self, action: EditAction) {
        match action {
            EditAction::Newline => self.insert_text("\n"),
            EditAction::Left | EditAction::LeftOrBackground => self.left(),
            EditAction::Right => self.right(),
            EditAction::WordLeft => self.word_left(),
            EditAction::WordRight => self.word_right(),
            EditAction::LineStart => self.line_start(),
            EditAction::LineEnd => self.line_end(),
            EditAction::Backspace => self.backspace(),
            EditAction::Delete | EditAction::EndOrDelete => self.delete(),
            EditAction::CutWordLeft => self.cut_word_left(),
            EditAction::CutToSpace => self.cut_to_space(),
            EditAction::CutWordRight => self.cut_word_right(),
            EditAction::CutToLineStart => self.cut_to_line_start(),
            EditAction::CutToLineEnd => self.cut_to_line_end(),
            EditAction::PutBack => self.put_back(),
            EditAction::Undo => self.undo(),
            EditAction::Redo => self.redo(),
            _ => {}
        }
    }

    pub(crate) fn left(&mut self) {
        self.moved(TextBuffer::left);
    }

    pub(crate) fn right(&mut self) {
        self.moved(TextBuffer::right);
    }

    pub(crate) fn line_start(&mut self) {
        self.moved(TextBuffer::line_start);
    }

    pub(crate) fn line_end(&mut self) {
        self.moved(TextBuffer::line_end);
    }

    pub(crate) fn word_left(&mut self) {
        let to = word_start(self.before());
        self.moved(|buffer| buffer.go(to));
    }

    pub(crate) fn word_right(&mut self) {
        let to = self.cursor() + word_end(self.after());
        self.moved(|buffer| buffer.go(to));
    }

    /// One line up; false at the first one.
    pub(crate) fn up(&mut self) -> bool {
        self.moved(TextBuffer::line_up)
    }

    /// One line down; false at the last one.
    pub(crate) fn down(&mut self) -> bool {
        self.moved(TextBuffer::line_down)
    }

    /// Removes the character before the cursor, or the paste that stands there.
    pub(crate) fn backspace(&mut self) {
        match self.pastes.around(self.shown(), self.cursor().saturating_sub(1)) {
            Some(paste) => self.complete(paste.len(), ""),
            None => self.change(TextBuffer::remove_left),
        }
    }

    /// Removes the character behind the cursor, or the paste that stands there.
    pub(crate) fn delete(&mut self) {
        match self.pastes.around(self.shown(), self.cursor() + 1) {
            Some(paste) => self.change(|buffer| buffer.replace(paste, "")),
            None => self.change(TextBuffer::remove_right),
        }
    }

    /// Cuts back to the start of the word.
    pub(crate) fn cut_word_left(&mut self) {
        let from = word_start(self.before());
        self.cut(from, self.cursor());
    }

    /// Cuts back to the last space.
    pub(crate) fn cut_to_space(&mut self) {
        let before = self.before();
        let trimmed = before.trim_end();
        let from = trimmed.rfind(char::is_whitespace).map_or(0, |at| {
            at + trimmed.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        });
        self.cut(from, self.cursor());
    }

    pub(crate) fn cut_word_right(&mut self) {
        let to = self.cursor() + word_end(self.after());
        self.cut(self.cursor(), to);
    }

    pub(crate) fn cut_to_line_start(&mut self) {
        let from = self.before().rfind('\n').map_or(0, |at| at + 1);
        self.cut(from, self.cursor());
    }

    /// Cuts to the end of the line, or the end of the line itself.
    pub(crate) fn cut_to_line_end(&mut self) {
        let after = self.after();
        let length = match after.find('\n') {
            Some(0) => 1,
            Some(at) => at,
            None => after.len(),
        };
        self.cut(self.cursor(), self.cursor() + length);
    }

    /// Puts back what was cut last.
    pub(crate) fn put_back(&mut self) {
        let cut = self.cut.clone();
        self.insert_text(&cut);
    }

    pub(crate) fn undo(&mut self) {
        if let Some((text, cursor)) = self.undo.pop() {
            self.redo.push((self.shown().to_owned(), self.cursor()));
            self.restore(text, cursor);
        }
    }

    pub(crate) fn redo(&mut self) {
        if let Some((text, cursor)) = self.redo.pop() {
            self.undo.push((self.shown().to_owned(), self.cursor()));
            self.restore(text, cursor);
        }
    }

    fn restore(&mut self, text: String, cursor: usize) {
        self.buffer.set(text);
        self.buffer.go(cursor);
        self.is_typing = false;
    }

    fn after(&self) -> &str {
        self.buffer.after()
    }

    /// Starts a new step back with the next change.
    pub(crate) fn open_group(&mut self) {
        self.group = StepGroup::Next;
    }

    /// Each change is a step back of its own again.
    pub(crate) fn close_group(&mut self) {
        self.group = StepGroup::None;
    }

    /// Puts the cursor somewhere.
    pub(crate) fn go(&mut self, place: usize) {
        self.moved(|buffer| buffer.go(place));
    }

    /// The last cut or kept text.
    pub(crate) fn kept(&self) -> &str {
        &self.cut
    }

    /// Keeps a part for putting it in again, without cutting it.
    pub(crate) fn keep(&mut self, from: usize, to: usize) {
        let (from, to) = self.pastes.widened(self.shown(), from, to);
        if let Some(part) = self.shown().get(from..to) {
            self.cut = part.to_owned();
        }
    }

    /// Cuts a part, and with it the whole of what stands for a paste.
    pub(crate) fn cut(&mut self, from: usize, to: usize) {
        let (from, to) = self.pastes.widened(self.shown(), from, to);
        let Some(cut) = self.shown().get(from..to).filter(|cut| !cut.is_empty()) else { return };
        self.cut = cut.to_owned();
        self.change(|buffer| buffer.replace(from..to, ""));
    }

    /// Moves the cursor. What stands for a paste is stepped over as one.
    fn moved<T>(&mut self, step: impl FnOnce(&mut TextBuffer) -> T) -> T {
        self.is_typing = false;
        let before = self.cursor();
        let done = step(&mut self.buffer);
        if let Some(paste) = self.pastes.around(self.shown(), self.cursor()) {
            let edge = if self.cursor() < before { paste.start } else { paste.end };
            self.buffer.go(edge);
        }
        done
    }

    fn change(&mut self, step: impl FnOnce(&mut TextBuffer)) {
        self.note();
        self.is_typing = false;
        step(&mut self.buffer);
    }

    /// Keeps what is there as a step to come back to.
    fn note(&mut self) {
        self.redo.clear();
        match self.group {
            StepGroup::None => {}
            StepGroup::Next => self.group = StepGroup::Open,
            StepGroup::Open => return,
        }
        let now = (self.shown().to_owned(), self.cursor());
        if self.undo.last() == Some(&now) {
            return;
        }
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push(now);
    }
}

/// Where the last word of a text starts.
fn word_start(text: &str) -> usize {
    let words = text.split_word_bound_indices().rev();
    words.skip_while(|(_, word)| !is_word(word)).map(|(at, _)| at).next().unwrap_or(0)
}

/// Where the first word of a text ends.
fn word_end(text: &str) -> usize {
    let mut words = text.split_word_bound_indices();
    words.find(|(_, word)| is_word(word)).map_or(text.len(), |(at, word)| at + word.len())
}

fn is_word(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A draft with `|` where the cursor is.
    fn draft(text: &str) -> TextDraft {
        let cursor = text.find('|').unwrap();
        let mut draft = TextDraft::default();
        draft.set(&text.replace('|', ""));
        draft.buffer.go(cursor);
        draft
    }

    #[track_caller]
    fn check(before: &str, step: impl FnOnce(&mut TextDraft), after: &str) {
        let mut draft = draft(before);
        step(&mut draft);
        let mut shown = draft.shown().to_owned();
        shown.insert(draft.cursor(), '|');
        assert_eq!(shown, after);
    }

    #[test]
    fn words_are_moved_over_and_cut() {
        check("one two|", TextDraft::word_left, "one |two");
        check("one two  |", TextDraft::word_left, "one |two  ");
        check("|one two", TextDraft::word_right, "one| two");
        check("one two|", TextDraft::cut_word_left, "one |");
        check("rm ./a-b/c|", TextDraft::cut_to_space, "rm |");
        check("rm  |", TextDraft::cut_to_space, "|");
        check("|one two", TextDraft::cut_word_right, "| two");
        check("a漢字|", TextDraft::backspace, "a漢|");
        check("👩‍👩‍👧|", TextDraft::backspace, "|");
    }

    #[test]
    fn lines_are_moved_over_and_cut() {
        check("one\ntwo|", |draft| assert!(draft.up()), "one|\ntwo");
        check("one|\ntwo", |draft| assert!(!draft.up()), "one|\ntwo");
        check("one\ntwo|", TextDraft::cut_to_line_start, "one\n|");
        check("o|ne\ntwo", TextDraft::cut_to_line_end, "o|\ntwo");
        check("one|\ntwo", TextDraft::cut_to_line_end, "one|two");
        check("one\nt|wo", TextDraft::line_start, "one\n|two");
        check(
            "one two|",
            |draft| {
                draft.cut_word_left();
                draft.line_start();
                draft.put_back();
            },
            "two|one ",
        );
    }

    #[test]
    fn every_change_has_a_way_back() {
        let mut draft = TextDraft::default();
        for letter in "one two".chars() {
            draft.insert(letter);
        }
        draft.cut_to_line_start();
        draft.undo();
        assert_eq!(draft.shown(), "one two");
        draft.undo();
        assert_eq!(draft.shown(), "one");
        draft.redo();
        assert_eq!(draft.shown(), "one two");
    }

    #[test]
    fn long_pastes_are_words_that_stand_for_them() {
        let long = "line\n".repeat(10_000);
        let mut draft = TextDraft::default();
        draft.insert_text("see ");
        draft.paste(&long);
        assert_eq!(draft.shown(), "see [paste 1: 10000 lines]");
        assert_eq!(draft.whole(), format!("see {long}"));
        draft.backspace();
        assert_eq!(draft.shown(), "see ");
        draft.paste("short");
        assert_eq!(draft.take(), "see short");
        assert!(draft.is_empty());
    }

    #[test]
    fn what_stands_for_a_paste_is_never_cut_in_two() {
        let long = "x".repeat(600);
        let word = "[paste 1: 600 characters]";
        let pasted = || {
            let mut draft = TextDraft::default();
            draft.insert_text("see ");
            draft.paste(&long);
            draft.insert_text(" there");
            assert_eq!(draft.shown(), format!("see {word} there"));
            draft
        };
        let inside = "see ".len() + word.len() / 2;
        let check = |step: &dyn Fn(&mut TextDraft), expected: &str| {
            let mut draft = pasted();
            step(&mut draft);
            assert_eq!(draft.shown(), expected);
        };
        check(&|draft| (0..7).for_each(|_| draft.backspace()), "see ");
        check(&|draft| (0..7).for_each(|_| draft.left()), "see [paste 1: 600 characters] there");
        check(&TextDraft::cut_to_space, "see [paste 1: 600 characters] ");
        check(&|draft| (0..3).for_each(|_| draft.cut_to_space()), "");
        check(&|draft| (0..3).for_each(|_| draft.cut_word_left()), "");
        check(&|draft| draft.cut(10, 12), "see  there");
        let mut draft = pasted();
        draft.go(inside);
        assert_eq!(draft.before(), "see ", "the cursor stands beside it");
        draft.right();
        assert_eq!(draft.before(), format!("see {word}"));
        draft.left();
        draft.delete();
        assert_eq!(draft.shown(), "see  there");
        draft.undo();
        assert_eq!(draft.whole(), format!("see {long} there"));
    }
}
