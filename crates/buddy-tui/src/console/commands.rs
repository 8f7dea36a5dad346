//! Commands that begin with `/`: for buddy and not for the agent.

use std::time::{Duration, Instant};

use buddy_protocol::{Change, Command, Content, folded_command};

use super::custom::CustomCommand;
use super::desk::DeskCommand;
use super::effect::Effect;
use super::picker::Picker;
use super::state::Console;
use super::tasks::{MAX_QUEUED, SHOWN, Task, task_name};
use crate::amounts::{elapsed_text, seconds};
use crate::branches::Another;
use crate::changes;
use crate::editor::Choice;
use crate::overview;
use crate::requests::{INIT, review};
use crate::targets::{self, TargetLine};
use crate::text::{Line, to_copy};

/// A command: its name, other names, what follows it, and what it does.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) others: &'static [&'static str],
    pub(super) arguments: &'static str,
    pub(super) note: &'static str,
    /// Whether it has to wait for the end of a turn.
    is_for_idle: bool,
    run: fn(&mut Console, &str),
}

/// All commands, in the order in which help lists them.
pub(super) const ALL: &[Entry] = &[
    entry("help", &[], "", "Show commands and keys", |console, _| console.show_help()),
    entry("status", &[], "", "Show the session, its model and running work", |console, _| {
        console.show_status();
    }),
    entry("context", &[], "", "Show how full the context is", |console, _| console.show_context()),
    entry("cost", &["usage"], "", "Show tokens and cost of this session", |console, _| console.show_cost()),
    entry("model", &[], "[NAME|NUMBER]", "Choose the model", Console::choose_model),
    entry(
        "approve",
        &["permissions"],
        "auto|ask|edits|all|none|TIME",
        "Choose when buddy asks for approval",
        Console::approve,
    ),
    entry("plan", &[], "[on|off]", "Read and plan only, change nothing", Console::plan_mode),
    entry("trust", &[], "[off]", "Trust this folder: allow changes and use its settings", |console, wish| {
        console.desk("trust", wish);
    }),
    idle(entry("compact", &[], "", "Summarise the conversation to free context", |console, _| {
        console.send(Command::Compact);
    })),
    entry("ps", &[], "", "List running tasks and processes", |console, _| console.show_tasks()),
    entry("kill", &["stop"], "ID", "End a task or a process", Console::kill),
    entry("timeout", &[], "DURATION [ID]", "End a task after a time", Console::time_out),
    entry(
        "session",
        &["sessions"],
        "[search|resume|new ...]",
        "List, search and open other conversations",
        Console::session,
    ),
    entry("resume", &[], "[ID|last]", "Resume another conversation", Console::resume),
    entry("new", &["clear"], "", "Start a new conversation", |console, _| console.start_anew()),
    entry("fork", &["branch"], "", "Continue in a copy of the conversation", |console, _| console.fork()),
    idle(entry("rewind", &[], "", "Go back before a prompt (also esc esc)", |console, _| console.rewind())),
    entry("rename", &[], "TITLE", "Give the conversation a title", Console::rename),
    entry(
        "pane",
        &[],
        "[take|give]",
        "Attach to the shared terminal, or take it for yourself",
        Console::pane,
    ),
    entry(
        "target",
        &[],
        "[add|use|remove ...]",
        "List and change the hosts of this session",
        Console::target_line,
    ),
    entry("diff", &[], "", "Show what changed in the repository", |console, _| console.desk("diff", "")),
    idle(entry("undo", &[], "[ID] [--force]", "Undo the last change of files", |console, id| {
        console.desk("undo", id);
    })),
    idle(entry("redo", &[], "[--force]", "Take back the last undo", |console, line| {
        console.desk("redo", line);
    })),
    entry("copy", &[], "", "Copy the last answer to the clipboard", |console, _| console.copy()),
    entry(
        "export",
        &[],
        "[FILE] [--force]",
        "Write the conversation to a file (.md or .json)",
        |console, file| {
            console.desk("export", file);
        },
    ),
    idle(entry("init", &[], "", "Have buddy write AGENTS.md for this project", |console, _| {
        console.prompt(INIT);
    })),
    idle(entry(
        "review",
        &[],
        "[WHAT]",
        "Have buddy review changes [default: uncommitted]",
        |console, what| console.prompt(&review(what)),
    )),
    entry("theme", &[], "[NAME]", "Choose the colours", Console::choose_theme),
    entry("keymap", &["keys"], "", "Show which key does what", |console, _| console.show_keymap()),
    entry("config", &[], "[set KEY VALUE|unset KEY]", "Show or change settings", |console, line| {
        console.desk("config", line);
    }),
    idle(entry("login", &[], "[PROFILE]", "Connect a model: paste a key, or log in", |console, profile| {
        console.effect(Effect::LogIn(some(profile)));
    })),
    entry("logout", &[], "[PROFILE]", "Forget a login or a key", |console, profile| {
        console.desk("logout", profile);
    }),
    entry("doctor", &[], "", "Check that everything works", |console, _| {
        console.desk("doctor", "");
    }),
    entry("quit", &["exit", "q"], "", "Leave; you can resume the conversation later", |console, _| {
        console.leave();
    }),
];

