//! Pickers: a list to choose from with arrow keys, narrowed by typing.

use buddy_protocol::{ApprovalPolicy, Change, Command, Found, SessionId, SessionSummary};

use super::desk::ModelChoice;
use super::effect::Effect;
use super::state::Console;
use crate::counting::counted;
use crate::editor::{Action, Choice, InputView, Key, Menu, menu_rows, view};
use crate::show::local_time;
use crate::text::{Line, Look, Paint, Theme};
use crate::visible::one_line;

/// Characters of a prompt in a list.
const PROMPT: usize = 200;

/// A list to choose from.
#[derive(Debug)]
pub(super) struct Picker {
    title: &'static str,
    wish: String,
    menu: Menu,
    picks: Picks,
}

/// What a choice does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Picks {
    Model,
    Session,
    Theme,
    Prompt,
    Approvals,
}

/// What `/approve` takes, and what it means.
const APPROVALS: [(&str, &str); 6] = [
    ("auto", "asks only for what leaves the workspace or cannot be undone"),
    ("ask", "what needs an approval is asked for"),
    ("edits", "changes of files in the workspace are allowed, the rest is asked for"),
    ("all", "everything is allowed that no rule forbids"),
    ("none", "what needs an approval is denied"),
    ("10m", "for ten minutes all is allowed that is not dangerous"),
];

fn titled(session: &SessionSummary) -> String {
    one_line(session.title.as_deref().unwrap_or("untitled"), PROMPT)
}

impl Picker {
    pub(super) fn models(models: &[ModelChoice], current: &str) -> Self {
        let choices =
            models.iter().map(|model| Choice { name: model.name.clone(), note: model.note.clone() });
        let mut menu = Menu::new(choices.collect(), "");
        let used = models.iter().find(|model| model.name == current);
        let used = used.or_else(|| models.iter().find(|model| model.model == current));
        menu.point(used.map_or(current, |model| &model.name));
        Self { title: "model", wish: String::new(), menu, picks: Picks::Model }
    }

    /// Conversations by their titles, the one that is shown marked. Those in which nothing was said are left out.
    pub(super) fn sessions(sessions: &[SessionSummary], current: &SessionId) -> Self {
        let choice = |session: &SessionSummary| {
            let mark = if session.id == *current { " (this one)" } else { "" };
            Choice {
                name: format!("{}{mark}", titled(session)),
                note: format!(
                    "{}, {}, {}",
                    local_time(session.updated),
                    counted(session.turns, "turn"),
                    session.id
                ),
            }
        };
        let said = sessions.iter().filter(|session| session.turns > 0);
        let menu = Menu::new(said.map(choice).collect(), "");
        Self { title: "session", wish: String::new(), menu, picks: Picks::Session }
    }

    pub(super) fn found(found: &[Found]) -> Self {
        let choice = |found: &Found| Choice {
            name: one_line(&found.excerpt, PROMPT),
            note: format!("{}, {}", titled(&found.summary), found.summary.id),
        };
        let menu = Menu::new(found.iter().map(choice).collect(), "");
        Self { title: "found", wish: String::new(), menu, picks: Picks::Session }
    }

    /// What can become of calls that need an approval.
    pub(super) fn approvals(current: ApprovalPolicy) -> Self {
        let choice = |(name, note): (&str, &str)| Choice { name: name.to_owned(), note: note.to_owned() };
        let mut menu = Menu::new(APPROVALS.map(choice).to_vec(), "");
        menu.point(match current {
            ApprovalPolicy::Ask => "ask",
            ApprovalPolicy::Edits => "edits",
            ApprovalPolicy::Auto => "auto",
            ApprovalPolicy::All => "all",
            ApprovalPolicy::None => "none",
            ApprovalPolicy::Window { .. } => "10m",
        });
        Self { title: "approvals", wish: String::new(), menu, picks: Picks::Approvals }
    }

    /// Prompts by their numbers, the newest first.
    pub(super) fn prompts(prompts: &[&str]) -> Self {
        let choice = |(place, text): (usize, &&str)| Choice {
            name: format!("{} {}", place + 1, one_line(text, PROMPT)),
            note: String::new(),
        };
        let menu = Menu::new(prompts.iter().enumerate().rev().map(choice).collect(), "");
        Self { title: "go back before", wish: String::new(), menu, picks: Picks::Prompt }
    }

    pub(super) fn themes(current: Theme) -> Self {
        let choice = |theme: Theme| Choice { name: theme.name().to_owned(), note: String::new() };
        let mut menu = Menu::new(Theme::ALL.into_iter().map(choice).collect(), "");
        menu.point(current.name());
        Self { title: "theme", wish: String::new(), menu, picks: Picks::Theme }
    }

    /// Takes more of what is looked for.
    pub(super) fn narrow(&mut self, text: &str) {
        self.wish.push_str(text);
        self.menu.filter(&self.wish);
    }

    pub(super) fn view(&self, look: &Look, width: usize) -> InputView {
        let prompt = Line::styled(&format!("{}: ", self.title), look.style(Paint::Warning));
        let mut input = view(&prompt, &self.wish, self.wish.len(), width);
        if self.menu.is_empty() {
            input.rows.push(Line::styled("  nothing fits", look.style(Paint::Dim)));
        }
        input.rows.extend(menu_rows(&self.menu, look, width));
        input.rows.push(Line::styled(
            "  arrows choose, typing narrows, enter takes, esc leaves",
            look.style(Paint::Dim),
        ));
        input
    }
}

impl Console {
    /// Takes a key while a picker is open. False if none is.
    pub(super) fn picker_key(&mut self, key: Key) -> bool {
        let action = self.keymap.action(key);
        let Some(picker) = &mut self.picker else { return false };
        match action {
            Some(Action::Up | Action::HistoryOlder) => picker.menu.up(),
            Some(Action::Down | Action::HistoryNewer) => picker.menu.down(),
            Some(Action::Escape | Action::Cancel | Action::EndOrDelete) => self.picker = None,
            Some(Action::Backspace) => {
                picker.wish.pop();
                picker.menu.filter(&picker.wish);
            }
            Some(Action::Submit) => self.pick(),
            Some(_) => {}
            None => {
                if let Some(letter) = key.letter() {
                    picker.narrow(letter.encode_utf8(&mut [0; 4]));
                }
            }
        }
        true
    }

    fn pick(&mut self) {
        let Some(picker) = self.picker.take() else { return };
        let Some(choice) = picker.menu.chosen() else { return };
        match picker.picks {
            Picks::Model => self.use_model(&choice.name),
            Picks::Theme => self.use_theme(&choice.name),
            Picks::Prompt => self.rewind_to(choice.name.split(' ').next().unwrap_or_default()),
            Picks::Approvals => self.approve(&choice.name),
            Picks::Session => {
                let id = choice.note.rsplit(' ').next().unwrap_or_default();
                match id.parse() {
                    Ok(session) => self.effect(Effect::Open(session)),
                    Err(error) => self.complain(&format!("{error}")),
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
            self.effect(Effect::Redraw);
        }
    }

    pub(super) fn use_theme(&mut self, name: &str) {
        if let Some(theme) = Theme::named(name) {
            self.look.theme = theme;
            self.is_theme_chosen = true;
            self.effect(Effect::Redraw);
            self.say(&format!("theme: {name}; /config set display.theme {name} keeps it"));
        } else {
            let names: Vec<&str> = Theme::ALL.into_iter().map(Theme::name).collect();
            self.complain(&format!("there is no theme `{name}`; there are {}", names.join(", ")));
        }
    }
}
