//! The table against the schema, and every key of it against a project that would loosen it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::config::{ConfigRequest, TrustStore, load, schema};
use crate::environment::Environment;

/// Every key of the schema, with `*` for a name that people choose, and what it takes.
fn keys() -> Vec<(String, Value)> {
    fn walk(node: &Value, path: &str, keys: &mut Vec<(String, Value)>) {
        let named = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let any = &node["additionalProperties"];
        match node["properties"].as_object() {
            Some(properties) => properties.iter().for_each(|(name, node)| walk(node, &named(name), keys)),
            None if any["properties"].is_object() => walk(any, &named("*"), keys),
            None => keys.push((path.to_owned(), node.clone())),
        }
    }
    let mut keys = Vec::new();
    walk(schema(), "", &mut keys);
    keys
}

#[test]
fn every_key_of_the_schema_is_in_the_table_once_and_no_other() {
    let all: BTreeSet<String> = keys().into_iter().map(|(key, _)| key).collect();
    let listed: BTreeSet<String> = PROJECT_KEYS.iter().map(|(key, _)| (*key).to_owned()).collect();
    assert_eq!(listed, all);
    assert_eq!(listed.len(), PROJECT_KEYS.len());
}

#[test]
fn a_name_that_people_choose_is_the_only_part_that_is_free() {
    let may = |key: &str| project_may(&key.split('.').map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(may("models.any.api_key_command"), Never(PROGRAM));
    assert_eq!(may("agent.name"), Freely);
    for unknown in ["agent.*", "agent.new", "models.a.b.c", "agent"] {
        assert!(matches!(may(unknown), Never(_)), "{unknown}");
    }
}

/// A home with a stricter file of the user's and a looser one of a project that is trusted.
struct Stage {
    home: tempfile::TempDir,
    environment: Environment,
}

impl Stage {
    fn new(user: &str, project: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let variables = [("HOME".to_owned(), home.path().to_string_lossy().into_owned())];
        let environment = Environment::of(variables.into_iter().collect()).unwrap();
        let stage = Self { home, environment };
        stage.write(".config/buddy/buddy.toml", user);
        stage.write("work/buddy.toml", project);
        TrustStore::new(&stage.environment.data).add(&stage.home.path().join("work")).unwrap();
        stage
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The value that holds, and whether the project was told that its own does not.
    fn held(&self, key: &str, is_strict: bool) -> Result<(Value, usize), String> {
        let request = ConfigRequest { is_strict, ..ConfigRequest::default() };
        let loaded = load(&self.environment, &self.home.path().join("work"), &request)
            .map_err(|error| error.to_string())?;
        let values = serde_json::to_value(&loaded.config).unwrap();
        let value = key.split('.').try_fold(&values, |node, name| node.get(name)).cloned();
        let told = format!("a project cannot set `{key}`");
        let told = loaded.warnings.iter().filter(|warning| warning.contains(&told)).count();
        Ok((value.unwrap_or_default(), told))
    }
}

/// A strict value and a loose one of a key, as TOML.
fn values(key: &str, may: ProjectMay, node: &Value) -> (String, String) {
    let pair = |strict: &str, loose: &str| (strict.to_owned(), loose.to_owned());
    match (may, key) {
        (Tighten(Off), _) => pair("false", "true"),
        (Tighten(On), _) => pair("true", "false"),
        (Tighten(Lower), _) => pair("2", "3"),
        (Tighten(Ranked(values)), _) => {
            (format!("'{}'", values[0]), format!("'{}'", values[values.len() - 1]))
        }
        (Tighten(Narrows), _) => pair("['one/two']", "['one', 'two']"),
        (Tighten(Adds), _) => pair("['shutdown *']", "[]"),
        (ChooseModel, _) => pair("'claude'", "'deepseek'"),
        (_, "models.*.api") => pair("'messages'", "'ollama'"),
        (_, "login.*.protocol") => pair("'oauth'", "'chatgpt'"),
        (_, "models.*.auth") => pair("'none'", "'login'"),
        (_, "models.*.max_tokens_field") => pair("'max_tokens'", "'max_completion_tokens'"),
        (_, "models.*.reasoning_replay") => pair("'off'", "'all'"),
        (_, "display.theme") => pair("'dark'", "'light'"),
        (_, "display.images") => pair("'off'", "'kitty'"),
        (_, "display.keys") => pair("'vim'", "'readline'"),
        (_, "display.status") => pair("['mode']", "['model']"),
        (_, "web.allowed_hosts") => pair("['one.internal:1']", "['two.internal:1']"),
        (_, "web.search_endpoint" | "web.youtube_endpoint") => {
            pair("'https://one.example'", "'https://two.example'")
        }
        _ if key.ends_with("timeout") => pair("'7s'", "'9s'"),
        _ => by_type(key, node),
    }
}

fn by_type(key: &str, node: &Value) -> (String, String) {
    let types: Vec<&str> = match &node["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let pair = |strict: &str, loose: &str| (strict.to_owned(), loose.to_owned());
    match types.first() {
        Some(&"boolean") => pair("false", "true"),
        Some(&"integer" | &"number") => pair("2", "3"),
        Some(&"string") => pair("'one'", "'two'"),
        Some(&"array") => pair("['one']", "['two']"),
        Some(&"object") => pair("{ one = '1' }", "{ two = '2' }"),
        other => panic!("{key} takes {other:?}: give it two values above"),
    }
}

#[test]
fn no_key_of_a_project_loosens_what_the_person_set() {
    for ((key, node), (_, may)) in sorted(keys()).into_iter().zip(sorted(PROJECT_KEYS.to_vec())) {
        let (strict, loose) = values(&key, may, &node);
        let key = key.replace('*', "mine");
        let file = |value: &str| format!("{key} = {value}\n");
        let (expected, _) = Stage::new(&file(&strict), "").held(&key, false).unwrap();
        let stage = Stage::new(&file(&strict), &file(&loose));
        let (held, told) = stage.held(&key, false).unwrap_or_else(|error| panic!("{key}: {error}"));
        if may == Freely {
            assert_ne!(held, expected, "{key} is free");
            continue;
        }
        assert_eq!(held, expected, "{key}");
        // A shorter list is no wish to remove what others listed.
        let is_silent = may == Tighten(Adds);
        assert_eq!(told, usize::from(!is_silent), "{key}");
        assert_eq!(stage.held(&key, true).is_err(), !is_silent, "{key}");
    }
}

#[test]
fn a_project_tightens_where_it_may() {
    for ((key, node), (_, may)) in sorted(keys()).into_iter().zip(sorted(PROJECT_KEYS.to_vec())) {
        if !matches!(may, Tighten(_)) {
            continue;
        }
        let (strict, loose) = values(&key, may, &node);
        let file = |value: &str| format!("{key} = {value}\n");
        let (expected, _) = Stage::new(&file(&strict), "").held(&key, false).unwrap();
        let stage = Stage::new(&file(&loose), &file(&strict));
        assert_eq!(stage.held(&key, true), Ok((expected, 0)), "{key}");
    }
}

fn sorted<T>(mut list: Vec<(impl AsRef<str>, T)>) -> Vec<(String, T)> {
    list.sort_by(|one, other| one.0.as_ref().cmp(other.0.as_ref()));
    list.into_iter().map(|(key, value)| (key.as_ref().to_owned(), value)).collect()
}

#[test]
fn a_limit_that_nobody_set_can_be_set_and_what_is_no_number_cannot() {
    let key = "budget.max_cost_per_day";
    assert_eq!(Stage::new("", "budget.max_cost_per_day = 2.5").held(key, true), Ok((json!(2.5), 0)));
    for value in ["nan", "inf"] {
        let stage = Stage::new("budget.max_cost_per_day = 1.5", &format!("{key} = {value}"));
        assert_eq!(stage.held(key, false), Ok((json!(1.5), 1)), "{value}");
    }
    let denied = Stage::new("tools.shell_denylist = ['a']", "tools.shell_denylist = ['b', 'a']");
    assert_eq!(denied.held("tools.shell_denylist", true), Ok((json!(["a", "b"]), 0)));
}

#[test]
fn a_list_of_the_only_things_is_narrowed_and_never_widened() {
    let held = |user: &str, project: &str| {
        let key = "tools.files_allowed_paths";
        let file = |value: &str| if value.is_empty() { String::new() } else { format!("{key} = {value}") };
        Stage::new(&file(user), &file(project)).held(key, false).unwrap()
    };
    assert_eq!(held("", "['src']"), (json!(["src"]), 0));
    assert_eq!(held("['.']", "['src']"), (json!(["src"]), 0));
    assert_eq!(held("['/w', '~/x']", "['/w/a', '~/x/y']"), (json!(["/w/a", "~/x/y"]), 0));
    assert_eq!(held("['src']", "[]"), (json!([]), 0));
    for wider in ["['src', '/etc']", "['.']", "['srcs']", "['src/../..']", "['/']", "['/src']"] {
        assert_eq!(held("['src']", wider), (json!(["src"]), 1), "{wider}");
    }
    assert_eq!(held("['.']", "['/etc']"), (json!(["."]), 1));
}

#[test]
fn a_stricter_policy_approves_nothing_by_way_of_another_key() {
    let stage = Stage::new(
        "approvals.policy = 'edits'\ntools.shell_confirm = false",
        "approvals.policy = 'ask'\ntools.shell_confirm = false",
    );
    assert_eq!(stage.held("approvals.policy", false), Ok((json!("ask"), 0)));
    assert_eq!(stage.held("tools.shell_confirm", false).unwrap().0, json!(true));
}

#[test]
fn a_project_chooses_a_model_only_at_the_address_that_the_person_chose() {
    let user = "agent.model = 'one'\n[models.one]\napi_base_url = 'https://own.example/v1'\n\
                [models.two]\napi_base_url = 'https://own.example/v2'\n[models.three]\napi_base_url = 'https://three.example'\n";
    let check = |user: &str, wish: &str, held: &str| {
        let stage = Stage::new(user, &format!("agent.model = '{wish}'"));
        let told = usize::from(wish != held);
        assert_eq!(stage.held("agent.model", false), Ok((json!(held), told)), "{wish}");
    };
    check(user, "two", "two");
    check(user, "one/large", "one/large");
    for elsewhere in ["three", "three/x", "claude", "gpt-5", "ollama"] {
        check(user, elsewhere, "one");
    }
    // Nobody chose: which server is asked, with which key, is found out later.
    check("", "claude", "gpt-codex");
    check("", "gpt-codex/other", "gpt-codex");
}

#[test]
fn the_table_in_the_documentation_is_the_one_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/project-keys.md");
    let page = std::fs::read_to_string(path).unwrap();
    let block = page
        .split("<!-- project-keys -->\n")
        .nth(1)
        .and_then(|rest| rest.split("<!-- /project-keys -->").next());
    let is_same = block.is_some_and(|block| block.trim() == project_keys_table().trim());
    assert!(is_same, "docs/reference/project-keys.md is out of date: run `cargo xtask codegen`");
}
