//! Which model is found, from an environment made of a map.

use std::sync::Arc;

use buddy_exec::Target;

use super::*;
use crate::config::{ConfigRequest, load};
use crate::local_machine::local_target;

struct Found {
    choice: ChoiceKind,
    active: Option<String>,
    address: Option<String>,
    is_probed: bool,
}

async fn check(
    variables: &[(&str, &str)],
    user: &str,
    wish: Option<&str>,
    servers: Vec<LocalServer>,
) -> Found {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join(".config/buddy")).unwrap();
    std::fs::write(home.path().join(".config/buddy/buddy.toml"), user).unwrap();
    let own = [("HOME", home.path().to_str().unwrap())];
    let all = variables.iter().chain(&own).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let environment = Environment::of(all.collect()).unwrap();
    let loaded = load(&environment, home.path(), &ConfigRequest::default()).unwrap();
    let target: Arc<dyn Target> = Arc::new(local_target(&environment, home.path().to_owned()).unwrap());
    let keys = ModelKeys::new(&environment, &loaded, target);
    let mut is_probed = false;
    let probe = async || {
        is_probed = true;
        servers
    };
    let choice = choose(&environment, &loaded, &keys, wish, probe).await.unwrap();
    let profile = choice.profile.and_then(|(_, profile)| profile.api_base_url);
    let active = choice.active.map(|active| active.name());
    Found { choice: choice.kind, active, address: profile, is_probed }
}

fn server() -> LocalServer {
    LocalServer {
        profile: "ollama",
        base_url: "http://127.0.0.1:11434".to_owned(),
        model: Some("m".to_owned()),
    }
}

#[tokio::test]
async fn what_the_person_chose_is_taken_even_without_a_key() {
    let found = check(&[], "agent.model = 'gpt-codex'", None, vec![server()]).await;
    assert_eq!(found.choice, ChoiceKind::Profile("gpt-codex".to_owned()));
    assert!(!found.is_probed);
    let found = check(&[("OPENAI_API_KEY", "k")], "", Some("claude/x"), vec![]).await;
    assert_eq!(found.active.as_deref(), Some("claude/x"));
}

#[tokio::test]
async fn the_environment_s_server_comes_first() {
    let variables = [("BUDDY_BASE_URL", "http://h:1"), ("BUDDY_MODEL", "m"), ("OPENAI_API_KEY", "k")];
    let found = check(&variables, "agent.model = 'claude'", None, vec![]).await;
    assert_eq!((found.choice, found.is_probed), (ChoiceKind::Environment, false));
}

#[tokio::test]
async fn vendors_are_found_by_their_keys() {
    let found = check(&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")], "", None, vec![]).await;
    assert_eq!(found.choice, ChoiceKind::Profile("gpt-codex".to_owned()));
    let found = check(&[("OPENROUTER_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")], "", None, vec![]).await;
    assert_eq!(
        (found.choice, found.active.as_deref()),
        (ChoiceKind::Vendor("ANTHROPIC_API_KEY"), Some("claude"))
    );
    let found = check(&[("OPENROUTER_API_KEY", "k")], "", None, vec![server()]).await;
    assert_eq!((found.choice, found.is_probed), (ChoiceKind::Vendor("OPENROUTER_API_KEY"), false));
}

#[tokio::test]
async fn a_vendor_s_address_goes_with_its_key() {
    let variables = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://gateway:1/v1")];
    let found = check(&variables, "", None, vec![]).await;
    assert_eq!(found.choice, ChoiceKind::Vendor("OPENAI_API_KEY"));
    assert_eq!(found.address.as_deref(), Some("http://gateway:1/v1"));
}

#[tokio::test]
async fn servers_on_this_machine_are_asked_last() {
    let found = check(&[], "", None, vec![server()]).await;
    assert_eq!(
        (found.choice, found.address.as_deref()),
        (ChoiceKind::Local(server()), Some("http://127.0.0.1:11434"))
    );
    let found = check(&[], "", None, vec![]).await;
    assert_eq!((found.choice, found.active, found.is_probed), (ChoiceKind::Demo, None, true));
}

#[tokio::test]
async fn a_bare_model_goes_with_what_is_found() {
    let found = check(&[("BUDDY_MODEL", "gpt-9"), ("OPENAI_API_KEY", "k")], "", None, vec![]).await;
    assert_eq!(found.active.as_deref(), Some("gpt-codex/gpt-9"));
}
