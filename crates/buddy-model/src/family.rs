//! Families of models: the edit tool, the number of tools, the reasoning effort, the advice and the gates that suit models
//! of one kind. They are data, `families.toml`, since newer models outgrow them.

use serde::Deserialize;

use crate::catalogue::{CatalogueError, toml_error};

const BUILT_IN: &str = include_str!("families.toml");

/// The way buddy works with models of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFamily {
    /// Its name.
    pub name: String,
    #[serde(default)]
    starts: Vec<String>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    /// The edit tools.
    pub edit: EditTools,
    /// The number of tools.
    pub tools: ToolRange,
    /// The reasoning effort if nobody sets one.
    pub effort: Option<String>,
    /// Whether the prompt advises several calls in one answer.
    pub parallel: bool,
    /// The switches of the control loop.
    pub gates: FamilyGates,
    /// Sentences for the prompt, one a line.
    pub advice: String,
}

/// The edit tools that a model is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditTools {
    /// `apply_patch` alone.
    Patch,
    /// `edit_file` alone.
    Replace,
    /// Both.
    Both,
}

/// The range of tools that a model is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolRange {
    /// All of them.
    All,
    /// Those that ordinary work needs.
    Core,
}

/// Switches of the control loop.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyGates {
    /// Ask once to check the changes of a turn before it ends, when no command succeeded after the last one.
    pub finish: FamilySwitch,
    /// Tell a model that repeats itself, then end the turn.
    pub stuck: FamilySwitch,
    /// Ask once for a complete answer after one that is empty or cut off.
    pub retry: FamilySwitch,
    /// Ask for a report when a limit ends the turn.
    pub report: FamilySwitch,
    /// Repeat the plan in a long turn.
    pub recite: FamilySwitch,
}

/// Whether a gate suits models of a family.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilySwitch {
    /// Whether it is on.
    pub on: bool,
    /// The reason, as a part of a sentence.
    pub why: String,
}

impl Default for ModelFamily {
    fn default() -> Self {
        let on = || FamilySwitch { on: true, why: "nothing is known of the model".to_owned() };
        Self {
            name: "open".to_owned(),
            starts: Vec::new(),
            contains: Vec::new(),
            except: Vec::new(),
            edit: EditTools::Both,
            tools: ToolRange::All,
            effort: None,
            parallel: true,
            gates: FamilyGates { finish: on(), stuck: on(), retry: on(), report: on(), recite: on() },
            advice: String::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyFile {
    families: Vec<ModelFamily>,
}

/// The families that ship with buddy.
#[derive(Debug, Clone, Default)]
pub struct ModelFamilies(Vec<ModelFamily>);

impl ModelFamilies {
    /// The built-in families.
    pub fn built_in() -> Result<Self, CatalogueError> {
        let mut file: FamilyFile = toml::from_str(BUILT_IN).map_err(|error| toml_error(BUILT_IN, &error))?;
        for family in &mut file.families {
            family.advice = family.advice.trim().to_owned();
        }
        Ok(Self(file.families))
    }

    /// All of them, in the order in which they are tried.
    pub fn all(&self) -> &[ModelFamily] {
        &self.0
    }

    /// The family of the model of this name.
    pub fn family(&self, name: &str) -> ModelFamily {
        let name = name.to_lowercase();
        let bare = name.rsplit('/').next().unwrap_or(&name);
        let found = self.0.iter().find(|family| family.matches(&name, bare));
        found.or_else(|| self.0.last()).cloned().unwrap_or_default()
    }
}

impl ModelFamily {
    fn matches(&self, name: &str, bare: &str) -> bool {
        let begins = |beginnings: &[String]| beginnings.iter().any(|start| bare.starts_with(start.as_str()));
        (begins(&self.starts) && !begins(&self.except))
            || self.contains.iter().any(|part| name.contains(part.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_has_the_family_of_its_name() {
        let families = ModelFamilies::built_in().unwrap();
        for (name, family) in [
            ("gpt-5.3-codex", "gpt"),
            ("openai/gpt-5.6-sol", "gpt"),
            ("o4-mini", "gpt"),
            ("anthropic/Claude-Sonnet-4.5", "claude"),
            ("gemini-3-pro", "gemini"),
            ("qwen3-coder:30b", "open"),
            ("glm-5", "open"),
            ("HuggingFaceTB/SmolLM2-1.7B-Instruct", "small"),
            ("qwen2.5:0.5b", "small"),
            ("llama3.1:70b", "open"),
            // A small model of a provider works like its larger ones; only the number of weights makes a model small.
            ("gpt-5-nano", "gpt"),
            ("openai/gpt-5.4-nano", "gpt"),
            ("gpt-4.1-mini", "gpt"),
            ("nemotron-nano-9b-v2", "open"),
            // Open weight, whatever their names begin with.
            ("gpt-oss-20b", "open"),
            ("openai/gpt-oss-120b:free", "open"),
            ("EleutherAI/gpt-neox-20b", "open"),
        ] {
            assert_eq!(families.family(name).name, family, "{name}");
        }
    }

    #[test]
    fn the_last_family_takes_the_rest_and_only_it_has_no_names() {
        let families = ModelFamilies::built_in().unwrap();
        let nameless = |family: &ModelFamily| family.starts.is_empty() && family.contains.is_empty();
        let (last, others) = families.all().split_last().unwrap();
        assert!(nameless(last) && !others.iter().any(nameless));
        let usual = ModelFamily::default();
        let bare = ModelFamily { advice: String::new(), gates: usual.gates.clone(), ..last.clone() };
        assert_eq!(bare, usual);
        assert!(
            switches(last).iter().all(|switch| switch.on),
            "all of them are on for a model that nobody knows"
        );
    }

    fn switches(family: &ModelFamily) -> [&FamilySwitch; 5] {
        let FamilyGates { finish, stuck, retry, report, recite } = &family.gates;
        [finish, stuck, retry, report, recite]
    }

    #[test]
    fn families_differ_in_gates_and_each_switch_has_a_reason() {
        let families = ModelFamilies::built_in().unwrap();
        let reciting = families.all().iter().filter(|family| family.gates.recite.on);
        assert_eq!(reciting.map(|family| family.name.as_str()).collect::<Vec<_>>(), ["small", "open"]);
        for family in families.all() {
            let is_reason = |why: &str| !why.is_empty() && !why.ends_with('.') && why.len() < 80;
            assert!(switches(family).iter().all(|switch| is_reason(&switch.why)), "{}", family.name);
        }
    }
}
