//! `--output-schema`: an answer that is JSON and fits.

use buddy_testkit::model::{Turn, turn};
use buddy_testkit::program::Finished;
use serde_json::{Value, json};

use crate::stage::{Stage, prompt};

const SCHEMA: &str =
    r#"{"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}"#;

async fn staged(turns: Vec<Turn>) -> Stage {
    let stage = Stage::new(turns).await;
    std::fs::write(stage.home.work().join("schema.json"), SCHEMA).unwrap();
    stage
}

async fn asked(stage: &Stage, more: &[&str]) -> Finished {
    stage.exec(["how many?", "--output-schema", "schema.json"]).args(more).run().await
}

fn result(finished: &Finished) -> Value {
    serde_json::from_str(finished.text().lines().last().unwrap()).unwrap()
}

#[tokio::test]
async fn the_answer_is_exactly_the_json() {
    let stage = staged(vec![turn().text("```json\n{\"count\": 3}\n```")]).await;
    let finished = asked(&stage, &["-o", "answer.json"]).await.expect_code(0);
    assert_eq!(finished.text(), "{\"count\": 3}\n");
    assert_eq!(std::fs::read_to_string(stage.home.work().join("answer.json")).unwrap(), "{\"count\": 3}\n");
    let told = prompt(&stage.requests()[0].body);
    assert!(told.starts_with("how many?\n\n"), "{told}");
    assert!(told.contains(&format!("<output_schema>\n{SCHEMA}\n</output_schema>")), "{told}");
}

#[tokio::test]
async fn a_result_has_the_value_too() {
    for format in ["json", "stream-json"] {
        let stage = staged(vec![turn().text("{\"count\": 3}")]).await;
        let finished = asked(&stage, &["--output-format", format]).await.expect_code(0);
        let result = result(&finished);
        assert_eq!((&result["status"], &result["structured"]), (&json!("completed"), &json!({"count": 3})));
    }
}

#[tokio::test]
async fn a_model_that_misses_is_told_what_does_not_fit() {
    let stage =
        staged(vec![turn().text("Three."), turn().text("{\"count\": \"3\"}"), turn().text("{\"count\": 3}")])
            .await;
    let finished = asked(&stage, &["--output-format", "json"]).await.expect_code(0);
    let result = result(&finished);
    assert_eq!((&result["structured"]["count"], &result["turns"]), (&json!(3), &json!(3)));
    let requests = stage.requests();
    assert!(prompt(&requests[1].body).contains("it is not JSON"), "{}", requests[1].body);
    assert!(prompt(&requests[2].body).contains("/count"), "{}", requests[2].body);
    assert_eq!(stage.only_log().await.transcript.turns(), 3);
}

#[tokio::test]
async fn a_model_that_goes_on_missing_fails_the_run() {
    let never = || (0..4).map(|_| turn().text("Three.")).collect();
    let stage = staged(never()).await;
    let finished =
        asked(&stage, &[]).await.expect_code(1).expect_stderr("the answer does not fit the schema");
    assert!(finished.stdout.is_empty(), "{finished}");
    assert_eq!(stage.requests().len(), 3);
    let stage = staged(never()).await;
    let result = result(&asked(&stage, &["--output-format", "json"]).await.expect_code(1));
    assert_eq!((&result["status"], &result["text"]), (&json!("failed"), &json!("Three.")));
    assert!(
        result["error"]["message"].as_str().unwrap().contains("schema") && result.get("structured").is_none()
    );
}

#[tokio::test]
async fn what_is_no_schema_is_told_before_anything_runs() {
    let stage = Stage::new([]).await;
    let work = stage.home.work();
    std::fs::write(work.join("broken"), "{").unwrap();
    std::fs::write(work.join("wrong"), "{\"type\": 12}").unwrap();
    std::fs::write(work.join("away"), "{\"$ref\": \"https://example.com/x\"}").unwrap();
    for (file, why) in [
        ("missing", "cannot be read"),
        ("broken", "not JSON"),
        ("wrong", "not a JSON Schema"),
        ("away", "not a JSON Schema"),
        (".", "not a regular file"),
    ] {
        stage.exec(["hi", "--output-schema", file]).run().await.expect_code(2).expect_stderr(why);
    }
    assert!(stage.requests().is_empty() && !stage.home.data().exists());
}
