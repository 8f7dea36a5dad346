//! Files on a stage of their own, an environment made of a map, and what holds in the end.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::config::TrustStore;
use crate::operations::view_configuration;
use crate::rendering::{configuration_json, configuration_text};

struct Stage {
    home: tempfile::TempDir,
    variables: Vec<(String, String)>,
    request: ConfigRequest,
}

impl Stage {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        let variables = vec![("HOME".to_owned(), home.path().to_string_lossy().into_owned())];
        Self { home, variables, request: ConfigRequest::default() }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn option(mut self, text: &str) -> Self {
        self.request.overrides.push(text.to_owned());
        self
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn user(self, text: &str) -> Self {
        self.file(".config/buddy/buddy.toml", text)
    }

    fn project(self, text: &str) -> Self {
        self.file("work/buddy.toml", text)
    }

    fn trusted(self) -> Self {
        TrustStore::new(&self.environment().data).add(&self.work()).unwrap();
        self
    }

    fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    fn environment(&self) -> Environment {
        Environment::of(self.variables.iter().cloned().collect()).unwrap()
    }

    fn load(&self) -> Result<Loaded, String> {
        load(&self.environment(), &self.work(), &self.request).map_err(|error| error.to_string())
    }

    fn loaded(&self) -> Loaded {
        self.load().unwrap()
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nothing_at_all_is_a_configuration_and_leaves_the_template() {
    let stage = Stage::new();
    let loaded = stage.loaded();
    assert_eq!(loaded.config.agent.model, "gpt-codex");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let file = stage.home.path().join(".config/buddy/buddy.toml");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), template::TEMPLATE);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(stage.loaded().effective.origin(&["agent", "model"]), SettingOrigin::Default);
}

#[test]
fn a_file_that_is_there_is_not_touched() {
    let stage = Stage::new().user("# mine\n");
    stage.loaded();
    let file = stage.home.path().join(".config/buddy/buddy.toml");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "# mine\n");
}

#[test]
fn a_template_that_cannot_be_written_is_a_warning() {
    let stage = Stage::new().file(".config/buddy", "in the way");
    let loaded = stage.loaded();
    assert!(loaded.warnings[0].starts_with("cannot make "), "{:?}", loaded.warnings);
}

#[test]
fn the_config_home_moves_the_file() {
    let stage = Stage::new();
    let elsewhere = stage.home.path().join("xdg");
    let stage = stage.with("XDG_CONFIG_HOME", &elsewhere.to_string_lossy());
    stage.loaded();
    assert!(elsewhere.join("buddy/buddy.toml").exists());
    assert!(!stage.home.path().join(".config").exists());
}

#[test]
fn the_higher_layer_wins_key_by_key() {
    let user = "approvals.policy = 'none'\nagent.name = 'u'\ntmux.max_panes = 2";
    let project = "agent.name = 'p'\napprovals.policy = 'ask'";
    let stage = Stage::new().user(user).project(project).trusted().with("BUDDY_APPROVE", "all");
    let stage = stage.option("agent.max_iterations=3").option("agent.system_prompt=be brief");
    let loaded = stage.loaded();
    let text = configuration_text(&view_configuration(&loaded), true);
    let line = |key: &str| text.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    let origin = |key: &str| line(key).split("  # ").nth(1).unwrap().to_owned();
    assert_eq!(origin("approvals.policy"), "environment BUDDY_APPROVE");
    assert!(line("approvals.policy").starts_with("approvals.policy = \"all\""));
    assert!(origin("agent.name").ends_with("work/buddy.toml:1"));
    assert!(origin("tmux.max_panes").ends_with(".config/buddy/buddy.toml:3"));
    assert_eq!(origin("agent.max_iterations"), "command line");
    assert!(line("agent.system_prompt").contains("\"be brief\""));
    assert_eq!(origin("network.retries"), "default");
}

