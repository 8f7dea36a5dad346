//! Keys in the input.

use std::time::Duration;

use buddy_protocol::{Command, SessionId};
use crossterm::event::KeyCode;

use super::changed_rows::render_changes;
use super::commands;
use super::desk::UNKNOWN_FILE;
use super::effect::{ConsoleEffect, Errand};
use super::line_face::LineFace;
use super::state::{Armed, Completes, Console, OpenCompletion, Paths, SECOND_PRESS};
use super::tasks::{MAX_QUEUED, SessionTask};
use crate::changes;
use crate::counting::counted;
use crate::editor::{EditAction, EditorKey, HistorySearch, Menu, MenuChoice, VimTyped, score};
use crate::exit::Exit;
use crate::mentions::{find_images, is_image, read_dragged, write_mention};
use crate::output::ShownOutput;
use crate::slash_commands::is_slash_command;
use crate::text::{Paint, StyledLine};

/// Within which time leaving a second time leaves whatever runs.
const LEAVE_AGAIN: Duration = Duration::from_secs(30);

/// Images that are remembered as named by the user.
const MAX_MENTIONED: usize = 1000;

/// Paths that are offered before a letter was typed.
const FIRST_PATHS: usize = 1000;

impl Console {
    pub(super) fn key(&mut self, key: EditorKey) {
        let armed =
            self.armed.take().filter(|(_, since)| self.now.saturating_duration_since(*since) < SECOND_PRESS);
        let is_taken = self.asking.is_some() && self.answer_key(key);
        if !is_taken && !self.picker_key(key) && !self.search_key(key) && !self.completion_key(key) {
            self.input_key(key, armed.map(|(armed, _)| armed));
        }
        self.last_key = Some(self.now);
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.last_key = Some(self.now);
        let line = || text.lines().next().unwrap_or_default();
        if self.answer_paste(text) {
            return;
        }
        match (&mut self.picker, &mut self.search) {
            (Some(picker), _) => picker.narrow(line()),
            (None, Some(search)) => line().chars().for_each(|letter| search.insert(letter)),
            (None, None) => {
                match read_dragged(text) {
                    Some(mentions) => self.mention(&mentions),
                    None => self.draft.paste(text),
                }
                self.changed_draft();
            }
        }
    }

    /// Puts mentions of files into the draft, apart from what stands before them.
    pub(super) fn mention(&mut self, mentions: &str) {
        let is_apart = self.draft.before().chars().last().is_none_or(char::is_whitespace);
        self.draft.insert_text(if is_apart { "" } else { " " });
        self.draft.insert_text(mentions);
    }

    pub(super) fn input_key(&mut self, key: EditorKey, armed: Option<Armed>) {
        if self.vim_key(key) {
            return;
        }
        let action = self.keymap.action(key);
        match action {
            None => {
                if key.letter() == Some('?') && self.draft.is_empty() {
                    return self.show_keys();
                }
                if let Some(letter) = key.letter() {
                    self.draft.insert(letter);
                    self.changed_draft();
                }
            }
            Some(EditAction::Submit) => self.submit(),
            Some(EditAction::Complete) => self.queue(),
            Some(EditAction::Escape) => self.escape(armed),
            Some(EditAction::Cancel) => self.cancel(armed),
            Some(EditAction::EndOrDelete) if self.draft.is_empty() => self.leave(),
            Some(EditAction::EndOrDelete) => self.edited(EditAction::Delete),
            Some(EditAction::CycleMode) => self.cycle_mode(),
            Some(EditAction::Up) => {
                if !self.take_queued() && !self.draft.up() {
                    self.look_back();
                }
            }
            Some(EditAction::Down) => {
                if !self.draft.down() {
                    self.look_forward();
                }
            }
            Some(EditAction::HistoryOlder) => self.look_back(),
            Some(EditAction::HistoryNewer) => self.look_forward(),
            Some(EditAction::SearchOlder | EditAction::SearchNewer) => {
                self.search = Some(HistorySearch::new(self.draft.shown().to_owned()));
            }
            Some(EditAction::OpenEditor) => {
                let text = self.draft.whole();
                self.effect(ConsoleEffect::Edit(text));
            }
            Some(EditAction::LeftOrBackground) if self.draft.is_empty() && self.send_to_background() => {}
            Some(EditAction::PasteImage) => self.errand(Errand::PasteImage),
            Some(EditAction::Redraw) => self.effect(ConsoleEffect::Redraw),
            Some(EditAction::Suspend) => self.effect(ConsoleEffect::Suspend),
            Some(EditAction::Expand) => self.expand(),
            Some(EditAction::Plan) => self.is_plan_toggled = !self.is_plan_toggled,
            Some(action) => self.edited(action),
        }
    }

