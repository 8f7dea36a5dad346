//! Pickers: a list to choose from with arrow keys, narrowed by typing.

use buddy_protocol::{ApprovalPolicy, Found, SessionId, SessionState, SessionSummary, UnixMillis};

use super::desk::ModelOption;
use crate::counting::counted;
use crate::editor::{InputView, Menu, MenuChoice, render_input, render_menu};
use crate::list_time::describe_moment;
use crate::picker_rows::{WIDEST, render_keys, render_plain_rule, render_title_rule};
use crate::show::mark_copy;
use crate::text::{Paint, StyledLine, TerminalLook, Theme, to_copy, unmarked, wrap};
use crate::visible::one_line;

/// From this height on a picker has empty rows and a preview.
const ROOMY: usize = 22;
/// Rows of a picker beside its choices, and those of the window below it.
const FRAME_ROWS: usize = 7;
/// The rows of a preview where nothing in it is broken.
const PREVIEW_ROWS: usize = 2;
/// The most choices that are shown.
const MOST_ROWS: usize = 8;
/// Characters of a path in a list.
const PATH: usize = 30;
/// Characters of a prompt in a list.
const PROMPT: usize = 200;

/// A list to choose from.
#[derive(Debug)]
pub(super) struct Picker {
    title: &'static str,
    /// On the right of the title where everything is shown.
    note: &'static str,
    /// In the empty search field.
    placeholder: &'static str,
    /// The effect of Enter.
    verb: &'static str,
    wish: String,
    menu: Menu,
    picks: Picks,
    /// The preview of each choice; none where the row says all.
    previews: Vec<Vec<String>>,
    /// The sessions of the choices, in their order.
    sessions: Vec<SessionId>,
}

/// The effect of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picks {
    Model,
    Session,
    Theme,
    Prompt,
    Approvals,
}

/// The modes that `/approve` takes, each with its meaning.
const APPROVALS: [(&str, &str); 6] = [
    ("auto", "asks only for what leaves the workspace or is dangerous"),
    ("ask", "asks before every change"),
    ("edits", "accepts edits in the workspace and asks for the rest"),
    ("all", "asks only about secrets, new hosts and paths outside"),
    ("none", "denies everything that needs approval"),
    ("10m", "for ten minutes, allows everything that is not dangerous"),
];

fn titled(session: &SessionSummary) -> String {
    one_line(session.title.as_deref().unwrap_or("untitled"), PROMPT)
}

/// The preview of a session below the list.
fn session_preview(session: &SessionSummary, look: &TerminalLook) -> Vec<String> {
    vec![
        format!("{}  {}", look.path(&session.cwd), session.model.as_deref().unwrap_or_default()),
        to_copy(&format!("buddy resume {}", session.id)),
    ]
}

impl Picker {
    fn new(title: &'static str, verb: &'static str, menu: Menu, picks: Picks) -> Self {
        let (wish, previews, sessions) = (String::new(), Vec::new(), Vec::new());
        Self { title, note: "", placeholder: "Type to search", verb, wish, menu, picks, previews, sessions }
    }

