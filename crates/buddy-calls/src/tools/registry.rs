//! The one table of tools. Help, schemas and dispatch come from it.

use std::sync::{Arc, LazyLock};

use buddy_exec::Target;

use crate::call_settings::CallSettings;
use crate::targets::Targets;
use crate::tools::apply_patch::ApplyPatch;
use crate::tools::ask_user::AskUser;
use crate::tools::delete_path::DeletePath;
use crate::tools::edit_file::EditFile;
use crate::tools::fetch_url::FetchUrl;
use crate::tools::git::{GitAdd, GitBranch, GitCommit, GitDiff, GitLog, GitPush, GitStatus};
use crate::tools::glob::Glob;
use crate::tools::grep::Grep;
use crate::tools::list_directory::ListDirectory;
use crate::tools::make_directory::MakeDirectory;
use crate::tools::process::{ProcessLogs, ProcessStart, ProcessStatus, ProcessStop};
use crate::tools::read_file::ReadFile;
use crate::tools::run_shell::RunShell;
use crate::tools::search_youtube::SearchYoutube;
use crate::tools::time::Time;
use crate::tools::tmux::{CapturePane, CreatePane, CreateSession, KillPane, KillSession, SendKeys};
use crate::tools::tool::Tool;
use crate::tools::tool_entry::ToolEntry;
use crate::tools::tool_set::ToolSet;
use crate::tools::update_plan::UpdatePlan;
use crate::tools::web_search::WebSearch;
use crate::tools::write_file::WriteFile;

/// Every tool, in the order in which the model sees them. The order is part of the prompt's stable prefix.
const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<RunShell>(),
    ToolEntry::of::<ReadFile>(),
    ToolEntry::of::<WriteFile>(),
    ToolEntry::of::<ListDirectory>(),
    ToolEntry::of::<UpdatePlan>(),
    ToolEntry::of::<AskUser>(),
    ToolEntry::of::<Time>(),
    ToolEntry::of::<EditFile>(),
    ToolEntry::of::<ApplyPatch>(),
    ToolEntry::of::<MakeDirectory>(),
    ToolEntry::of::<DeletePath>(),
    ToolEntry::of::<Grep>(),
    ToolEntry::of::<Glob>(),
    ToolEntry::of::<FetchUrl>(),
    ToolEntry::of::<WebSearch>(),
    ToolEntry::of::<SearchYoutube>(),
    ToolEntry::of::<GitStatus>(),
    ToolEntry::of::<GitDiff>(),
    ToolEntry::of::<GitLog>(),
    ToolEntry::of::<GitBranch>(),
    ToolEntry::of::<GitAdd>(),
    ToolEntry::of::<GitCommit>(),
    ToolEntry::of::<GitPush>(),
    ToolEntry::of::<ProcessStart>(),
    ToolEntry::of::<ProcessStop>(),
    ToolEntry::of::<ProcessStatus>(),
    ToolEntry::of::<ProcessLogs>(),
    ToolEntry::of::<CapturePane>(),
    ToolEntry::of::<SendKeys>(),
    ToolEntry::of::<CreateSession>(),
    ToolEntry::of::<KillSession>(),
    ToolEntry::of::<CreatePane>(),
    ToolEntry::of::<KillPane>(),
];

/// The tools of managed processes.
const PROCESSES: &[&str] = &["process_start", "process_stop", "process_status", "process_logs"];

/// The tools that need the network.
pub const WEB: &[&str] = &["fetch_url", "web_search", "search_youtube"];

/// Other tools that a model can do without: the shell does the same, or they are a luxury.
const ROOMY: &[&str] = &[
    "search_youtube",
    "git_status",
    "git_diff",
    "git_log",
    "git_branch",
    "git_add",
    "git_commit",
    "git_push",
    "tmux_capture_pane",
    "tmux_send_keys",
    "tmux_create_session",
    "tmux_kill_session",
    "tmux_create_pane",
    "tmux_kill_pane",
];

/// The tools that a model needs.
const NEEDED: &[&str] = &["run_shell", "read_file", "write_file", "edit_file"];

/// The tools that record files in a repository and change none of them.
const RECORDING: &[&str] = &["git_add", "git_commit"];

/// Whether a tool only records files, so that a check before it still holds.
pub fn only_records(name: &str) -> bool {
    RECORDING.contains(&name)
}

