//! Commands that begin with `/`: for buddy and not for the agent. Every conversation reads them here, so that a line means the
//! same on a screen and line by line.

use std::fmt::Write;

use buddy_protocol::{Change, Command, SessionId};

use crate::amounts::read_seconds;
use crate::changes::{read_approvals, set_panes, set_plan};
use crate::console::{CustomCommand, DeskCommand};
use crate::requests::{INIT, ask_for_review};
use crate::targets::{self, TargetWishLine};

/// Columns of a command with its arguments in the list of all.
const NAME_COLUMNS: usize = 34;

/// A command: its name, other names, what follows it, and what it does.
#[derive(Clone, Copy)]
pub(crate) struct SlashEntry {
    pub(crate) name: &'static str,
    pub(crate) others: &'static [&'static str],
    pub(crate) arguments: &'static str,
    pub(crate) note: &'static str,
    /// Whether it has to wait for the end of a turn.
    pub(crate) is_for_idle: bool,
    /// Reads what follows the name. The error says what may.
    read: fn(&str) -> Result<SlashCommand, String>,
}

/// The wish of a line that begins with `/`.
#[derive(Debug, PartialEq)]
pub(crate) enum SlashCommand {
    /// One of these for the session.
    Send(Command),
    /// One of these that the desk carries out.
    Desk(DeskCommand),
    /// A prompt that the command stands for.
    Prompt(String),
    ShowHelp,
    ShowStatus,
    ShowContext,
    ShowCost,
    ShowKeymap,
    ListModels,
    FindModel(String),
    /// To see the approval modes.
    ListApprovals,
    /// To see how to attach to the shared terminal.
    ShowPane,
    ListTargets,
    ListTasks,
    /// To end a task or a process, by its id.
    Kill(String),
    /// To end a task after so many seconds; the one that runs if the name is empty.
    TimeOut {
        seconds: u64,
        task: String,
    },
    ListSessions,
    SearchSessions(String),
    Resume(SessionId),
    ResumeLast,
    /// By its number in a list that was printed.
    ResumeListed(usize),
    New,
    Fork,
    /// To go back before a prompt; to see the prompts if the number is empty.
    Rewind(String),
    ChooseTheme(String),
    Copy,
    LogIn(Option<String>),
    Quit,
}

/// All commands, in the order in which help lists them.
pub(crate) const SLASH_COMMANDS: &[SlashEntry] = &[
    entry("help", &[], "", "Show commands and keys", |_| Ok(SlashCommand::ShowHelp)),
    entry("status", &[], "", "Show the session, its model and running work", |_| {
        Ok(SlashCommand::ShowStatus)
    }),
    entry("context", &[], "", "Show how full the context is", |_| Ok(SlashCommand::ShowContext)),
    entry("cost", &["usage"], "", "Show tokens and cost of this session", |_| Ok(SlashCommand::ShowCost)),
    entry("model", &[], "[NAME|NUMBER]", "Choose the model", |wish| {
        Ok(given(wish).map_or(SlashCommand::ListModels, SlashCommand::FindModel))
    }),
    entry(
        "approve",
        &["permissions"],
        "auto|ask|edits|all|none|TIME",
        "Choose when buddy asks for approval",
        read_approve,
    ),
    entry("plan", &[], "[on|off]", "Read and plan only, change nothing", read_plan),
    entry("trust", &[], "[off]", "Trust this folder: allow changes and use its settings", |wish| {
        Ok(SlashCommand::Desk(DeskCommand::Trust(wish.to_owned())))
    }),
    idle(entry("compact", &[], "", "Summarise the conversation to free context", |_| {
        Ok(SlashCommand::Send(Command::Compact))
    })),
    entry("ps", &[], "", "List running tasks and processes", |_| Ok(SlashCommand::ListTasks)),
    entry("kill", &["stop"], "ID", "End a task or a process", |id| {
        let id = given(id).ok_or("Name a task or a process: /kill ID. /ps lists them")?;
        Ok(SlashCommand::Kill(id))
    }),
    entry("timeout", &[], "DURATION [ID]", "End a task after a time", read_timeout),
    entry(
        "session",
        &["sessions"],
        "[search|resume|new ...]",
        "List, search and open other conversations",
        read_session,
    ),
    entry("resume", &[], "[ID|last]", "Resume another conversation", read_resume),
    entry("new", &["clear"], "", "Start a new conversation", |_| Ok(SlashCommand::New)),
    entry("fork", &["branch"], "", "Continue in a copy of the conversation", |_| Ok(SlashCommand::Fork)),
    idle(entry("rewind", &[], "", "Go back before a prompt (also esc esc)", |number| {
        Ok(SlashCommand::Rewind(number.to_owned()))
    })),
    entry("rename", &[], "TITLE", "Give the conversation a title", |title| {
        let title = given(title).ok_or("Give a title: /rename TITLE.")?;
        Ok(SlashCommand::Send(Command::Change(Change { title: Some(title), ..Change::default() })))
    }),
    entry("pane", &[], "[take|give]", "Attach to the shared terminal, or take it for yourself", read_pane),
    entry("target", &[], "[add|use|remove ...]", "List and change the hosts of this session", read_target),
    entry("diff", &[], "", "Show what changed in the repository", |_| {
        Ok(SlashCommand::Desk(DeskCommand::Diff))
    }),
    idle(entry("undo", &[], "[ID] [--force]", "Undo the last change of files", |id| {
        Ok(SlashCommand::Desk(DeskCommand::Undo(given(id))))
    })),
    idle(entry("redo", &[], "[--force]", "Take back the last undo", |flags| {
        Ok(SlashCommand::Desk(DeskCommand::Redo(given(flags))))
    })),
    entry("copy", &[], "", "Copy the last answer to the clipboard", |_| Ok(SlashCommand::Copy)),
    entry("export", &[], "[FILE] [--force]", "Write the conversation to a file (.md or .json)", |file| {
        Ok(SlashCommand::Desk(DeskCommand::Export(given(file))))
    }),
    idle(entry("init", &[], "", "Have buddy write AGENTS.md for this project", |_| {
        Ok(SlashCommand::Prompt(INIT.to_owned()))
    })),
    idle(entry("review", &[], "[WHAT]", "Have buddy review changes [default: uncommitted]", |what| {
        Ok(SlashCommand::Prompt(ask_for_review(what)))
    })),
    entry("theme", &[], "[NAME]", "Choose the colours", |name| {
        Ok(SlashCommand::ChooseTheme(name.to_owned()))
    }),
    entry("keymap", &["keys"], "", "Show which key does what", |_| Ok(SlashCommand::ShowKeymap)),
    entry("config", &[], "[set KEY VALUE|unset KEY]", "Show or change settings", |line| {
        Ok(SlashCommand::Desk(DeskCommand::Config(line.to_owned())))
    }),
    idle(entry("login", &[], "[PROFILE]", "Connect a model: paste a key, or log in", |profile| {
        Ok(SlashCommand::LogIn(given(profile)))
    })),
    entry("logout", &[], "[PROFILE]", "Forget a login or a key", |profile| {
        Ok(SlashCommand::Desk(DeskCommand::LogOut(given(profile))))
    }),
    entry("doctor", &[], "", "Check that everything works", |_| Ok(SlashCommand::Desk(DeskCommand::Doctor))),
    entry("quit", &["exit", "q"], "", "Leave; you can resume the conversation later", |_| {
        Ok(SlashCommand::Quit)
    }),
];