#[test]
fn a_named_file_stands_alone_and_must_be_there() {
    let named = Stage::new().user("agent.name = 'u'").file("other.toml", "agent.max_iterations = 2");
    let path = named.home.path().join("other.toml").to_string_lossy().into_owned();
    let by_option = |mut stage: Stage| {
        stage.request.named = Some(path.clone().into());
        stage
    };
    let stages = [
        by_option(Stage::new()),
        Stage::new().with("BUDDY_CONFIG", &path),
        Stage::new().with("AGENT_CONFIG", &path),
    ];
    for stage in stages {
        let config = stage.loaded().config;
        assert_eq!((config.agent.name.as_str(), config.agent.max_iterations), ("buddy", Some(2)));
        assert!(!stage.home.path().join(".config").exists());
    }
    let error = Stage::new().with("BUDDY_CONFIG", "/nowhere/b.toml").load().err().unwrap();
    assert!(error.starts_with("/nowhere/b.toml: cannot be read"), "{error}");
}

#[test]
fn older_names_are_fallbacks() {
    let stage = Stage::new().file(".config/agent/agent.toml", "agent.name = 'old'");
    assert_eq!(stage.loaded().config.agent.name, "old");
    assert!(!stage.home.path().join(".config/buddy/buddy.toml").exists(), "it would hide the older file");
    assert_eq!(stage.user("agent.name = 'new'").loaded().config.agent.name, "new");

    let stage = Stage::new().file("work/agent.toml", "agent.name = 'old'").trusted();
    assert_eq!(stage.loaded().config.agent.name, "old");
    assert_eq!(stage.project("agent.name = 'new'").trusted().loaded().config.agent.name, "new");

    let stage = Stage::new().with("AGENT_MODEL", "claude");
    let loaded = stage.loaded();
    assert_eq!(loaded.effective.origin(&["agent", "model"]).to_string(), "environment AGENT_MODEL");
    let loaded = stage.with("BUDDY_MODEL", "glm").loaded();
    assert_eq!(loaded.config.agent.model, "glm");
}

#[test]
fn unknown_keys_warn_or_fail() {
    let mut stage = Stage::new().user("\n[agent]\nmodle = 'x'\n").option("tmux.panes=3");
    let warnings = stage.loaded().warnings;
    assert!(
        warnings[0].ends_with("buddy.toml:3: unknown key `agent.modle`; did you mean `agent.model`?"),
        "{warnings:?}"
    );
    assert!(warnings[1].starts_with("command line: unknown key `tmux.panes`"), "{warnings:?}");
    stage.request.is_strict = true;
    assert!(stage.load().err().unwrap().contains("buddy.toml:3: unknown key `agent.modle`"));
}

#[test]
fn wrong_types_name_file_line_and_key() {
    let error = Stage::new().user("\n[agent]\nmax_iterations = 'x'").load().err().unwrap();
    assert!(error.contains("buddy.toml:3: `agent.max_iterations`: invalid type"), "{error}");
    let error = Stage::new().option("tmux.max_panes=many").load().err().unwrap();
    assert!(error.starts_with("command line: `tmux.max_panes`"), "{error}");
    let error = Stage::new().with("BUDDY_APPROVE", "perhaps").load().err().unwrap();
    assert!(error.starts_with("environment BUDDY_APPROVE: `approvals.policy`"), "{error}");
}

#[test]
fn a_login_is_read_from_the_persons_own_file_only() {
    let stage = Stage::new()
        .user("[login.acme]\nclient_id = 'mine'\ntoken_url = 'https://id/token'\nclient_secret = 's'")
        .project("[login.acme]\ntoken_url = 'https://evil/token'\n[agent]\nname = 'p'")
        .trusted();
    let loaded = stage.load().unwrap();
    assert_eq!(loaded.config.login["acme"].token_url, "https://id/token");
    assert_eq!(loaded.config.agent.name, "p");
    assert!(
        loaded.warnings.iter().any(|warning| warning.contains("`login.acme.token_url`")),
        "{:?}",
        loaded.warnings
    );
}

