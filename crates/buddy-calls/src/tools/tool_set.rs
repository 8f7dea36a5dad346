//! The tools of one session, in the order in which models see them.
//!
//! The order is part of a prompt's stable prefix: a set only ever grows at its end. Names are unique.

use std::collections::HashSet;
use std::sync::Arc;

use buddy_protocol::{ToolDefinition, ToolFailure, ToolKind};
use serde_json::Value;

use crate::tools::added_tool::AddedTool;
use crate::tools::description::describe_tool;
use crate::tools::means::Means;
use crate::tools::target_field;
use crate::tools::tool_entry::ToolEntry;

/// The longest title shown, in characters.
const TITLE_CHARS: usize = 200;

/// The tools of a set. Providers take fewer; beyond this a source is broken.
const MAX_TOOLS: usize = 1_000;
/// The longest name that every provider takes.
const MAX_NAME: usize = 64;
/// Bytes of what a model is told of one added tool.
const MAX_DEFINITION: usize = 64 * 1024;
/// The part of an added tool's name between where it is from and what it is called there.
const NAMESPACE: &str = "__";
/// Names in the hint for a call of a tool that is not in the set.
const MAX_HINTED: usize = 50;

/// The tools of a session.
pub struct ToolSet {
    entries: Vec<Arc<ToolEntry>>,
    /// The names of all built-in tools, whether the session has them or not.
    built_in: Arc<[String]>,
}

impl ToolSet {
    /// The built-in tools.
    pub(crate) fn of(entries: Vec<Arc<ToolEntry>>) -> Self {
        let built_in = entries.iter().map(|entry| entry.name.to_string()).collect();
        Self { entries, built_in }
    }

    /// The same with those of these tools that are new, in the order of their names, and why others are left out.
    pub(crate) fn with(&self, added: Vec<Arc<dyn AddedTool>>) -> (Self, Vec<String>) {
        let mut added: Vec<(ToolDefinition, Arc<dyn AddedTool>)> =
            added.into_iter().map(|tool| (tool.definition(), tool)).collect();
        added.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        let mut entries = self.entries.clone();
        let mut refused = Vec::new();
        let mut names = HashSet::new();
        for (definition, tool) in added {
            let is_known = entries.iter().any(|entry| entry.name == definition.name && !entry.is_built_in());
            if is_known && names.insert(definition.name.clone()) {
                continue;
            }
            if let Some(why) = self.unfit(&definition, entries.len(), !names.contains(&definition.name)) {
                refused.push(format!("the tool `{}` is left out: {why}", shown_name(&definition)));
            } else {
                names.insert(definition.name);
                entries.push(Arc::new(ToolEntry::of_added(tool)));
            }
        }
        (Self { entries, built_in: self.built_in.clone() }, refused)
    }

    /// Why a tool cannot be in the set, if it cannot.
    fn unfit(&self, definition: &ToolDefinition, count: usize, is_new: bool) -> Option<String> {
        let ToolDefinition { name, description, parameters } = definition;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if name.len() > MAX_NAME || !name.chars().all(is_plain) {
            return Some(format!("its name is not up to {MAX_NAME} letters, digits, `_` and `-`"));
        }
        if !name.split_once(NAMESPACE).is_some_and(|(from, rest)| !from.is_empty() && !rest.is_empty()) {
            return Some(format!("its name does not say where it is from, as in `server{NAMESPACE}{name}`"));
        }
        if !is_new || self.entries.iter().any(|entry| entry.is_called(name)) {
            return Some("there is another tool of this name".to_owned());
        }
        if !parameters.is_object() || description.len() + parameters.to_string().len() > MAX_DEFINITION {
            return Some(format!("what is to be told of it is no schema of at most {MAX_DEFINITION} bytes"));
        }
        (count >= MAX_TOOLS).then(|| format!("a session has at most {MAX_TOOLS} tools"))
    }

    /// The tools of the set that a session may have; none for all of them.
    pub(crate) fn restricted(self, allowed: Option<&[String]>) -> Self {
        let Some(allowed) = allowed else { return self };
        let Self { mut entries, built_in } = self;
        entries.retain(|entry| allowed.iter().any(|name| *name == entry.name));
        Self { entries, built_in }
    }

