//! The conversation in the terminal, over pipes: prompts, approvals, the end of the input.

use buddy_protocol::{ItemStatus, TurnOutcome};
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::program::Started;

use crate::stage::{Stage, UNCHECKED, said, shell};

const APPROVE: &str = "approve? [y/n]";

async fn stage(turns: impl IntoIterator<Item = Turn>) -> (Stage, Started) {
    let stage = Stage::new(std::iter::once(turn().text("Hello.")).chain(turns).collect::<Vec<_>>()).await;
    let session = stage.completed("hi").await.session();
    let started = stage.buddy(["resume", &session]).converse();
    (stage, started)
}

fn touching() -> [Turn; 2] {
    [turn().call("run_shell", shell("touch sentinel")), turn().text("So be it.")]
}

/// Prompts, answers the approval with a line, and sees the turn through.
async fn check_approval(line: &str, is_done: bool, model_sees: &str) {
    let (stage, mut started) = stage(touching()).await;
    started.write(b"make it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    assert!(!stage.home.work().join("sentinel").exists(), "nothing is done before the answer");
    started.write(format!("{line}\n").as_bytes()).await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert!(finished.text().ends_with("So be it.\n"), "{finished}");
    assert_eq!(stage.home.work().join("sentinel").exists(), is_done);
    let seen = stage.results()[0].to_string();
    assert!(seen.contains(model_sees), "{seen}");
}

#[tokio::test]
async fn yes_lets_it_run() {
    check_approval("y", true, r#""exit_code":0"#).await;
}

#[tokio::test]
async fn no_does_not() {
    check_approval("n", false, r#""code":"denied""#).await;
}

#[tokio::test]
async fn help_and_an_empty_line_answer_nothing() {
    let (stage, mut started) = stage(touching()).await;
    started.write(b"make it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"?\n").await;
    started.stderr.wait_for("d         deny it", 1).await;
    started.stderr.wait_for(APPROVE, 2).await;
    started.write(b"\n").await;
    started.stderr.wait_for(APPROVE, 3).await;
    started.write(b"/status\n").await;
    started.stderr.wait_for("approvals  ask", 1).await;
    started.stderr.wait_for(APPROVE, 4).await;
    assert!(stage.only_log().await.calls()[0].0.status == ItemStatus::Pending, "it waits on");
    started.write(b"y\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.home.work().join("sentinel").exists());
}

#[tokio::test]
async fn anything_else_is_no_with_a_reason() {
    check_approval("use another name", false, "the user said no: use another name").await;
}

#[tokio::test]
async fn the_approval_says_what_would_be_done() {
    let (stage, mut started) = stage(touching()).await;
    started.write(b"make it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    assert!(
        started.stderr.text().contains("$ touch sentinel -- approve? [y/n]"),
        "{}",
        started.stderr.text()
    );
    started.write(b"n\n").await;
    started.finish().await.expect_code(0);
    drop(stage);
}

#[tokio::test]
async fn the_end_of_the_input_denies() {
    let (stage, mut started) = stage(touching()).await;
    started.write(b"make it\n").await;
    let finished = started.finish().await.expect_code(0);
    assert!(finished.text().contains("So be it."), "the turn is seen through: {finished}");
    assert!(!stage.home.work().join("sentinel").exists());
    assert!(stage.results()[0].to_string().contains("the input has ended"));
}

#[tokio::test]
async fn a_conversation_goes_on_line_by_line() {
    let (stage, mut started) = stage([turn().text("One."), turn().text("Two.")]).await;
    started.write(b"first\n").await;
    started.stdout.wait_for("One.", 1).await;
    started.stderr.wait_for("> ", 2).await;
    started.write(b"\nsecond").await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(finished.stdout, b"One.\nTwo.\n");
    let last = stage.requests().pop().unwrap().body;
    assert_eq!(said(&last, "user"), ["hi", "first", "second"]);
    assert_eq!(said(&last, "assistant"), ["Hello.", "One."]);
    let session = stage.only_log().await.session;
    finished.expect_stderr(&format!("Resume with  buddy resume {session}"));
}

#[tokio::test]
async fn a_new_conversation_needs_no_name() {
    let stage = Stage::new([turn().text("Hello.")]).await;
    let finished = stage.buddy([]).input("hi\n").run().await.expect_code(0);
    assert_eq!(finished.stdout, b"Hello.\n");
    assert_eq!(stage.only_log().await.transcript.turns(), 1);
}

#[tokio::test]
async fn last_of_a_directory_is_not_one_of_another() {
    let stage = Stage::new([turn().text("First."), turn().text("Second."), turn().text("Third.")]).await;
    let (one, two) = (stage.home.path().join("one"), stage.home.path().join("two"));
    for directory in [&one, &two] {
        std::fs::create_dir(directory).unwrap();
        stage.exec(["hi"]).cwd(directory).run().await.expect_code(0);
    }
    let program = stage.buddy(["resume", "--last", "-C", one.to_str().unwrap()]).input("again\n");
    program.run().await.expect_code(0);
    let body = stage.requests().pop().unwrap().body;
    assert_eq!(said(&body, "assistant"), ["First."]);
    let work = stage.home.work();
    let program = stage.buddy(["resume", "--last", "-C", work.to_str().unwrap()]).input("again\n");
    program.run().await.expect_code(1).expect_stderr("no session to resume in");
}

#[tokio::test]
async fn last_is_the_last_of_all() {
    let stage = Stage::new([turn().text("Hello."), turn().text("Again.")]).await;
    stage.completed("hi").await;
    let elsewhere = stage.home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let program = stage.buddy(["resume", "--last"]).cwd(&elsewhere).input("again\n");
    assert_eq!(program.run().await.expect_code(0).stdout, b"Again.\n");
    assert_eq!(stage.only_log().await.transcript.turns(), 2);
}

#[tokio::test]
async fn a_failure_is_told_and_the_conversation_goes_on() {
    let (stage, mut started) =
        stage([turn().error(400, "bad", "not like this"), turn().text("Better.")]).await;
    started.write(b"first\n").await;
    started.stderr.wait_for("not like this", 1).await;
    started.write(b"second\n").await;
    started.stdout.wait_for("Better.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.requests().len(), 3);
}

#[tokio::test]
async fn nothing_is_lost_when_the_terminal_is_killed_while_it_asks() {
    let (stage, mut started) = stage(touching()).await;
    started.write(b"make it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.signal(rustix::process::Signal::KILL);
    assert_eq!(started.finish().await.signal, Some(9));
    let session = stage.only_log().await.session;
    stage.exec(["and?", "--resume", session.as_str()]).run().await.expect_code(0);
    let log = stage.only_log().await;
    let (item, call) = log.calls()[0];
    assert_eq!(item.status, ItemStatus::Interrupted);
    assert_eq!(call.output.as_ref().unwrap().error.as_ref().unwrap().code, "not_run");
    assert!(log.transcript.asks().is_empty());
    assert_eq!(log.transcript.last_turn().unwrap().outcome, TurnOutcome::Completed);
    assert!(!stage.home.work().join("sentinel").exists());
    stage.requests();
}

#[tokio::test]
async fn a_copy_of_the_conversation_is_gone_on_with_and_the_one_before_stays() {
    let (stage, mut started) = stage([turn().text("In the copy.")]).await;
    started.write(b"/fork\n").await;
    started
        .stderr
        .wait_for("This is a copy of the conversation. Return to the original with /resume ses_", 1)
        .await;
    started.write(b"go on\n").await;
    started.stdout.wait_for("In the copy.", 1).await;
    started.write(b"/session search Hello\n").await;
    started.stderr.wait_for("    Hello.\n", 2).await;
    started.write(b"/quit\n").await;
    let finished = started.finish().await.expect_code(0);
    let seen = said(&stage.requests()[1].body, "user").join("|");
    assert!(seen.contains("hi|go on"), "the copy knows what was said: {seen}\n{finished}");
}

#[tokio::test]
async fn a_prompt_is_gone_back_before() {
    let (stage, mut started) = stage([turn().text("Once."), turn().text("Twice.")]).await;
    started.write(b"try it\n").await;
    started.stdout.wait_for("Once.", 1).await;
    started.stderr.wait_for("> ", 2).await;
    started.write(b"/rewind\n").await;
    started.stderr.wait_for("  2. try it", 1).await;
    started.write(b"/rewind 2\n").await;
    started.stderr.wait_for("back before: try it", 1).await;
    started.write(b"try again\n").await;
    started.stdout.wait_for("Twice.", 1).await;
    started.finish().await.expect_code(0);
    let seen = said(&stage.requests()[2].body, "user").join("|");
    assert!(seen.contains("hi|try again") && !seen.contains("try it"), "{seen}");
}

#[tokio::test]
async fn a_conversation_is_exported_and_commands_that_there_are_not_are_told() {
    let (stage, mut started) = stage([]).await;
    started.write(b"/export talk.md\n/nonsense\n/resume nobody\n").await;
    started.stderr.wait_for("/session lists them", 1).await;
    let finished = started.finish().await.expect_code(0);
    let text = stage.home.text("talk.md");
    assert!(text.contains("Hello."), "{text}");
    finished.expect_stderr("There is no command `/nonsense`. /help lists them.");
}

#[tokio::test]
async fn edits_are_accepted_from_the_start_and_commands_are_not() {
    let write = serde_json::json!({"path": "made.txt", "content": "new\n"});
    let turns = vec![
        turn().call("write_file", write).call("run_shell", shell("touch sentinel")),
        turn().text("So be it."),
    ];
    let stage = Stage::new(turns).await;
    let run = stage.buddy(["exec", "--trust", "--approve", "edits", "write it"]).args(UNCHECKED).run().await;
    run.expect_code(5);
    assert_eq!(stage.home.text("made.txt"), "new\n");
    assert!(!stage.home.work().join("sentinel").exists());
}

#[tokio::test]
async fn what_was_denied_and_what_failed_is_told_in_a_line() {
    let mut looking = shell("ls nowhere-at-all");
    looking["mutation"] = false.into();
    let calls = turn()
        .call("run_shell", shell("touch sentinel"))
        .call("run_shell", looking)
        .call("read_file", serde_json::json!({"path": "nowhere"}));
    let (_stage, mut started) = stage([calls, turn().text("So be it.")]).await;
    started.write(b"make it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"n not now\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    for line in [
        "✗ Run     touch sentinel  you denied it: not now",
        "✗ Ran     ls nowhere-at-all  exit 2: ls: cannot access 'nowhere-at-all'",
        "✗ Read    nowhere  failed: ",
    ] {
        assert!(finished.to_string().contains(line), "{line} in:\n{finished}");
    }
}

#[tokio::test]
async fn the_commands_of_the_screen_are_there_line_by_line() {
    let (stage, mut started) = stage([turn().text("Reviewed."), turn().text("Written.")]).await;
    started.write(b"/help\n/status\n/context\n/cost\n/model\n/copy\n/rename A plain title\n/approve\n").await;
    started.stderr.wait_for("approvals: ask; use /approve auto", 1).await;
    let told = started.stderr.text();
    for text in [
        "/review [WHAT]",
        "session    ses_",
        "turns      1",
        "tokens; the limit of this model is unknown",
        "input      ",
        "Using scripted. Switch with /model NAME or /model NUMBER.",
        "this terminal has no clipboard; use /export to write a file",
        "title: A plain title",
    ] {
        assert!(told.contains(text), "{text} in:\n{told}");
    }
    assert!(!told.contains("/theme"), "it needs a screen:\n{told}");
    started.write(b"/review the last commit\n").await;
    started.stdout.wait_for("Reviewed.", 1).await;
    // One at the beginning, one after each command, and one after the turn.
    started.stderr.wait_for("> ", 10).await;
    started.write(b"/init\n").await;
    started.stdout.wait_for("Written.", 1).await;
    started.stderr.wait_for("> ", 11).await;
    started.write(b"/login\n/theme light\n").await;
    started.stderr.wait_for("/theme needs a full-screen conversation", 1).await;
    started.finish().await.expect_code(0).expect_stderr("/login needs a terminal");
    let seen = said(&stage.requests()[2].body, "user").join("|");
    assert!(seen.contains("Look at: the last commit") && seen.contains("Write an AGENTS.md"), "{seen}");
    assert_eq!(stage.only_log().await.transcript.title(), Some("A plain title"));
}

#[tokio::test]
async fn a_turn_is_ended_after_a_time() {
    let (_stage, mut started) = stage([turn().text("Half").gate("never").text(" of it.")]).await;
    started.write(b"/timeout 1s\n").await;
    started.stderr.wait_for("no task runs", 1).await;
    started.write(b"go\n").await;
    started.stdout.wait_for("Half", 1).await;
    started.write(b"/timeout 1s\n").await;
    started.stderr.wait_for("the turn reached its time limit\n", 1).await;
    started.stderr.wait_for("interrupted\n", 1).await;
    started.finish().await.expect_code(0);
}

#[tokio::test]
async fn an_undo_says_that_it_is_under_way() {
    let (_stage, mut started) = stage([]).await;
    started.stderr.wait_for("> ", 1).await;
    started.write(b"/undo\n/redo\n").await;
    started.stderr.wait_for("Undoing…", 1).await;
    started.stderr.wait_for("Redoing…", 1).await;
    started.finish().await.expect_code(0);
}

#[tokio::test]
async fn what_is_told_stands_in_lines_of_its_own() {
    let (_stage, mut started) = stage([]).await;
    started.stderr.wait_for("> ", 1).await;
    started.write(b"/approve edits\n").await;
    started.stderr.wait_for("asks for the rest\n> ", 1).await;
    started.write(b"!sleep 0.2; echo late\n\n").await;
    started.stderr.wait_for("late\n> ", 1).await;
    let told = started.stderr.text();
    let is_alone = |line: &&str| !line.starts_with("> ") || line.trim() == ">";
    assert!(told.lines().all(|line| is_alone(&line)), "nothing is written behind a prompt:\n{told}");
    started.finish().await.expect_code(0);
}

#[tokio::test]
async fn words_that_are_no_command_begin_a_conversation_and_a_single_one_is_an_error() {
    let stage = Stage::new([turn().text("I fix them."), turn().text("And more.")]).await;
    let mut started = stage.buddy(["fix", "the", "tests"]).converse();
    started.stdout.wait_for("I fix them.", 1).await;
    started.stderr.wait_for("> ", 1).await;
    started.write(b"go on\n").await;
    started.stdout.wait_for("And more.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(said(&stage.requests()[1].body, "user"), ["fix the tests", "go on"]);
    let finished = stage.buddy(["sesions"]).run().await.expect_code(2);
    finished.expect_stderr("buddy exec 'sesions'");
}

#[tokio::test]
async fn a_command_for_when_nothing_runs_is_done_at_the_end_of_the_turn() {
    let (stage, mut started) =
        stage([turn().text("Half").gate("rest").text(" of it."), turn().text("Reviewed.")]).await;
    started.write(b"go\n").await;
    started.stdout.wait_for("Half", 1).await;
    started.write(b"/review it all\n").await;
    started.stderr.wait_for("This runs when the turn has ended", 1).await;
    assert_eq!(stage.server.requests().len(), 2, "nothing was sent yet");
    stage.server.gate("rest").open();
    started.stdout.wait_for("Reviewed.", 1).await;
    started.finish().await.expect_code(0);
    let seen = said(&stage.requests()[2].body, "user").join("|");
    assert!(seen.ends_with("Look at: it all"), "{seen}");
}

#[tokio::test]
async fn a_plan_ends_with_a_question_and_yes_begins_it() {
    let work = turn().call("write_file", serde_json::json!({"path": "made", "content": "x"}));
    let stage = Stage::new([turn().text("I would make a file."), work, turn().text("Made.")]).await;
    let mut started = stage.buddy(["--approve", "all", "--trust", "--plan"]).converse();
    started.write(b"make a file\n").await;
    started.stderr.wait_for("Go ahead?", 1).await;
    assert!(!stage.home.work().join("made").exists());
    started.write(b"y\n").await;
    started.stdout.wait_for("Made.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.home.work().join("made").exists());
    assert!(!stage.only_log().await.transcript.is_plan_only());
}

#[tokio::test]
async fn a_model_that_the_server_does_not_have_is_refused_with_the_nearest_name() {
    let stage = Stage::new([turn().text("Hello.")]).await;
    let mut started = stage.buddy([]).converse();
    started.write(b"/model scriptd\n").await;
    started.stderr.wait_for("did you mean `scripted`?", 1).await;
    started.write(b"/model 99\n").await;
    started.stderr.wait_for("there is no model 99", 1).await;
    started.write(b"/model environment/other\nhi\n").await;
    started.stdout.wait_for("Hello.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.requests()[0].body["model"], "other");
}

#[tokio::test]
async fn a_number_picks_the_model_that_the_list_has_there() {
    let stage = Stage::new([turn().text("Hello.")]).await;
    let config = stage.home.path().join(".config/buddy");
    std::fs::create_dir_all(&config).unwrap();
    let profile = |name: &str| {
        let url = stage.server.url();
        format!(
            "[models.{name}]\napi_base_url = '{url}/v1'\napi = 'completions'\nauth = 'none'\nmodel = 'of-{name}'\n"
        )
    };
    let text: String = ["aaa", "aab", "aac", "aad"].map(profile).concat();
    std::fs::write(config.join("buddy.toml"), text).unwrap();
    let mut started = stage.buddy([]).converse();
    started.write(b"/model\n").await;
    started.stderr.wait_for("Switch with /model NAME", 1).await;
    let listed = started.stderr.text();
    let third = listed.lines().find_map(|line| line.trim_start().strip_prefix("3  ")).unwrap();
    let name = third.split_whitespace().next().unwrap().to_owned();
    assert_eq!(name, "aac", "{listed}");
    started.write(b"/model 3\nhi\n").await;
    started.stdout.wait_for("Hello.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.requests()[0].body["model"], format!("of-{name}"));
}

#[tokio::test]
async fn a_task_beside_the_conversation_is_waited_for_and_told() {
    let (stage, mut started) =
        stage([turn().text("Three").gate("rest").text(" of them."), turn().text("Here.")]).await;
    started.write(b"count them &\n").await;
    started.stderr.wait_for("task 1 runs in the background", 1).await;
    stage.server.gate("rest").reached().await;
    started.write(b"are you there?\n").await;
    started.stdout.wait_for("Here.", 1).await;
    started.close_input();
    stage.server.gate("rest").open();
    let finished = started.finish().await.expect_code(0);
    assert_eq!(finished.text(), "Here.\n", "stdout has the conversation alone");
    assert!(finished.stderr.contains("task 1 done: count them"), "{finished}");
    assert!(finished.stderr.contains("Three of them."), "{finished}");
    assert_eq!(stage.log().await.len(), 2);
}

#[tokio::test]
async fn a_conversation_is_left_while_its_turn_runs_and_the_turn_goes_on_as_a_task() {
    let (stage, mut started) =
        stage([turn().text("Half").gate("rest").text(" of it."), turn().text("In the copy.")]).await;
    started.write(b"go\n").await;
    started.stdout.wait_for("Half", 1).await;
    started.write(b"/fork\n").await;
    started.stderr.wait_for("This is a copy of the conversation.", 1).await;
    started.write(b"and here?\n").await;
    started.stdout.wait_for("In the copy.", 1).await;
    stage.server.gate("rest").open();
    started.stderr.wait_for("task 1 done", 1).await;
    started.finish().await.expect_code(0);
}
