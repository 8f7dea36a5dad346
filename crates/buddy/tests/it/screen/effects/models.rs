//! Models: chosen, connected, and what they have used. The colours too, as they are chosen in the same way.

use std::os::unix::fs::PermissionsExt;

use buddy_testkit::model::{ModelServer, turn};

use crate::screen::Screen;
use crate::stage::Stage;

/// A conversation with three profiles beside the one of the environment.
async fn with_profiles(arguments: &[&str]) -> Screen {
    let turns = vec![turn().text("First answer.").usage(70_000, 10_000), turn().text("Second answer.")];
    let stage = Stage::new(turns).await;
    let config = stage.home.path().join(".config/buddy");
    std::fs::create_dir_all(&config).unwrap();
    let profile = |name: &str, model: &str, more: &str| {
        let url = stage.server.url();
        format!(
            "[models.{name}]\napi_base_url = '{url}/v1'\napi = 'completions'\nmodel = '{model}'\n{more}\n"
        )
    };
    let text = profile("blue", "scripted-blue", "auth = 'none'")
        + &profile("green", "scripted-green", "")
        + &profile("scripted-small", "scripted-small", "auth = 'none'\ncontext_limit = 100000");
    std::fs::write(config.join("buddy.toml"), text).unwrap();
    for path in [config.clone(), config.join("buddy.toml")] {
        let mode = if path.is_dir() { 0o700 } else { 0o600 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // A key in the environment would be the one of every profile.
    let screen = Screen::bare(stage, arguments, 100, 30, &[("BUDDY_API_KEY", "")]);
    screen.wait_until("a prompt", crate::screen::has_prompt).await;
    screen
}

/// The model and the key of the last request.
fn asked(screen: &Screen) -> (String, Option<String>) {
    let request = screen.stage.requests().pop().unwrap();
    let model = request.body["model"].as_str().unwrap().to_owned();
    (model, request.headers.get("authorization").cloned())
}

#[tokio::test]
async fn a_model_is_picked_by_typing_and_arrows() {
    let screen = with_profiles(&["--trust"]).await;
    screen.line("/model");
    screen.wait_for("› Type to search").await;
    screen.text("gr");
    let narrowed = screen.wait_for("❯ green").await;
    assert!(!narrowed.contains("blue"), "{narrowed}");
    screen.keys(&["Enter"]);
    screen.wait_for("model: green").await;
    screen.line("which are you?");
    screen.wait_for("First answer.").await;
    assert_eq!(asked(&screen).0, "scripted-green");
    screen.line("/model");
    screen.wait_for("❯ green").await;
    screen.keys(&["Up"]);
    let shown = screen.wait_gone("❯ green").await;
    // One of the built-in ones, for which there is no key.
    let chosen = shown.lines().find_map(|line| line.strip_prefix("❯ ")).unwrap();
    let name = chosen.split_whitespace().next().unwrap().to_owned();
    screen.keys(&["Enter"]);
    screen.wait_gone("enter use").await;
    let refused = screen.wait_for("there is no key for").await;
    assert!(refused.contains(&name) && !refused.contains(&format!("model: {name}")), "{refused}");
    assert!(refused.contains(&format!("run /login {name}")), "{refused}");
    assert!(
        screen.wait_for("scripted-green   ~/work").await.contains("scripted-green"),
        "the model is in the status"
    );
    screen.line("/model blue");
    screen.wait_for("model: blue").await;
    screen.line("and now?");
    screen.wait_for("Second answer.").await;
    assert_eq!(asked(&screen).0, "scripted-blue");
    screen.keys(&["C-d"]);
    screen.wait_for("Resume with").await;
    let log = screen.stage.only_log().await;
    let models: Vec<&str> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            buddy_protocol::Fact::SessionChanged(changed) => changed.model.as_deref(),
            _ => None,
        })
        .collect();
    assert_eq!(models, ["green", "blue"]);
}

