//! The briefing of a model before the conversation: the system prompt and the tools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use buddy_calls::{Attached, Gate, Means, ProjectFile, Slot, Standing, Targets, ToolSet, registry};
use buddy_model::{EditTools, ModelFacts, ModelFamily, ToolDefinition, ToolRange};
use buddy_policy::{Attendance, CallClass, Mode, Verdict};
use buddy_protocol::SessionTarget;

use crate::agent_settings::AgentSettings;
use crate::prompt::{SystemPrompt, TargetLine};

/// Characters of what a host says about itself.
const SAID_CHARS: usize = 200;

/// Characters of each file of a project that a model with a tiny window is told.
const TINY_PROJECT: usize = 1_000;

/// Up to this many tokens a context window counts as small: all tools would fill most of it.
const SMALL_WINDOW: u64 = 16_384;
/// Up to this many it counts as tiny: only a few tools leave room for a conversation.
const TINY_WINDOW: u64 = 8_192;

/// The room for tools and instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Room {
    Full,
    Small,
    Tiny,
}

/// Whether a model has room for a few facts about its environment only.
pub(crate) fn is_brief(facts: &ModelFacts) -> bool {
    Room::of(facts) == Room::Tiny
}

impl Room {
    fn of(facts: &ModelFacts) -> Self {
        match facts.context_window {
            Some(..=TINY_WINDOW) => Self::Tiny,
            Some(..=SMALL_WINDOW) => Self::Small,
            _ if facts.family.tools == ToolRange::Core => Self::Small,
            _ => Self::Full,
        }
    }

    /// The tools that a model with this room is not offered, beside those that are off.
    pub(crate) fn off(self, tools: &ToolSet, off: &[String], edit: EditTools) -> Vec<String> {
        let mut off = match self {
            Self::Full => off.to_vec(),
            Self::Small => registry::off_when_small(off),
            Self::Tiny => registry::off_when_tiny(tools, off),
        };
        off.extend(other_edit_tools(edit, self == Self::Tiny));
        off
    }
}

/// The edit tools that a model of a family is not offered. A call of one is taken all the same. The few tools of a tiny window
/// have `edit_file` for everybody.
fn other_edit_tools(edit: EditTools, is_tiny: bool) -> Option<String> {
    let other = match edit {
        EditTools::Patch if !is_tiny => registry::REPLACE_TOOL,
        EditTools::Replace => registry::PATCH_TOOL,
        EditTools::Patch | EditTools::Both => return None,
    };
    Some(other.to_owned())
}

/// The system prompt and the tools of a model.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) system: String,
    pub(crate) tools: Vec<ToolDefinition>,
}

/// The system prompts and tools for models that work on some targets. Each model has its offer by the size of its window and by its family; the same model
/// always has the same one.
pub(crate) struct Briefing {
    settings: Arc<AgentSettings>,
    tools: Arc<ToolSet>,
    /// Instructions of the session, after those of the user.
    instructions: Option<String>,
    slots: Vec<Slot>,
    off: Vec<String>,
    /// Whether processes that outlive their call are not denied on one of the targets.
    runs_on: bool,
    /// Whether hosts that the user neither named nor allowed are denied on all targets.
    only_known_hosts: bool,
    /// Whether the network is off on all targets.
    is_offline: bool,
    made: Mutex<HashMap<(Room, String), Arc<Offer>>>,
}

impl Briefing {
    /// The text about these targets for the model. Tools that the gate denies on all of them are not offered.
    pub(crate) fn new(
        settings: &Arc<AgentSettings>,
        tools: Arc<ToolSet>,
        instructions: Option<String>,
        targets: &Targets,
        gate: &Gate,
    ) -> Self {
        let slots = targets.all();
        let (settings, mut off) = (settings.clone(), registry::tools_off(&settings.calls, targets));
        let attached = slots.iter().filter_map(Slot::attached);
        let standing: Vec<Standing> = attached.filter_map(|attached| standing(gate, attached)).collect();
        let has_some =
            |is_open: &dyn Fn(&Standing) -> bool| standing.is_empty() || standing.iter().any(is_open);
        // A user who is there can change what is denied.
        let runs_on = settings.calls.attendance == Attendance::Somebody
            || has_some(&|standing| standing.verdict(CallClass::Background) != Verdict::Deny);
        if !runs_on {
            off.push("process_start".to_owned());
        }
        if settings.calls.attendance == Attendance::Nobody {
            let is_denied = |class| !has_some(&|standing| standing.verdict(class) != Verdict::Deny);
            off.extend(is_denied(CallClass::Publishing).then(|| "git_push".to_owned()));
            if is_denied(CallClass::Typing) {
                off.extend(registry::pane_tools().filter(|name| name != "tmux_capture_pane"));
            }
        }
        let only_known_hosts = !standing.is_empty()
            && standing.iter().all(|standing| standing.verdict(CallClass::Hosts) == Verdict::Deny);
        let is_offline = !has_some(&|standing| !standing.policy.is_offline);
        if is_offline {
            off.extend(registry::WEB.iter().map(ToString::to_string));
        }
        Self {
            settings,
            tools,
            instructions,
            slots,
            off,
            runs_on,
            only_known_hosts,
            is_offline,
            made: Mutex::default(),
        }
    }