    /// Takes a key that is vim's. Escape stops what runs where there is nothing to edit.
    fn vim_key(&mut self, key: EditorKey) -> bool {
        let is_stop = key.code == KeyCode::Esc
            && self.draft.is_empty()
            && (!self.front().is_idle() || self.front().attended_command().is_some());
        let Some(vim) = self.vim.as_mut().filter(|_| !is_stop) else { return false };
        match vim.key(key, &mut self.draft) {
            VimTyped::Passed => return false,
            VimTyped::Done => {
                self.history.leave();
                self.completion = None;
            }
            VimTyped::Older => self.look_back(),
            VimTyped::Newer => self.look_forward(),
        }
        true
    }

    fn edited(&mut self, action: EditAction) {
        self.draft.carry_out(action);
        self.changed_draft();
    }

    /// Looks which completions there are for what stands before the cursor.
    pub(super) fn changed_draft(&mut self) {
        self.history.leave();
        let before = self.draft.before();
        if let Some(wish) = before.strip_prefix('/').filter(|wish| !wish.contains(char::is_whitespace)) {
            let menu = Menu::new(commands::list_command_choices(&self.custom, wish), wish);
            let length = before.len();
            self.completion =
                (!menu.is_empty()).then_some(OpenCompletion { menu, length, kind: Completes::Command });
            return;
        }
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        self.completion = None;
        let Some(wish) = word.strip_prefix('@') else { return };
        let (wish, length) = (wish.to_owned(), word.len());
        let paths = match &self.paths {
            Paths::Known(paths) => paths,
            Paths::Asked => return,
            Paths::Unknown => {
                self.paths = Paths::Asked;
                return self.errand(Errand::ListPaths);
            }
        };
        let fitting = paths.iter().filter(|path| wish.is_empty() || score(path, &wish).is_some());
        let most = if wish.is_empty() { FIRST_PATHS } else { usize::MAX };
        let choice = |path: &String| MenuChoice { name: path.clone(), note: String::new() };
        let menu = Menu::new(fitting.take(most).map(choice).collect(), &wish);
        self.completion =
            (!menu.is_empty()).then_some(OpenCompletion { menu, length, kind: Completes::Path });
    }

    fn completion_key(&mut self, key: EditorKey) -> bool {
        let action = self.keymap.action(key);
        let Some(completion) = &mut self.completion else { return false };
        match action {
            Some(EditAction::Up | EditAction::HistoryOlder) => completion.menu.up(),
            Some(EditAction::Down | EditAction::HistoryNewer) => completion.menu.down(),
            Some(EditAction::Escape) => self.completion = None,
            Some(EditAction::Complete) => self.complete(),
            Some(EditAction::Submit) => {
                // A beginning that several have is completed; what runs is what was meant.
                let wish = self.draft.before().trim_start_matches('/');
                let is_sent = match completion.kind {
                    Completes::Command => completion.menu.is_settled(wish),
                    Completes::Path => completion.menu.is_complete(),
                };
                if completion.kind == Completes::Path && is_sent {
                    let name = completion.menu.wish().to_owned();
                    completion.menu.point(&name);
                }
                self.complete();
                if is_sent {
                    self.submit();
                }
            }
            _ => return false,
        }
        true
    }

