//! Carries out commands that begin with `/`, on a screen.

use std::time::{Duration, Instant};

use buddy_protocol::{Command, Content, folded_command};

use super::custom::CustomCommand;
use super::desk::DeskCommand;
use super::effect::{ConsoleEffect, Errand};
use super::line_face::ON_A_SCREEN;
use super::picker::Picker;
use super::state::Console;
use super::tasks::{MAX_QUEUED, SHOWN, SessionTask, name_task};
use crate::amounts::describe_elapsed;
use crate::branches::Another;
use crate::editor::MenuChoice;
use crate::overview;
use crate::slash_commands::{SLASH_COMMANDS, SlashCommand, SlashLine, find_slash_entry, read_slash_line};
use crate::targets;
use crate::text::{StyledLine, to_copy};

/// The commands as choices of a menu, with the other names that begin with a wish.
pub(super) fn list_command_choices(custom: &[CustomCommand], wish: &str) -> Vec<MenuChoice> {
    let own = SLASH_COMMANDS
        .iter()
        .map(|entry| MenuChoice { name: entry.name.to_owned(), note: entry.note.to_owned() });
    let others =
        SLASH_COMMANDS.iter().flat_map(|entry| entry.others.iter().map(move |other| (entry, *other)));
    let others = others.filter(|(_, other)| !wish.is_empty() && other.starts_with(wish));
    let others = others.map(|(entry, other)| MenuChoice {
        name: other.to_owned(),
        note: format!("the same as /{}: {}", entry.name, entry.note),
    });
    let custom = custom.iter().filter(|command| find_slash_entry(&command.name).is_none());
    let custom = custom.map(|command| MenuChoice { name: command.name.clone(), note: command.note.clone() });
    own.chain(others).chain(custom).collect()
}

impl Console {
    /// Takes a line that begins with `/`.
    pub(super) fn command(&mut self, line: &str) {
        if self.waits_for_undo(line) {
            return;
        }
        match read_slash_line(line, &self.custom) {
            SlashLine::Own(entry, _) if entry.is_for_idle && !self.front().is_idle() => {
                self.command_later(line);
            }
            SlashLine::Own(entry, _) if self.by_line.is_some() && ON_A_SCREEN.contains(&entry.name) => {
                let name = entry.name;
                self.complain(&format!(
                    "/{name} needs a full-screen conversation; this one is line by line."
                ));
            }
            SlashLine::Own(entry, arguments) => match entry.read(arguments) {
                Ok(command) => self.carry_out(command),
                Err(help) => self.complain(&help),
            },
            SlashLine::Custom(prompt) => self.say_to_agent(&prompt, Some(line)),
            SlashLine::Unknown(name) => {
                self.complain(&format!("There is no command `/{name}`. /help lists them."));
            }
        }
    }

    fn carry_out(&mut self, command: SlashCommand) {
        match command {
            SlashCommand::Send(command) => self.send(command),
            SlashCommand::Desk(command @ (DeskCommand::Undo(_) | DeskCommand::Redo(_))) => {
                self.start_undo(command);
            }
            SlashCommand::Desk(command) => self.errand(Errand::Run(command)),
            SlashCommand::Prompt(prompt) => self.prompt(&prompt),
            SlashCommand::ShowHelp => self.show_help(),
            SlashCommand::ShowStatus => self.show_status(),
            SlashCommand::ShowContext => self.show_context(),
            SlashCommand::ShowCost => self.show_cost(),
            SlashCommand::ShowKeymap => self.show_keymap(),
            SlashCommand::ListModels => self.errand(Errand::ListModels),
            SlashCommand::FindModel(wish) => self.errand(Errand::FindModel(wish)),
            SlashCommand::ListApprovals if self.by_line.is_some() => self.list_approvals(),
            SlashCommand::ListApprovals => self.picker = Some(Picker::approvals(self.approvals())),
            SlashCommand::ShowPane => self.show_pane(),
            SlashCommand::ListTargets => self.list_targets(),
            SlashCommand::ListTasks => self.show_tasks(),
            SlashCommand::Kill(id) => self.kill(id),
            SlashCommand::TimeOut { seconds, task } => self.time_out(seconds, &task),
            SlashCommand::ListSessions => self.errand(Errand::ListSessions),
            SlashCommand::SearchSessions(words) => self.errand(Errand::Search(words)),
            SlashCommand::Resume(session) => self.errand(Errand::Open(session)),
            SlashCommand::ResumeLast => self.errand(Errand::OpenLast),
            SlashCommand::ResumeListed(number) => self.resume_listed(number),
            SlashCommand::New => self.start_anew(),
            SlashCommand::Fork => self.fork(),
            SlashCommand::Rewind(number) if number.is_empty() => self.rewind(),
            SlashCommand::Rewind(number) => self.rewind_to(&number),
            SlashCommand::ChooseTheme(name) => self.choose_theme(&name),
            SlashCommand::Copy => self.copy(),
            SlashCommand::LogIn(profile) => self.effect(ConsoleEffect::LogIn(profile)),
            SlashCommand::Quit => self.leave(),
        }
    }

    /// Keeps a command for the end of the turn.
    fn command_later(&mut self, line: &str) {
        if self.front().queue.len() >= MAX_QUEUED {
            return self.complain(&format!("{MAX_QUEUED} lines wait already, so this one was dropped"));
        }
        self.front_mut().queue.push_back(line.to_owned());
        let key = if self.by_line.is_some() { "Ctrl-C" } else { "Esc" };
        self.say(&format!("This runs when the turn has ended. {key} interrupts the turn."));
    }

