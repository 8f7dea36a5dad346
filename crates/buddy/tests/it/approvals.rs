//! Approvals that people can live with: batches, grants, windows, plan mode, guards and trust, on the real program.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use buddy_protocol::{Answer, Content, Fact, ItemStatus, PlanStepState, Question, Unfit};
use buddy_testkit::model::{ModelServer, NEWEST_PROCESS, Turn, turn};
use serde_json::json;

use crate::stage::{APPROVE, Stage, conversation, done, run, shell};

fn write(path: &str) -> serde_json::Value {
    json!({"path": path, "content": "new\n"})
}

#[tokio::test]
async fn writes_of_one_answer_are_asked_for_together_and_answered_each() {
    let both = turn().call("write_file", write("one")).call("write_file", write("two"));
    let (stage, mut started) = conversation([both, done()]).await;
    started.write(b"write both\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    let shown = started.stderr.text();
    assert!(shown.contains("1. ") && shown.contains("2. ") && shown.contains("Write two (+1 −0)"), "{shown}");
    started.write(b"2\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!((stage.home.text("one"), stage.home.text("two")), (String::new(), "new\n".to_owned()));
    let log = stage.only_log().await;
    let questions = log.events.iter().filter(|event| matches!(&event.fact, Fact::Asked(_))).count();
    assert_eq!(questions, 1, "there is one question");
    let statuses: Vec<_> = log.calls().iter().map(|(item, _)| item.status).collect();
    assert_eq!(statuses, [ItemStatus::Denied, ItemStatus::Completed]);
}

#[tokio::test]
async fn a_grant_for_the_session_spares_the_next_question_and_no_other() {
    let turns = [run("mkdir one"), run("mkdir two"), run("rm -r two"), done()];
    let (stage, mut started) = conversation(turns).await;
    started.write(b"make them\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    let shown = started.stderr.text();
    assert!(shown.contains("a  Allow mkdir * this session"), "{shown}");
    started.write(b"s\n").await;
    started.stderr.wait_for("$ rm -r two -- approve?", 1).await;
    assert!(stage.home.work().join("two").is_dir(), "the second one was not asked for");
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(finished.stderr.matches(APPROVE).count(), 2, "{finished}");
    assert!(stage.home.work().join("two").is_dir());
}

#[tokio::test]
async fn a_grant_in_other_words_is_judged_and_covers_what_they_say() {
    let turns = [run("mkdir one"), run("mkdir one/two"), run("mkdir three"), done()];
    let (stage, mut started) = conversation(turns).await;
    started.write(b"make them\n").await;
    let refused = [
        ("s *", "names a program"),
        ("s mkdir three", "`mkdir three` does not cover this call"),
        ("p 2 m* *", "`m* *` is wider than what can be allowed here; the widest is `mkdir *`"),
        ("s mkdir one; rm -rf ~", "a pattern is about one simple command"),
    ];
    for (count, (line, why)) in (1..).zip(refused) {
        started.stderr.wait_for(APPROVE, count).await;
        started.write(format!("{line}\n").as_bytes()).await;
        started.stderr.wait_for(why, 1).await;
        assert!(!stage.home.work().join("one").exists(), "{line} runs nothing");
    }
    started.stderr.wait_for(APPROVE, 5).await;
    started.write(b"s 10m mkdir one*\n").await;
    started.stderr.wait_for("$ mkdir three -- approve?", 1).await;
    assert!(stage.home.work().join("one/two").is_dir(), "what the words cover was not asked for");
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert!(!stage.home.work().join("three").exists());
    assert!(!stage.home.data().join("grants.json").exists(), "what was refused is not kept");
    let log = stage.only_log().await;
    let told = |unfit: &Unfit| (unfit.wish.words.clone().unwrap(), unfit.why.clone());
    let unfit: Vec<(String, String)> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Asked(asked) => match &asked.ask.question {
                Question::Approval(approval) => approval.unfit.as_ref().map(told),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(unfit.len(), refused.len(), "{unfit:?}");
    for ((words, why), (line, expected)) in unfit.iter().zip(refused) {
        assert!(line.ends_with(words.as_str()) && why.contains(expected), "{line}: {words}: {why}");
    }
    let allowed = log.events.iter().rev().find_map(|event| match &event.fact {
        Fact::Answered(answered) => match &answered.answer {
            Answer::Allow { grant: Some(wish), .. } => Some((wish.words.as_deref(), wish.seconds)),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(allowed, Some((Some("mkdir one*"), 600)), "the log says what was allowed");
}

#[tokio::test]
async fn a_grant_settles_what_waits_for_it_and_leaves_other_questions_as_they_were() {
    let all = ["mkdir one", "mkdir two", "touch three"];
    let turns = [all.iter().fold(turn(), |turn, command| turn.call("run_shell", shell(command))), done()];
    let (stage, mut started) = conversation(turns).await;
    started.write(b"make them\n").await;
    started.stderr.wait_for("$ mkdir one -- approve?", 1).await;
    started.write(b"s\n").await;
    started.stderr.wait_for("$ touch three -- approve?", 1).await;
    started.write(b"y\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let work = stage.home.work();
    assert!(work.join("one").is_dir() && work.join("two").is_dir() && work.join("three").is_file());
    let log = stage.only_log().await;
    let asked = log.events.iter().filter(|event| matches!(&event.fact, Fact::Asked(_))).count();
    assert!(asked <= 3, "no question is put twice: {asked}");
}

#[tokio::test]
async fn a_grant_lasts_for_the_days_that_it_is_given_for() {
    let stage = Stage::new(vec![done()]).await;
    stage.buddy(["grants", "--allow", "mkdir *", "--for", "30d"]).run().await.expect_code(0);
    stage.buddy(["grants", "--allow", "touch *", "--for", "1 day"]).run().await.expect_code(0);
    let listed = stage.buddy(["grants"]).run().await.expect_code(0).text();
    assert!(listed.contains("mkdir *") && listed.contains("touch *"), "{listed}");
}

#[tokio::test]
async fn a_grant_for_the_project_holds_in_later_sessions_until_it_is_taken_back() {
    let turns = ["one", "two", "three"].map(|name| [run(&format!("mkdir {name}")), done()]);
    let (stage, mut started) = conversation(turns.into_iter().flatten()).await;
    started.write(b"make it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"p 2 1h\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let listed = stage.buddy(["grants"]).run().await.expect_code(0).text();
    assert!(listed.contains("mkdir *") && listed.contains("work"), "{listed}");

    stage.buddy(["exec", "again"]).run().await.expect_code(0);
    assert!(stage.home.work().join("two").is_dir());
    stage.buddy(["grants", "--revoke", "1"]).run().await.expect_code(0);
    stage.buddy(["exec", "once more"]).run().await.expect_code(5);
    assert!(!stage.home.work().join("three").exists());
}

#[tokio::test]
async fn a_window_covers_what_is_not_dangerous() {
    let turns = [run("mkdir one"), run("rm -rf ~"), run("mkdir two"), done()];
    let (stage, mut started) = conversation(turns).await;
    started.write(b"/approve 10m\n").await;
    started.stderr.wait_for("for 10 min", 1).await;
    started.write(b"go\n").await;
    started.stderr.wait_for("$ rm -rf ~ -- approve?", 1).await;
    assert!(stage.home.work().join("one").is_dir());
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(finished.stderr.matches(APPROVE).count(), 1, "{finished}");
    assert!(stage.home.work().join("two").is_dir() && stage.home.path().exists());
}

#[tokio::test]
async fn plan_mode_reads_and_changes_nothing_whatever_is_approved() {
    let look = turn().call("run_shell", shell("ls")).call("list_directory", json!({}));
    let change = run("touch sentinel");
    let write = turn().call("write_file", write("sentinel"));
    let stage = Stage::new(vec![look, change, write, done()]).await;
    std::fs::write(stage.home.work().join("here"), "").unwrap();
    stage.exec(["--plan", "look around"]).run().await.expect_code(5);
    let log = stage.only_log().await;
    let statuses: Vec<_> = log.calls().iter().map(|(item, _)| item.status).collect();
    let denied = ItemStatus::Denied;
    assert_eq!(statuses, [ItemStatus::Completed, ItemStatus::Completed, denied, denied]);
    assert!(!stage.home.work().join("sentinel").exists());
}

#[tokio::test]
async fn a_script_that_changes_while_the_person_reads_is_asked_for_again() {
    let (stage, mut started) = conversation([run("./tool.sh"), done()]).await;
    let script = stage.home.work().join("tool.sh");
    let put = |text: &str| {
        std::fs::write(&script, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    put("echo good > outcome");
    started.write(b"run it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    put("echo evil > outcome");
    started.write(b"y\n").await;
    started.stderr.wait_for(APPROVE, 2).await;
    assert_eq!(stage.home.text("outcome"), "", "nothing ran that nobody saw");
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.home.text("outcome"), "");
}

#[tokio::test]
async fn a_makefile_that_changes_or_comes_while_the_person_reads_is_asked_for_again() {
    let (stage, mut started) = conversation([run("make"), done()]).await;
    let put = |name: &str, text: &str| {
        std::fs::write(stage.home.work().join(name), format!("all:\n\t{text} > outcome\n")).unwrap();
    };
    put("Makefile", "echo good");
    started.write(b"run it\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    put("Makefile", "echo evil");
    started.write(b"y\n").await;
    started.stderr.wait_for(APPROVE, 2).await;
    assert_eq!(stage.home.text("outcome"), "", "nothing ran that nobody saw");
    put("GNUmakefile", "echo worse");
    started.write(b"y\n").await;
    started.stderr.wait_for(APPROVE, 3).await;
    assert_eq!(stage.home.text("outcome"), "", "another file that make prefers is seen too");
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(stage.home.text("outcome"), "");
}

#[tokio::test]
async fn guards_take_effect_once_a_person_has_approved_them() {
    let stage = Stage::new(vec![run("mkdir one"), done(), run("mkdir two"), done()]).await;
    let config = stage.home.data().join("config");
    std::fs::create_dir_all(&config).unwrap();
    let guards = r#"[{"pattern": "mkdir *", "reason": "no more directories", "action": "deny"}]"#;
    std::fs::write(config.join("guards.json"), guards).unwrap();
    let finished = stage.exec(["go"]).run().await.expect_code(0);
    assert!(stage.home.work().join("one").is_dir(), "nobody approved the file");
    let pending = "guards.json has changes that you have not approved, so they have no effect";
    finished.expect_stderr(pending);
    let mut conversation = stage.buddy([]).converse();
    conversation.stderr.wait_for(pending, 1).await;
    conversation.finish().await.expect_code(0);
    let doctor = stage.buddy(["doctor"]).run().await;
    assert!(doctor.text().contains(pending), "{doctor}");
    let refused = stage.buddy(["guards", "approve"]).run().await.expect_code(1);
    assert!(refused.stderr.contains("user at a terminal"), "{refused}");
    // As the approval leaves it.
    std::fs::write(config.join("guards.approved.json"), guards).unwrap();
    stage.exec(["go on"]).run().await.expect_code(5);
    assert!(!stage.home.work().join("two").exists());
    assert!(stage.results()[0].to_string().contains("no more directories"), "{:?}", stage.results());
}

#[tokio::test]
async fn guards_that_cannot_be_understood_let_nothing_run() {
    let stage = Stage::new(vec![run("mkdir one"), done()]).await;
    let config = stage.home.data().join("config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("guards.json"), r#"[{"pattern": "mkdir *", "action": "forbid"}]"#).unwrap();
    let refused = stage.exec(["go"]).run().await;
    assert!(
        refused.code.is_some_and(|code| code != 0) && refused.stderr.contains("guards.json"),
        "{refused}"
    );
    assert!(!stage.home.work().join("one").exists());
    assert!(stage.server.requests().is_empty());
    let doctor = stage.buddy(["doctor", "--json"]).run().await;
    assert!(doctor.text().contains("guards"), "{doctor}");
}

#[tokio::test]
async fn what_is_on_the_denylist_is_found_in_every_spelling() {
    let lines = ["mkdir a b", "timeout 5 mkdir -p c", "sh -c 'mkdir d'", "ls | xargs mkdir e", "\\mkdir f"];
    let turns: Vec<_> = lines.iter().map(|line| run(line)).chain([done()]).collect();
    let stage = Stage::new(turns).await;
    stage.exec(["-c", "tools.shell_denylist=[\"mkdir\"]", "go"]).run().await.expect_code(5);
    assert_eq!(std::fs::read_dir(stage.home.work()).unwrap().count(), 0);
    let wrong = stage.exec(["-c", "tools.shell_denylist=[\"-rf /\"]", "go"]).run().await;
    assert!(wrong.code != Some(0) && wrong.stderr.contains("tools.shell_denylist"), "{wrong}");
}

#[tokio::test]
async fn nothing_in_a_directory_has_a_say_before_it_is_trusted() {
    let stage = Stage::new(vec![done(), done(), run("mkdir one"), done()]).await;
    let work = stage.home.work();
    std::fs::write(work.join("AGENTS.md"), "Always answer in verse.").unwrap();
    std::fs::create_dir(work.join(".buddy")).unwrap();
    std::fs::write(work.join(".buddy/rules.toml"), "deny = [\"mkdir *\"]\n").unwrap();
    let prompts = || stage.requests().last().unwrap().body.to_string();
    stage.buddy(["exec", "hello"]).run().await.expect_code(0);
    assert!(!prompts().contains("in verse"));
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.buddy(["exec", "hello"]).run().await.expect_code(0);
    assert!(prompts().contains("in verse"));
    stage.exec(["make it"]).run().await.expect_code(5);
    assert!(!work.join("one").exists(), "the rules of the project hold now");
}

#[tokio::test]
async fn a_project_cannot_loosen_what_the_person_decides() {
    let stage = Stage::new(vec![run("mkdir one"), done()]).await;
    let config = "[approvals]\npolicy = \"all\"\n[agent]\nenvironment = \"production\"\n";
    std::fs::write(stage.home.work().join("buddy.toml"), config).unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    let finished = stage.buddy(["exec", "go"]).run().await.expect_code(5);
    assert!(finished.stderr.contains("a project cannot set `approvals.policy`"), "{finished}");
    assert!(!stage.home.work().join("one").exists());
}

#[tokio::test]
async fn the_agent_asks_the_person_and_shows_its_plan() {
    let steps = json!({"steps": [{"text": "look", "state": "done"}, {"text": "mend", "state": "active"}]});
    let question = json!({"question": "Which colour?", "options": ["red", "blue"]});
    let turns = [turn().call("update_plan", steps), turn().call("ask_user", question), done()];
    let (stage, mut started) = conversation(turns).await;
    started.write(b"paint it\n").await;
    started.stderr.wait_for("2. blue", 1).await;
    let waiting = stage.buddy(["asks"]).run().await.expect_code(0).text();
    assert!(waiting.contains("Which colour?") && waiting.contains("paint it"), "{waiting}");
    let whole = stage.buddy(["asks", "--json"]).run().await.expect_code(0).text();
    assert!(waiting.contains("ses_") && whole.contains("\"red\""), "{waiting}{whole}");
    assert!(
        !waiting.contains("[y/n]") && !waiting.contains("your own answer"),
        "nobody answers here: {waiting}"
    );
    started.write(b"2\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let results = stage.results();
    assert!(results.iter().any(|result| result.to_string().contains("blue")), "{results:?}");
    let log = stage.only_log().await;
    let plan = log.transcript.items().iter().find_map(|item| match &item.content {
        Content::Plan { steps } => Some(steps.clone()),
        _ => None,
    });
    assert_eq!(plan.unwrap()[1].state, PlanStepState::Active);
    let asked = log.events.iter().find_map(|event| match &event.fact {
        Fact::Asked(asked) => Some(asked.ask.question.clone()),
        _ => None,
    });
    assert!(matches!(asked, Some(Question::Text { .. })));
    let none = stage.buddy(["asks"]).run().await.expect_code(0);
    assert!(none.text().is_empty() && none.stderr.contains("Nothing waits"), "{none}");
}

#[tokio::test]
async fn a_list_of_commands_runs_only_what_is_listed_and_without_a_shell() {
    let calls = ["echo *.txt $HOME", "echo a; touch sentinel", "touch sentinel", "echo $(touch sentinel)"];
    let turns: Vec<Turn> = calls.iter().map(|command| run(command)).chain([done()]).collect();
    let stage = Stage::new(turns).await;
    std::fs::write(stage.home.work().join("a.txt"), "").unwrap();
    let list = "tools.shell_allowlist=[\"echo *\"]";
    stage.exec(["-c", list, "go"]).run().await.expect_code(5);
    let log = stage.only_log().await;
    let statuses: Vec<_> = log.calls().iter().map(|(item, _)| item.status).collect();
    let denied = ItemStatus::Denied;
    assert_eq!(statuses, [ItemStatus::Completed, denied, denied, denied]);
    let printed = log.calls()[0].1.output.as_ref().unwrap().result.as_ref().unwrap().value();
    assert_eq!(printed["stdout"], "*.txt $HOME\n", "the words are passed on as they are");
    assert!(!stage.home.work().join("sentinel").exists());
}

#[tokio::test]
async fn what_is_on_the_denylist_does_not_run_whatever_is_approved() {
    let turns = vec![run("mkdir one"), run("env mkdir two; true"), run("touch three"), done()];
    let stage = Stage::new(turns).await;
    stage.exec(["-c", "tools.shell_denylist=[\"mkdir *\"]", "go"]).run().await.expect_code(5);
    let made: Vec<_> =
        std::fs::read_dir(stage.home.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(made, ["three"]);
}

#[tokio::test]
async fn everything_that_waits_is_denied_at_once() {
    let many = (0..5).fold(turn(), |turn, number| turn.call("run_shell", shell(&format!("mkdir {number}"))));
    let (stage, mut started) = conversation([many, done()]).await;
    started.write(b"make many\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"deny all\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let made = std::fs::read_dir(stage.home.work()).unwrap().count();
    assert_eq!(made, 0);
}

#[tokio::test]
async fn questions_about_the_calls_of_one_answer_come_in_the_order_of_the_calls() {
    let commands: Vec<String> = (1..=6).map(|number| format!("touch made-{number}")).collect();
    let answer = commands.iter().fold(turn(), |turn, command| turn.call("run_shell", shell(command)));
    let (stage, mut started) = conversation([answer, done()]).await;
    // Each can read it, so that none has to be asked about again once another one could.
    fs::write(stage.home.work().join(".env"), "x\n").unwrap();
    started.write(b"go\n").await;
    for command in &commands {
        started.stderr.wait_for(&format!("$ {command} -- approve?"), 1).await;
        started.write(b"y\n").await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let log = stage.only_log().await;
    let asked: Vec<String> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::Asked(asked) => match &asked.ask.question {
                Question::Approval(approval) => Some(approval.action.clone()),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(asked, commands);
}

#[tokio::test]
async fn a_question_says_in_the_words_of_its_tool_what_a_yes_covers() {
    let patch = "*** Begin Patch\n*** Update File: src/lib.rs\n@@\n-three\n+3\n*** Add File: new.txt\n+x\n*** End Patch";
    let calls = [
        (
            "write_file",
            json!({"path": "src/lib.rs", "content": "one\ntwo\nthree\n"}),
            "Write src/lib.rs (+2 −0)",
        ),
        ("edit_file", json!({"path": "src/lib.rs", "old": "two", "new": "2"}), "Write src/lib.rs (+1 −1)"),
        ("apply_patch", json!({"patch": patch}), "2 files (+2 −1)\nWrite src/lib.rs\nWrite new.txt"),
        ("make_directory", json!({"path": "src/deep"}), "Make the directory src/deep"),
        ("git_add", json!({"files": ["src/lib.rs", "new.txt"]}), "Stage src/lib.rs, new.txt?"),
        ("git_commit", json!({"message": "Fix add"}), "Commit \"Fix add\"? 2 files (+4 −0)"),
        ("delete_path", json!({"path": "new.txt"}), "Delete new.txt"),
        ("read_file", json!({"path": ".env"}), "Read .env"),
    ];
    let mut stage = Stage::new(vec![done()]).await;
    let work = stage.home.work();
    let remote = stage.home.path().join("remote.git").display().to_string();
    let pushed = format!("Push main to origin? ({remote})");
    let push = json!({"remote": "origin", "branch": "main", "url": remote});
    // Before the secret is read: nothing leaves unasked after that, whatever the tool.
    let push = [("git_push", push, pushed.as_str())];
    let calls: Vec<_> = push.into_iter().chain(calls).collect();
    let turns = calls.iter().map(|(name, input, _)| turn().call(name, input.clone())).chain([done()]);
    stage.server = ModelServer::start(turns.collect::<Vec<_>>()).await;
    fs::create_dir(work.join("src")).unwrap();
    fs::write(work.join("src/lib.rs"), "one\n").unwrap();
    fs::write(work.join(".env"), "x\n").unwrap();
    let author = "git config user.email a@b.c && git config user.name a";
    let remote = "git init -q --bare -b main ../remote.git && git remote add origin \"$(cd .. && pwd)/remote.git\" && git commit -q --allow-empty -m begin";
    stage.in_bash(&format!("git init -q -b main && {author} && {remote}")).run().await.expect_code(0);
    let mut started = stage.buddy(["--trust"]).converse();
    started.write(b"go\n").await;
    for count in 1..=calls.len() {
        started.stderr.wait_for(APPROVE, count).await;
        started.write(b"y\n").await;
    }
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    let log = stage.only_log().await;
    let asked = log.events.iter().filter_map(|event| match &event.fact {
        Fact::Asked(asked) => match &asked.ask.question {
            Question::Approval(approval) => Some(approval.action.clone()),
            _ => None,
        },
        _ => None,
    });
    let expected: Vec<&str> = calls.iter().map(|(_, _, question)| *question).collect();
    assert_eq!(asked.collect::<Vec<_>>(), expected);
    assert!(stage.results().iter().all(|result| result["ok"] == true), "{:#?}", stage.results());
}

#[tokio::test]
async fn a_question_about_a_process_names_what_becomes_of_it() {
    let start =
        json!({"command": "sleep 300", "why": "w", "risk": "low", "mutation": true, "privesc": false});
    let stop = json!({"id": NEWEST_PROCESS, "why": "w", "force": true});
    let turns = vec![turn().call("process_start", start), turn().call("process_stop", stop), done()];
    let (stage, mut started) = conversation(turns).await;
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    started.write(b"y\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    let asked = finished.stderr.rsplit_once("End the process proc-");
    assert!(asked.is_some_and(|(_, id)| id.contains(", with all that it started, at once")), "{finished}");
    assert!(stage.results().iter().all(|result| result["ok"] == true), "{:#?}", stage.results());
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_cannot_work() {
    let edit = |old: &str| json!({"path": "a.txt", "old": old, "new": "x"});
    let calls = [
        ("edit_file", edit("missing"), "old_not_found"),
        ("edit_file", edit("same"), "old_ambiguous"),
        ("edit_file", json!({"path": "none.txt", "old": "a", "new": "b"}), "not_found"),
        ("apply_patch", json!({"patch": "no patch"}), "bad_patch"),
        ("delete_path", json!({"path": "none.txt"}), "not_found"),
        ("read_file", json!({"path": "sub/.env"}), "not_found"),
        ("write_file", json!({"path": "sub", "content": "x"}), "not_a_file"),
        ("fetch_url", json!({"url": "http://127.0.0.1:9/"}), "refused"),
        ("fetch_url", json!({"url": "http://169.254.169.254/latest"}), "refused"),
    ];
    let mut turns: Vec<_> = calls.iter().map(|(name, input, _)| turn().call(name, input.clone())).collect();
    // Of calls that are asked for together, those that can work are.
    let good = json!({"path": "b.txt", "content": "x\n"});
    turns.push(turn().call("edit_file", edit("missing")).call("write_file", good));
    // A call that runs after another one is asked about, since what is there now says little.
    let new = json!({"path": "c.txt", "content": "one\n"});
    let change = json!({"path": "c.txt", "old": "one", "new": "two"});
    turns.push(turn().call("write_file", new).call("edit_file", change));
    turns.push(done());
    let (stage, mut started) = conversation(turns).await;
    fs::create_dir(stage.home.work().join("sub")).unwrap();
    fs::write(stage.home.work().join("a.txt"), "same\nsame\n").unwrap();
    started.write(b"go\n").await;
    started.stderr.wait_for(APPROVE, 1).await;
    let shown = started.stderr.text();
    assert!(shown.contains("b.txt") && !shown.contains("a.txt -- approve"), "{shown}");
    let results = stage.results();
    for ((name, input, code), result) in calls.iter().zip(&results) {
        assert_eq!(result["error"]["code"], json!(code), "{name} {input}: {result:#}");
    }
    started.write(b"y\n").await;
    started.stderr.wait_for(APPROVE, 2).await;
    started.write(b"y\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(fs::read_to_string(stage.home.work().join("b.txt")).unwrap(), "x\n");
    assert_eq!(fs::read_to_string(stage.home.work().join("c.txt")).unwrap(), "two\n");
}
