//! The user's own catalogue: what it says of a price and a context window is what a session goes by.

use buddy_testkit::model::{Script, turn};
use serde_json::Value;

use crate::stage::Stage;

const PLACE: &str = ".config/buddy/models.toml";

fn write(stage: &Stage, path: &str, text: &str) {
    let path = stage.home.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

async fn stage() -> Stage {
    Stage::new(Script::from([turn().text("Well.").usage(1_000, 100)]).repeating_last()).await
}

/// The cost that a run reports.
async fn cost(stage: &Stage) -> Value {
    let finished = stage.exec(["hi", "--output-format", "json"]).run().await.expect_code(0);
    let result: Value = serde_json::from_str(&finished.text()).unwrap();
    result["cost"].clone()
}

#[tokio::test]
async fn a_price_of_one_s_own_is_what_a_call_costs() {
    let stage = stage().await;
    assert_eq!(cost(&stage).await, Value::Null, "nobody knows what `scripted` costs");
    write(&stage, PLACE, "[[models]]\nexact = 'Scripted'\nprice = { input = 2, output = 10 }\n");
    assert_eq!(cost(&stage).await, 0.003);
}

#[tokio::test]
async fn a_window_of_one_s_own_is_the_one_that_fills() {
    let stage = stage().await;
    write(&stage, PLACE, "[[models]]\nprefix = 'script'\ncontext = 64\n");
    let finished = stage.exec(["hi"]).run().await.expect_code(7);
    finished.expect_stderr("does not fit the model's context window");
    assert!(stage.requests().is_empty(), "64 tokens do not even hold the instructions");
}

#[tokio::test]
async fn a_catalogue_that_cannot_be_used_is_told_and_never_passed_over() {
    for (text, complaint) in [
        ("[[models]]\nexact = 'scripted'\ncontxt = 1\n", "models.toml: line 3: unknown field `contxt`"),
        ("[[models]]\ncontext = 1\n", "models.toml: rule 1 must have exactly one of"),
    ] {
        let stage = stage().await;
        write(&stage, PLACE, text);
        stage.exec(["hi"]).run().await.expect_code(0).expect_stderr(complaint);
        let strict = stage.exec(["hi", "--strict-config"]).run().await.expect_code(2);
        strict.expect_stderr(complaint);
        assert_eq!(stage.requests().len(), 1);
    }
    let stage = stage().await;
    std::fs::create_dir_all(stage.home.path().join(PLACE)).unwrap();
    stage
        .exec(["hi"])
        .run()
        .await
        .expect_code(0)
        .expect_stderr("models.toml: cannot be read: it is not a regular file");
}

#[tokio::test]
async fn a_project_has_no_catalogue() {
    let stage = stage().await;
    let rule = "[[models]]\nexact = 'scripted'\nprice = { input = 1, output = 1 }\n";
    std::fs::write(stage.home.work().join("models.toml"), rule).unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    assert_eq!(cost(&stage).await, Value::Null);
}
