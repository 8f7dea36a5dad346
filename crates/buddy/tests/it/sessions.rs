//! `buddy sessions`, `buddy show` and `buddy store`.

use buddy_protocol::Event;
use buddy_testkit::model::{Script, turn};
use serde_json::{Value, json};

use crate::stage::{Stage, logs, shell};

async fn stage() -> Stage {
    let script = Script::from([
        turn().text("Let me see.").call("run_shell", shell("echo there it is")),
        turn().text("It is there."),
        turn().text("Yes."),
    ])
    .repeating_last();
    Stage::new(script).await
}

async fn listed(stage: &Stage, arguments: &[&str]) -> Vec<Value> {
    let finished = stage.buddy(["sessions", "--json"]).args(arguments).run().await.expect_code(0);
    serde_json::from_slice(&finished.stdout).unwrap()
}

#[tokio::test]
async fn no_sessions_is_an_empty_list() {
    let stage = stage().await;
    assert_eq!(listed(&stage, &[]).await, Vec::<Value>::new());
    let finished = stage.buddy(["sessions"]).run().await.expect_code(0).expect_stderr("No sessions yet");
    assert!(finished.stdout.is_empty());
}

#[tokio::test]
async fn sessions_are_listed_last_used_first() {
    let stage = stage().await;
    let elsewhere = stage.home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let first = stage.completed("find it\nand more").await.session();
    stage.exec(["other things", "-C", elsewhere.to_str().unwrap()]).run().await.expect_code(0);
    let list = listed(&stage, &[]).await;
    let titles: Vec<&Value> = list.iter().map(|session| &session["title"]).collect();
    assert_eq!(titles, ["other things", "find it"]);
    assert_eq!(
        (&list[1]["id"], &list[1]["state"], &list[1]["turns"], &list[1]["cwd"]),
        (&json!(first), &json!("idle"), &json!(1), &json!(stage.home.work().to_str().unwrap()))
    );
    assert_eq!(listed(&stage, &["--limit", "1"]).await.len(), 1);
    assert_eq!(listed(&stage, &["--here"]).await[0]["id"], json!(first));
    stage.exec(["again", "--resume", &first]).run().await.expect_code(0);
    assert_eq!(listed(&stage, &[]).await[0]["id"], json!(first));
    let lines = stage.buddy(["sessions"]).run().await.expect_code(0).text();
    assert_eq!(lines.lines().count(), 3);
    assert!(lines.starts_with("ID ") && lines.lines().nth(1).unwrap().contains(&first), "{lines}");
}

#[tokio::test]
async fn the_last_session_is_shown_without_its_id() {
    let stage = stage().await;
    let printed = stage.completed("find it").await;
    let shown = stage.buddy(["show", &printed.session()]).run().await.expect_code(0).text();
    assert_eq!(stage.buddy(["show", "--last"]).run().await.expect_code(0).text(), shown);
    let unnamed = stage.buddy(["show"]).run().await.expect_code(2);
    assert!(unnamed.stderr.contains("`buddy show --last`"), "{unnamed}");
}

#[tokio::test]
async fn without_a_terminal_there_is_no_session_to_pick() {
    let stage = stage().await;
    stage.buddy(["resume"]).run().await.expect_code(2).expect_stderr("`buddy resume --last`");
}

#[tokio::test]
async fn a_session_can_be_read() {
    let stage = stage().await;
    let printed = stage.completed("find it").await;
    let shown = stage.buddy(["show", &printed.session()]).run().await.expect_code(0).text();
    assert_eq!(shown, "> find it\nLet me see.\n\n  ✓ Ran     echo there it is\nIt is there.\n\n");
    let lines = stage.buddy(["show", &printed.session(), "--json"]).run().await.expect_code(0).text();
    let events: Vec<Event> = lines.lines().map(|line| Event::from_json(line).unwrap()).collect();
    assert_eq!(events, printed.events);
}

#[tokio::test]
async fn a_running_session_can_be_listed() {
    let stage = Stage::new([turn().text("So").gate("held").text(" it is.")]).await;
    let started = stage.exec(["go"]).start();
    stage.server.gate("held").reached().await;
    assert_eq!(listed(&stage, &[]).await[0]["state"], "running");
    stage.server.gate("held").open();
    started.finish().await.expect_code(0);
    assert_eq!(listed(&stage, &[]).await[0]["state"], "idle");
}

#[tokio::test]
async fn a_store_can_be_checked_and_rebuilt() {
    let stage = stage().await;
    let printed = stage.completed("find it").await;
    let before = listed(&stage, &[]).await;
    let checked = stage.buddy(["store", "check"]).run().await.expect_code(0).text();
    let events = printed.events.len();
    assert_eq!(checked, format!("1 session, {events} events checked\nNo problems found.\n"));
    let rebuilt = stage.buddy(["store", "rebuild"]).run().await.expect_code(0).text();
    assert_eq!(rebuilt, format!("rebuilt 1 session from {events} events\n"));
    assert_eq!(listed(&stage, &[]).await, before);
}

