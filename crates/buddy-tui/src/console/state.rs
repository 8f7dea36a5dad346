//! The console: everything that is shown and typed, as a pure machine.

use std::time::{Duration, Instant};

use anstyle::Style;
use buddy_protocol::{ApprovalPolicy, Command, Fact, GrantWish, SessionId, SessionTarget, TurnId};

use super::asks::Asking;
use super::custom::CustomCommand;
use super::desk::SessionSurroundings;
use super::effect::{ConsoleEffect, ConsoleInput, Errand, Focus};
use super::items;
use super::line_face::LineFace;
use super::own_status::OwnStatus;
use super::picker::Picker;
use super::status_part::StatusPart;
use super::tasks::{SHOWN, SessionTask, name_task};
use crate::approval_clock::{ApprovalClock, ModeCycle};
use crate::editor::{HistorySearch, Keymap, Menu, PromptHistory, TextDraft, Vim};
use crate::table::{ListView, Table};
use crate::targets::find_default_target;
use crate::text::{Paint, StyledLine, TerminalLook, find_hanging_indent, wrap, wrap_unindented};

/// Within which time a second press counts as one.
pub(crate) const SECOND_PRESS: Duration = Duration::from_secs(2);
/// The columns left of all text: marks stand in them.
const INDENT: &str = "  ";

/// A turn whose commands are looked at for changes before its end is told.
pub(super) struct CountedTurn {
    pub(super) turn: TurnId,
    pub(super) ran: Option<Duration>,
}

/// A conversation on a screen.
pub(super) struct Console {
    /// Its state line by line; none on a screen.
    pub(super) by_line: Option<LineFace>,
    /// The conversation that is shown comes first; the others run beside it.
    pub(super) tasks: Vec<SessionTask>,
    /// How many tasks there were so far.
    pub(super) count: usize,
    pub(super) look: TerminalLook,
    pub(super) columns: usize,
    /// The rows of the screen, as it was last painted.
    pub(super) height: usize,
    /// How many rows of an answer may stay open.
    pub(super) most_open: usize,
    pub(super) now: Instant,
    /// When the conversation was opened here.
    pub(super) opened: Instant,
    pub(super) draft: TextDraft,
    pub(super) history: PromptHistory,
    pub(super) keymap: Keymap,
    /// The modes of vim, where the user wants them.
    pub(super) vim: Option<Vim>,
    pub(super) custom: Vec<CustomCommand>,
    pub(super) search: Option<HistorySearch>,
    pub(super) completion: Option<OpenCompletion>,
    pub(super) asking: Option<Asking>,
    /// The last lasting grant that the user here wanted.
    pub(super) wished: Option<GrantWish>,
    /// The paths of images that the user named.
    pub(super) mentioned: Vec<String>,
    pub(super) picker: Option<Picker>,
    pub(super) surroundings: SessionSurroundings,
    pub(super) status_parts: Vec<StatusPart>,
    pub(super) own_status: OwnStatus,
    /// The candidates for `@`.
    pub(super) paths: Paths,
    /// The approval mode, as far as it was told.
    approvals: ApprovalClock,
    /// The same for a session in which nothing was told.
    usual_approvals: ApprovalPolicy,
    /// Presses of the key that goes through the modes.
    pub(super) mode_cycle: Option<ModeCycle>,
    pub(super) last_key: Option<Instant>,
    /// When a key was pressed that does something at the second time.
    pub(super) armed: Option<(Armed, Instant)>,
    pub(super) is_plan_toggled: bool,
    /// When it was last looked after the process that works on the conversation, if that is another one.
    pub(super) owner_looked: Option<Instant>,
    /// When it was said what leaving would stop.
    pub(super) leave_told: Option<Instant>,
    /// The undo that restores files now.
    pub(super) undoing: Option<Undoing>,
    /// The command whose output is to come, which is shown before it.
    pub(super) echo: Option<String>,
    /// Whether what a command said stands last, so that what follows is kept apart from it.
    pub(super) is_said_last: bool,
    /// The turn whose commands are being looked at for changes.
    pub(super) counting: Option<CountedTurn>,
    /// Whether the user chose the colours in this conversation.
    pub(super) is_theme_chosen: bool,
    /// Where the user looks.
    pub(super) focus: Focus,
    /// Whether a turn has ended since the user looked elsewhere.
    pub(super) is_done_unseen: bool,
    rows: Vec<StyledLine>,
    effects: Vec<ConsoleEffect>,
}