    /// The names of the tools.
    pub fn names(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.name.to_string()).collect()
    }

    /// Whether the set has a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == name)
    }

    /// The texts about the tools for the model, except those that are switched off, in a session with these targets, which have
    /// these means together.
    pub fn definitions(&self, off: &[String], means: Means, targets: &[String]) -> Vec<ToolDefinition> {
        let is_offered =
            |entry: &&Arc<ToolEntry>| !is_off(entry, off) && (means.panes || !entry.needs_panes());
        let offered: Vec<&Arc<ToolEntry>> = self.entries.iter().filter(is_offered).collect();
        let names: Vec<&str> = offered.iter().map(|entry| &*entry.name).collect();
        // A text that names a built-in tool which this session does not have must lose that sentence too.
        let known: Vec<&str> = self.built_in.iter().map(String::as_str).collect();
        let define = |entry: &&Arc<ToolEntry>| {
            let mut definition = entry.definition();
            if !entry.is_built_in() {
                return definition;
            }
            definition.description = describe_tool(&definition.description, means, &names, &known);
            let fields = definition.parameters["properties"].as_object_mut();
            for field in fields.into_iter().flat_map(|fields| fields.values_mut()) {
                if let Some(Value::String(text)) = field.get_mut("description") {
                    *text = describe_tool(text, means, &names, &known);
                }
            }
            entry.fit(&mut definition, means);
            target_field::offer(entry, &mut definition, targets);
            definition
        };
        offered.iter().map(define).collect()
    }

    /// The tool of a name or alias.
    pub(crate) fn find(&self, name: &str) -> Result<&Arc<ToolEntry>, ToolFailure> {
        self.entries.iter().find(|entry| entry.is_called(name)).ok_or_else(|| {
            let name: String = name.chars().take(TITLE_CHARS).collect();
            ToolFailure::new("unknown_tool", format!("there is no tool `{name}`"))
        })
    }

    /// The tool of a name or alias, unless it is switched off. Who names another is told those that were offered.
    pub(crate) fn find_on(
        &self,
        name: &str,
        off: &[String],
        offered: &[String],
    ) -> Result<&Arc<ToolEntry>, ToolFailure> {
        let entry = self.find(name).map_err(|failure| match offered {
            [] => failure,
            few if few.len() <= MAX_HINTED => failure.hint(format!("the tools are {}", few.join(", "))),
            many => failure.hint(format!("it is none of the {} tools that you were offered", many.len())),
        })?;
        if is_off(entry, off) {
            let message = format!("the tool `{}` is switched off", entry.name);
            return Err(ToolFailure::new("tool_off", message).hint("do without it, or say that it is needed"));
        }
        Ok(entry)
    }

    /// The target that a call names, of these.
    pub fn named_target(&self, name: &str, input: &Value, targets: &[String]) -> Option<String> {
        target_field::take(self.find(name).ok()?, input.clone(), targets).ok()?.0
    }

    /// The kind and a title for people, also for calls that make no sense.
    pub fn describe(&self, name: &str, input: &Value) -> (ToolKind, String) {
        let (kind, title) = match self.find(name) {
            Ok(entry) => {
                let taken = target_field::take(entry, input.clone(), &[]);
                (entry.kind, entry.title(taken.as_ref().map_or(input, |(_, rest)| rest)))
            }
            Err(_) => (ToolKind::Other, name.to_owned()),
        };
        (kind, title.chars().take(TITLE_CHARS).collect())
    }
}

fn is_off(entry: &ToolEntry, off: &[String]) -> bool {
    off.iter().any(|name| *name == entry.name)
}