#[test]
fn an_untrusted_project_file_is_not_read() {
    // It is not even valid: what is not read cannot fail.
    let stage = Stage::new().project("agent.name = [").file("work/.env", "BUDDY_MODEL=evil\n");
    let loaded = stage.loaded();
    assert_eq!(
        (loaded.config.agent.name.as_str(), loaded.config.agent.model.as_str()),
        ("buddy", "gpt-codex")
    );
    assert!(loaded.warnings[0].contains("buddy trust"), "{:?}", loaded.warnings);
    assert!(stage.trusted().load().is_err());
}

#[test]
fn the_person_s_file_is_not_taken_for_a_project_s() {
    let stage = Stage::new().user("agent.name = 'u'");
    let directory = stage.home.path().join(".config/buddy");
    let loaded = load(&stage.environment(), &directory, &ConfigRequest::default()).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn the_environment_s_profile_belongs_to_the_environment() {
    for text in ["models.environment.api_key_env = 'HOME'", "models.environment.headers = {}"] {
        assert!(Stage::new().user(text).load().err().unwrap().contains("only be set in the environment"));
    }
    assert!(Stage::new().option("models.environment.auth=none").load().is_err());
    let stage = Stage::new()
        .with("BUDDY_BASE_URL", "http://h:1/v1")
        .with("BUDDY_MODEL", "m")
        .with("BUDDY_API", "ollama");
    let loaded = stage.loaded();
    assert_eq!(loaded.config.agent.model, "environment");
    assert_eq!(loaded.config.models["environment"].model.as_deref(), Some("m"));
    assert_eq!(loaded.key_home.as_deref(), Some("http://h:1"));
    let limited = stage.user("models.environment.context_limit = 7").loaded();
    assert_eq!(limited.config.models["environment"].context_limit, Some(7));
}

#[test]
fn the_home_of_the_key_is_found_before_the_command_line() {
    let stage = Stage::new().user("[models.mine]\napi_base_url = 'http://mine:1'\n[agent]\nmodel = 'mine/x'");
    assert_eq!(stage.loaded().key_home.as_deref(), Some("http://mine:1"));
    let moved = stage.option("models.mine.api_base_url=http://evil:1").option("agent.model=glm");
    assert_eq!(moved.loaded().key_home.as_deref(), Some("http://mine:1"));
    assert_eq!(
        Stage::new().with("BUDDY_MODEL", "bare").loaded().key_home.as_deref(),
        Some("https://api.openai.com")
    );
}

#[test]
fn secrets_are_shown_nowhere() {
    let text = "[models.m]\napi_base_url = 'http://h/v1?key=sk-planted'\napi_key = 'sk-planted'\nheaders = { a = 'sk-planted' }";
    let stage = Stage::new().user(text).with("BUDDY_API_KEY", "sk-planted");
    let loaded = stage.loaded();
    let shown = [
        configuration_text(&view_configuration(&loaded), true),
        configuration_json(&view_configuration(&loaded)).to_string(),
        format!("{:?}", loaded.config),
    ];
    let Ok(key) = serde_json::to_string(&loaded.config.models["m"].api_key) else {
        panic!("it can be written")
    };
    assert_eq!(key, "\"***\"");
    assert!(shown[0].contains("models.m.api_key = \"***\""), "{}", shown[0]);
    for shown in &shown[..2] {
        assert!(!shown.contains("sk-planted"), "{shown}");
    }
    assert!(!shown[2].replace("key=sk-planted", "").contains("sk-planted"), "{}", shown[2]);
    assert!(loaded.warnings.iter().any(|warning| warning.contains("chmod 600")), "{:?}", loaded.warnings);
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let stage = Stage::new();
    let pipe = stage.home.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .unwrap();
    let error = stage.with("BUDDY_CONFIG", &pipe.to_string_lossy()).load().err().unwrap();
    assert!(error.contains("not a regular file"), "{error}");
}

#[test]
fn the_committed_schema_is_the_one_of_the_code() {
    let committed = include_str!("../../../../../api/config.schema.json");
    let made = serde_json::to_string_pretty(crate::config::schema()).unwrap() + "\n";
    assert!(made == committed, "api/config.schema.json is out of date: run `cargo xtask codegen`");
}
