//! A process that dies in the middle of a refresh.

use std::time::Duration;

use buddy_testkit::model::turn;
use buddy_testkit::oauth::{OAuthScript, Rotation};
use rustix::process::Signal;

use super::{Scene, always};

async fn killed_at(point: &str, rotation: Rotation) -> Scene {
    let script = always(turn().text("Well."));
    let scene = Scene::new(OAuthScript { rotation, ..OAuthScript::default() }, script).await;
    scene.logged_in(-5);
    let finished = scene.buddy(["exec", "hi"]).env("BUDDY_KILL_AT", point).start().finish().await;
    assert_eq!(finished.signal, Some(9), "{finished}");
    assert!(scene.shown().is_empty(), "no token was used");
    scene
}

#[tokio::test]
async fn killed_before_the_refresh_nothing_has_happened() {
    let scene = killed_at("login.refreshing", Rotation::Strict).await;
    scene.run(["exec", "hi"]).await.expect_code(0);
    assert_eq!(scene.provider.refreshes(), 1);
}

#[tokio::test]
async fn killed_after_the_tokens_were_kept_they_are_used() {
    let scene = killed_at("login.saved", Rotation::Strict).await;
    scene.run(["exec", "hi"]).await.expect_code(0);
    assert_eq!(scene.provider.refreshes(), 1, "the tokens in the file are the new ones");
    assert_eq!(scene.provider.live_logins(), 1);
}

#[tokio::test]
async fn killed_while_the_file_is_replaced_the_draft_takes_its_place() {
    let scene = killed_at("login.drafted", Rotation::Strict).await;
    scene.run(["exec", "hi"]).await.expect_code(0);
    assert_eq!((scene.provider.refreshes(), scene.provider.live_logins()), (1, 1));
    let names: Vec<_> =
        std::fs::read_dir(scene.directory()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "drafts are left: {names:?}");
}

#[tokio::test]
async fn killed_between_answer_and_file_a_lenient_provider_answers_again() {
    let scene = killed_at("login.refreshed", Rotation::Lenient).await;
    scene.run(["exec", "hi"]).await.expect_code(0);
    assert_eq!((scene.provider.refreshes(), scene.provider.live_logins()), (2, 1));
}

#[tokio::test]
async fn killed_between_answer_and_file_a_strict_provider_wants_a_new_login() {
    let scene = killed_at("login.refreshed", Rotation::Strict).await;
    scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("run `buddy login acme`");
}

#[tokio::test]
async fn an_interrupted_run_still_keeps_the_answer_of_its_refresh() {
    let script = always(turn().text("Well."));
    let delay = Duration::from_millis(1500);
    let scene = Scene::new(OAuthScript { delay, ..OAuthScript::default() }, script).await;
    scene.logged_in(-5);
    let started = scene.buddy(["exec", "hi"]).start();
    while scene.provider.refreshes() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    started.signal(Signal::INT);
    scene.checked(started.finish().await.expect_code(130));
    scene.run(["exec", "hi"]).await.expect_code(0);
    assert_eq!((scene.provider.refreshes(), scene.provider.live_logins()), (1, 1));
}
