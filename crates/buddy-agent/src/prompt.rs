//! The system prompt, from one template and nothing that changes from call to call.

use buddy_calls::ProjectFile;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

/// The template. It holds no clock and no session, so that it stays byte for byte the same.
const TEMPLATE: &str = include_str!("system_prompt.md");

/// The parts of the system prompt. None of it changes while a session lasts.
#[derive(Debug, Clone, Default)]
pub(crate) struct SystemPrompt<'a> {
    /// The name of the agent.
    pub(crate) name: &'a str,
    /// The names of the tools.
    pub(crate) tools: Vec<String>,
    /// Whether nobody watches and nobody can answer.
    pub(crate) headless: bool,
    /// Whether the model is advised to make several calls in one answer.
    pub(crate) parallel: bool,
    /// Sentences for models of its family, one a line.
    pub(crate) advice: &'a str,
    /// Whether commands run in a jail.
    pub(crate) jail: bool,
    /// Whether commands that outlast their wait go on in the background.
    pub(crate) background: bool,
    /// Whether commands run in panes.
    pub(crate) panes: bool,
    /// Whether the network is off.
    pub(crate) offline: bool,
    /// Whether they run on this machine and nothing holds them.
    pub(crate) unconfined: bool,
    /// The other machine, when the session works on one.
    pub(crate) remote: Option<&'a str>,
    /// Whether the user is asked about every command there that does more than read.
    pub(crate) is_asked_there: bool,
    /// The targets, the default first, when there are several.
    pub(crate) targets: Vec<TargetLine>,
    /// Standing instructions of the user.
    pub(crate) instructions: Option<&'a str>,
    /// The instructions of the project, from its root down.
    pub(crate) project: &'a [ProjectFile],
}

/// A target as the model reads of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TargetLine {
    pub(crate) name: String,
    /// Where it is and what is there.
    pub(crate) about: String,
}

