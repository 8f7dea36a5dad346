//! Keys of profiles and names of models, over a configuration on a stage of its own.

use std::os::unix::fs::PermissionsExt;

use secrecy::ExposeSecret;

use super::*;
use crate::config::{ConfigRequest, load};
use crate::environment::Environment;
use crate::local_machine::local_target;
use crate::models::choose;

struct Stage {
    home: tempfile::TempDir,
    models: Models,
    keys: ModelKeys,
    config: Config,
}

impl Stage {
    async fn new(variables: &[(&str, &str)], user: &str, files: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".config/buddy")).unwrap();
        for (name, text) in files.iter().chain(&[("buddy.toml", user)]) {
            std::fs::write(home.path().join(".config/buddy").join(name), text).unwrap();
        }
        let own = [("HOME", home.path().to_str().unwrap())];
        let all = variables.iter().chain(&own).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment = Environment::of(all.collect()).unwrap();
        let loaded = load(&environment, home.path(), &ConfigRequest::default()).unwrap();
        let target = Arc::new(local_target(&environment, home.path().to_owned()).unwrap());
        let keys = ModelKeys::new(&environment, &loaded, target);
        let choice = choose(&environment, &loaded, &keys, None, async || Vec::new()).await.unwrap();
        let config = loaded.config.clone();
        Self { home, models: Models::new(&loaded, keys.clone(), choice, Lessons::default()), keys, config }
    }

    /// The key that a profile would be called with.
    fn key(&self, name: &str) -> Result<Option<String>, String> {
        let profile = &self.config.models[name];
        let address = endpoint(name, profile).unwrap().to_string();
        match self.keys.key(name, profile, &address) {
            Ok(ModelKey::Ready(key)) => Ok(Some(key.expose_secret().to_owned())),
            Ok(ModelKey::None) => Ok(None),
            Ok(ModelKey::Command(_)) => Ok(Some("(command)".to_owned())),
            Ok(ModelKey::Login(_)) => Ok(Some("(login)".to_owned())),
            Err(failure) => Err(failure.hint.unwrap_or(failure.message)),
        }
    }
}

const TWO: &str = "[agent]\nmodel = 'a'\n[models.a]\napi_base_url = 'http://a:1/v1'\napi_key = 'own-a'\n\
    [models.a2]\napi_base_url = 'http://a:1/v2'\n[models.b]\napi_base_url = 'http://b:1'\napi_key = 'own-b'\n\
    [models.c]\napi_base_url = 'http://a:2'\n[models.n]\napi_base_url = 'http://a:1'\nauth = 'none'\n";

#[tokio::test]
async fn the_environment_s_key_goes_to_the_active_profile_s_address_alone() {
    let stage = Stage::new(&[("BUDDY_API_KEY", "env")], TWO, &[]).await;
    let keys = ["a", "a2", "b", "c", "n"].map(|name| stage.key(name).unwrap());
    assert_eq!(keys, [Some("env"), Some("env"), Some("own-b"), None, None].map(|key| key.map(str::to_owned)));
    let stage = Stage::new(&[], TWO, &[]).await;
    assert_eq!(stage.key("a").unwrap().as_deref(), Some("own-a"));
}

#[tokio::test]
async fn a_key_comes_from_its_one_source() {
    let user = "[models.v]\napi_base_url = 'http://v'\napi_key_env = 'MY_KEY'\n[models.f]\napi_base_url = 'http://f'\n\
        api_key_file = 'f.key'\n[models.x]\napi_base_url = 'http://x'\napi_key_command = 'echo k'\n\
        [models.e]\napi_base_url = 'http://e'\napi_key_env = 'NOT_SET'\n[models.l]\napi_base_url = 'http://l'\nauth = 'login'";
    let stage = Stage::new(&[("MY_KEY", "from-variable")], user, &[("f.key", "from-file\n")]).await;
    assert_eq!(stage.key("v").unwrap().as_deref(), Some("from-variable"));
    assert_eq!(stage.key("f").unwrap().as_deref(), Some("from-file"));
    assert_eq!(stage.key("x").unwrap().as_deref(), Some("(command)"));
    assert!(stage.key("e").unwrap_err().contains("the environment variable NOT_SET"));
    assert!(stage.key("l").is_err());
}