const fn entry(
    name: &'static str,
    others: &'static [&'static str],
    arguments: &'static str,
    note: &'static str,
    run: fn(&mut Console, &str),
) -> Entry {
    Entry { name, others, arguments, note, is_for_idle: false, run }
}

/// A command that makes no sense while a turn runs.
const fn idle(entry: Entry) -> Entry {
    Entry { is_for_idle: true, ..entry }
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// The commands as choices of a menu, with the other names that begin with a wish.
pub(super) fn choices(custom: &[CustomCommand], wish: &str) -> Vec<Choice> {
    let own = ALL.iter().map(|entry| Choice { name: entry.name.to_owned(), note: entry.note.to_owned() });
    let others = ALL.iter().flat_map(|entry| entry.others.iter().map(move |other| (entry, *other)));
    let others = others.filter(|(_, other)| !wish.is_empty() && other.starts_with(wish));
    let others = others.map(|(entry, other)| Choice {
        name: other.to_owned(),
        note: format!("the same as /{}: {}", entry.name, entry.note),
    });
    let custom = custom.iter().filter(|command| found(&command.name).is_none());
    let custom = custom.map(|command| Choice { name: command.name.clone(), note: command.note.clone() });
    own.chain(others).chain(custom).collect()
}

fn found(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name || entry.others.contains(&name))
}

/// The first name of the command that has this one.
pub(crate) fn canonical(name: &str) -> Option<&'static str> {
    found(name).map(|entry| entry.name)
}

/// Whether a command has to wait for the end of a turn.
pub(crate) fn is_for_idle(name: &str) -> bool {
    found(name).is_some_and(|entry| entry.is_for_idle)
}

/// Whether a text is a command. One that begins with a path is not.
pub(crate) fn is_command(text: &str) -> bool {
    let name = text.split_whitespace().next().unwrap_or_default();
    name.strip_prefix('/').is_some_and(|name| !name.contains('/'))
}

impl Console {
    /// Carries out a line that begins with `/`.
    pub(super) fn command(&mut self, line: &str) {
        let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = name.trim_start_matches('/');
        if self.waits_for_undo(line) {
            return;
        }
        let found = found(name);
        let custom = self.custom.iter().find(|command| command.name == name);
        match (found, custom.map(|command| command.prompt(arguments.trim()))) {
            (Some(entry), _) if entry.is_for_idle && !self.front().is_idle() => {
                self.command_later(line);
            }
            (Some(entry), _) => (entry.run)(self, arguments.trim()),
            (None, Some(prompt)) => self.say_to_agent(&prompt, Some(line)),
            (None, None) => self.complain(&format!("There is no command `/{name}`. /help lists them.")),
        }
    }

