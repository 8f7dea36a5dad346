//! `--ignore-user-config`.

use buddy_testkit::model::turn;
use serde_json::Value;

use crate::stage::{Stage, run};

fn with_file(stage: &Stage, name: &str, text: &str) {
    let config = stage.home.path().join(".config/buddy");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join(name), text).unwrap();
}

async fn name(stage: &Stage, flags: &[&str]) -> (Value, Value) {
    let finished = stage.buddy(["config", "show", "--json"]).args(flags).run().await.expect_code(0);
    let settings: Vec<Value> = serde_json::from_str(&finished.text()).unwrap();
    let name = settings.into_iter().find(|setting| setting["key"] == "agent.name").unwrap();
    (name["value"].clone(), name["origin"].clone())
}

#[tokio::test]
async fn the_persons_own_file_is_not_read_and_all_else_is() {
    let stage = Stage::new([]).await;
    with_file(&stage, "buddy.toml", "[agent]\nname = \"ann\"\n");
    assert_eq!(name(&stage, &[]).await.0, "ann");
    let flag = "--ignore-user-config";
    assert_eq!(name(&stage, &[flag]).await, ("buddy".into(), "default".into()));
    assert_eq!(name(&stage, &[flag, "-c", "agent.name=eve"]).await, ("eve".into(), "command line".into()));
    std::fs::write(stage.home.work().join("buddy.toml"), "[agent]\nname = \"project\"\n").unwrap();
    assert_eq!(name(&stage, &[flag]).await.0, "buddy", "nobody trusts it");
    stage.buddy(["trust"]).run().await.expect_code(0);
    assert_eq!(name(&stage, &[flag]).await.0, "project");
}

#[tokio::test]
async fn no_file_is_made_and_a_broken_one_does_no_harm() {
    let stage = Stage::new([turn().text("Yes."), turn().text("Yes.")]).await;
    stage.exec(["hi", "--ignore-user-config"]).run().await.expect_code(0);
    assert!(!stage.home.path().join(".config/buddy/buddy.toml").exists());
    with_file(&stage, "buddy.toml", "[agent\n");
    with_file(&stage, "models.toml", "nonsense");
    stage.exec(["hi"]).run().await.expect_code(2).expect_stderr("buddy.toml");
    stage.exec(["hi", "--ignore-user-config", "--strict-config"]).run().await.expect_code(0);
}

#[tokio::test]
async fn rules_and_kept_keys_of_the_person_stay() {
    let stage = Stage::new([run("touch a"), turn().text("No.")]).await;
    with_file(&stage, "rules.toml", "deny = [\"touch *\"]\n");
    stage.exec(["go", "--ignore-user-config"]).run().await.expect_code(5);
    assert!(!stage.home.work().join("a").exists());
    stage.buddy(["login", "gpt-codex", "--api-key"]).input("sk-kept\n").run().await.expect_code(0);
    let finished = stage.buddy(["models", "--json", "--ignore-user-config"]).run().await.expect_code(0);
    let models: Vec<Value> = serde_json::from_str(&finished.text()).unwrap();
    let kept = models.iter().find(|model| model["name"] == "gpt-codex").unwrap();
    assert_eq!(kept["key"], "set", "{kept}");
}