/// The beginning of a name that may be anything.
fn shown_name(definition: &ToolDefinition) -> String {
    definition.name.chars().filter(|letter| !letter.is_control()).take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use buddy_policy::Intent;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::tools::added_tool::ToolSource;
    use crate::tools::call_place::CallPlace;
    use crate::tools::registry;
    use crate::tools::session_tools::{SessionTools, ToolsFound};

    struct Echo(String);

    #[async_trait]
    impl AddedTool for Echo {
        fn definition(&self) -> ToolDefinition {
            let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}});
            ToolDefinition { name: self.0.clone(), description: "Says {{it}} again.".to_owned(), parameters }
        }

        fn title(&self, _: &Value) -> String {
            self.0.clone()
        }

        fn intent(&self, _: &Value, _: &CallPlace) -> Intent {
            Intent::nothing()
        }

        async fn run(&self, input: Value, _: &CancellationToken) -> Result<Value, ToolFailure> {
            Ok(input)
        }
    }

    #[derive(Default)]
    struct Echoes(Mutex<Vec<String>>);

    impl ToolSource for Echoes {
        fn tools(&self) -> Vec<Arc<dyn AddedTool>> {
            let names = self.0.lock().unwrap().clone();
            names.into_iter().map(|name| -> Arc<dyn AddedTool> { Arc::new(Echo(name)) }).collect()
        }
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn told(set: &ToolSet) -> Vec<ToolDefinition> {
        set.definitions(&[], Means { panes: true, ..Means::default() }, &strings(&["local", "ssh:atlas"]))
    }

    #[test]
    fn a_session_with_five_tools_has_no_others() {
        let five = ["run_shell", "read_file", "write_file", "grep", "glob"];
        let (tools, refused) =
            SessionTools::open(registry::built_in(), Arc::new(Echoes::default()), Some(strings(&five)));
        let set = tools.current();
        assert!(refused.is_empty());
        assert_eq!((set.names(), told(&set).len()), (strings(&five), 5));
        let text = serde_json::to_string(&told(&set)).unwrap();
        for absent in registry::names().into_iter().filter(|name| !five.contains(name)) {
            assert!(!text.contains(&format!("`{absent}`")), "{absent}");
            let failure = set.find_on(absent, &[], &set.names()).err().unwrap();
            assert_eq!(failure.code, "unknown_tool");
            assert!(failure.hint.unwrap().starts_with("the tools are run_shell,"));
        }
    }

    #[test]
    fn three_hundred_tools_keep_their_order_whatever_order_they_come_in() {
        let names: Vec<String> = (0..300).map(|at| format!("server__tool_{at:03}")).collect();
        let turned = Echoes(Mutex::new(names.iter().rev().cloned().collect()));
        let (tools, refused) = SessionTools::open(registry::built_in(), Arc::new(turned), None);
        let set = tools.current();
        let expected: Vec<String> = strings(&registry::names()).into_iter().chain(names).collect();
        assert_eq!((set.names(), refused), (expected, Vec::new()));
        let last = told(&set).pop().unwrap();
        assert_eq!(last, Echo("server__tool_299".to_owned()).definition(), "its text is no template");
        let failure = set.find_on("server__tool_300", &[], &set.names()).err().unwrap();
        assert_eq!(failure.hint.as_deref(), Some("it is none of the 333 tools that you were offered"));
    }

    #[test]
    fn a_set_that_grows_begins_as_it_was() {
        let source = Arc::new(Echoes(Mutex::new(strings(&["b__old"]))));
        let (tools, _) = SessionTools::open(registry::built_in(), source.clone(), None);
        let (before, set) = (told(&tools.current()), tools.current());
        assert_eq!(tools.grow(), ToolsFound::default());
        // Its first tool is gone, and another sorts before it.
        *source.0.lock().unwrap() = strings(&["a__new"]);
        assert_eq!(tools.grow(), ToolsFound { new: strings(&["a__new"]), refused: Vec::new() });
        let after = told(&tools.current());
        assert_eq!(after[..before.len()], before[..], "the prompt's prefix stays");
        assert_eq!(after.len(), before.len() + 1);
        assert!(set.find("a__new").is_err() && tools.current().find("a__new").is_ok());
        assert_eq!(tools.grow(), ToolsFound::default(), "it is told once");
    }

    #[test]
    fn names_are_unique_and_say_where_a_tool_is_from() {
        let long = format!("a__{}", "x".repeat(MAX_NAME));
        let names = strings(&["run_shell", "plain", "a__b", "a__b", "a__b c", &long]);
        let (tools, refused) =
            SessionTools::open(registry::built_in(), Arc::new(Echoes(Mutex::new(names))), None);
        assert_eq!(tools.current().names().last().map(String::as_str), Some("a__b"));
        assert_eq!(refused.len(), 5, "{refused:?}");
    }

    #[test]
    fn terms_name_added_tools_too() {
        let source = Arc::new(Echoes(Mutex::new(strings(&["a__b", "a__c"]))));
        let (tools, _) =
            SessionTools::open(registry::built_in(), source.clone(), Some(strings(&["a__c", "a__later"])));
        assert_eq!(tools.current().names(), strings(&["a__c"]));
        source.0.lock().unwrap().extend(strings(&["a__later", "a__other"]));
        assert_eq!(tools.grow().new, strings(&["a__later"]));
    }
}