/// The effect of a second press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Armed {
    Quit,
    Rewind,
}

/// A menu of completions below the input.
#[derive(Debug)]
pub(super) struct OpenCompletion {
    pub(super) menu: Menu,
    /// How much of the draft before the cursor it stands for, in bytes.
    pub(super) length: usize,
    pub(super) kind: Completes,
}

/// Paths that could be meant.
#[derive(Debug, Default)]
pub(super) enum Paths {
    #[default]
    Unknown,
    /// They were asked for.
    Asked,
    Known(Vec<String>),
}

/// An undo or a redo that restores files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undoing {
    /// The notice meanwhile.
    pub(super) text: &'static str,
    pub(super) began: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Completes {
    Command,
    Path,
}

impl Console {
    /// A console on a session.
    pub(super) fn new(
        session: SessionId,
        look: TerminalLook,
        columns: usize,
        history: Vec<String>,
        now: Instant,
    ) -> Self {
        Self {
            by_line: None,
            tasks: vec![SessionTask::new(SHOWN, session, String::new())],
            count: 0,
            look,
            columns,
            height: 1,
            most_open: 0,
            now,
            opened: now,
            draft: TextDraft::default(),
            history: PromptHistory::new(history),
            keymap: Keymap::new(),
            vim: None,
            custom: Vec::new(),
            search: None,
            completion: None,
            asking: None,
            wished: None,
            mentioned: Vec::new(),
            picker: None,
            surroundings: SessionSurroundings::default(),
            status_parts: StatusPart::USUAL.to_vec(),
            own_status: OwnStatus::default(),
            paths: Paths::Unknown,
            approvals: ApprovalClock::new(ApprovalPolicy::Ask, now),
            usual_approvals: ApprovalPolicy::Ask,
            mode_cycle: None,
            last_key: None,
            armed: None,
            is_plan_toggled: false,
            owner_looked: None,
            leave_told: None,
            undoing: None,
            echo: None,
            is_said_last: false,
            counting: None,
            is_theme_chosen: false,
            focus: Focus::Unknown,
            is_done_unseen: false,
            rows: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Takes what happened, and says what is to be done.
    pub(super) fn handle(&mut self, input: ConsoleInput, now: Instant) -> Vec<ConsoleEffect> {
        self.now = now;
        match input {
            ConsoleInput::Key(key) => self.key(key),
            ConsoleInput::Paste(text) => self.paste(&text),
            ConsoleInput::Said(text) => {
                self.draft.set(&text);
                self.submit();
            }
            ConsoleInput::Resized => {}
            ConsoleInput::Event(session, event) => self.event(&session, &event),
            ConsoleInput::Missed(session) => {
                if let Some(task) = self.tasks.iter_mut().find(|task| task.session == session) {
                    task.reader.miss();
                }
            }
            ConsoleInput::Ground(theme) => self.take_ground(theme),
            ConsoleInput::Focus(focus) => {
                if focus == Focus::Here && self.focus == Focus::Elsewhere && self.front().is_idle() {
                    // The user may have changed the branch or the trust elsewhere.
                    self.errand(Errand::LookAround);
                }
                self.focus = focus;
                self.is_done_unseen &= focus == Focus::Elsewhere;
            }
            ConsoleInput::Tick => self.pass_time(),
            ConsoleInput::Stop => self.effect(ConsoleEffect::Quit(crate::exit::Exit::Interrupted)),
            ConsoleInput::Reply(reply) => self.reply(reply),
            ConsoleInput::Line(line) => self.take_line(&line),
            ConsoleInput::Interrupt => self.take_interrupt(),
            ConsoleInput::InputEnded => self.end_input(),
        }
        self.settle_lines();
        self.put_question();
        self.ask_status();
        std::mem::take(&mut self.effects)
    }

    /// The conversation that is shown.
    pub(super) fn front(&self) -> &SessionTask {
        // There is always one: tasks are only ever taken away behind it.
        &self.tasks[0]
    }

    pub(super) fn front_mut(&mut self) -> &mut SessionTask {
        &mut self.tasks[0]
    }

    pub(super) fn effect(&mut self, effect: ConsoleEffect) {
        self.effects.push(effect);
    }

    pub(super) fn errand(&mut self, errand: Errand) {
        self.effect(ConsoleEffect::Errand(errand));
    }

    /// Tells the user who looks elsewhere. Who looks here sees it.
    pub(super) fn ring(&mut self, text: &str) {
        if self.focus != Focus::Here {
            self.effect(ConsoleEffect::Ring(text.to_owned()));
        }
    }

    /// Sends a command to the conversation that is shown.
    pub(super) fn send(&mut self, command: Command) {
        let session = self.front().session.clone();
        self.effect(ConsoleEffect::Send(session, command));
    }

    /// Shows rows above everything that is live.
    pub(super) fn show(&mut self, rows: impl IntoIterator<Item = StyledLine>) {
        match &mut self.by_line {
            Some(face) => rows.into_iter().for_each(|row| face.tell(&row.text())),
            None => self.rows.extend(rows),
        }
    }

    /// Shows a remark of buddy's own.
    pub(super) fn say(&mut self, text: &str) {
        self.tell(text, self.look.style(Paint::Dim));
    }

    /// Shows what a command of buddy's own said, in rows that are not cut.
    pub(super) fn say_plain(&mut self, text: &str) {
        self.tell(text, Style::new());
    }

    /// Shows a failure beside its mark.
    pub(super) fn complain(&mut self, text: &str) {
        let style = self.look.style(Paint::Bad);
        let mark = StyledLine::styled(self.look.sign("✗ ", "x "), style);
        self.tell_behind(&mark, text, style);
    }

    /// Shows a list, fitted to the window.
    pub(super) fn show_table(&mut self, table: &Table, view: &ListView) {
        self.put_echo();
        if let Some(face) = &mut self.by_line {
            return face.tell(&table.text(view));
        }
        let indented =
            |row: StyledLine| if row.is_empty() { row } else { StyledLine::plain(INDENT).and_line(row) };
        self.show(table.lines(view).into_iter().map(indented));
    }

    /// The look of lists here.
    pub(super) fn list_view(&self) -> ListView {
        if self.by_line.is_some() {
            return ListView::plain();
        }
        ListView::in_window(&self.look, self.text_width())
    }

    /// The columns of text right of the gutter.
    pub(super) fn text_width(&self) -> usize {
        self.columns.saturating_sub(INDENT.len())
    }

    fn tell(&mut self, text: &str, style: Style) {
        self.tell_behind(&StyledLine::plain(INDENT), text, style);
    }

    /// Shows text in the column that all text begins in, the first row behind a mark.
    fn tell_behind(&mut self, mark: &StyledLine, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        let indent = StyledLine::plain(INDENT);
        let mut lead = mark;
        self.put_echo();
        if let Some(face) = &mut self.by_line {
            return face.tell(text);
        }
        for line in text.lines() {
            let next = indent.clone().and_line(find_hanging_indent(line));
            let rows = wrap(&StyledLine::sentence(line, style), self.columns, lead, &next);
            self.show(rows);
            lead = &indent;
        }
    }

    /// Shows the command before what it says, apart from what was there.
    pub(super) fn put_echo(&mut self) {
        let Some(line) = self.echo.take().filter(|_| self.by_line.is_none()) else { return };
        let rows = wrap_unindented(
            &StyledLine::styled(&format!("{} ", self.look.sign("›", ">")), self.look.style(Paint::Person))
                .and(&line, self.look.style(Paint::Strong)),
            self.columns,
        );
        self.show(std::iter::once(StyledLine::default()).chain(rows).chain([StyledLine::default()]));
        self.is_said_last = true;
    }

    /// The rows that are finished since the last time.
    pub(super) fn take_rows(&mut self) -> Vec<StyledLine> {
        let look = self.look.clone();
        let (columns, most_open) = (self.columns, self.most_open);
        let rows = self.front_mut().reader.take_rows(&look, columns, most_open);
        let mut all = std::mem::take(&mut self.rows);
        if let Some(first) = rows.first() {
            let is_apart = first.text().is_empty();
            all.extend((std::mem::take(&mut self.is_said_last) && !is_apart).then(StyledLine::default));
        }
        all.extend(rows);
        all
    }

    fn event(&mut self, session: &SessionId, event: &buddy_protocol::Event) {
        let Some(place) = self.tasks.iter().position(|task| task.session == *session) else { return };
        if place == 0 {
            // Buddy's own words come before later events.
            let rows = self.take_rows();
            self.rows = rows;
        }
        let (look, columns, now) = (self.look.clone(), self.columns, self.now);
        let task = &mut self.tasks[place];
        if event.seq.is_some_and(|seq| seq <= task.skip_until) {
            return self.take_up(place, event);
        }
        let ran = task.elapsed(now);
        let had_plan = self.tasks[0].reader.plan().is_some();
        let task = &mut self.tasks[place];
        // Of what runs beside the conversation only the end is shown.
        let applied = match (place, &self.by_line) {
            (0, None) => task.reader.apply(event, &look, columns, now),
            (0, Some(_)) => task.reader.fold(event, now),
            _ => task.reader.skip(event, now),
        };
        for text in task.reader.take_read_prompts() {
            task.forget_steer(&text);
        }
        if let Err(error) = applied {
            return self.complain(&format!("buddy: {error}"));
        }
        task.note(event);
        self.note_in_lines(event);
        if had_plan != self.tasks[0].reader.plan().is_some() {
            // A plan that was hidden does not come back when it is done, and a new one is shown.
            self.is_plan_toggled = false;
        }
        let task = &mut self.tasks[place];
        match &event.fact {
            Fact::SessionStarted(_) if place == 0 => self.errand(Errand::LookAround),
            Fact::ItemEnded(ended)
                if matches!(ended.item.content, buddy_protocol::Content::UserMessage { ran: None, .. }) =>
            {
                let is_unread = task.reader.is_unread(&ended.item.id);
                if let buddy_protocol::Content::UserMessage { text, .. } = &ended.item.content
                    && is_unread
                {
                    // Another face may have sent it.
                    task.note_steer(text);
                }
            }
            Fact::ItemEnded(ended)
                if task.own_aside.as_ref().is_some_and(|own| own.item == ended.item.id) =>
            {
                task.own_aside = None;
                self.ring("your command is done");
            }
            Fact::SessionChanged(changed) => self.changed(place, changed),
            Fact::TurnEnded(_) => {
                self.is_plan_toggled = false;
                self.turn_ended(place, ran);
            }
            _ => {}
        }
    }

    /// Folds an event of the past. After the last of them the end of the conversation is shown.
    fn take_up(&mut self, place: usize, event: &buddy_protocol::Event) {
        let now = self.now;
        let task = &mut self.tasks[place];
        if let Err(error) = task.reader.skip(event, now) {
            return self.complain(&format!("buddy: {error}"));
        }
        if let Fact::SessionChanged(changed) = &event.fact
            && let Some(policy) = changed.approvals
        {
            self.note_approvals(policy);
        }
        let task = &self.tasks[place];
        if place == 0 && event.seq == Some(task.skip_until) && !task.is_known {
            self.show_recap();
            if let Some(text) = self.front_mut().arrival.take() {
                self.say(&text);
            }
            // Which host it works on is known now and not before.
            self.errand(Errand::LookAround);
        }
    }

    fn show_recap(&mut self) {
        if self.by_line.is_some() {
            return self.tell_recap();
        }
        let (session, reader) = (&self.front().session, &self.front().reader);
        let rows =
            items::render_recap(session, reader.transcript(), reader.allowed(), &self.look, self.columns);
        // They stand apart from the greeting, or from another conversation.
        let is_apart = rows.first().is_none_or(StyledLine::is_empty);
        self.show((!is_apart).then(StyledLine::default));
        self.show(rows);
    }

    fn changed(&mut self, place: usize, changed: &buddy_protocol::SessionChanged) {
        if place > 0 {
            return;
        }
        // A session begins with the usual mode, which the rule above the input shows on a screen.
        let is_known = changed.approvals.is_some_and(|policy| policy == self.approvals())
            && self.echo.is_none()
            && self.by_line.is_none();
        if let Some(policy) = changed.approvals {
            self.note_approvals(policy);
        }
        if changed.targets.is_some() {
            self.paths = Paths::Unknown;
        }
        if changed.model.is_some() || changed.targets.is_some() {
            self.errand(Errand::LookAround);
        }
        if let Some(targets) = &changed.targets {
            let view = self.list_view();
            self.show_table(&crate::targets::tabulate_targets(targets, &view), &view);
        } else if let Some(text) = crate::changes::describe_change(changed).filter(|_| !is_known) {
            let stays = changed.approvals.is_some()
                && changed.plan_only.is_none()
                && self.front().reader.transcript().is_plan_only();
            self.say(&match changed.plan_only {
                // The mode that holds from now on decides what runs unasked.
                Some(false) => format!("{text}. {}", self.describe_left_plan()),
                _ if stays => format!("{text}. Plan mode stays on; /plan off leaves it"),
                _ => text,
            });
        }
    }

    /// When a task reaches its time limit, or it is looked after the process that works on the conversation.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let running = self.tasks.iter().filter(|task| !task.is_stopped && !task.is_idle());
        running.filter_map(|task| task.deadline).chain(self.next_owner_look()).min()
    }

    fn pass_time(&mut self) {
        self.wake_question();
        self.look_after_owner();
        let now = self.now;
        self.armed = self.armed.filter(|(_, since)| now.saturating_duration_since(*since) < SECOND_PRESS);
        let late: Vec<(usize, SessionId, Command)> = self
            .tasks
            .iter_mut()
            .filter(|task| {
                !task.is_stopped && !task.is_idle() && task.deadline.is_some_and(|deadline| deadline <= now)
            })
            .map(|task| {
                task.is_stopped = true;
                (task.number, task.session.clone(), task.interrupt())
            })
            .collect();
        for (number, session, interrupt) in late {
            self.say(&format!("{} reached its time limit", name_task(number)));
            self.effect(ConsoleEffect::Send(session, interrupt));
        }
    }

    /// Takes keys of the user's own.
    pub(super) fn take_keys(&mut self, keys: &[(String, String)]) {
        for (key, action) in keys {
            if let Err(wrong) = self.keymap.bind(key, action) {
                self.complain(&format!("keys: {wrong}"));
            }
        }
    }

    /// The approval mode.
    pub(super) fn approvals(&self) -> ApprovalPolicy {
        self.approvals.held(self.now)
    }

    /// The rest of the window in which most is allowed, in seconds: whole minutes, and seconds in the last one.
    pub(super) fn window_left(&self) -> Option<u64> {
        self.approvals.window_left(self.now)
    }

    /// Takes a mode that was set.
    fn note_approvals(&mut self, policy: ApprovalPolicy) {
        self.approvals.note(policy, self.now);
    }

    /// Sets the approval mode of sessions that set none.
    pub(super) fn begin_with(&mut self, approvals: ApprovalPolicy) {
        self.usual_approvals = approvals;
        self.forget_approvals();
    }

    /// Another conversation is shown, of which nothing is known yet.
    pub(super) fn forget_approvals(&mut self) {
        self.approvals = ApprovalClock::new(self.usual_approvals, self.now);
    }

    /// The target that calls mean which name none.
    pub(super) fn target(&self) -> SessionTarget {
        find_default_target(self.front().reader.transcript())
    }

    /// The target that a session works on.
    pub(super) fn target_of(&self, session: &SessionId) -> SessionTarget {
        let known = self.tasks.iter().find(|task| task.session == *session);
        // A task that has just begun works where the conversation does that it comes from.
        let known = known.filter(|task| task.reader.transcript().started().is_some());
        find_default_target(known.unwrap_or_else(|| self.front()).reader.transcript())
    }

    /// The model of the conversation, as its provider names it.
    pub(super) fn model(&self) -> &str {
        let named = || self.front().reader.transcript().model().unwrap_or_default();
        if self.surroundings.model.is_empty() { named() } else { &self.surroundings.model }
    }

    /// The title of the window.
    pub(super) fn title(&self) -> &'static str {
        match (self.asking.is_some(), self.front().is_idle(), self.is_done_unseen) {
            (true, ..) => self.look.sign("▲ buddy waits", "! buddy waits"),
            (false, false, _) => self.look.sign("● buddy works", "* buddy works"),
            (false, true, true) => self.look.sign("✓ buddy is done", "+ buddy is done"),
            (false, true, false) => "buddy",
        }
    }

    /// Whether something is shown that changes with time.
    pub(super) fn is_busy(&self) -> bool {
        let is_running = |task: &SessionTask| !task.is_idle() || task.reader.own_command().is_some();
        self.tasks.iter().any(is_running)
            || self.undoing.is_some()
            || self.armed.is_some()
            || self.window_left().is_some()
            || self.is_own_status_due()
    }
}