const fn entry(
    name: &'static str,
    others: &'static [&'static str],
    arguments: &'static str,
    note: &'static str,
    read: fn(&str) -> Result<SlashCommand, String>,
) -> SlashEntry {
    SlashEntry { name, others, arguments, note, is_for_idle: false, read }
}

/// A command that makes no sense while a turn runs.
const fn idle(entry: SlashEntry) -> SlashEntry {
    SlashEntry { is_for_idle: true, ..entry }
}

/// A line that begins with `/`.
pub(crate) enum SlashLine<'a> {
    /// A command of buddy's own, with what follows its name.
    Own(&'static SlashEntry, &'a str),
    /// The prompt of a command of the user's own.
    Custom(String),
    /// A name that no command has.
    Unknown(&'a str),
}

impl SlashEntry {
    /// The wish of what follows the name. The error says what may.
    pub(crate) fn read(&self, arguments: &str) -> Result<SlashCommand, String> {
        (self.read)(arguments)
    }
}

/// Finds the command that a line names.
pub(crate) fn read_slash_line<'a>(line: &'a str, custom: &[CustomCommand]) -> SlashLine<'a> {
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let (name, arguments) = (name.trim_start_matches('/'), arguments.trim());
    if let Some(entry) = find_slash_entry(name) {
        return SlashLine::Own(entry, arguments);
    }
    let own = custom.iter().find(|command| command.name == name);
    own.map_or(SlashLine::Unknown(name), |command| SlashLine::Custom(command.prompt(arguments)))
}

/// The command that has this name.
pub(crate) fn find_slash_entry(name: &str) -> Option<&'static SlashEntry> {
    SLASH_COMMANDS.iter().find(|entry| entry.name == name || entry.others.contains(&name))
}

/// Whether a text is a command. One that begins with a path is not.
pub(crate) fn is_slash_command(text: &str) -> bool {
    let name = text.split_whitespace().next().unwrap_or_default();
    name.strip_prefix('/').is_some_and(|name| !name.contains('/'))
}

