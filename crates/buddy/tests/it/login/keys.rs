//! API keys that buddy keeps.

use buddy_testkit::model::turn;
use buddy_testkit::oauth::OAuthScript;

use super::{Scene, always};

const KEY: &str = "sk-kept-1234";

async fn scene() -> Scene {
    let script = always(turn().text("Well."));
    Scene::new(OAuthScript::default(), script).await
}

#[tokio::test]
async fn a_key_is_read_from_the_input_and_used_for_its_address() {
    let scene = scene().await;
    let finished =
        scene.buddy(["login", "keyed", "--api-key"]).input(format!("{KEY}\n")).run().await.expect_code(0);
    assert!(!finished.stderr.contains(KEY) && finished.stdout.is_empty(), "{finished}");
    let finished = scene.run(["exec", "-m", "keyed", "hi"]).await.expect_code(0);
    assert!(!finished.stderr.contains(KEY), "{finished}");
    assert_eq!(scene.shown(), [format!("Bearer {KEY}")]);
    let models = scene.run(["models"]).await.expect_code(0);
    assert!(models.text().contains("buddy login set") && !models.text().contains(KEY), "{models}");
    scene
        .run(["login", "--status"])
        .await
        .expect_code(0)
        .expect_stderr("keyed: API key, for http://127.0.0.1");
    scene.run(["logout", "keyed"]).await.expect_code(0).expect_stderr("Removed the key for");
    scene.run(["exec", "-m", "keyed", "hi"]).await.expect_code(0);
    assert_eq!(scene.model.requests()[1].headers.get("authorization"), None);
}

#[tokio::test]
async fn a_key_does_not_follow_its_profile_to_another_address() {
    let scene = scene().await;
    scene.buddy(["login", "keyed", "--api-key"]).input(KEY).run().await.expect_code(0);
    let mut kept = scene.kept();
    kept["api_keys"]["keyed"]["address"] = "https://api.example.com".into();
    scene.keep(&kept);
    scene.run(["exec", "-m", "keyed", "hi"]).await.expect_code(0);
    assert_eq!(scene.model.requests()[0].headers.get("authorization"), None);
}

#[tokio::test]
async fn what_is_no_key_is_not_kept() {
    let scene = scene().await;
    for input in ["", "\n", "two words\n"] {
        scene.buddy(["login", "keyed", "--api-key"]).input(input).run().await.expect_code(1);
    }
    assert!(!scene.file().exists());
}
