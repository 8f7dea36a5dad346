//! A conversation that outgrows the model's window: room is made, once, and the conversation goes on.

use buddy_protocol::{Content, Item};
use buddy_testkit::model::{Script, Turn, turn};

use crate::stage::Stage;

const SUMMARY: &str = "They greeted each other.";

fn overflow() -> Turn {
    turn().error(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens.")
}

/// A session with a turn behind it, and what its model answers next.
async fn stage(turns: impl IntoIterator<Item = Turn>) -> Stage {
    stage_after("hi", turns).await
}

async fn stage_after(prompt: &str, turns: impl IntoIterator<Item = Turn>) -> Stage {
    let first = turn().text("Hello.").usage(100, 10);
    let stage = Stage::new(std::iter::once(first).chain(turns).collect::<Vec<_>>()).await;
    stage.exec([prompt]).run().await.expect_code(0);
    stage
}

fn sent(stage: &Stage, number: usize) -> String {
    stage.requests()[number].body["messages"].to_string()
}

#[tokio::test]
async fn an_overflow_is_summed_up_and_the_call_made_again() {
    let stage = stage([overflow(), turn().text(SUMMARY), turn().text("Yes.")]).await;
    let finished = stage.exec(["--last", "are you there?"]).run().await.expect_code(0);
    assert_eq!(finished.text(), "Yes.\n");
    assert_eq!(stage.requests().len(), 4);
    assert!(sent(&stage, 2).contains("Hello."), "the old part is read by the model that sums it up");
    let last = sent(&stage, 3);
    assert!(last.contains(SUMMARY) && last.contains("are you there?") && !last.contains("Hello."), "{last}");
    let log = stage.log().await.remove(0);
    let is_summary = |item: &&Item| matches!(&item.content, Content::Compaction { .. });
    assert_eq!(log.transcript.items().iter().filter(is_summary).count(), 1);
    assert!(log.transcript.items().len() > 4, "nothing is taken out of the log");
}

#[tokio::test]
async fn without_a_model_to_do_it_the_summary_is_made_by_rule() {
    let refusing = turn().error(401, "invalid_api_key", "no");
    let stage = stage([overflow(), refusing, turn().text("Yes.")]).await;
    stage.exec(["--last", "are you there?"]).run().await.expect_code(0);
    assert!(sent(&stage, 3).contains("the user said: hi"), "{}", sent(&stage, 3));
}

#[tokio::test]
async fn a_window_that_is_known_to_be_full_is_made_room_in_before_the_call() {
    let long = "word ".repeat(20_000);
    let stage = stage_after(&long, [turn().text(SUMMARY), turn().text("Yes.")]).await;
    let config = stage.home.path().join("buddy.toml");
    let url = stage.server.url();
    let profile = "api = \"completions\"\nmodel = \"m\"\nauth = \"none\"\ncontext_limit = 20000";
    std::fs::write(&config, format!("[models.small]\napi_base_url = \"{url}/v1\"\n{profile}\n")).unwrap();
    let run = stage.exec(["--config", config.to_str().unwrap(), "-m", "small", "--last", "more"]).run().await;
    run.expect_code(0).expect_stderr("summarised by the model");
    assert_eq!(stage.requests().len(), 3, "no call was made in vain");
}

#[tokio::test]
async fn a_person_can_ask_for_it() {
    let stage = stage([turn().text(SUMMARY), turn().text("Yes.")]).await;
    let mut started = stage.buddy(["resume", "--last"]).converse();
    started.write(b"/compact\n").await;
    stage.server.wait_for_requests(2).await;
    started.write(b"are you there?\n").await;
    started.stdout.wait_for("Yes.", 1).await;
    started.finish().await.expect_code(0);
    assert!(sent(&stage, 2).contains(SUMMARY), "{}", sent(&stage, 2));
}

#[tokio::test]
async fn a_window_of_4096_tokens_is_enough_to_work_in() {
    let read = turn().call("read_file", serde_json::json!({"path": "notes"}));
    let script = Script::from([turn().text("Hello."), read, turn().text("Two notes.")]).with_window(4_096);
    let stage = Stage::new(script).await;
    std::fs::write(stage.home.work().join("notes"), "one\ntwo\n").unwrap();
    std::fs::write(stage.home.work().join("AGENTS.md"), "Be kind. ".repeat(2_000)).unwrap();
    stage.exec(["hi", "--trust"]).run().await.expect_code(0);
    stage.exec(["count the notes", "--last"]).run().await.expect_code(0);
    let requests = stage.requests();
    assert_eq!(requests.len(), 3, "nothing had to be summed up");
    for request in &requests {
        let bytes = request.body.to_string().len();
        assert!(bytes < 12_000, "{bytes} bytes are about {} tokens", bytes / 4);
    }
    let tools = requests[0].body["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["run_shell", "read_file", "write_file", "edit_file"]);
}