    fn complete(&mut self) {
        let Some(completion) = self.completion.take() else { return };
        let Some(choice) = completion.menu.chosen() else { return };
        let text = match completion.kind {
            Completes::Command => format!("/{} ", choice.name),
            // An image is given with the prompt, so its mention stays one.
            Completes::Path if is_image(&choice.name) => format!("{} ", write_mention(&choice.name)),
            Completes::Path => format!("{} ", choice.name),
        };
        self.draft.complete(completion.length, &text);
    }

    fn search_key(&mut self, key: EditorKey) -> bool {
        let action = self.keymap.action(key);
        let Some(search) = &mut self.search else { return false };
        match action {
            Some(EditAction::SearchOlder) => search.older(&self.history),
            Some(EditAction::SearchNewer) => search.newer(),
            Some(EditAction::Backspace) => search.backspace(),
            Some(EditAction::Escape | EditAction::Cancel) => {
                let draft = std::mem::take(&mut search.draft);
                self.draft.set(&draft);
                self.search = None;
            }
            None if key.letter().is_some() => {
                key.letter().into_iter().for_each(|letter| search.insert(letter));
            }
            _ => {
                if let Some(hit) = search.hit(&self.history) {
                    self.draft.set(hit);
                }
                self.search = None;
                // A key that ends the search does what it does: Enter sends what was found.
                return false;
            }
        }
        true
    }

    pub(super) fn submit(&mut self) {
        if self.draft.before().ends_with('\\') && self.draft.cursor() == self.draft.shown().len() {
            return self.draft.complete(1, "\n");
        }
        let text = self.take_draft();
        self.completion = None;
        if let Some(vim) = &mut self.vim {
            vim.begin();
        }
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.history.add(text) {
            self.effect(ConsoleEffect::Remember(text.to_owned()));
        }
        self.enter(text);
    }

    /// The images that go with a prompt: those in it that the user named.
    pub(super) fn named_images(&self, text: &str) -> Vec<String> {
        find_images(text).into_iter().filter(|path| self.mentioned.contains(path)).collect()
    }

    /// Takes the draft, and notes which images the user named in it: what stands for a paste may name others.
    fn take_draft(&mut self) -> String {
        let shown = self.draft.shown().to_owned();
        self.note_mentions(&shown);
        self.draft.take()
    }

    /// Notes which images the user named themselves. No others are given with a prompt.
    pub(super) fn note_mentions(&mut self, text: &str) {
        self.mentioned.extend(find_images(text));
        let surplus = self.mentioned.len().saturating_sub(MAX_MENTIONED);
        self.mentioned.drain(..surplus);
    }

    /// Does what a line that was entered wants.
    pub(super) fn enter(&mut self, text: &str) {
        self.echo = None;
        self.settle_mode();
        if is_slash_command(text) {
            self.echo = Some(text.to_owned());
            return self.command(text);
        }
        if self.waits_for_undo(text) {
            return;
        }
        if let Some(command) = text.strip_prefix('!') {
            return self.run_command(command.trim());
        }
        if self.front().is_idle() && changes::is_go_ahead(self.front().reader.transcript(), text) {
            self.send(changes::set_plan(false));
            return self.prompt(changes::GO_ON);
        }
        match text.strip_suffix(" &").map(str::trim) {
            Some(prompt) if !prompt.is_empty() => self.begin(prompt),
            _ => self.prompt(text),
        }
    }

    /// Runs a command as the user, on the target of the conversation.
    fn run_command(&mut self, command: &str) {
        if command.is_empty() {
            return self
                .complain("Put a command after !, such as !git status. It runs as you, without approval.");
        }
        self.front_mut().own_commands += 1;
        self.send(Command::Run { command: command.to_owned(), target: None });
    }