    /// Keeps a command for the end of the turn.
    fn command_later(&mut self, line: &str) {
        if self.front().queue.len() >= MAX_QUEUED {
            return self.complain(&format!("{MAX_QUEUED} lines wait already, so this one was dropped"));
        }
        self.front_mut().queue.push_back(line.to_owned());
        self.say("This runs when the turn has ended. Esc interrupts the turn.");
    }

    /// Has the desk carry out one of buddy's own commands.
    fn desk(&mut self, name: &str, argument: &str) {
        match DeskCommand::read(name, argument) {
            Some(command @ (DeskCommand::Undo(_) | DeskCommand::Redo(_))) => self.start_undo(command),
            Some(command) => self.effect(Effect::Run(command)),
            None => {}
        }
    }

    fn choose_model(&mut self, name: &str) {
        let effect = if name.is_empty() { Effect::ListModels } else { Effect::FindModel(name.to_owned()) };
        self.effect(effect);
    }

    fn choose_theme(&mut self, name: &str) {
        if name.is_empty() {
            self.picker = Some(Picker::themes(self.look.theme));
        } else {
            self.use_theme(name);
        }
    }

    pub(super) fn approve(&mut self, wish: &str) {
        if wish.is_empty() {
            self.picker = Some(Picker::approvals(self.approvals()));
            return;
        }
        match changes::approve(wish) {
            Ok(command) => self.send(command),
            Err(help) => self.complain(&help),
        }
    }

    fn plan_mode(&mut self, wish: &str) {
        let is_on = match wish {
            "" | "on" => true,
            "off" => false,
            _ => return self.complain("Use /plan on or /plan off."),
        };
        self.send(changes::plan(is_on));
    }

