//! What a model is told before the conversation: the system prompt, the tools, and where it works.

use std::sync::Arc;

use buddy_policy::Mode;
use buddy_protocol::SessionTarget;

use crate::agent::AgentSettings;
use crate::models::{Offer, Offers};
use crate::prompt::{ProjectFile, SystemPrompt, TargetLine, environment};
use crate::targets::{Attached, Slot, Targets};
use crate::tools::{Means, registry};

/// Characters of what a host says about itself.
const SAID_CHARS: usize = 200;

/// Characters of each file of a project that a model with a tiny window is told.
const TINY_PROJECT: usize = 1_000;

/// What models are told.
pub(crate) struct Briefing {
    pub(crate) offers: Offers,
    pub(crate) environment: String,
}

impl Briefing {
    /// What they are told of these targets.
    pub(crate) fn new(settings: &AgentSettings, targets: &Targets) -> Result<Self, String> {
        let off = tools_off(settings, targets);
        let slots = targets.all();
        let offer = |off: &[String], project: usize| offer(settings, &slots, off, project);
        let offers = Offers {
            full: offer(&off, usize::MAX)?,
            small: offer(&registry::off_when_small(&off), usize::MAX)?,
            tiny: offer(&registry::off_when_tiny(&off), TINY_PROJECT)?,
        };
        let environment = slots.first().map(here).unwrap_or_default();
        Ok(Self { offers, environment })
    }
}

/// What is switched off, what would be a way around that, and what no target has the means for.
pub(crate) fn tools_off(settings: &AgentSettings, targets: &Targets) -> Vec<String> {
    let attached = targets.attached();
    let has_managed = attached.iter().any(|attached| attached.host.target.managed().is_some());
    let mut off = registry::off(&settings.tools_off, has_managed);
    if !attached.iter().any(|attached| attached.host.target.panes().is_some()) {
        off.extend(registry::pane_tools());
    }
    off
}

fn offer(
    settings: &AgentSettings,
    slots: &[Slot],
    off: &[String],
    project_chars: usize,
) -> Result<Offer, String> {
    let attached = || slots.iter().filter_map(Slot::attached);
    let means = Means::of(attached().map(|attached| &*attached.host.target));
    let names: Vec<String> = slots.iter().map(|slot| slot.spec().name.clone()).collect();
    let tools = registry::definitions(off, means, &names);
    let default = slots.first().and_then(Slot::attached);
    let is_alone = slots.len() == 1;
    let remote = default.filter(|default| is_alone && default.host.is_remote);
    let remote = remote.map(|remote| format!("{} ({})", place(&remote.spec), remote.spec.name));
    let project = default.map(|default| default.host.project.as_slice()).unwrap_or_default();
    let project: Vec<ProjectFile> = project.iter().map(|file| shortened(file, project_chars)).collect();
    let system = SystemPrompt {
        name: &settings.name,
        tools: tools.iter().map(|tool| tool.name.clone()).collect(),
        jail: default.is_some_and(|default| !default.host.is_remote && is_development(default)),
        is_asked_there: default.is_some_and(|default| default.host.is_remote && is_development(default)),
        remote: remote.as_deref(),
        targets: if is_alone { Vec::new() } else { slots.iter().map(line).collect() },
        instructions: settings.instructions.as_deref(),
        project: &project,
    };
    let system = system.render().map_err(|error| format!("the system prompt: {error}"))?;
    Ok(Offer { system, tools })
}

/// Whether commands on a target are held to the workspace, as far as something there can hold them.
fn is_development(attached: &Arc<Attached>) -> bool {
    let policy = attached.host.policy.policy(&attached.place.cwd, false);
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

/// The default target as the first thing that a model is told.
fn here(slot: &Slot) -> String {
    let spec = slot.spec();
    if let Some(attached) = slot.attached() {
        let described = attached.host.target.describe();
        return environment(&place(spec), &described.os, &described.shell, &spec.cwd, &attached.host.added);
    }
    let place = format!("{}, which cannot be used at the moment", spec.name);
    environment(&place, "-", "-", &spec.cwd, &[])
}

/// Who and where.
pub(crate) fn place(spec: &SessionTarget) -> String {
    spec.place.clone().unwrap_or_else(|| spec.name.clone())
}

/// What a host says about itself has no say in the form of the prompt.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    words.join(" ").chars().take(SAID_CHARS).collect()
}
