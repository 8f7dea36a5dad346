//! Past sessions: forks, the search, exports and imports.

use std::fs;

use buddy_protocol::{Event, Fact};
use buddy_testkit::model::{Script, turn};
use serde_json::{Value, json};

use crate::stage::{Stage, said, shell};

async fn stage() -> Stage {
    let script = Script::from([
        turn().text("Let me see.").call("run_shell", shell("echo gulls; echo '```'")),
        turn().text("It is in the **harbour**."),
        turn().text("Yes."),
    ])
    .repeating_last();
    Stage::new(script).await
}

async fn found(stage: &Stage, words: &str) -> Vec<Value> {
    let finished = stage.buddy(["sessions", "--json", "--grep", words]).run().await.expect_code(0);
    serde_json::from_slice(&finished.stdout).unwrap()
}

#[tokio::test]
async fn what_was_said_is_found_again() {
    let stage = stage().await;
    let first = stage.completed("where is the boat?").await.session();
    let second = stage.completed("something else").await.session();
    let hits = found(&stage, "harb").await;
    assert_eq!(hits.len(), 1);
    assert_eq!(
        (&hits[0]["summary"]["id"], &hits[0]["excerpt"]),
        (&json!(first), &json!("It is in the **harbour**."))
    );
    assert_eq!(found(&stage, "something").await[0]["summary"]["id"], json!(second));
    assert_eq!(found(&stage, "run_shell gulls").await.len(), 1, "the title of the call");
    for words in ["\"", "AND OR", "boat*)(", "-boat", "nothing-at-all"] {
        found(&stage, words).await;
    }
    let text = stage.buddy(["sessions", "--grep", "boat"]).run().await.expect_code(0).text();
    assert!(text.contains(&first) && text.contains("where is the boat?"), "{text}");
    stage
        .buddy(["sessions", "--grep", "nowhere"])
        .run()
        .await
        .expect_code(0)
        .expect_stderr("No conversation contains these words.");
    stage.buddy(["store", "rebuild"]).run().await.expect_code(0);
    assert_eq!(found(&stage, "harbour").await.len(), 1);
}

#[tokio::test]
async fn a_fork_goes_on_with_everything_and_leaves_the_old_session_alone() {
    let stage = stage().await;
    let first = stage.completed("where is the boat?").await.session();
    let before = stage.only_log().await;
    let talk = stage.buddy(["resume", &first, "--fork"]).input("and now?\n");
    talk.run().await.expect_code(0);
    let logs = stage.log().await;
    let old = logs.iter().find(|log| log.session == before.session).unwrap();
    assert_eq!(old.events, before.events);
    let fork = logs.iter().find(|log| log.session != before.session).unwrap();
    let Fact::SessionStarted(started) = &fork.events[0].fact else { panic!("{:?}", fork.events[0]) };
    let origin = started.forked_from.as_ref().unwrap();
    assert_eq!((origin.session.as_str(), origin.seq), (first.as_str(), before.events.len() as u64));
    assert_eq!(fork.transcript.turns(), 2);
    assert_eq!(fork.transcript.bill().calls, 1, "what the old session used is on its own bill");
    let request = stage.requests().pop().unwrap().body;
    assert_eq!(said(&request, "user"), ["where is the boat?", "and now?"]);
    assert_eq!(said(&request, "tool").len(), 1);
    stage.exec(["once more", "--resume", &first, "--fork"]).run().await.expect_code(0);
    assert_eq!(stage.log().await.len(), 3);
    assert_eq!(said(&stage.requests().pop().unwrap().body, "user"), ["where is the boat?", "once more"]);
    stage.exec(["alone", "--fork"]).run().await.expect_code(2).expect_stderr("--fork needs a session");
}

