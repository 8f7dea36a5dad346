//! Images: how a user gives them, and what the model and the log get of them.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use buddy_protocol::{Content, Image};
use buddy_testkit::model::turn;
use image::{Rgb, RgbImage};
use serde_json::{Value, json};

use crate::stage::{Log, Stage};

/// Writes a PNG of one colour and returns its bytes.
fn draw(path: &Path, width: u32, height: u32) -> Vec<u8> {
    RgbImage::from_pixel(width, height, Rgb([200, 30, 30])).save(path).unwrap();
    std::fs::read(path).unwrap()
}

/// The images in the last message of the user that a Chat Completions server got, as bytes.
fn seen(body: &Value) -> Vec<Vec<u8>> {
    let messages = body["messages"].as_array().unwrap();
    let last = messages.iter().rfind(|message| message["role"] == "user").unwrap();
    let urls = last["content"].as_array().into_iter().flatten().filter_map(|part| {
        let url = part["image_url"]["url"].as_str()?;
        Some(STANDARD.decode(url.strip_prefix("data:image/png;base64,").unwrap()).unwrap())
    });
    urls.collect()
}

/// The images that the user gave, as the log has them.
fn given(log: &Log) -> Vec<&Image> {
    let messages = log.transcript.items().iter().filter_map(|item| match &item.content {
        Content::UserMessage { images, .. } => Some(images),
        _ => None,
    });
    messages.flatten().collect()
}

#[tokio::test]
async fn files_of_a_headless_run_reach_the_model_and_stay_in_the_log() {
    let stage = Stage::new([turn().text("Red."), turn().text("Still red.")]).await;
    let (small, wide) = (stage.home.work().join("a.png"), stage.home.work().join("wide.png"));
    let bytes = draw(&small, 40, 20);
    draw(&wide, 4_000, 200);
    stage.exec(["what?", "--image", "a.png", "--image", "wide.png"]).run().await.expect_code(0);
    let shown = seen(&stage.requests()[0].body);
    assert_eq!(shown[0], bytes, "what fits goes as it is");
    let smaller = image::load_from_memory(&shown[1]).unwrap();
    assert_eq!((smaller.width(), smaller.height()), (2_000, 100));
    let log = stage.only_log().await;
    let labels: Vec<String> = given(&log).iter().map(|image| image.label()).collect();
    assert_eq!(labels, ["a.png, 40×20", "wide.png, 2000×100"]);

    // The files may be gone: a session is whole by itself.
    std::fs::remove_file(&small).unwrap();
    let session = log.session.to_string();
    stage.exec(["sure?", "--resume", &session]).run().await.expect_code(0);
    let first = &stage.requests()[1].body["messages"];
    assert!(first.to_string().contains(&STANDARD.encode(&bytes)), "the model sees it again");
    let shown = stage.buddy(["show", &session]).run().await.expect_code(0).text();
    assert!(shown.contains("> what?\n[image: a.png, 40×20]\n[image: wide.png, 2000×100]\n"), "{shown}");
}

#[tokio::test]
async fn what_is_no_image_is_told_and_nothing_is_asked_of_the_model() {
    let stage = Stage::new([turn().text("Never.")]).await;
    std::fs::write(stage.home.work().join("notes.png"), "words").unwrap();
    let not_one = stage.exec(["look", "--image", "notes.png"]).run().await.expect_code(1);
    not_one.expect_stderr("notes.png: not an image of a kind that models see (PNG, JPEG, GIF, WebP)");
    let missing = stage.exec(["look", "--image", "missing.png"]).run().await.expect_code(2);
    missing.expect_stderr("cannot read `missing.png`: No such file or directory");
    assert!(stage.server.requests().is_empty());
}

#[tokio::test]
async fn a_model_that_sees_nothing_is_told_that_there_is_an_image() {
    let refusal = turn().error(400, "invalid_request_error", "image input is not supported by this model");
    let stage = Stage::new([refusal, turn().text("I cannot see it."), turn().text("Nor now.")]).await;
    draw(&stage.home.work().join("a.png"), 40, 20);
    let finished = stage.exec(["what?", "--image", "a.png"]).run().await.expect_code(0);
    finished.expect_stderr("the model sees no images");
    let bodies = stage.requests();
    assert_eq!((seen(&bodies[0].body).len(), seen(&bodies[1].body).len()), (1, 0));
    let told = bodies[1].body["messages"].to_string();
    assert!(told.contains("what?\\n[image: a.png, 40×20; it cannot be shown to you]"), "{told}");
}

#[tokio::test]
async fn a_mention_in_a_conversation_gives_the_file() {
    let stage = Stage::new([turn().text("Red."), turn().text("Only words.")]).await;
    let bytes = draw(&stage.home.work().join("my shot.png"), 40, 20);
    let mut started = stage.buddy(["--trust"]).converse();
    started.write(b"what is @\"my shot.png\"?\n").await;
    started.stdout.wait_for("Red.", 1).await;
    started.write(b"and @nowhere.png?\n").await;
    started.stdout.wait_for("Only words.", 1).await;
    started.finish().await.expect_code(0);
    let requests = stage.requests();
    assert_eq!(seen(&requests[0].body), [bytes]);
    assert!(seen(&requests[1].body).is_empty());
}

#[tokio::test]
async fn a_file_that_the_agent_reads_is_shown_to_it() {
    let call = turn().call("read_file", json!({"path": "a.png"}));
    let stage = Stage::new([call, turn().text("It is red.")]).await;
    let bytes = draw(&stage.home.work().join("a.png"), 40, 20);
    stage.completed("look at a.png").await;
    let result = &stage.results()[0]["result"];
    assert_eq!((&result["image"], &result["width"]), (&json!("image/png"), &json!(40)), "{result}");
    assert_eq!(seen(&stage.requests()[1].body), [bytes]);
    let log = stage.only_log().await;
    assert_eq!(log.calls()[0].1.images[0].label(), "a.png, 40×20");
}

#[tokio::test]
async fn a_damaged_image_that_the_agent_reads_is_a_failure_it_is_told() {
    let call = turn().call("read_file", json!({"path": "a.png"}));
    let stage = Stage::new([call, turn().text("It is broken.")]).await;
    let path = stage.home.work().join("a.png");
    let bytes = draw(&path, 40, 20);
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    stage.completed("look at a.png").await;
    assert_eq!(stage.results()[0]["error"]["code"], "bad_image");
}