/// The names of the tools that are off: what the user switched off, what would be a way around that, and what the
/// target has no means for.
pub(crate) fn off(switched_off: &[String], has_managed: bool) -> Vec<String> {
    let mut off = switched_off.to_vec();
    if !has_managed {
        off.extend(PROCESSES.iter().map(ToString::to_string));
    } else if off.iter().any(|name| name == "run_shell") {
        off.push("process_start".to_owned());
    }
    off
}

/// The tools that are switched off, those that would be a way around that, and those that no target has the means for.
pub fn tools_off(settings: &CallSettings, targets: &Targets) -> Vec<String> {
    let attached = targets.attached();
    let has_managed = attached.iter().any(|attached| attached.host.target.managed().is_some());
    let mut off = off(&settings.tools_off, has_managed);
    if !attached.iter().any(|attached| attached.host.target.panes().is_some()) {
        off.extend(pane_tools());
    }
    off
}

/// Tools for commands that outlast their wait, which every model can have.
const LOOKS_AFTER: &[&str] = &["process_stop", "process_status", "process_logs"];

/// The names of the tools that are off for a model with a small context window, to leave room for the conversation. Calls of
/// those that only the window keeps from the model are taken all the same.
pub fn off_when_small(off: &[String]) -> Vec<String> {
    let processes = PROCESSES.iter().filter(|name| !LOOKS_AFTER.contains(name));
    off.iter().cloned().chain(processes.chain(ROOMY).map(|name| (*name).to_owned())).collect()
}

/// The same for one with a tiny window: a few tools that everything can be done with.
pub fn off_when_tiny(tools: &ToolSet, off: &[String]) -> Vec<String> {
    let names = tools.names().into_iter().filter(|name| !NEEDED.contains(&name.as_str()));
    off.iter().cloned().chain(names).collect()
}

/// The tool that replaces a text in a file.
pub const REPLACE_TOOL: &str = EditFile::SPEC.name;
/// The tool that applies a patch.
pub const PATCH_TOOL: &str = ApplyPatch::SPEC.name;

/// The tools that need a host with panes.
pub fn pane_tools() -> impl Iterator<Item = String> {
    TOOLS.iter().filter(|entry| entry.needs_panes()).map(|entry| entry.name.to_string())
}

/// The built-in tool of a name or alias.
pub(crate) fn find(name: &str) -> Option<&'static ToolEntry> {
    TOOLS.iter().find(|entry| entry.is_called(name))
}

/// The names of all built-in tools.
pub fn names() -> Vec<&'static str> {
    TOOLS.iter().map(|entry| &*entry.name).collect()
}

/// The set of all built-in tools.
pub fn built_in() -> Arc<ToolSet> {
    static BUILT_IN: LazyLock<Arc<ToolSet>> =
        LazyLock::new(|| Arc::new(ToolSet::of(TOOLS.iter().cloned().map(Arc::new).collect())));
    BUILT_IN.clone()
}