#[tokio::test]
async fn a_session_is_exported_for_people_and_for_programs() {
    let stage = stage().await;
    let printed = stage.completed("where is the boat?").await;
    let text = stage.buddy(["export", "--last"]).run().await.expect_code(0).text();
    assert!(text.starts_with("# where is the boat?\n"), "{text}");
    for part in [
        "## Prompt\n\n> where is the boat?\n",
        "<summary><code>run_shell</code>: echo gulls; echo '```'</summary>",
        "````sh\necho gulls; echo '```'\n````",
        "````text\ngulls\n```\n````",
        "\nIt is in the **harbour**.\n",
        "## Cost\n",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let file = stage.home.work().join("talk.json");
    let arguments = ["export", &printed.session(), "-o", "talk.json"];
    stage.buddy(arguments).run().await.expect_code(0).expect_stderr("talk.json written");
    let events: Vec<Event> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(events, printed.events);
    fs::write(&file, "mine").unwrap();
    stage
        .buddy(arguments)
        .run()
        .await
        .expect_code(1)
        .expect_stderr("`talk.json` already exists; overwrite it with `--force`");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    stage.buddy(arguments).args(["--force", "--format", "markdown"]).run().await.expect_code(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    stage
        .buddy(["export", "ses_0000000000000000000000zzzz"])
        .run()
        .await
        .expect_code(1)
        .expect_stderr("there is no session");
}

const OLD: &str = r#"{"id": "old-1", "created_at": "2024-05-01T10:00:00Z", "updated_at": "2024-05-01T10:05:00Z",
    "model": "gpt-old", "theme": "dark", "messages": [
    {"role": "system", "content": "You are buddyx."},
    {"role": "user", "content": "count the lighthouses"},
    {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1", "type": "function",
        "function": {"name": "run_shell", "arguments": "{\"command\": \"ls towers\"}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "one two"},
    {"role": "assistant", "content": "There are two.", "weight": 3},
    {"role": "oracle", "content": "?"}]}"#;

#[tokio::test]
async fn older_sessions_become_ordinary_ones_once() {
    let stage = Stage::new([turn().text("Still two.")]).await;
    let work = stage.home.work();
    fs::create_dir_all(work.join(".buddyx/sessions")).unwrap();
    fs::create_dir_all(work.join(".agentx/sessions")).unwrap();
    fs::write(work.join(".buddyx/sessions/a.json"), OLD).unwrap();
    fs::write(work.join(".agentx/sessions/copy.json"), OLD).unwrap();
    fs::write(work.join(".agentx/sessions/broken.json"), "{").unwrap();

    let finished = stage.buddy(["import"]).run().await.expect_code(1);
    for part in [
        "message 6 has the role `oracle`",
        "broken.json: not imported: it is not JSON",
        "1 session imported, 1 already here, 1 unreadable",
    ] {
        assert!(finished.stderr.contains(part), "{part}: {finished}");
    }
    fs::remove_file(work.join(".agentx/sessions/broken.json")).unwrap();
    stage.buddy(["import"]).run().await.expect_code(0).expect_stderr("0 sessions imported, 2 already here");

    let hits = found(&stage, "lighthouses").await;
    assert_eq!(hits.len(), 1);
    let id = hits[0]["summary"]["id"].as_str().unwrap().to_owned();
    assert_eq!(hits[0]["summary"]["created"], json!(1_714_557_600_000_u64));
    let text = stage.buddy(["export", &id]).run().await.expect_code(0).text();
    assert!(text.contains("```sh\nls towers\n```\n\n```text\none two\n```"), "{text}");
    let lines = stage.buddy(["show", &id, "--json"]).run().await.expect_code(0).text();
    assert!(lines.contains(r#""theme":"dark""#) && lines.contains(r#""weight":3"#), "{lines}");

    stage.exec(["and now?", "--resume", &id]).run().await.expect_code(0);
    let request = stage.requests().pop().unwrap().body;
    assert_eq!(said(&request, "user"), ["count the lighthouses", "and now?"]);
}

/// A pipe keeps whoever opens it waiting for a writer.
#[tokio::test]
async fn only_an_import_reads_sessions_of_other_programs() {
    let stage = Stage::new([]).await;
    fs::create_dir_all(stage.home.work().join(".buddyx/sessions")).unwrap();
    stage.in_bash("mkfifo .buddyx/sessions/pipe.json").run().await.expect_code(0);
    let quiet = stage.buddy([]).input("").run().await.expect_code(0);
    assert!(!quiet.stderr.contains("import"), "{quiet}");
    let finished = stage.buddy(["import"]).run().await.expect_code(1);
    assert!(finished.stderr.contains("pipe.json: not imported: it is not a file"), "{finished}");
}

#[tokio::test]
async fn a_directory_without_older_sessions_is_told() {
    let stage = Stage::new([]).await;
    stage.buddy(["import"]).run().await.expect_code(1).expect_stderr("there are no older sessions");
    stage.buddy(["import", "nowhere"]).run().await.expect_code(1).expect_stderr("cannot read `nowhere`");
}