#[tokio::test]
async fn a_picker_that_is_left_changes_nothing() {
    let screen = with_profiles(&["--trust"]).await;
    screen.line("/model");
    screen.wait_for("› Type to search").await;
    screen.text("nothing like it");
    screen.wait_for("nothing fits").await;
    screen.keys(&["Escape"]);
    screen.wait_gone("enter use").await;
    screen.line("which are you?");
    screen.wait_for("First answer.").await;
    assert_eq!(asked(&screen).0, "scripted");
}

#[tokio::test]
async fn a_model_that_was_connected_is_gone_on_with() {
    let screen = with_profiles(&["--trust"]).await;
    screen.line("/login green");
    screen.wait_for("API key for `green` (not shown)").await;
    screen.line("sk-green");
    screen.wait_for("model: green").await;
    screen.line("which are you?");
    screen.wait_for("First answer.").await;
    assert_eq!(asked(&screen), ("scripted-green".to_owned(), Some("Bearer sk-green".to_owned())));
    assert!(!screen.everything().contains("sk-green"));
    screen.line("/login nobody");
    screen.wait_for("No model was connected.").await;
}

#[tokio::test]
async fn a_server_at_another_address_is_gone_on_with_at_once() {
    let other = ModelServer::start([turn().text("OK"), turn().text("I am the other one.")]).await;
    let screen = with_profiles(&["--trust"]).await;
    screen.line("/login");
    screen.wait_for("Connect a model").await;
    screen.keys(&["1"]);
    // The first picker has such a row too.
    let is_second = |shown: &str| shown.contains("Whose key is it?") && shown.contains("Another server");
    let whose = screen.wait_until("the second picker", is_second).await;
    let row = whose.lines().find(|line| line.contains("Another server")).unwrap();
    let number = row.trim_start_matches(['❯', ' ']).split(' ').next().unwrap();
    screen.keys(&[number]);
    screen.wait_for("Address of the API").await;
    screen.line(&format!("{}/v1", other.url()));
    screen.wait_for("API key (not shown; press Enter").await;
    screen.line("sk-other");
    screen.wait_for("Which model?").await;
    screen.keys(&["1"]);
    let name = other.url().trim_start_matches("http://").replace([':', '.'], "-");
    screen.wait_for(&format!("model: {name}")).await;
    assert!(!screen.everything().contains("there is no profile"), "{}", screen.everything());
    screen.line("which are you?");
    screen.wait_for("I am the other one.").await;
    let request = other.requests().pop().unwrap();
    assert_eq!(request.headers.get("authorization").map(String::as_str), Some("Bearer sk-other"));
    assert!(screen.stage.requests().is_empty(), "the first server is asked nothing");
    screen.line(&format!("/logout {name}"));
    screen.wait_for("Removed the key for").await;
}

#[tokio::test]
async fn what_was_used_and_how_full_the_window_is_are_told() {
    let screen = with_profiles(&["--trust", "-m", "scripted-small"]).await;
    screen.line("hello");
    screen.wait_for("First answer.").await;
    screen.wait_for("80% full").await;
    screen.line("/context");
    screen.wait_for("80.0k of 100.0k tokens, 80%").await;
    screen.line("/cost");
    let shown = screen.wait_for("cost       not known").await;
    assert!(
        shown.contains("input      70000 tokens") && shown.contains("output     10000 tokens"),
        "{shown}"
    );
}

#[tokio::test]
async fn another_theme_has_other_colours() {
    let screen = Screen::start([turn().text("A `word`.")], 80, 24).await;
    screen.line("say it");
    screen.wait_for("A word.").await;
    screen.wait_idle().await;
    let colours =
        || String::from_utf8(screen.tmux(&["capture-pane", "-p", "-e", "-t", "screen"]).stdout).unwrap();
    let prompt = |shown: String| shown.lines().rev().find(|line| line.contains('›')).unwrap().to_owned();
    let dark = prompt(colours());
    screen.line("/theme light");
    screen.wait_for("Theme: light").await;
    screen.wait_until("other colours", |_| prompt(colours()) != dark).await;
}