    /// Stops the command that the user runs. False if none runs.
    fn stop_command(&mut self) -> bool {
        let Some(item) = self.front().attended_command().map(|item| item.id.clone()) else { return false };
        self.send(Command::Stop { item });
        true
    }

    /// Starts a task beside the conversation.
    fn begin(&mut self, prompt: &str) {
        let session = self.front().session.clone();
        self.errand(Errand::Begin(session, prompt.to_owned()));
    }

    /// Says something to the agent. While a turn runs this steers it.
    pub(super) fn prompt(&mut self, text: &str) {
        self.say_to_agent(text, None);
    }

    /// The same of a text that a command file gave, with the line that the user typed.
    pub(super) fn say_to_agent(&mut self, text: &str, typed: Option<&str>) {
        let front = self.front_mut();
        if !front.is_idle() {
            front.steered.push_back(text.to_owned());
        }
        front.unseen += 1;
        self.send(typed.map_or_else(|| Command::prompt(text), |typed| Command::given(text, typed)));
    }

    /// Brings a text back to be sent anew. Line by line it still stands where it was typed.
    pub(super) fn bring_back(&mut self, text: &str) {
        if self.by_line.is_none() {
            self.draft.set(text);
        }
    }

    /// Keeps the draft for when the turn has ended. Without a turn there is nothing to wait for.
    fn queue(&mut self) {
        if self.draft.is_empty() || (self.front().is_idle() && self.undoing.is_none()) {
            return;
        }
        if self.front().queue.len() >= MAX_QUEUED {
            return self.complain(&format!("{MAX_QUEUED} prompts are queued already."));
        }
        let text = self.take_draft();
        self.front_mut().queue.push_back(text);
    }

    /// Takes the prompt that was queued last back into an empty draft. False if there is none.
    fn take_queued(&mut self) -> bool {
        if !self.draft.is_empty() {
            return false;
        }
        let Some(text) = self.front_mut().queue.pop_back() else { return false };
        self.draft.set(&text);
        self.changed_draft();
        true
    }

    fn escape(&mut self, armed: Option<Armed>) {
        if self.stop_command() {
            return;
        }
        if !self.front().is_idle() {
            return self.interrupt();
        }
        if self.undoing.is_some() && !self.front().queue.is_empty() {
            return self.take_queue_back();
        }
        if !self.draft.is_empty() {
            return;
        }
        match armed {
            Some(Armed::Rewind) => self.command("/rewind"),
            _ => self.armed = Some((Armed::Rewind, self.now)),
        }
    }

    /// Stops the turn. What was queued for its end comes back into the draft.
    pub(super) fn interrupt(&mut self) {
        self.take_queue_back();
        let interrupt = self.front().interrupt();
        self.send(interrupt);
    }

    fn take_queue_back(&mut self) {
        let mut queued: Vec<String> = self.front_mut().queue.drain(..).collect();
        if !queued.is_empty() && self.by_line.is_some() {
            self.say("The lines that you queued were dropped.");
        } else if !queued.is_empty() {
            queued.extend(Some(self.draft.take()).filter(|draft| !draft.is_empty()));
            self.draft.set(&queued.join("\n"));
        }
    }

    pub(super) fn cancel(&mut self, armed: Option<Armed>) {
        let asks = self.asking.as_ref().map(|asking| asking.session.clone());
        if let Some(session) = asks.filter(|session| *session != self.front().session) {
            let interrupt =
                self.tasks.iter().find(|task| task.session == session).map(SessionTask::interrupt);
            self.effect(ConsoleEffect::Send(session, interrupt.unwrap_or_else(Command::interrupt)));
        } else if self.asking.is_some() {
            self.interrupt();
        } else if !self.draft.is_empty() {
            self.draft.set("");
            self.changed_draft();
        } else if self.stop_command() {
            // Its end is told when it comes.
        } else if !self.front().is_idle() {
            self.interrupt();
        } else if armed == Some(Armed::Quit) {
            self.leave();
        } else {
            self.armed = Some((Armed::Quit, self.now));
        }
    }

