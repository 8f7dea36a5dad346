//! Logging in and out.

use buddy_testkit::model::turn;
use buddy_testkit::oauth::{Consent, OAuthScript, Poll, TokenFault, follow, visit};
use buddy_testkit::program::Started;
use rustix::process::Signal;

use super::Scene;

async fn scene(provider: OAuthScript) -> Scene {
    Scene::new(provider, [turn().text("Well.")]).await
}

/// The address that the program says to open, once it has said it.
async fn address(started: &mut Started) -> String {
    started.stderr.wait_for("press Enter", 1).await;
    let text = started.stderr.text();
    let line = text.lines().find(|line| line.trim().starts_with("http://") && line.contains("/authorize?"));
    line.expect("an address").trim().to_owned()
}

#[tokio::test]
async fn a_code_logs_in_and_the_login_is_used() {
    let scene = scene(OAuthScript { polls: vec![Poll::Pending], ..OAuthScript::default() }).await;
    let finished = scene.run(["login", "--device"]).await.expect_code(0);
    let finished =
        finished.expect_stderr("WXYZ-1234").expect_stderr("Logged in to acme as person@example.com");
    assert_eq!(finished.text(), "", "all that is said goes to the standard error");
    let access = scene.kept()["logins"]["acme"]["access"].as_str().unwrap().to_owned();
    assert_eq!(scene.run(["exec", "hi"]).await.expect_code(0).text(), "Well.\n");
    assert_eq!(scene.shown(), [format!("Bearer {access}")]);
    scene
        .run(["login", "--status"])
        .await
        .expect_code(0)
        .expect_stderr("acme: logged in as person@example.com, token until 20");
    scene.run(["login", "two", "--status"]).await.expect_code(0).expect_stderr("acme: logged in");
    scene.run(["login", "keyed", "--status"]).await.expect_code(6).expect_stderr("buddy login keyed");
    let finished = scene.run(["login", "nobody", "--status"]).await.expect_code(2);
    assert_eq!(finished.stderr.matches("chatgpt").count(), 1, "{finished}");
}

#[tokio::test]
async fn without_a_screen_a_code_is_what_is_shown() {
    let scene = scene(OAuthScript::default()).await;
    for name in ["one", "two", "acme"] {
        scene.run(["login", name]).await.expect_code(0).expect_stderr("WXYZ-1234");
    }
    assert_eq!(scene.kept()["logins"].as_object().unwrap().len(), 1, "one provider, one login");
}

