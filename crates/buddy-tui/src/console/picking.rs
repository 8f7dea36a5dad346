//! The keys of an open picker, and what is done with its choice.

use buddy_protocol::{Change, Command, Found, SessionSummary, UnixMillis};

use super::desk::ModelOption;
use super::effect::{ConsoleEffect, Errand};
use super::picker::{Picker, Picks};
use super::state::Console;
use crate::changes::read_approvals;
use crate::editor::{EditAction, EditorKey};
use crate::text::Theme;

impl Console {
    /// Takes a key while a picker is open. False if none is.
    pub(super) fn picker_key(&mut self, key: EditorKey) -> bool {
        let action = self.keymap.action(key);
        let Some(picker) = &mut self.picker else { return false };
        match action {
            Some(EditAction::Up | EditAction::HistoryOlder) => picker.up(),
            Some(EditAction::Down | EditAction::HistoryNewer) => picker.down(),
            Some(EditAction::Escape | EditAction::Cancel | EditAction::EndOrDelete) => self.picker = None,
            Some(EditAction::Backspace) => picker.widen(),
            Some(EditAction::Submit) => self.pick(),
            Some(_) => {}
            None => {
                if let Some(letter) = key.letter() {
                    picker.narrow(letter.encode_utf8(&mut [0; 4]));
                }
            }
        }
        true
    }

    /// Lets the user choose one of these models, or lists them.
    pub(super) fn offer_models(&mut self, models: &[ModelOption]) {
        let transcript = self.front().reader.transcript();
        let current = transcript.model().unwrap_or_else(|| self.model()).to_owned();
        if self.by_line.is_some() {
            return self.list_models(models, &current);
        }
        self.picker = Some(Picker::models(models, &current));
    }

    /// The same of sessions.
    pub(super) fn offer_sessions(&mut self, sessions: &[SessionSummary], now: UnixMillis) {
        if sessions.iter().all(|session| session.turns == 0) {
            return self.say("There is no earlier conversation.");
        }
        if self.by_line.is_some() {
            return self.list_sessions(sessions, now);
        }
        self.picker = Some(Picker::sessions(sessions, &self.front().session, &self.look, now));
    }

    /// The same of sessions in which words were found.
    pub(super) fn offer_found(&mut self, found: &[Found]) {
        if found.is_empty() {
            return self.say("No conversation contains these words.");
        }
        if self.by_line.is_some() {
            return self.list_found(found);
        }
        self.picker = Some(Picker::found(found, &self.look));
    }

    fn pick(&mut self) {
        let Some(picker) = self.picker.take() else { return };
        let Some((picks, name)) = picker.choice() else { return };
        match picks {
            Picks::Model => self.use_model(name),
            Picks::Theme => self.use_theme(name),
            Picks::Prompt => self.rewind_to(name.split(' ').next().unwrap_or_default()),
            Picks::Approvals => match read_approvals(name) {
                Ok(command) => self.send(command),
                Err(help) => self.complain(&help),
            },
            Picks::Session => {
                if let Some(session) = picker.chosen_session() {
                    self.errand(Errand::Open(session.clone()));
                }
            }
        }
    }

    pub(super) fn use_model(&mut self, name: &str) {
        self.send(Command::Change(Change { model: Some(name.to_owned()), ..Change::default() }));
    }

    /// Takes the colours that fit the ground of the terminal, unless the user chose some.
    pub(super) fn take_ground(&mut self, theme: Theme) {
        if !self.is_theme_chosen && theme != self.look.theme {
            self.look.theme = theme;
            self.effect(ConsoleEffect::Redraw);
        }
    }

    pub(super) fn use_theme(&mut self, name: &str) {
        if let Some(theme) = Theme::named(name) {
            self.look.theme = theme;
            self.is_theme_chosen = true;
            self.effect(ConsoleEffect::Redraw);
            self.say(&format!("Theme: {name}. Keep it with /config set display.theme {name}."));
        } else {
            let names: Vec<&str> = Theme::ALL.into_iter().map(Theme::name).collect();
            self.complain(&format!("There is no theme `{name}`. Use one of {}.", names.join(", ")));
        }
    }
}