/// The commands that there are, one a line: those of buddy's own that are wanted, and those of the user's.
pub(crate) fn list_slash_commands(custom: &[CustomCommand], is_wanted: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    for entry in SLASH_COMMANDS.iter().filter(|entry| is_wanted(entry.name)) {
        let name = format!("/{} {}", entry.name, entry.arguments);
        let others: Vec<String> = entry.others.iter().map(|other| format!("/{other}")).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (also {})", others.join(", ")) };
        // A longer name has the row for itself.
        let name = name.trim_end();
        let gap = if name.chars().count() > NAME_COLUMNS { "\n" } else { "" };
        let rest = if gap.is_empty() { name.chars().count() } else { 0 };
        let _ = writeln!(text, "{name}{gap}{:1$} {2}{others}", "", NAME_COLUMNS - rest, entry.note);
    }
    for command in custom {
        let _ = writeln!(text, "{:<NAME_COLUMNS$} {}", format!("/{}", command.name), command.note);
    }
    text
}

fn given(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn read_approve(wish: &str) -> Result<SlashCommand, String> {
    if wish.is_empty() {
        Ok(SlashCommand::ListApprovals)
    } else {
        read_approvals(wish).map(SlashCommand::Send)
    }
}

fn read_plan(wish: &str) -> Result<SlashCommand, String> {
    match wish {
        "" | "on" => Ok(SlashCommand::Send(set_plan(true))),
        "off" => Ok(SlashCommand::Send(set_plan(false))),
        _ => Err("Use /plan on or /plan off.".to_owned()),
    }
}

fn read_timeout(line: &str) -> Result<SlashCommand, String> {
    let (time, task) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let seconds = read_seconds(time).ok_or("Give a time, such as /timeout 10m, and a task if several run")?;
    Ok(SlashCommand::TimeOut { seconds, task: task.trim().to_owned() })
}

fn read_session(line: &str) -> Result<SlashCommand, String> {
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match (verb, rest.trim()) {
        ("" | "list", "") => Ok(SlashCommand::ListSessions),
        ("search", words) if !words.is_empty() => Ok(SlashCommand::SearchSessions(words.to_owned())),
        ("resume", id) => read_resume(id),
        ("new", "") => Ok(SlashCommand::New),
        _ => Err("Use /session, /session search WORDS, /session resume ID|last or /session new.".to_owned()),
    }
}

fn read_resume(id: &str) -> Result<SlashCommand, String> {
    match id {
        "" => Ok(SlashCommand::ListSessions),
        "last" => Ok(SlashCommand::ResumeLast),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            number.parse().map(SlashCommand::ResumeListed).map_err(|error| format!("`{number}`: {error}"))
        }
        id => id.parse().map(SlashCommand::Resume).map_err(|error| format!("{error}; /session lists them")),
    }
}

fn read_pane(wish: &str) -> Result<SlashCommand, String> {
    match wish {
        "" => Ok(SlashCommand::ShowPane),
        "take" => Ok(SlashCommand::Send(set_panes(true))),
        "give" => Ok(SlashCommand::Send(set_panes(false))),
        _ => Err("Use /pane, /pane take or /pane give.".to_owned()),
    }
}

fn read_target(line: &str) -> Result<SlashCommand, String> {
    match targets::read_target_line(line) {
        TargetWishLine::List => Ok(SlashCommand::ListTargets),
        TargetWishLine::Send(command) => Ok(SlashCommand::Send(command)),
        TargetWishLine::Help(help) => Err(help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<SlashCommand, String> {
        match read_slash_line(line, &[]) {
            SlashLine::Own(entry, arguments) => entry.read(arguments),
            SlashLine::Custom(_) | SlashLine::Unknown(_) => panic!("{line}"),
        }
    }

    #[test]
    fn a_line_is_read_into_what_it_asks_for() {
        assert_eq!(read("/plan"), Ok(SlashCommand::Send(set_plan(true))));
        assert_eq!(read("/branch"), Ok(SlashCommand::Fork));
        assert_eq!(read("/session search two words"), Ok(SlashCommand::SearchSessions("two words".into())));
        assert_eq!(read("/resume last"), Ok(SlashCommand::ResumeLast));
        assert_eq!(read("/timeout 2m 1"), Ok(SlashCommand::TimeOut { seconds: 120, task: "1".into() }));
        assert_eq!(read("/undo"), Ok(SlashCommand::Desk(DeskCommand::Undo(None))));
        for bad in ["/plan maybe", "/rename", "/kill", "/timeout soon", "/session close", "/resume nobody"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_of_one_command_each() {
        let mut names: Vec<&str> = SLASH_COMMANDS
            .iter()
            .flat_map(|entry| [entry.name].into_iter().chain(entry.others.iter().copied()))
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_path_is_no_command_and_a_users_own_comes_last() {
        assert!(is_slash_command("/help me") && !is_slash_command("/etc/hosts") && !is_slash_command("help"));
        let custom = CustomCommand { name: "help".into(), note: String::new(), text: "x".into() };
        assert!(matches!(read_slash_line("/help", &[custom]), SlashLine::Own(..)));
        assert!(matches!(read_slash_line("/nonsense", &[]), SlashLine::Unknown("nonsense")));
    }
}
