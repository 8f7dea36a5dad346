//! Actions of a user in a conversation besides talking: running commands, changing one before it runs, accepting edits.

use buddy_protocol::{Answer, Content, Fact, ItemStatus};
use buddy_testkit::model::turn;
use serde_json::json;

use crate::stage::{APPROVE, Stage, conversation, done, run, said, shell};

/// Prompts, changes the command that is asked for, and sees the turn through after these further answers.
async fn changed(command: &str, edit: &str, further: &[&str]) -> Stage {
    let (stage, mut started) = conversation([run(command), done()]).await;
    started.write(b"do it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(format!("e {edit}\n").as_bytes()).await;
    for (count, answer) in (2..).zip(further) {
        started.stderr.wait_for(APPROVE, count).await;
        started.write(format!("{answer}\n").as_bytes()).await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    stage
}

#[tokio::test]
async fn a_changed_command_runs_in_the_place_of_the_other_and_the_model_is_told() {
    let stage = changed("mkdir one", "mkdir two", &[]).await;
    assert!(!stage.home.work().join("one").exists() && stage.home.work().join("two").is_dir());
    let result = &stage.results()[0];
    assert_eq!(result["result"]["exit_code"], 0, "{result}");
    assert_eq!(
        result["result"]["changed_by_person"], "the user changed the command to: mkdir two",
        "{result}"
    );
    let log = stage.only_log().await;
    let (item, call) = log.calls()[0];
    assert_eq!((item.status, call.title.as_str()), (ItemStatus::Completed, "mkdir two"));
    assert_eq!(call.input.value()["command"], "mkdir one", "what the model wanted stays in the log");
    let edits = log.events.iter().filter_map(|event| match &event.fact {
        Fact::Answered(answered) => Some(answered.answer.clone()),
        _ => None,
    });
    assert_eq!(edits.collect::<Vec<_>>(), [Answer::edit("mkdir two")]);
}

#[tokio::test]
async fn a_changed_command_of_a_process_has_no_variables_but_those_that_the_person_left_in_it() {
    let mut call = shell("touch made-$KEPT-${DROPPED-none}");
    call["env"] = json!({"KEPT": "1", "DROPPED": "2"});
    let (stage, mut started) = conversation([turn().call("process_start", call), done()]).await;
    started.write(b"do it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"e export KEPT=1; touch made-$KEPT-${DROPPED-none}\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let result = &stage.results()[0];
    assert!(stage.home.work().join("made-1-none").exists(), "{result}");
    assert!(!stage.home.work().join("made-1-2").exists(), "{result}");
}

#[tokio::test]
async fn a_change_to_something_riskier_is_asked_for_again() {
    let stage = changed("mkdir one", "mkdir two; kill -0 1", &["n"]).await;
    assert!(!stage.home.work().join("two").exists(), "it did not run unseen");
    let result = stage.results()[0].to_string();
    assert!(result.contains("the user said no") && result.contains("kill -0 1"), "{result}");
    let log = stage.only_log().await;
    let asked = log.events.iter().filter(|event| matches!(event.fact, Fact::Asked(_))).count();
    assert_eq!(asked, 2);
}

#[tokio::test]
async fn a_change_to_what_no_rule_allows_is_denied() {
    let stage = changed("mkdir one", "echo 'x", &[]).await;
    let result = stage.results()[0].to_string();
    assert!(result.contains("forbidden") && result.contains("the user changed the command"), "{result}");
    assert!(!stage.home.work().join("one").exists());
}

#[tokio::test]
async fn accepted_edits_are_not_asked_for_and_commands_are() {
    let write = json!({"path": "one", "content": "new\n"});
    let turns = [turn().call("write_file", write).call("run_shell", shell("mkdir two")), done()];
    let (stage, mut started) = conversation(turns).await;
    started.write(b"/approve edits\n").await;
    started.stderr.wait_for("buddy accepts edits in the workspace", 1).await;
    started.write(b"do both\n").await;
    started.stderr.wait_for("$ mkdir two -- approve?", 1).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.home.text("one"), "new\n");
    assert!(!stage.home.work().join("two").exists());
}

#[tokio::test]
async fn accepted_edits_leave_what_decides_what_runs_to_the_person() {
    let write = json!({"path": ".git/hooks/pre-commit", "content": "new\n"});
    let (stage, mut started) = conversation([turn().call("write_file", write), done()]).await;
    started.write(b"/approve edits\nwrite it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let log = stage.only_log().await;
    assert_eq!(log.calls()[0].0.status, ItemStatus::Denied);
    assert!(matches!(log.calls()[0].0.content, Content::ToolCall(_)));
}

#[tokio::test]
async fn a_command_of_the_person_runs_without_a_question_and_the_model_sees_what_came_out() {
    let (stage, mut started) = conversation([done(), done()]).await;
    started.write(b"!mkdir mine; echo but >&2; echo made it; exit 3\n").await;
    started.stderr.wait_for("exit code 3", 1).await;
    assert!(stage.home.work().join("mine").is_dir());
    assert!(stage.requests().is_empty(), "it is no prompt");
    started.write(b"what did I do?\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let seen = said(&stage.requests()[0].body, "user").join("\n");
    for part in ["I ran a command myself", "[exit code 3;", "<output>\nbut\nmade it\n</output>"] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(seen.find("made it") < seen.find("what did I do?"), "{seen}");
    let log = stage.only_log().await;
    assert!(log.events.iter().all(|event| !matches!(event.fact, Fact::Asked(_))));
    let Content::UserMessage { ran: Some(ran), .. } = &log.transcript.items()[0].content else {
        panic!("{:?}", log.transcript.items())
    };
    let outcome = ran.outcome.clone().unwrap();
    assert_eq!((outcome.exit_code, outcome.stdout.as_str()), (Some(3), "but\nmade it\n"));
    let whole = std::fs::read_to_string(outcome.log.unwrap()).unwrap();
    assert!(whole.contains("made it") && whole.contains("but"), "{whole}");
}

#[tokio::test]
async fn the_model_does_not_see_what_a_command_of_the_person_reads_from_a_secret() {
    let (stage, mut started) = conversation([done()]).await;
    std::fs::write(stage.home.work().join(".env"), "SHOP_TOKEN=orange-41\n").unwrap();
    started.write(b"!cat .env\n").await;
    started.stderr.wait_for("the model does not see this output", 1).await;
    assert!(started.stderr.text().contains("orange-41"), "{}", started.stderr.text());
    started.write(b"did it work?\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let body = stage.requests()[0].body.to_string();
    assert!(
        body.contains("cat .env") && body.contains("only for me") && !body.contains("orange-41"),
        "{body}"
    );
    let logs = std::fs::read_dir(stage.home.data().join("logs")).map_or(0, Iterator::count);
    assert_eq!(logs, 0, "no log has the value");
}

#[tokio::test]
async fn a_long_output_is_clipped_for_the_model_and_whole_in_the_log() {
    let (stage, mut started) = conversation([done()]).await;
    started.write(b"!seq 1 20000\n").await;
    started.stderr.wait_for("20000", 1).await;
    started.write(b"look\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let seen = said(&stage.requests()[0].body, "user").join("\n");
    assert!(seen.contains("characters left out") && seen.len() < 35_000, "{} bytes", seen.len());
    let log = stage.only_log().await;
    let Content::UserMessage { ran: Some(ran), .. } = &log.transcript.items()[0].content else { panic!() };
    let path = ran.outcome.as_ref().unwrap().log.clone().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 20_000);
}

#[tokio::test]
async fn a_command_of_the_person_is_stopped_by_an_interrupt_and_only_one_runs_at_a_time() {
    let (stage, mut started) = conversation([done()]).await;
    started.write(b"!touch began; sleep 60\n").await;
    while !stage.home.work().join("began").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    started.write(b"!touch second\n").await;
    started.stderr.wait_for("runs already", 1).await;
    started.signal(rustix::process::Signal::INT);
    started.stderr.wait_for("stopped by the user", 1).await;
    assert!(!stage.home.work().join("second").exists());
    started.write(b"!touch third\nnow talk\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.home.work().join("third").exists());
    let statuses: Vec<_> = stage.only_log().await.transcript.items().iter().map(|item| item.status).collect();
    assert_eq!(statuses[..2], [ItemStatus::Interrupted, ItemStatus::Completed]);
}

#[tokio::test]
async fn a_command_of_the_person_runs_beside_a_turn_and_is_seen_after_a_resumption() {
    let (stage, mut started) = conversation([turn().gate("answer").text("So be it."), done()]).await;
    started.write(b"think\n").await;
    stage.server.wait_for_requests(1).await;
    started.write(b"!echo meanwhile\n").await;
    started.stderr.wait_for("meanwhile", 1).await;
    stage.server.gate("answer").open();
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let mut again = stage.buddy(["resume", "--last"]).converse();
    again.write(b"and now?\n").await;
    again.stdout.wait_for("So be it.", 1).await;
    again.finish().await.expect_code(0);
    let seen = said(&stage.requests()[1].body, "user");
    let place = |text: &str| seen.iter().position(|said| said.contains(text));
    assert!(place("think") < place("meanwhile") && place("meanwhile") < place("and now?"), "{seen:?}");
}

#[tokio::test]
async fn accepted_edits_do_not_outlive_the_run_and_the_log_says_so() {
    let write = json!({"path": "one", "content": "new\n"});
    let (stage, mut started) = conversation([done(), turn().call("write_file", write), done()]).await;
    started.write(b"hello\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.write(b"/approve edits\n").await;
    started.stderr.wait_for("buddy accepts edits in the workspace", 1).await;
    started.finish().await.expect_code(0);
    let mut again = stage.buddy(["resume", "--last"]).converse();
    again.stderr.wait_for("buddy asks before every change", 1).await;
    again.write(b"write it\n").await;
    again.stderr.wait_for(APPROVE, 1).await;
    again.write(b"n\n").await;
    again.stdout.wait_for("So be it.", 1).await;
    again.finish().await.expect_code(0);
    assert!(!stage.home.work().join("one").exists());
    assert_eq!(stage.only_log().await.transcript.approvals(), Some(buddy_protocol::ApprovalPolicy::Ask));
}