    fn noted(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    pub(super) fn models(models: &[ModelOption], current: &str) -> Self {
        let choices =
            models.iter().map(|model| MenuChoice { name: model.name.clone(), note: model.note.clone() });
        let mut menu = Menu::new(choices.collect(), "");
        let used = models.iter().find(|model| model.name == current);
        let used = used.or_else(|| models.iter().find(|model| model.model == current));
        menu.point(used.map_or(current, |model| &model.name));
        Self::new("Model", "use", menu, Picks::Model).noted("for this session")
    }

    /// Conversations by their titles, the one that is shown marked.
    pub(super) fn sessions(
        sessions: &[SessionSummary],
        current: &SessionId,
        look: &TerminalLook,
        now: UnixMillis,
    ) -> Self {
        Self::of_sessions(sessions, look, now, |id| if id == current { " (this one)" } else { "" })
    }

    /// The same without a conversation that is shown.
    pub(super) fn all_sessions(sessions: &[SessionSummary], look: &TerminalLook, now: UnixMillis) -> Self {
        Self::of_sessions(sessions, look, now, |_| "")
    }

    /// Conversations, each with its mark. Those in which nothing was said are left out.
    fn of_sessions(
        sessions: &[SessionSummary],
        look: &TerminalLook,
        now: UnixMillis,
        mark: impl Fn(&SessionId) -> &'static str,
    ) -> Self {
        let said: Vec<&SessionSummary> = sessions.iter().filter(|session| session.turns > 0).collect();
        let widest = said.iter().map(|session| look.path(&session.cwd).chars().count()).max().unwrap_or(0);
        let widest = widest.min(PATH);
        let choice = |session: &&SessionSummary| {
            let mark = mark(&session.id);
            let time = describe_moment(session.updated, now);
            let end = match session.state {
                SessionState::Waiting => format!("{} waits for you", look.sign("▲", "!")),
                _ => counted(session.turns, "turn"),
            };
            let path = one_line(&look.path(&session.cwd), PATH);
            MenuChoice {
                name: format!("{}{}{mark}", titled(session), mark_copy(session)),
                note: format!("{time:<10}  {end:<15}  {path:<widest$}").trim_end().to_owned(),
            }
        };
        let menu = Menu::new(said.iter().map(choice).collect(), "");
        let previews = said.iter().map(|session| session_preview(session, look)).collect();
        let sessions = said.iter().map(|session| session.id.clone()).collect();
        let picker = Self::new("Resume a session", "resume", menu, Picks::Session);
        Self { previews, sessions, placeholder: "Type to search titles", ..picker }
    }

    pub(super) fn found(found: &[Found], look: &TerminalLook) -> Self {
        let choice = |found: &Found| MenuChoice {
            name: one_line(&found.excerpt, PROMPT),
            note: titled(&found.summary),
        };
        let menu = Menu::new(found.iter().map(choice).collect(), "");
        let previews = found.iter().map(|found| session_preview(&found.summary, look)).collect();
        let sessions = found.iter().map(|found| found.summary.id.clone()).collect();
        Self { previews, sessions, ..Self::new("Found", "resume", menu, Picks::Session) }
    }

    /// The approval modes.
    pub(super) fn approvals(current: ApprovalPolicy) -> Self {
        let choice = |(name, note): (&str, &str)| MenuChoice { name: name.to_owned(), note: note.to_owned() };
        let mut menu = Menu::new(APPROVALS.map(choice).to_vec(), "");
        menu.point(match current {
            ApprovalPolicy::Window { .. } => "10m",
            policy => policy.name(),
        });
        Self::new("Approvals", "use", menu, Picks::Approvals).noted("for this session")
    }

    /// Prompts by their numbers, the newest first.
    pub(super) fn prompts(prompts: &[&str]) -> Self {
        let choice = |(place, text): (usize, &&str)| MenuChoice {
            name: format!("{} {}", place + 1, one_line(text, PROMPT)),
            note: String::new(),
        };
        let menu = Menu::new(prompts.iter().enumerate().rev().map(choice).collect(), "");
        Self::new("Go back before a prompt", "go back", menu, Picks::Prompt)
    }

    pub(super) fn themes(current: Theme) -> Self {
        let choice = |theme: Theme| MenuChoice { name: theme.name().to_owned(), note: String::new() };
        let mut menu = Menu::new(Theme::ALL.into_iter().map(choice).collect(), "");
        menu.point(current.name());
        Self::new("Theme", "use", menu, Picks::Theme).noted("for this session")
    }

    /// Takes more of what is looked for.
    pub(super) fn narrow(&mut self, text: &str) {
        self.wish.push_str(text);
        self.menu.filter(&self.wish);
    }

    /// Takes the last letter of the search back.
    pub(super) fn widen(&mut self) {
        self.wish.pop();
        self.menu.filter(&self.wish);
    }

    pub(super) fn up(&mut self) {
        self.menu.up();
    }

    pub(super) fn down(&mut self) {
        self.menu.down();
    }

    /// The place of the chosen row among all; none if nothing fits.
    pub(super) fn chosen_place(&self) -> Option<usize> {
        self.menu.chosen().and_then(|_| self.menu.place())
    }

    pub(super) fn chosen_name(&self) -> String {
        self.menu.chosen().map(|choice| choice.name.clone()).unwrap_or_default()
    }

    /// The name of the chosen row, and what choosing it does; none if nothing fits.
    pub(super) fn choice(&self) -> Option<(Picks, &str)> {
        self.menu.chosen().map(|choice| (self.picks, choice.name.as_str()))
    }

    pub(super) fn chosen_session(&self) -> Option<&SessionId> {
        self.chosen_place().and_then(|place| self.sessions.get(place))
    }

    /// The preview of the chosen row: a line each, but for a command to copy, which is never cut.
    fn preview_rows(&self, look: &TerminalLook, width: usize) -> Option<Vec<StyledLine>> {
        let preview = self.menu.place().and_then(|place| self.previews.get(place))?;
        let (dim, width, indent) = (look.style(Paint::Dim), width.min(WIDEST), StyledLine::plain("  "));
        let rows = |line: &String| {
            let told = StyledLine::sentence(line, dim);
            if unmarked(line) == *line {
                vec![indent.clone().and_line(told).cut(width, look.sign("…", "..."))]
            } else {
                wrap(&told, width, &indent, &indent)
            }
        };
        Some(preview.iter().flat_map(rows).collect())
    }

    /// Top to bottom: the rule with the title and the count, the search field, the choices, the preview, the keys.
    pub(super) fn view(&self, look: &TerminalLook, width: usize, height: usize) -> InputView {
        let dim = look.style(Paint::Dim);
        let is_roomy = height >= ROOMY;
        let prompt = StyledLine::styled(look.sign("› ", "> "), look.style(Paint::Person));
        let field = render_input(&prompt, &self.wish, self.wish.len(), width);
        let (fitting, all) = self.menu.counts();
        let preview = self.preview_rows(look, width).filter(|_| is_roomy);
        // A command that needs more rows than one takes them from the choices.
        let further = preview.as_ref().map_or(0, |rows| rows.len().saturating_sub(PREVIEW_ROWS));
        let most = height.saturating_sub(FRAME_ROWS + further).clamp(1, MOST_ROWS);
        let shown = fitting.min(most);
        let note = match self.note {
            _ if shown < all => format!("{shown} of {all}"),
            "" if self.picks == Picks::Session => counted(u32::try_from(all).unwrap_or(u32::MAX), "session"),
            note => note.to_owned(),
        };
        let mut rows = vec![render_title_rule(self.title, &note, look, width)];
        let cursor = (rows.len() + field.cursor.0, field.cursor.1);
        rows.extend(field.rows);
        if let (true, Some(row)) = (self.wish.is_empty(), rows.last_mut()) {
            *row = row.clone().and(self.placeholder, dim).cut(width, look.sign("…", "..."));
        }
        rows.extend(is_roomy.then(StyledLine::default));
        if self.menu.is_empty() {
            rows.push(StyledLine::styled("  nothing fits", dim));
        }
        rows.extend(render_menu(&self.menu, most, look, width));
        if let Some(preview) = preview {
            rows.extend([StyledLine::default(), render_plain_rule(look, width)]);
            rows.extend(preview);
        }
        rows.push(render_plain_rule(look, width));
        rows.push(render_keys(&[("↑↓", "choose"), ("enter", self.verb), ("esc", "close")], look, width));
        InputView { rows, cursor }
    }
}
