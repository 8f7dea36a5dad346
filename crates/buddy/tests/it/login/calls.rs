//! Model calls with a login.

use std::time::Duration;

use buddy_testkit::model::{Script, WhenExhausted, turn};
use buddy_testkit::oauth::{OAuthScript, TokenFault};

use super::{Scene, always};

async fn scene(provider: OAuthScript) -> Scene {
    Scene::new(provider, always(turn().text("Well."))).await
}

#[tokio::test]
async fn a_token_that_ends_is_renewed_before_the_call() {
    let scene = scene(OAuthScript::default()).await;
    for seconds in [-5, 30] {
        scene.logged_in(seconds);
        let before = scene.kept()["logins"]["acme"].clone();
        scene.run(["exec", "hi"]).await.expect_code(0);
        let after = scene.kept()["logins"]["acme"].clone();
        assert_ne!(before["access"], after["access"]);
        assert_ne!(before["refresh"], after["refresh"]);
        assert_eq!(before["addresses"], after["addresses"]);
        let access = after["access"].as_str().unwrap();
        assert_eq!(scene.shown().last().unwrap(), &format!("Bearer {access}"));
    }
    assert_eq!((scene.provider.refreshes(), scene.model.requests().len()), (2, 2));
}

#[tokio::test]
async fn a_token_that_holds_is_left_alone() {
    let scene = scene(OAuthScript::default()).await;
    scene.logged_in(120);
    scene.run(["exec", "hi"]).await.expect_code(0);
    scene.run(["exec", "-m", "two", "hi"]).await.expect_code(0);
    assert_eq!(scene.provider.refreshes(), 0);
    assert_eq!(scene.shown().len(), 2);
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_and_the_call_made_again() {
    let script = [turn().status(401).body("expired"), turn().text("Well.")];
    let scene = Scene::new(OAuthScript::default(), script).await;
    scene.logged_in(3600);
    scene.run(["exec", "hi"]).await.expect_code(0);
    let shown = scene.shown();
    assert_eq!((scene.provider.refreshes(), shown.len()), (1, 2));
    assert_ne!(shown[0], shown[1]);
}

#[tokio::test]
async fn a_token_that_is_refused_twice_ends_with_six() {
    let scene = Scene::new(OAuthScript::default(), always(turn().status(401).body("expired"))).await;
    scene.logged_in(3600);
    scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("buddy login acme");
    assert_eq!((scene.provider.refreshes(), scene.shown().len()), (1, 2));
}

#[tokio::test]
async fn a_refresh_that_is_refused_ends_with_six() {
    let scene = scene(OAuthScript::default()).await;
    scene.logged_in(-5);
    scene.provider.change(|script| script.faults = vec![TokenFault::Echo]);
    scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("run `buddy login acme`");
    assert!(scene.shown().is_empty(), "an old token is not tried");
}

#[tokio::test]
async fn a_provider_that_is_away_is_asked_again_and_not_needed_before_the_end() {
    let scene = scene(OAuthScript::default()).await;
    let trouble = || vec![TokenFault::Answer(503, "busy".to_owned())];
    scene.provider.change(|script| script.faults = trouble());
    scene.logged_in(-5);
    scene.run(["exec", "hi"]).await.expect_code(0);
    assert_eq!(scene.provider.refreshes(), 2);
    scene.logged_in(30);
    scene.provider.change(|script| script.faults = trouble());
    scene.run(["exec", "hi"]).await.expect_code(0);
    assert_eq!(scene.provider.refreshes(), 3);
}

#[tokio::test]
async fn eight_processes_at_once_renew_once() {
    let scene = scene(OAuthScript { delay: Duration::from_millis(300), ..OAuthScript::default() }).await;
    scene.logged_in(-5);
    let runs = (0..8).map(|_| scene.run(["exec", "hi"]));
    for finished in futures::future::join_all(runs).await {
        finished.expect_code(0);
    }
    assert_eq!(scene.provider.refreshes(), 1);
    let shown = scene.shown();
    assert_eq!(shown.len(), 8);
    assert!(shown.iter().all(|token| *token == shown[0]), "{shown:?}");
    assert_eq!(scene.provider.live_logins(), 1);
}

#[tokio::test]
async fn eight_refused_processes_use_no_refresh_token_twice() {
    let mut turns = vec![turn().status(401).body("expired"); 8];
    turns.push(turn().text("Well."));
    let script = Script { when_exhausted: WhenExhausted::RepeatLast, ..Script::from(turns) };
    let scene = Scene::new(OAuthScript::default(), script).await;
    scene.logged_in(3600);
    let runs = (0..8).map(|_| scene.run(["exec", "hi"]));
    for finished in futures::future::join_all(runs).await {
        // A caller that meets a second refusal of the script has done nothing wrong.
        assert!(matches!(finished.code, Some(0 | 6)), "{finished}");
    }
    assert_eq!(scene.provider.live_logins(), 1, "one that is used twice ends the login");
}

#[tokio::test]
async fn a_token_goes_only_where_the_person_saw_it_go() {
    let scene = scene(OAuthScript::default()).await;
    scene.logged_in(3600);
    let mut kept = scene.kept();
    kept["logins"]["acme"]["addresses"] = serde_json::json!(["https://api.example.com"]);
    scene.keep(&kept);
    scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("is not for http://127.0.0.1");
    scene.logged_in(-5);
    let mut kept = scene.kept();
    kept["logins"]["acme"]["token_url"] = "https://id.example.com/token".into();
    scene.keep(&kept);
    scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("settings changed since you logged in");
    assert_eq!((scene.provider.refreshes(), scene.shown().len()), (0, 0));
}