#[tokio::test]
async fn a_store_can_be_copied_while_it_is_used() {
    let stage = Stage::new([turn().text("One."), turn().text("So").gate("held").text(" it is.")]).await;
    let printed = stage.completed("first").await;
    let started = stage.exec(["second"]).start();
    stage.server.gate("held").reached().await;
    let copy = stage.home.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    let target = copy.join("buddy.db");
    let finished = stage.buddy(["store", "backup", target.to_str().unwrap()]).run().await.expect_code(0);
    assert!(finished.text().contains("events copied to"), "{finished}");
    stage.server.gate("held").open();
    started.finish().await.expect_code(0);
    let copied = logs(&copy).await;
    assert_eq!(copied.len(), 2);
    let first = copied.iter().find(|log| log.session.as_str() == printed.session()).unwrap();
    assert_eq!(first.events, printed.events);
}

#[tokio::test]
async fn a_copy_never_goes_over_a_file() {
    let stage = stage().await;
    stage.completed("find it").await;
    let file = stage.home.work().join("precious");
    std::fs::write(&file, "mine").unwrap();
    let finished = stage.buddy(["store", "backup", file.to_str().unwrap()]).run().await.expect_code(1);
    finished.expect_stderr("precious");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[tokio::test]
async fn damage_is_found() {
    let stage = stage().await;
    stage.completed("find it").await;
    // A copy is one file, whatever the store still had in its log ahead.
    let copy = stage.home.path().join("copy");
    std::fs::create_dir(&copy).unwrap();
    let path = copy.join("buddy.db");
    stage.buddy(["store", "backup", path.to_str().unwrap()]).run().await.expect_code(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let needle = b"there it is";
    let places: Vec<usize> =
        (0..bytes.len() - needle.len()).filter(|&at| &bytes[at..at + needle.len()] == needle).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] = b'T';
    }
    std::fs::write(&path, bytes).unwrap();
    let finished = stage.buddy(["store", "check"]).env("BUDDY_HOME", &copy).run().await.expect_code(1);
    assert!(finished.text().contains("event"), "{finished}");
    assert!(!finished.text().contains("No problems found."), "{finished}");
}

#[tokio::test]
async fn everything_is_private_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let stage = stage().await;
    let line = r#"umask 000; exec "$BUDDY" exec hi --approve all"#;
    let finished = stage.in_bash(line).run().await.expect_code(0);
    let mut open = vec![stage.home.data()];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        assert_eq!(mode, if metadata.is_dir() { 0o700 } else { 0o600 }, "{}: {finished}", path.display());
        seen += 1;
        if metadata.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(seen > 4, "database, logs and locks");
}

#[tokio::test]
async fn an_old_session_is_found_among_many() {
    let stage = stage().await;
    let first = stage.completed("find it").await;
    stage.add_sessions(buddy_store::MAX_LIST).await;
    let shown = stage.buddy(["show", &first.session()]).run().await.expect_code(0);
    assert!(shown.text().starts_with("> find it"), "{shown}");
    stage.exec(["again", "--resume", &first.session()]).run().await.expect_code(0);
}

#[tokio::test]
async fn a_full_disk_under_the_output_is_told_by_the_code() {
    let stage = stage().await;
    let session = stage.completed("find it").await.session();
    for command in
        ["sessions", "sessions --json", "show $ID", "show --json $ID", "store check", "store rebuild"]
    {
        let line = format!("ID={session}; \"$BUDDY\" {command} > /dev/full");
        stage.in_bash(&line).run().await.expect_code(141);
    }
    assert_eq!(
        stage.buddy(["store", "check"]).run().await.expect_code(0).text().lines().nth(1),
        Some("No problems found.")
    );
}

#[tokio::test]
async fn a_session_whose_process_was_killed_is_not_listed_as_running() {
    let stage = Stage::new([crate::stage::run("echo begun > ready; sleep 60")]).await;
    stage.in_bash("mkfifo ready").run().await.expect_code(0);
    let running = stage.exec(["go"]).start();
    stage.in_bash("read line < ready").run().await.expect_code(0);
    let listed = stage.buddy(["sessions"]).run().await.expect_code(0).text();
    assert!(listed.contains("running"), "{listed}");
    running.signal(rustix::process::Signal::KILL);
    running.finish().await;
    let listed = stage.buddy(["sessions"]).run().await.expect_code(0).text();
    assert!(listed.contains("idle") && !listed.contains("running"), "{listed}");
}
