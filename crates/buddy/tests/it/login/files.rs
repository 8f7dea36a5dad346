//! `auth.json` itself.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use buddy_testkit::model::turn;
use buddy_testkit::oauth::OAuthScript;
use buddy_testkit::program::Program;

use super::Scene;
use crate::stage::BUDDY;

async fn scene() -> Scene {
    Scene::new(OAuthScript::default(), [turn().text("Well.")]).await
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[tokio::test]
async fn it_is_private_whatever_the_mask() {
    let scene = scene().await;
    let home = scene.home.path().join("fresh");
    let place = home.join("buddy");
    for mask in ["000", "777"] {
        let line = format!(
            "umask {mask}; \"$BUDDY\" --config \"$HOME/.config/buddy/buddy.toml\" login keyed --api-key"
        );
        let program = Program::new("/bin/bash").args(["-c", &line]).cwd(scene.home.work());
        let program = program.env("HOME", scene.home.path()).env("BUDDY_HOME", scene.home.data());
        if mask == "777" {
            // A mask that takes everything would also take it from the directory that is made anew.
            std::fs::remove_file(place.join("auth.json")).unwrap();
        }
        let program = program.env("XDG_CONFIG_HOME", &home).env("BUDDY", BUDDY).input("sk-kept\n");
        program.run().await.expect_code(0);
        assert_eq!((mode(&place), mode(&place.join("auth.json"))), (0o700, 0o600), "{mask}");
        assert_eq!(mode(&place.join("auth.lock")) & 0o077, 0);
    }
    assert_eq!(mode(&home), 0o700);
}

#[tokio::test]
async fn an_open_file_is_closed_with_a_warning() {
    let scene = scene().await;
    scene.logged_in(3600);
    std::fs::set_permissions(scene.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let finished = scene.run(["exec", "hi"]).await.expect_code(0);
    finished.expect_stderr("warning: others could read");
    assert_eq!(mode(&scene.file()), 0o600);
    let finished = scene.run(["login", "--status"]).await.expect_code(0);
    assert!(!finished.stderr.contains("warning"), "{finished}");
}

#[tokio::test]
async fn a_link_is_refused() {
    let scene = scene().await;
    scene.logged_in(3600);
    let elsewhere = scene.home.path().join("elsewhere.json");
    std::fs::rename(scene.file(), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scene.file()).unwrap();
    let before = std::fs::read_to_string(&elsewhere).unwrap();
    scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("symbolic link");
    scene.run(["login", "--device"]).await.expect_code(1).expect_stderr("symbolic link");
    scene.run(["logout", "--all"]).await.expect_code(1).expect_stderr("symbolic link");
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), before);
}

#[tokio::test]
async fn a_damaged_file_is_told_and_left() {
    let scene = scene().await;
    scene.keep(&serde_json::json!({ "version": 1, "logins": { "acme": "refresh-of-somebody" } }));
    let finished = scene.run(["exec", "hi"]).await.expect_code(6).expect_stderr("damaged");
    assert!(!finished.stderr.contains("refresh-of-somebody"), "{finished}");
    scene.run(["login", "--device"]).await.expect_code(1).expect_stderr("damaged");
    assert!(std::fs::read_to_string(scene.file()).unwrap().contains("refresh-of-somebody"));
}