impl SystemPrompt<'_> {
    /// The text.
    pub(crate) fn render(&self) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        // It is text for a model and not a page: nothing is to be escaped, whatever a file is called.
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        let text = environment.render_str(
            TEMPLATE.trim(),
            context! {
                name => self.name,
                headless => self.headless,
                parallel => self.parallel,
                has_plan => self.has("update_plan"),
                has_ask_user => self.has("ask_user"),
                has_shell => self.has("run_shell"),
                can_change => self.has("run_shell") || self.can_write(),
                files => self.files(),
                background => self.background,
                panes => self.panes,
                offline => self.offline,
                edit => self.edit(),
                advice => self.advice.lines().map(str::to_owned).collect::<Vec<_>>(),
                jail => self.jail,
                unconfined => self.unconfined,
                remote => self.remote,
                is_asked_there => self.is_asked_there,
                targets => self.targets.iter().map(|target| context! {
                    name => target.name.as_str(),
                    about => target.about.as_str(),
                }).collect::<Vec<_>>(),
                instructions => self.instructions.map(str::trim).filter(|text| !text.is_empty()),
                project => self.project.iter().map(|file| context! {
                    path => file.path.as_str(),
                    text => file.text.as_str(),
                }).collect::<Vec<_>>(),
            },
        )?;
        Ok(text.trim().to_owned())
    }

    fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == tool)
    }

    fn can_write(&self) -> bool {
        ["write_file", "edit_file", "apply_patch"].iter().any(|tool| self.has(tool))
    }

    /// The uses of the file tools, in words; empty if there are none.
    fn files(&self) -> String {
        let uses =
            [("read", self.has("read_file")), ("search", self.has("grep")), ("change", self.can_write())];
        let there: Vec<&str> = uses.iter().filter(|(_, is_there)| *is_there).map(|(verb, _)| *verb).collect();
        match there.as_slice() {
            [verbs @ .., last] if !verbs.is_empty() => format!("{} and {last}", verbs.join(", ")),
            verbs => verbs.concat(),
        }
    }

    /// The way to change a file with the tools that there are.
    fn edit(&self) -> &'static str {
        match (self.has("apply_patch"), self.has("edit_file")) {
            (true, true) => {
                "Change existing files with `edit_file` or `apply_patch`; write whole files only when they are new or small."
            }
            (true, false) => {
                "Change existing files with `apply_patch`; write whole files only when they are new or small."
            }
            (false, true) => {
                "Change existing files with `edit_file`; write whole files only when they are new or small."
            }
            (false, false) => "Read a file before you write over it: what you leave out is gone.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::briefing::Room;
    use buddy_calls::{Means, registry};

    fn prompt<'a>() -> SystemPrompt<'a> {
        SystemPrompt {
            name: "buddy",
            tools: vec!["run_shell".to_owned(), "time".to_owned()],
            ..Default::default()
        }
    }

    #[test]
    fn what_is_not_there_leaves_no_trace() {
        let text = prompt().render().unwrap();
        assert!(text.starts_with("You are buddy,"), "{text}");
        assert!(text.contains("You have no file tools here") && !text.contains("read_file"), "{text}");
        for heading in ["# The jail", "# Another machine", "# Targets", "# Instructions", "{{", "{%"] {
            assert!(!text.contains(heading), "{heading}: {text}");
        }
        let blank = SystemPrompt { instructions: Some(" \n"), ..prompt() };
        assert_eq!(blank.render().unwrap(), text);
    }

    /// The place where commands run, as far as the prompt speaks of it.
    #[derive(Clone, Copy)]
    enum Place {
        Jail,
        Offline,
        /// A throwaway machine or production.
        Unconfined,
        Remote {
            is_asked_there: bool,
        },
    }

    /// Variants of a session: the name, whether nobody is there, whether commands run in panes, the room and the place.
    const VARIANTS: &[(&str, bool, bool, Room, Place)] = &[
        ("interactive", false, false, Room::Full, Place::Jail),
        ("headless", true, false, Room::Full, Place::Jail),
        ("16k", true, false, Room::Small, Place::Jail),
        ("8k", true, false, Room::Tiny, Place::Jail),
        ("tmux", false, true, Room::Full, Place::Jail),
        ("tmux-headless", true, true, Room::Full, Place::Jail),
        ("16k-interactive", false, false, Room::Small, Place::Jail),
        ("8k-interactive", false, false, Room::Tiny, Place::Jail),
        ("8k-tmux", false, true, Room::Tiny, Place::Jail),
        ("offline", false, false, Room::Full, Place::Offline),
        ("offline-headless", true, false, Room::Full, Place::Offline),
        ("offline-8k", true, false, Room::Tiny, Place::Offline),
        ("unconfined", false, false, Room::Full, Place::Unconfined),
        ("unconfined-headless", true, false, Room::Full, Place::Unconfined),
        ("unconfined-tmux", false, true, Room::Full, Place::Unconfined),
        ("unconfined-16k", true, false, Room::Small, Place::Unconfined),
        ("unconfined-8k", true, false, Room::Tiny, Place::Unconfined),
        ("remote", false, false, Room::Full, Place::Remote { is_asked_there: true }),
        ("remote-headless", true, false, Room::Full, Place::Remote { is_asked_there: true }),
        ("remote-8k", true, false, Room::Tiny, Place::Remote { is_asked_there: true }),
        ("remote-unasked", true, false, Room::Full, Place::Remote { is_asked_there: false }),
    ];
    /// The variants whose text is looked at for each family.
    const OF_EACH_FAMILY: &[&str] = &["interactive", "headless", "16k", "8k"];
    /// The variants that differ from those by a section which is the same for all families.
    const OF_ONE_FAMILY: &[&str] =
        &["tmux", "offline", "unconfined", "unconfined-headless", "remote", "remote-unasked"];

    /// The prompt of each family in each variant of a session, with the tools that the registry offers: its length is bounded.
    #[test]
    fn each_family_has_a_prompt_of_bounded_length() {
        let families = buddy_model::ModelFamilies::built_in().unwrap();
        for family in families.all() {
            for (variant, headless, panes, room, place) in VARIANTS.iter().copied() {
                let room = match room {
                    Room::Full if family.tools == buddy_model::ToolRange::Core => Room::Small,
                    room => room,
                };
                let jail = matches!(place, Place::Jail | Place::Offline);
                let is_remote = matches!(place, Place::Remote { .. });
                let means = Means {
                    panes,
                    managed: !is_remote,
                    terminals: true,
                    runs_on: !headless,
                    headless,
                    jail,
                    remote: is_remote,
                    ..Means::default()
                };
                let off = room.off(
                    &registry::built_in(),
                    &[headless.then(|| "ask_user".to_owned())].into_iter().flatten().collect::<Vec<_>>(),
                    family.edit,
                );
                let prompt = SystemPrompt {
                    name: "buddy",
                    tools: registry::built_in()
                        .definitions(&off, means, &[])
                        .into_iter()
                        .map(|tool| tool.name)
                        .collect(),
                    headless,
                    parallel: family.parallel,
                    advice: &family.advice,
                    jail,
                    background: means.managed || means.panes,
                    panes,
                    offline: matches!(place, Place::Offline),
                    unconfined: matches!(place, Place::Unconfined),
                    remote: is_remote.then_some("ann@atlas (ssh:atlas)"),
                    is_asked_there: matches!(place, Place::Remote { is_asked_there: true }),
                    ..Default::default()
                };
                let text = prompt.render().unwrap();
                let name = format!("{}-{variant}", family.name);
                check_budget(&name, &prompt, &text);
                if OF_EACH_FAMILY.contains(&variant)
                    || family.name == "gpt" && OF_ONE_FAMILY.contains(&variant)
                {
                    insta::assert_snapshot!(name, text);
                }
            }
        }
    }

    /// Checks the length of a prompt, also with a file of the project, whose words are the project's own.
    #[track_caller]
    fn check_budget(name: &str, prompt: &SystemPrompt<'_>, text: &str) {
        let file = ProjectFile { path: "AGENTS.md".to_owned(), text: String::new() };
        let instructed = SystemPrompt { project: &[file], ..prompt.clone() }.render().unwrap();
        for text in [text, &instructed] {
            let words = text.split_whitespace().count();
            assert!((700..=800).contains(&words), "{name}: {words} words");
        }
        let tokens = buddy_model::tokens::estimate(text);
        assert!(tokens <= 1_300, "{name}: {tokens} tokens");
        for tool in registry::names().into_iter().filter(|tool| !prompt.has(tool)) {
            assert!(!text.contains(&format!("`{tool}`")), "{name} names {tool}");
        }
    }

    #[test]
    fn without_a_shell_or_file_tools_nothing_speaks_of_them() {
        let with = |tools: &[&str]| {
            let tools = tools.iter().map(ToString::to_string).collect();
            SystemPrompt { tools, jail: true, background: true, ..prompt() }.render().unwrap()
        };
        let both = with(&["run_shell", "read_file", "edit_file"]);
        assert!(both.contains("Use file tools to read and change files, and the shell"), "{both}");
        assert!(both.contains("# The jail") && both.contains("`sleep 60`"), "{both}");
        let files = with(&["read_file", "edit_file", "grep"]);
        assert!(
            files.contains("You have no shell here. Use the file tools to read, search and change files.")
        );
        for words in ["# The jail", "`sleep 60`", "`wait`", "the shell for", "the narrowest check"] {
            assert!(!files.contains(words), "{words}: {files}");
        }
        let neither = with(&["web_search"]);
        for words in ["# Changing files", "# Checking", "file tools", "shell", "# The jail"] {
            assert!(!neither.contains(words), "{words}: {neither}");
        }
        assert!(neither.contains("# Git") && !neither.contains("\n\n\n"), "{neither}");
    }

    #[test]
    fn several_targets_are_listed_with_the_default() {
        let line = |name: &str, about: &str| TargetLine { name: name.to_owned(), about: about.to_owned() };
        let targets = vec![line("ssh:atlas", "ann@atlas; Linux 6.1"), line("local", "ann@home; Linux 6.2")];
        let text = SystemPrompt { targets, ..prompt() }.render().unwrap();
        assert!(
            text.contains("- `ssh:atlas` (the default): ann@atlas; Linux 6.1\n- `local`: ann@home"),
            "{text}"
        );
        assert!(text.starts_with(&prompt().render().unwrap()), "what is there always comes first");
    }

    #[test]
    fn instructions_stand_as_they_are_and_in_order() {
        let file = |path: &str, text: &str| ProjectFile { path: path.to_owned(), text: text.to_owned() };
        let project = [file("AGENTS.md", "Use <tabs> & {{ braces }}."), file("web/AGENTS.md", "Use spaces.")];
        let prompt = SystemPrompt {
            remote: Some("ann@atlas"),
            instructions: Some("Answer in French."),
            project: &project,
            ..prompt()
        };
        let text = prompt.render().unwrap();
        let places = ["ann@atlas", "Answer in French.", "Use <tabs> & {{ braces }}.", "Use spaces."]
            .map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));
        assert!(places.is_sorted(), "{places:?}");
        assert!(text.starts_with(&self::prompt().render().unwrap()), "what is there always comes first");
    }
}