#[tokio::test]
async fn a_denied_and_an_expired_code_end_with_six() {
    for (poll, words) in
        [(Poll::Denied, "the login was denied"), (Poll::Expired, "was not confirmed in time")]
    {
        let scene = scene(OAuthScript { polls: vec![poll], ..OAuthScript::default() }).await;
        scene.run(["login", "--device"]).await.expect_code(6).expect_stderr(words);
        assert!(!scene.file().exists());
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_provider_ends_with_one() {
    let scene = scene(OAuthScript::default()).await;
    scene.provider.change(|script| script.faults = vec![TokenFault::Answer(404, "no".to_owned())]);
    scene.run(["login", "--device"]).await.expect_code(1).expect_stderr("makes no sense");
    scene.run(["login", "nobody"]).await.expect_code(2).expect_stderr("no profile or provider `nobody`");
    for url in ["file:///x", "--x", "$(X)", "http://example.com/"] {
        scene.configure(&format!("[login.evil]\naddresses = []\nclient_id = 'c'\ntoken_url = '{url}'\n"));
        scene.run(["login", "evil", "--device"]).await.expect_code(1).expect_stderr("`token_url`");
    }
    scene.run(["login", "--device", "--browser"]).await.expect_code(2);
}

#[tokio::test]
async fn a_browser_is_opened_without_a_shell() {
    let scene = scene(OAuthScript::default()).await;
    let browser = scene.home.path().join("browser");
    std::fs::write(&browser, "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" > \"$HOME/opened\"\n").unwrap();
    std::fs::set_permissions(&browser, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let mut started = scene.buddy(["login", "--browser"]).env("BROWSER", &browser).start();
    let address = address(&mut started).await;
    assert_eq!(follow(&address).await.status, 200);
    let finished = scene.checked(started.finish().await.expect_code(0));
    finished.expect_stderr("A browser opens this page").expect_stderr("Logged in to acme");
    let opened = std::fs::read_to_string(scene.home.path().join("opened")).unwrap();
    assert_eq!(opened, format!("1\n{address}\n"), "one argument, whatever is in it");
}

#[tokio::test]
async fn without_a_browser_the_address_is_pasted() {
    let scene = scene(OAuthScript::default()).await;
    let mut started = scene.buddy(["login", "--browser"]).converse();
    let address = address(&mut started).await;
    let back = visit(&address).await.location.unwrap();
    started.write(format!("\n{back}\n").as_bytes()).await;
    scene.checked(started.finish_with_open_input().await.expect_code(0)).expect_stderr("Open this page");
    scene.run(["exec", "hi"]).await.expect_code(0);
}

#[tokio::test]
async fn a_refusal_in_the_browser_ends_with_six() {
    for consent in [Consent::Refused, Consent::ForeignState] {
        let scene = scene(OAuthScript { consent, ..OAuthScript::default() }).await;
        let mut started = scene.buddy(["login", "--browser"]).start();
        assert_eq!(follow(&address(&mut started).await).await.status, 400);
        scene.checked(started.finish().await.expect_code(6));
        assert!(!scene.file().exists());
    }
}

#[tokio::test]
async fn an_interrupt_leaves_everything_as_it_was() {
    let scene =
        scene(OAuthScript { polls: vec![Poll::Pending; 10_000], interval: 1, ..OAuthScript::default() })
            .await;
    scene.logged_in(3600);
    let before = scene.kept();
    for flow in ["--device", "--browser"] {
        let mut started = scene.buddy(["login", flow]).start();
        started.stderr.wait_for("http://", 1).await;
        started.signal(Signal::INT);
        scene.checked(started.finish().await.expect_code(130));
    }
    assert_eq!(scene.kept(), before);
}

#[tokio::test]
async fn logging_out_forgets_and_gives_back() {
    let scene = scene(OAuthScript::default()).await;
    scene.logged_in(3600);
    assert_eq!(scene.provider.live_logins(), 1);
    scene.run(["logout", "two"]).await.expect_code(0).expect_stderr("Logged out of acme");
    assert_eq!(scene.provider.live_logins(), 0);
    assert_eq!(scene.kept()["logins"], serde_json::json!({}));
    scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("run `buddy login acme`");
    scene.run(["logout", "acme"]).await.expect_code(0).expect_stderr("Not logged in");
}

#[tokio::test]
async fn a_provider_that_takes_nothing_back_is_told_of_and_forgotten() {
    let scene = scene(OAuthScript::default()).await;
    scene.logged_in(3600);
    scene.provider.change(|script| script.faults = vec![TokenFault::Echo]);
    scene.run(["logout", "--all"]).await.expect_code(1).expect_stderr("could not revoke its tokens");
    assert_eq!(scene.kept()["logins"], serde_json::json!({}));
    scene.run(["login", "--status"]).await.expect_code(0).expect_stderr("No logins and no keys.");
}

#[tokio::test]
async fn a_client_with_a_secret_shows_it_nowhere() {
    let scene = scene(OAuthScript { client_secret: Some(String::new()), ..OAuthScript::default() }).await;
    scene.run(["login", "--device"]).await.expect_code(0);
    let shown = scene.run(["config", "show", "--origins"]).await.expect_code(0);
    assert!(shown.text().contains("login.acme.client_secret"), "{shown}");
    scene.run(["config", "show", "--json"]).await.expect_code(0);
}