    fn choose_theme(&mut self, name: &str) {
        if name.is_empty() {
            self.picker = Some(Picker::themes(self.look.theme));
        } else {
            self.use_theme(name);
        }
    }

    fn show_pane(&mut self) {
        match self.surroundings.attach.clone() {
            Some(command) => self.say_plain(&format!(
                "The agent's commands run in a terminal that you can attach to:\n{}",
                to_copy(&command)
            )),
            None => self.say("This session has no shared terminal."),
        }
    }

    fn list_targets(&mut self) {
        let view = self.list_view();
        let table = targets::list_targets(self.front().reader.transcript(), &view);
        self.show_table(&table, &view);
    }

    /// Another conversation that begins as this one is now.
    fn start_anew(&mut self) {
        if let Some(another) = Another::like(self.front().reader.transcript()) {
            self.errand(Errand::New(another));
        }
    }

    fn kill(&mut self, id: String) {
        let Ok(number) = id.parse::<usize>() else {
            return self.errand(Errand::Run(DeskCommand::Kill(id)));
        };
        let own = |task: &SessionTask| {
            let own = task.own_aside.as_ref().filter(|own| own.number == number)?;
            Some((task.session.clone(), own.item.clone()))
        };
        if let Some((session, item)) = self.tasks.iter().find_map(own) {
            return self.effect(ConsoleEffect::Send(session, Command::Stop { item }));
        }
        match self.tasks.iter_mut().find(|task| task.number == number) {
            Some(task) if task.is_idle() => self.say(&format!("{} does not run", name_task(number))),
            // A prompt that was queued for its end comes back into the draft.
            Some(_) if number == SHOWN => self.interrupt(),
            Some(task) => {
                let (session, interrupt) = (task.session.clone(), task.interrupt());
                let dropped: Vec<String> = task.queue.drain(..).collect();
                self.effect(ConsoleEffect::Send(session, interrupt));
                for prompt in dropped {
                    let line = prompt.lines().next().unwrap_or_default();
                    self.say(&format!(
                        "the prompt that waited for {} was not sent: {line}",
                        name_task(number)
                    ));
                }
            }
            None => self.complain(&format!("there is no task {number}; /ps lists them")),
        }
    }

    fn time_out(&mut self, seconds: u64, task: &str) {
        let running: Vec<usize> =
            self.tasks.iter().filter(|task| !task.is_idle()).map(|task| task.number).collect();
        let number = match (task.parse::<usize>(), running.as_slice()) {
            (Ok(number), _) => number,
            (Err(_), [one]) => *one,
            (Err(_), []) => return self.complain("no task runs"),
            (Err(_), _) => return self.complain("Several tasks run. Name one; /ps lists them"),
        };
        let now = self.now;
        let Some(task) = self.tasks.iter_mut().find(|task| task.number == number && !task.is_idle()) else {
            return self.complain(&format!("{} does not run", name_task(number)));
        };
        task.deadline = now.checked_add(Duration::from_secs(seconds));
        task.is_stopped = false;
        self.say(&format!(
            "{} ends in {}",
            name_task(number),
            describe_elapsed(Duration::from_secs(seconds))
        ));
    }

    fn show_tasks(&mut self) {
        let now = self.now;
        let mut lines = Vec::new();
        for task in self.tasks.iter().filter(|task| !task.is_idle()) {
            let left = |deadline: Instant| {
                format!(", {} left", describe_elapsed(deadline.saturating_duration_since(now)))
            };
            let what = if task.prompt.is_empty() { "this conversation" } else { &task.prompt };
            let what = what.lines().next().unwrap_or_default();
            let time = describe_elapsed(task.elapsed(now).unwrap_or_default());
            lines.push(format!(
                "task {}  {time}{}  {what}",
                task.number,
                task.deadline.map(left).unwrap_or_default()
            ));
        }
        for task in &self.tasks {
            if let (Some(own), Some(item)) = (&task.own_aside, task.reader.own_command())
                && let Content::UserMessage { ran: Some(ran), .. } = &item.content
            {
                let time = describe_elapsed(task.reader.ran(&item.id, now));
                lines.push(format!("task {}  {time}  !{}", own.number, folded_command(&ran.command)));
            }
        }
        let (room, mark) = (self.text_width(), self.look.sign("…", "~"));
        let lines: Vec<String> =
            lines.iter().map(|line| StyledLine::plain(line).cut(room, mark).text()).collect();
        self.say_plain(&lines.join("\n"));
        let empty = if lines.is_empty() { "No task or process runs." } else { "" };
        self.errand(Errand::Run(DeskCommand::Processes(empty)));
    }

    fn show_status(&mut self) {
        let front = self.front();
        let transcript = front.reader.transcript();
        let text = overview::describe_status(
            &front.session,
            transcript,
            &front.before_copy,
            &self.surroundings,
            self.approvals(),
        );
        self.say_plain(&text);
    }

    fn show_context(&mut self) {
        let front = self.front();
        let text =
            overview::describe_context(front.reader.transcript(), &front.before_copy, &self.surroundings);
        self.say_plain(&text);
    }

    fn show_cost(&mut self) {
        let text = overview::describe_cost(self.front().reader.transcript());
        self.say_plain(&text);
    }

    fn copy(&mut self) {
        match overview::find_last_answer(self.front().reader.transcript()).map(str::to_owned) {
            Some(text) => self.effect(ConsoleEffect::Copy(text)),
            None => self.say("There is no answer yet."),
        }
    }
}
