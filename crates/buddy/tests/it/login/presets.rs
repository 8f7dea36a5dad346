//! The built-in logins, against stand-ins on this machine that behave as the vendors do.

use buddy_testkit::home::Home;
use buddy_testkit::model::{ModelServer, turn};
use buddy_testkit::oauth::{OAuthScript, OAuthServer, Poll, follow};

use super::{Scene, always};

/// A home where nothing is configured but the addresses of the stand-ins: all else is built in.
async fn scene(polls: Vec<Poll>) -> Scene {
    let plan_account = Some("acc-7".to_owned());
    let script = OAuthScript { polls, plan_account, ..OAuthScript::default() };
    let provider = OAuthServer::start(script).await;
    let model = ModelServer::start(always(turn().text("Well."))).await;
    let scene = Scene { provider, model, home: Home::new() };
    let (id, api, client) = (scene.provider.url(), scene.model.url(), OAuthServer::CLIENT);
    let text = format!(
        "[network]\nlocal_servers = false\n\
         [models.chatgpt]\napi_base_url = '{api}/backend-api/codex'\n\
         [login.chatgpt]\naddresses = ['{api}']\nclient_id = '{client}'\nauthorize_url = '{id}/oauth/authorize'\n\
         token_url = '{id}/oauth/token'\ndevice_url = '{id}/api/accounts/deviceauth/usercode'\n\
         [models.glm]\napi_base_url = '{api}/api/v1'\n\
         [login.openrouter]\naddresses = ['{api}']\nauthorize_url = '{id}/auth'\n\
         token_url = '{id}/api/v1/auth/keys'\n"
    );
    std::fs::create_dir_all(scene.directory()).unwrap();
    std::fs::write(scene.directory().join("buddy.toml"), text).unwrap();
    scene
}

#[tokio::test]
async fn a_plan_is_logged_in_to_and_used_without_any_further_setting() {
    let scene = scene(vec![Poll::Pending]).await;
    scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("buddy login");
    let finished = scene.run(["login", "chatgpt"]).await.expect_code(0);
    finished.expect_stderr("/codex/device").expect_stderr("WXYZ-1234").expect_stderr("Logged in to chatgpt");
    assert_eq!(scene.run(["exec", "hi"]).await.expect_code(0).text(), "Well.\n");
    let request = &scene.model.requests()[0];
    assert_eq!(request.path, "/backend-api/codex/responses");
    assert_eq!(request.headers["chatgpt-account-id"], "acc-7");
    assert_eq!((&request.body["store"], &request.body["stream"]), (&false.into(), &true.into()));
    assert!(request.body["max_output_tokens"].is_null(), "the backend refuses it");
    scene.run(["login", "chatgpt", "--status"]).await.expect_code(0).expect_stderr("person@example.com");
    scene.run(["logout", "chatgpt"]).await.expect_code(0).expect_stderr("Logged out of chatgpt");
    scene.run(["exec", "hi"]).await.expect_code(6);
}

#[tokio::test]
async fn the_account_of_a_plan_stays_known_when_tokens_are_renewed() {
    let scene = scene(Vec::new()).await;
    scene.provider.change(|script| script.token_life = Some(1));
    scene.run(["login", "chatgpt", "--device"]).await.expect_code(0);
    scene.provider.change(|script| script.plan_account = None);
    scene.run(["exec", "hi"]).await.expect_code(0);
    assert_eq!(scene.provider.refreshes(), 1);
    assert_eq!(scene.model.requests()[0].headers["chatgpt-account-id"], "acc-7");
}

#[tokio::test]
async fn openrouter_gives_a_key_that_is_kept_like_any_other() {
    let scene = scene(Vec::new()).await;
    let port = free_port();
    let wish = format!("login.openrouter.redirect_port={port}");
    let mut started = scene.buddy(["-c", &wish, "login", "openrouter"]).start();
    started.stderr.wait_for("press Enter", 1).await;
    let text = started.stderr.text();
    let address = text.lines().find(|line| line.contains("/auth?callback_url=")).unwrap().trim().to_owned();
    assert_eq!(follow(&address).await.status, 200);
    scene.checked(started.finish().await.expect_code(0)).expect_stderr("Its key is saved for `glm`");
    assert_eq!(scene.run(["exec", "hi"]).await.expect_code(0).text(), "Well.\n");
    assert!(scene.shown()[0].starts_with("Bearer sk-or-"));
    scene.run(["login", "openrouter", "--status"]).await.expect_code(0).expect_stderr("glm: API key");
    scene.run(["logout", "openrouter"]).await.expect_code(0).expect_stderr("Removed the key for `glm`");
    scene.run(["login", "openrouter", "--status"]).await.expect_code(6);
}

#[tokio::test]
async fn a_plan_and_the_api_are_not_mixed_up() {
    let scene = scene(Vec::new()).await;
    let wishes = ["-c", "models.mine.api_base_url=https://api.openai.com/v1", "-c", "models.mine.auth=login"];
    let words: Vec<&str> = wishes.into_iter().chain(["exec", "-m", "mine", "hi"]).collect();
    scene.run(words).await.expect_code(6).expect_stderr("use the profile `chatgpt`");
}

/// A port that nobody has. Somebody could take it before it is used; tests that fail so are worth a second try.
fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}