#[tokio::test]
async fn a_key_file_is_a_file_of_its_own_person() {
    let user = "agent.model = 'f'\n[models.f]\napi_base_url = 'http://f'\napi_key_file = 'f.key'";
    let stage = Stage::new(&[], user, &[("f.key", "k")]).await;
    let file = stage.home.path().join(".config/buddy/f.key");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(stage.models.warnings()[0].contains("chmod 600"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(stage.models.warnings().is_empty());
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(stage.key("f").unwrap_err().contains("not a regular file"));
}

#[tokio::test]
async fn names_are_kept_with_their_profile() {
    let stage = Stage::new(&[], TWO, &[]).await;
    assert_eq!(stage.models.canonical("b").unwrap(), "b");
    assert_eq!(stage.models.canonical("b/x").unwrap(), "b/x");
    assert_eq!(stage.models.canonical("gpt-9").unwrap(), "a/gpt-9");
    assert_eq!(stage.models.model(Some("b/x")).unwrap().name(), "x");
    assert_eq!(stage.models.model(Some("b")).unwrap().name(), "b");
    assert_eq!(stage.models.model(None).unwrap().name(), "a");
}

#[tokio::test]
async fn nothing_configured_is_the_demo_and_half_of_it_is_explained() {
    let stage = Stage::new(&[], "", &[]).await;
    assert_eq!(stage.models.model(None).unwrap().name(), DEMO_MODEL);
    let stage = Stage::new(&[("BUDDY_BASE_URL", "http://h")], "", &[]).await;
    let failure = stage.models.check().unwrap_err();
    assert_eq!(failure.kind, FailureKind::ModelMissing, "a server without a model");
}

#[tokio::test]
async fn an_address_alone_takes_the_chosen_model_and_not_its_key() {
    let stage = Stage::new(&[("BUDDY_BASE_URL", "localhost:7")], TWO, &[]).await;
    assert_eq!(stage.models.model(None).unwrap().name(), "a");
    assert_eq!(stage.key("environment").unwrap(), None);
    let user = "agent.model = 'claude'";
    let stage = Stage::new(&[("BUDDY_BASE_URL", "http://h"), ("BUDDY_API_KEY", "k")], user, &[]).await;
    assert_eq!(stage.config.models["environment"].api, stage.config.models["claude"].api);
    assert_eq!(stage.key("environment").unwrap().as_deref(), Some("k"));
    let user = "agent.model = 'x'\n[models.x]\napi_base_url = 'http://x'\napi = 'anthropic'";
    let stage = Stage::new(&[], user, &[]).await;
    assert_eq!(stage.config.models["x"].api, crate::config::Api::Messages);
}

#[tokio::test]
async fn a_context_limit_of_the_profile_wins() {
    let stage = Stage::new(&[], "agent.model = 'glm'\nmodels.glm.context_limit = 1234", &[]).await;
    assert_eq!(stage.models.facts(None).context_window, Some(1234));
}

#[tokio::test]
async fn rows_tell_the_state_of_each_key() {
    let stage = Stage::new(&[("OPENAI_API_KEY", "sk-planted")], "", &[]).await;
    let rows = stage.models.rows();
    let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    assert!(row("gpt-codex").active && !row("claude").active);
    assert_eq!((row("gpt-codex").key.as_str(), row("claude").key.as_str()), ("set", "missing"));
    assert_eq!(
        (row("ollama").key.as_str(), row("glm").key_source.as_str()),
        ("not needed", "OPENROUTER_API_KEY")
    );
    assert!(!serde_json::to_string(&rows).unwrap().contains("sk-planted"));
    assert_eq!(stage.models.describe_choice().unwrap(), "model: gpt-5.3-codex (from OPENAI_API_KEY)");
}