/// The means that a target must have for a tool, where it lacks it.
pub(crate) fn lack(entry: &ToolEntry, target: &dyn Target) -> Option<&'static str> {
    if PROCESSES.contains(&&*entry.name) && target.managed().is_none() {
        return Some("it cannot keep processes");
    }
    (entry.needs_panes() && target.panes().is_none()).then_some("it has no shared panes")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use buddy_protocol::ToolDefinition;
    use serde_json::Value;

    use super::*;
    use crate::tools::means::Means;
    use serde_json::json;

    const ALL: Means = Means {
        panes: true,
        managed: true,
        terminals: true,
        runs_on: true,
        headless: false,
        jail: true,
        throwaway: false,
        remote: false,
        only_known_hosts: false,
    };
    const HERE: Means = Means { panes: false, ..ALL };
    const BARE: Means = Means { panes: false, managed: false, terminals: false, runs_on: false, ..ALL };

    #[test]
    fn what_no_target_has_is_not_offered_for_commands() {
        let shell = |means| {
            let all = built_in().definitions(&[], means, &[]);
            all.into_iter().find(|tool| tool.name == RunShell::SPEC.name).unwrap()
        };
        let (here, bare) = (shell(HERE), shell(BARE));
        let wait = |tool: &ToolDefinition| tool.parameters["properties"]["wait"]["description"].to_string();
        assert!(wait(&here).contains("False") && !wait(&bare).contains("False"), "{}", wait(&bare));
        let denied = shell(Means { runs_on: false, ..HERE });
        assert!(
            !wait(&denied).contains("False") && wait(&denied).contains("background"),
            "{}",
            wait(&denied)
        );
        assert!(
            denied
                .description
                .contains("Nothing outlives this run: start a server and test it in one command.")
        );
        assert!(!denied.description.contains("wait: false"), "{}", denied.description);
        assert!(!here.parameters["properties"]["terminal"].is_null());
        assert!(bare.parameters["properties"]["terminal"].is_null());
        assert!(bare.description.contains("a command is stopped when `wait` is over"));
    }

    #[test]
    fn names_and_aliases_are_unique() {
        let mut seen = HashSet::new();
        for entry in TOOLS {
            for name in entry.aliases.iter().chain([&&*entry.name]) {
                assert!(seen.insert(*name), "{name}");
            }
        }
    }

    #[test]
    fn schemas_are_closed_objects_without_references() {
        for definition in built_in().definitions(&[], ALL, &[]) {
            let schema = &definition.parameters;
            assert_eq!(schema["type"], "object", "{}", definition.name);
            assert_eq!(schema["additionalProperties"], json!(false), "{}", definition.name);
            assert!(!schema.to_string().contains("$ref"), "{}", definition.name);
            assert!(!definition.description.is_empty(), "{}", definition.name);
        }
        let all = built_in().definitions(&[], ALL, &[]);
        let shell = all.iter().find(|definition| definition.name == "run_shell").unwrap();
        assert_eq!(shell.parameters["required"], json!(["command", "why", "risk", "mutation", "privesc"]));
    }

    /// The calls of which faces test the rows.
    const CALLS: &str = include_str!("../../../../fixtures/calls.json");

    #[test]
    fn faces_test_the_row_of_every_tool() {
        let calls: Vec<Value> = serde_json::from_str(CALLS).unwrap();
        let known: Vec<&str> = calls.iter().map(|call| call["name"].as_str().unwrap()).collect();
        assert_eq!(known, names());
        for call in &calls {
            let entry = find(call["name"].as_str().unwrap()).unwrap();
            assert_eq!(serde_json::to_value(entry.kind).unwrap(), call["kind"], "{call}");
            assert_eq!(entry.title(&call["input"]), call["title"].as_str().unwrap(), "{call}");
            assert!(entry.prepare(call["input"].clone()).is_ok(), "{call}");
        }
    }

    #[test]
    fn a_host_without_panes_offers_nothing_that_needs_them() {
        let told = serde_json::to_string(
            &built_in().definitions(&[], HERE, &[]).iter().map(|tool| &tool.parameters).collect::<Vec<_>>(),
        );
        assert!(!told.unwrap().contains("pane"));
        assert!(built_in().definitions(&[], HERE, &[]).iter().all(|tool| !tool.description.contains("pane")));
        assert_eq!(
            built_in().definitions(&[], ALL, &[]).len() - built_in().definitions(&[], HERE, &[]).len(),
            pane_tools().count()
        );
    }

    #[test]
    fn without_a_shell_no_process_is_started_and_without_means_there_are_none() {
        let names = |off: &[String]| -> Vec<String> {
            built_in()
                .definitions(off, ALL, &[])
                .into_iter()
                .map(|tool| tool.name)
                .filter(|name| name.starts_with("process_"))
                .collect()
        };
        assert_eq!(names(&off(&[], true)), PROCESSES);
        assert_eq!(names(&off(&["run_shell".to_owned()], true)), &PROCESSES[1..]);
        assert_eq!(names(&off(&[], false)), [""; 0]);
        assert_eq!(names(&off_when_small(&[])), LOOKS_AFTER);
    }

    /// Each set of tools that a model can have, with what it is for.
    fn offers() -> Vec<(String, Vec<String>, Means)> {
        let mut offers = Vec::new();
        let bools = [false, true];
        for (panes, managed, runs_on, headless, jail) in bools.into_iter().flat_map(|panes| {
            bools.into_iter().flat_map(move |managed| {
                bools.into_iter().flat_map(move |runs_on| {
                    bools.into_iter().flat_map(move |headless| {
                        bools.into_iter().map(move |jail| (panes, managed, runs_on, headless, jail))
                    })
                })
            })
        }) {
            let means = Means { panes, managed, runs_on, headless, jail, throwaway: !jail, ..ALL };
            let mut all = off(&[], managed);
            all.extend(headless.then(|| "ask_user".to_owned()));
            all.extend((!runs_on).then(|| "process_start".to_owned()));
            let (small, tiny) = (off_when_small(&all), off_when_tiny(&built_in(), &all));
            for (room, off) in [("full", all.clone()), ("small", small), ("tiny", tiny)] {
                // The edit tools that models of a family are not offered.
                for other in [Some(REPLACE_TOOL).filter(|_| room != "tiny"), Some(PATCH_TOOL)] {
                    let off = off.iter().cloned().chain(other.map(str::to_owned)).collect();
                    offers.push((format!("{room} {means:?}"), off, means));
                }
            }
            let single = names().into_iter().filter(|name| *name != "run_shell");
            offers.extend(single.map(|name| {
                (format!("without {name} {means:?}"), [all.clone(), vec![name.to_owned()]].concat(), means)
            }));
        }
        offers
    }

    /// The texts about commands in each variant of a session, which are looked at.
    #[test]
    fn the_texts_about_commands_fit_the_session() {
        let denied = Means { headless: true, runs_on: false, ..HERE };
        let no_start = vec!["process_start".to_owned()];
        for (name, means, off) in [
            ("interactive", HERE, Vec::new()),
            ("tmux", ALL, Vec::new()),
            ("headless", denied, no_start.clone()),
            ("headless-all", Means { headless: true, ..HERE }, Vec::new()),
            ("headless-8k", denied, off_when_tiny(&built_in(), &no_start)),
            ("ephemeral", Means { headless: true, terminals: true, ..BARE }, off(&[], false)),
            ("throwaway", Means { headless: true, jail: false, throwaway: true, ..HERE }, Vec::new()),
        ] {
            let tools = built_in().definitions(&off, means, &[]);
            let told =
                tools.iter().filter(|tool| ["run_shell", "process_start"].contains(&tool.name.as_str()));
            let told: Vec<String> = told
                .map(|tool| {
                    let wait =
                        tool.parameters["properties"]["wait"]["description"].as_str().unwrap_or_default();
                    format!("# {}\n\n{}\n\nwait: {wait}", tool.name, tool.description)
                })
                .collect();
            insta::assert_snapshot!(format!("commands-{name}"), told.join("\n\n"));
        }
    }

    #[test]
    fn no_text_names_a_tool_that_the_model_does_not_have() {
        for (what, off, means) in offers() {
            let tools = built_in().definitions(&off, means, &[]);
            let is_offered = |name: &str| tools.iter().any(|tool| tool.name == name);
            for tool in &tools {
                let told = format!("{}{}", tool.description, tool.parameters);
                assert!(!told.contains("{%") && !told.contains("{{"), "{what}: {told}");
                for name in names().into_iter().filter(|name| !is_offered(name)) {
                    assert!(
                        !told.contains(&format!("`{name}`")),
                        "{what}: {} names {name}: {told}",
                        tool.name
                    );
                }
                if means.headless {
                    for words in ["user approves", "who approves", "ask the user", "asks the user"] {
                        assert!(!told.contains(words), "{what}: {}: {told}", tool.name);
                    }
                }
                if tool.name == "run_shell" && !means.panes && !(means.managed && means.runs_on) {
                    assert!(!told.contains("wait: false") && !told.contains("False"), "{what}: {told}");
                }
            }
        }
    }

    #[test]
    fn a_small_window_has_fewer_tools_and_each_name_is_one() {
        let small = built_in().definitions(&off_when_small(&[]), ALL, &[]);
        assert_eq!(small.len(), TOOLS.len() - PROCESSES.len() - ROOMY.len() + LOOKS_AFTER.len());
        assert!(small.iter().any(|tool| tool.name == "run_shell"));
        assert_eq!(find("shell_background").unwrap().name, "process_start");
    }

    #[test]
    fn aliases_dispatch_and_strangers_are_told_the_names() {
        assert_eq!(find("fs_read").unwrap().name, "read_file");
        let offered = ["run_shell".to_owned(), "read_file".to_owned()];
        let failure = built_in().find_on("rm", &[], &offered).err().unwrap();
        assert_eq!(failure.code, "unknown_tool");
        assert_eq!(failure.hint.as_deref(), Some("the tools are run_shell, read_file"));
    }
}