    /// The same session with other tools or targets.
    pub(crate) fn again(&self, tools: Arc<ToolSet>, targets: &Targets, gate: &Gate) -> Self {
        Self::new(&self.settings, tools, self.instructions.clone(), targets, gate)
    }

    /// The offer for a model with these facts.
    pub(crate) fn offer(&self, facts: &ModelFacts) -> Result<Arc<Offer>, String> {
        let room = Room::of(facts);
        let key = (room, facts.family.name.clone());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(offer) = made.get(&key) {
            return Ok(offer.clone());
        }
        let project = if room == Room::Tiny { TINY_PROJECT } else { usize::MAX };
        let mut off = room.off(&self.tools, &self.off, facts.family.edit);
        if self.settings.calls.attendance == Attendance::Nobody {
            off.push("ask_user".to_owned());
        }
        let offer = Arc::new(self.make(&off, project, &facts.family)?);
        made.insert(key, offer.clone());
        Ok(offer)
    }
}

impl Briefing {
    fn make(&self, off: &[String], project_chars: usize, family: &ModelFamily) -> Result<Offer, String> {
        let Self { settings, slots, runs_on, only_known_hosts, is_offline, .. } = self;
        let attached = || slots.iter().filter_map(Slot::attached);
        let default = slots.first().and_then(Slot::attached);
        let is_here = default.is_some_and(|default| !default.host.is_remote);
        let jail = is_here && default.is_some_and(is_development);
        let means = Means {
            runs_on: *runs_on,
            headless: settings.calls.attendance == Attendance::Nobody,
            jail,
            only_known_hosts: *only_known_hosts,
            throwaway: attached().any(|attached| attached.host.policy.is_throwaway()),
            remote: attached().any(|attached| attached.host.is_remote),
            ..Means::of(attached().map(|attached| &*attached.host.target))
        };
        let names: Vec<String> = slots.iter().map(|slot| slot.spec().name.clone()).collect();
        let tools = self.tools.definitions(off, means, &names);
        let is_alone = slots.len() == 1;
        let remote = default.filter(|default| is_alone && default.host.is_remote);
        let remote = remote.map(|remote| format!("{} ({})", place(&remote.spec), remote.spec.name));
        let project = default.map(|default| default.host.project.as_slice()).unwrap_or_default();
        let project: Vec<ProjectFile> = project.iter().map(|file| shortened(file, project_chars)).collect();
        let said = [settings.instructions.as_deref(), self.instructions.as_deref()];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        let instructions = (!said.is_empty()).then(|| said.join("\n\n"));
        let system = SystemPrompt {
            name: &settings.name,
            tools: tools.iter().map(|tool| tool.name.clone()).collect(),
            headless: settings.calls.attendance == Attendance::Nobody,
            parallel: family.parallel,
            advice: &family.advice,
            jail,
            background: means.managed || means.panes,
            panes: means.panes,
            offline: *is_offline,
            unconfined: is_here && !jail,
            is_asked_there: default.is_some_and(|default| default.host.is_remote && is_development(default)),
            remote: remote.as_deref(),
            targets: if is_alone { Vec::new() } else { slots.iter().map(line).collect() },
            instructions: instructions.as_deref(),
            project: &project,
        };
        let system = system.render().map_err(|error| format!("the system prompt: {error}"))?;
        Ok(Offer { system, tools })
    }
}

/// The rules that hold on a target, without those of plan mode.
fn standing(gate: &Gate, attached: &Attached) -> Option<Standing> {
    gate.standing_unplanned(attached.ground()).ok()
}

/// Whether commands on a target are held to the workspace, as far as something there can hold them.
fn is_development(attached: &Arc<Attached>) -> bool {
    let policy = attached.policy();
    policy.is_ok_and(|policy| policy.mode == Mode::Development)
}

/// A file of a project with at most so many characters of it.
fn shortened(file: &ProjectFile, chars: usize) -> ProjectFile {
    let head: String = file.text.chars().take(chars).collect();
    let is_whole = head.len() == file.text.len();
    let text = if is_whole {
        head
    } else {
        format!("{head}…\n(The rest is left out, as the context window is small.)")
    };
    ProjectFile { path: file.path.clone(), text }
}

/// One target in the list of them.
fn line(slot: &Slot) -> TargetLine {
    let spec = slot.spec();
    let about = match slot.attached() {
        Some(attached) => {
            let described = attached.host.target.describe();
            let place = if attached.host.is_remote {
                format!("{}, another machine without a jail", place(spec))
            } else {
                format!("{}, this machine", place(spec))
            };
            format!("{place}; {}; shell {}; working directory {}", described.os, described.shell, spec.cwd)
        }
        None => "it cannot be used at the moment".to_owned(),
    };
    TargetLine { name: one_line(&spec.name), about: one_line(&about) }
}

/// Who and where.
pub(crate) fn place(spec: &SessionTarget) -> String {
    spec.place.clone().unwrap_or_else(|| spec.name.clone())
}

/// The words of a host about itself have no say in the form of the prompt.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    words.join(" ").chars().take(SAID_CHARS).collect()
}
