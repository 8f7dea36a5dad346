//! A line that is written for a question: the same text and the same keys as in the input.

use super::draft::TextDraft;
use super::keymap::{EditAction, EditorKey, KeyStyle};
use super::vim::{Vim, VimTyped};

/// A line under way.
#[derive(Debug)]
pub(crate) struct LineEntry {
    pub(crate) draft: TextDraft,
    /// The modes of vim, where the user wants them.
    vim: Option<Vim>,
}

/// The outcome of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It goes on.
    Going,
    /// The text is entered.
    Done(String),
    /// The line is left.
    Left,
    /// One further up than the first row.
    Above,
    /// One further down than the last row.
    Below,
}

impl LineEntry {
    /// A line with this text, and the cursor at its end.
    pub(crate) fn new(style: KeyStyle, text: &str) -> Self {
        Self { draft: TextDraft::holding(text), vim: (style == KeyStyle::Vim).then(Vim::default) }
    }

    /// The mode by its name, where there are modes.
    pub(crate) fn mode(&self) -> Option<&'static str> {
        self.vim.as_ref().map(Vim::name)
    }

    /// Takes a key. Escape leaves the mode in which letters are typed before it leaves the line.
    pub(crate) fn key(&mut self, key: EditorKey, action: Option<EditAction>) -> Entered {
        if let Some(vim) = &mut self.vim {
            match vim.key(key, &mut self.draft) {
                // In a mode of commands no letter types itself.
                VimTyped::Passed if vim.is_normal() && key.letter().is_some() => return Entered::Going,
                VimTyped::Passed => {}
                VimTyped::Done => return Entered::Going,
                VimTyped::Older => return Entered::Above,
                VimTyped::Newer => return Entered::Below,
            }
        }
        match action {
            Some(EditAction::Submit) => return Entered::Done(self.draft.whole()),
            Some(EditAction::Escape) => return Entered::Left,
            Some(EditAction::Up) if self.draft.up() => {}
            Some(EditAction::Down) if self.draft.down() => {}
            Some(EditAction::Up | EditAction::HistoryOlder) => return Entered::Above,
            Some(EditAction::Down | EditAction::HistoryNewer) => return Entered::Below,
            Some(action) => self.draft.carry_out(action),
            None => key.letter().into_iter().for_each(|letter| self.draft.insert(letter)),
        }
        Entered::Going
    }
}

#[cfg(test)]
mod tests {
    use super::super::keymap::Keymap;
    use super::*;

    /// Presses keys in a line that holds `text`, and tells what stands in it and what became of the last key.
    #[track_caller]
    fn check(style: KeyStyle, text: &str, keys: &[&str], shown: &str, last: &Entered) {
        let (mut entry, keymap) = (LineEntry::new(style, text), Keymap::new());
        let mut entered = Entered::Going;
        for name in keys {
            assert_eq!(entered, Entered::Going, "{keys:?} before {name}");
            let key = EditorKey::named(name).unwrap();
            entered = entry.key(key, keymap.action(key));
        }
        assert_eq!((entry.draft.shown(), &entered), (shown, last), "{keys:?}");
    }

    #[test]
    fn a_line_has_the_keys_of_a_shell() {
        let check = |text, keys: &[&str], shown, last| check(KeyStyle::Readline, text, keys, shown, &last);
        check("mkdir a", &["ctrl-w", "b"], "mkdir b", Entered::Going);
        check("mkdir a", &["enter"], "mkdir a", Entered::Done("mkdir a".to_owned()));
        check("mkdir a", &["esc"], "mkdir a", Entered::Left);
        check("a", &["up"], "a", Entered::Above);
        check("a", &["ctrl-j", "b", "up", "x"], "ax\nb", Entered::Going);
    }

    #[test]
    fn a_line_has_the_keys_of_vim_and_escape_leaves_its_mode_first() {
        let check = |text, keys: &[&str], shown, last| check(KeyStyle::Vim, text, keys, shown, &last);
        check("", &["d", "w"], "dw", Entered::Going);
        check("mkdir one", &["esc"], "mkdir one", Entered::Going);
        check("mkdir one", &["esc", "esc"], "mkdir one", Entered::Left);
        check("mkdir one", &["esc", "b", "c", "w", "t", "w", "o"], "mkdir two", Entered::Going);
        check(
            "mkdir one",
            &["esc", "0", "D", "u", "enter"],
            "mkdir one",
            Entered::Done("mkdir one".to_owned()),
        );
        check("mkdir one", &["esc", "u"], "mkdir one", Entered::Going);
        check("mkdir one", &["esc", "d", "esc", "q"], "mkdir one", Entered::Going);
        check("", &["esc", "?"], "", Entered::Going);
        check("a", &["esc", "k"], "a", Entered::Above);
        check("a", &["esc", "j"], "a", Entered::Below);
    }
}