    fn pane(&mut self, wish: &str) {
        let is_taken = match wish {
            "take" => true,
            "give" => false,
            "" => return self.show_pane(),
            _ => return self.complain("Use /pane, /pane take or /pane give."),
        };
        self.send(changes::panes(is_taken));
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

    fn target_line(&mut self, line: &str) {
        match targets::read(line) {
            TargetLine::List => {
                let view = self.list_view();
                let table = targets::list(self.front().reader.transcript(), &view);
                self.show_table(&table, &view);
            }
            TargetLine::Send(command) => self.send(command),
            TargetLine::Help(text) => self.complain(&text),
        }
    }

    fn rename(&mut self, title: &str) {
        if title.is_empty() {
            return self.complain("Give a title: /rename TITLE.");
        }
        self.send(Command::Change(Change { title: Some(title.to_owned()), ..Change::default() }));
    }

    fn session(&mut self, line: &str) {
        let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (verb, rest.trim()) {
            ("" | "list", "") => self.effect(Effect::ListSessions),
            ("search", words) if !words.is_empty() => self.effect(Effect::Search(words.to_owned())),
            ("resume", id) => self.resume(id),
            ("new", "") => self.start_anew(),
            _ => {
                self.complain(
                    "Use /session, /session search WORDS, /session resume ID|last or /session new.",
                );
            }
        }
    }

    /// Another conversation that begins as this one is now.
    fn start_anew(&mut self) {
        if let Some(another) = Another::like(self.front().reader.transcript()) {
            self.effect(Effect::New(another));
        }
    }

    fn resume(&mut self, id: &str) {
        match id {
            "" => self.effect(Effect::ListSessions),
            "last" => self.effect(Effect::OpenLast),
            id => match id.parse() {
                Ok(session) => self.effect(Effect::Open(session)),
                Err(error) => self.complain(&format!("{error}; /session lists them")),
            },
        }
    }

    fn kill(&mut self, id: &str) {
        let Ok(number) = id.parse::<usize>() else {
            return match id {
                "" => self.complain("Name a task or a process: /kill ID. /ps lists them"),
                name => self.desk("kill", name),
            };
        };
        let own = |task: &Task| {
            let own = task.own_aside.as_ref().filter(|own| own.number == number)?;
            Some((task.session.clone(), own.item.clone()))
        };
        if let Some((session, item)) = self.tasks.iter().find_map(own) {
            return self.effect(Effect::Send(session, Command::Stop { item }));
        }
        match self.tasks.iter_mut().find(|task| task.number == number) {
            Some(task) if task.is_idle() => self.say(&format!("{} does not run", task_name(number))),
            // A prompt that was queued for its end comes back into the draft.
            Some(_) if number == SHOWN => self.interrupt(),
            Some(task) => {
                let (session, interrupt) = (task.session.clone(), task.interrupt());
                let dropped: Vec<String> = task.queue.drain(..).collect();
                self.effect(Effect::Send(session, interrupt));
                for prompt in dropped {
                    let line = prompt.lines().next().unwrap_or_default();
                    self.say(&format!(
                        "the prompt that waited for {} was not sent: {line}",
                        task_name(number)
                    ));
                }
            }
            None => self.complain(&format!("there is no task {number}; /ps lists them")),
        }
    }

    fn time_out(&mut self, line: &str) {
        let (time, id) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let Some(seconds) = seconds(time) else {
            return self.complain("Give a time, such as /timeout 10m, and a task if several run");
        };
        let running: Vec<usize> =
            self.tasks.iter().filter(|task| !task.is_idle()).map(|task| task.number).collect();
        let number = match (id.trim().parse::<usize>(), running.as_slice()) {
            (Ok(number), _) => number,
            (Err(_), [one]) => *one,
            (Err(_), []) => return self.complain("no task runs"),
            (Err(_), _) => return self.complain("Several tasks run. Name one; /ps lists them"),
        };
        let now = self.now;
        let Some(task) = self.tasks.iter_mut().find(|task| task.number == number && !task.is_idle()) else {
            return self.complain(&format!("{} does not run", task_name(number)));
        };
        task.deadline = now.checked_add(Duration::from_secs(seconds));
        task.is_stopped = false;
        self.say(&format!("{} ends in {}", task_name(number), elapsed_text(Duration::from_secs(seconds))));
    }

    fn show_tasks(&mut self) {
        let now = self.now;
        let mut lines = Vec::new();
        for task in self.tasks.iter().filter(|task| !task.is_idle()) {
            let left = |deadline: Instant| {
                format!(", {} left", elapsed_text(deadline.saturating_duration_since(now)))
            };
            let what = if task.prompt.is_empty() { "this conversation" } else { &task.prompt };
            let what = what.lines().next().unwrap_or_default();
            let time = elapsed_text(task.elapsed(now).unwrap_or_default());
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
                let time = elapsed_text(task.reader.ran(&item.id, now));
                lines.push(format!("task {}  {time}  !{}", own.number, folded_command(&ran.command)));
            }
        }
        let (room, mark) = (self.text_width(), self.look.sign("…", "~"));
        let lines: Vec<String> = lines.iter().map(|line| Line::plain(line).cut(room, mark).text()).collect();
        self.say_plain(&lines.join("\n"));
        let empty = if lines.is_empty() { "No task or process runs." } else { "" };
        self.effect(Effect::Run(DeskCommand::Processes(empty)));
    }

    fn show_status(&mut self) {
        let front = self.front();
        let transcript = front.reader.transcript();
        let text = overview::status(&front.session, transcript, &self.surroundings, self.approvals());
        self.say_plain(&text);
    }

    fn show_context(&mut self) {
        let text = overview::context(self.front().reader.transcript(), &self.surroundings);
        self.say_plain(&text);
    }

    fn show_cost(&mut self) {
        let text = overview::cost(self.front().reader.transcript());
        self.say_plain(&text);
    }

    fn copy(&mut self) {
        match overview::last_answer(self.front().reader.transcript()).map(str::to_owned) {
            Some(text) => self.effect(Effect::Copy(text)),
            None => self.say("There is no answer yet."),
        }
    }
}