    /// Leaves. Where something runs that would be stopped, the first time says so.
    pub(super) fn leave(&mut self) {
        let running = self.running();
        let is_told =
            self.leave_told.is_some_and(|told| self.now.saturating_duration_since(told) < LEAVE_AGAIN);
        // A script has said all it has to say.
        let is_script = self.by_line.as_ref().is_some_and(LineFace::is_pipe);
        if running.is_empty() || is_told || is_script {
            return self.effect(ConsoleEffect::Quit(Exit::Ok));
        }
        self.leave_told = Some(self.now);
        self.say(&format!("Leaving stops {}. Do it again to leave.", running.join(" and ")));
    }

    /// The sessions of tasks beside the conversation that leaving stops.
    pub(super) fn list_stopped(&self) -> Vec<SessionId> {
        let running = self.tasks.iter().skip(1).filter(|task| task.is_working_here());
        running.map(|task| task.session.clone()).collect()
    }

    /// The running work, in the user's words.
    fn running(&self) -> Vec<String> {
        let turn = self.front().is_working_here().then(|| "the agent's work".to_owned());
        let own = |task: &SessionTask| !task.is_in_use && task.reader.own_command().is_some();
        let command = own(self.front()).then(|| "your command".to_owned());
        let tasks = self.tasks.iter().skip(1).filter(|task| task.is_working_here());
        let tasks = tasks.map(|task| format!("task {}", task.number));
        let undo = self.undoing.map(|_| "the undo".to_owned());
        let here = self.tasks.iter().filter(|task| !task.is_in_use);
        let left: usize = here.map(|task| task.reader.left_running()).sum();
        let left = (left > 0).then(|| counted(left as u64, "background command"));
        turn.into_iter().chain(command).chain(undo).chain(left).chain(tasks).collect()
    }

    fn look_back(&mut self) {
        let draft = self.draft.shown().to_owned();
        if let Some(entry) = self.history.older(&draft) {
            let entry = entry.to_owned();
            self.draft.set(&entry);
        }
    }

    fn look_forward(&mut self) {
        if let Some(entry) = self.history.newer() {
            self.draft.set(&entry);
        }
    }

    /// Shows the newest folded text below its heading, and the one before it with each further press.
    fn expand(&mut self) {
        let Some(folded) = self.front_mut().reader.unfold() else {
            let text = if self.front().reader.has_folded() {
                "There is no earlier folded output. The next press starts again with the newest."
            } else {
                "There is no folded output."
            };
            return self.say(text);
        };
        let mut output = ShownOutput::new(folded.text.lines().count(), 1);
        output.push(&folded.text);
        let (dim, strong) = (self.look.style(Paint::Dim), self.look.style(Paint::Strong));
        let room = self.columns.saturating_sub(2);
        let mut rows = vec![StyledLine::default()];
        let heading = StyledLine::styled(&format!("  {}", folded.heading), strong);
        rows.push(heading.cut(self.columns, self.look.sign("…", "~")));
        let text = output.folded(&self.look, room);
        rows.extend(text.iter().map(|row| StyledLine::styled(&format!("  {}", row.text()), dim)));
        self.show(rows);
        self.is_said_last = true;
    }

    /// Shows the changes in the repository, and below them the files that git does not know.
    pub(super) fn show_changes(&mut self, text: &str) {
        if self.by_line.is_some() {
            return self.say(text);
        }
        // Changed lines may have the same words, but never at the beginning of a line.
        let is_unknown = |line: &&str| line.starts_with(UNKNOWN_FILE);
        let end = text.split_inclusive('\n').take_while(|line| !is_unknown(line)).map(str::len).sum();
        let (diff, others) = text.split_at_checked(end).unwrap_or((text, ""));
        let rows = render_changes(diff, &self.look, self.columns);
        self.put_echo();
        self.show(rows);
        self.say_plain(others);
    }
}
