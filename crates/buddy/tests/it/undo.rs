//! `buddy undo`, after real calls of a scripted model.

use buddy_testkit::model::turn;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::stage::{Stage, shell};

async fn edited() -> Stage {
    let call = json!({"path": "a.txt", "old": "one", "new": "two"});
    let stage = Stage::new([turn().call("edit_file", call), turn().text("Done.")]).await;
    std::fs::write(stage.home.work().join("a.txt"), "one\n").unwrap();
    stage
}

fn text(stage: &Stage) -> String {
    std::fs::read_to_string(stage.home.work().join("a.txt")).unwrap()
}

#[tokio::test]
async fn takes_back_what_a_call_changed_and_gives_it_again() {
    let stage = edited().await;
    stage.completed("edit").await;
    assert_eq!(text(&stage), "two\n");
    let listed = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!((&entries[0]["changes"], &entries[0]["header"]["label"]), (&json!(1), &json!("edit a.txt")));
    assert_eq!(entries[0]["header"].get("by"), None, "the agent's own call");
    // Nobody can be asked here, so nothing happens without `--yes`.
    stage.buddy(["undo"]).run().await.expect_code(1);
    assert_eq!(text(&stage), "two\n");
    let undone = stage.buddy(["undo", "--yes", "--json"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
    let report: Value = serde_json::from_slice(&undone.stdout).unwrap();
    assert_eq!(report["done"], json!(true));
    stage.buddy(["undo", report["id"].as_str().unwrap(), "--yes"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "two\n");
    let listed = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let owner = &stage.only_log().await.events[0].by;
    let kinds: Vec<bool> =
        entries.as_array().unwrap().iter().map(|entry| entry["header"]["by"] == json!(owner)).collect();
    assert_eq!(kinds, [true, true, false], "undo and redo are the user's: {entries:#}");
}

#[tokio::test]
async fn tells_of_what_somebody_changed_since() {
    let stage = edited().await;
    stage.completed("edit").await;
    std::fs::write(stage.home.work().join("a.txt"), "mine\n").unwrap();
    let refused = stage.buddy(["undo", "--yes"]).run().await.expect_code(1);
    assert!(refused.stderr.contains("conflict"), "{refused}");
    assert_eq!(text(&stage), "mine\n");
    stage.buddy(["undo", "--yes", "--force"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
    stage.buddy(["undo", "nonsense", "--yes"]).run().await.expect_code(1);
}

#[tokio::test]
async fn goes_on_beyond_a_test_run_that_left_a_cache() {
    let tests = "mkdir -p .pytest_cache/v; printf '*\\n' > .pytest_cache/.gitignore; \
        echo x > .pytest_cache/README.md; echo y > .pytest_cache/v/lastfailed";
    let edit = json!({"path": "a.txt", "old": "one", "new": "two"});
    let turns = [turn().call("edit_file", edit), crate::stage::run(tests), turn().text("Done.")];
    let stage = Stage::new(turns).await;
    std::fs::write(stage.home.work().join("a.txt"), "one\n").unwrap();
    stage.completed("edit and test").await;
    let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    for expected in ["Undone in part", "kept      .pytest_cache  git ignores `v` in it"] {
        assert!(undone.stderr.contains(expected), "{expected}: {undone}");
    }
    assert!(!undone.stderr.contains("conflict"), "{undone}");
    assert!(!stage.home.work().join(".pytest_cache/README.md").exists());
    assert!(stage.home.work().join(".pytest_cache/v/lastfailed").exists());
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
}

#[tokio::test]
async fn a_kill_between_keeping_and_changing_leaves_nothing_to_undo() {
    let stage = edited().await;
    let killed = stage.exec(["edit"]).env("BUDDY_KILL_AT", "undo.kept").run().await;
    assert_eq!(killed.signal, Some(9), "{killed}");
    assert_eq!(text(&stage), "one\n");
    let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert!(undone.stderr.contains("nothing to undo"), "{undone}");
    assert_eq!(text(&stage), "one\n");
}

#[tokio::test]
async fn a_change_that_you_took_back_yourself_is_told_before_anything_older_is_undone() {
    let turns = [
        turn().call("write_file", json!({"path": "older.txt", "content": "x"})),
        turn().call("edit_file", json!({"path": "a.txt", "old": "one", "new": "two"})),
        turn().text("Done."),
    ];
    let stage = Stage::new(turns).await;
    std::fs::write(stage.home.work().join("a.txt"), "one\n").unwrap();
    stage.completed("edit").await;
    std::fs::write(stage.home.work().join("a.txt"), "one\n").unwrap();
    let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert!(undone.stderr.contains("already as it was"), "{undone}");
    assert!(stage.home.work().join("older.txt").exists());
}

#[tokio::test]
async fn a_call_that_was_killed_before_it_changed_anything_is_passed_over() {
    for (command, is_changed) in
        [("echo begun > ready; cat pipe", false), ("echo x > a.txt; echo begun > ready; cat pipe", true)]
    {
        let turns = [
            turn().call("edit_file", json!({"path": "a.txt", "old": "one", "new": "two"})),
            crate::stage::run(command),
            turn().text("Done."),
        ];
        let stage = Stage::new(turns).await;
        std::fs::write(stage.home.work().join("a.txt"), "one\n").unwrap();
        stage.in_bash("mkfifo pipe ready").run().await.expect_code(0);
        let running = stage.exec(["go"]).start();
        stage.in_bash("read line < ready").run().await.expect_code(0);
        running.signal(Signal::KILL);
        running.finish().await;
        let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
        assert_eq!(text(&stage), if is_changed { "two\n" } else { "one\n" }, "{undone}");
    }
}

#[tokio::test]
async fn a_file_that_you_write_after_a_kill_is_no_part_of_the_call() {
    let turns = [crate::stage::run("echo a > k1.txt; echo begun > ready; sleep 60"), turn().text("Done.")];
    let stage = Stage::new(turns).await;
    let work = stage.home.work();
    stage.in_bash("mkfifo ready").run().await.expect_code(0);
    let running = stage.exec(["go"]).start();
    stage.in_bash("read line < ready").run().await.expect_code(0);
    running.signal(Signal::KILL);
    running.finish().await;
    let left =
        buddy_testkit::processes::wait_until_gone(stage.home.path(), std::time::Duration::from_secs(5));
    assert!(left.is_empty(), "{left:?}");
    std::fs::write(work.join("mine.txt"), "mine\n").unwrap();
    let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert!(!work.join("k1.txt").exists(), "{undone}");
    assert_eq!(std::fs::read_to_string(work.join("mine.txt")).unwrap(), "mine\n");
    assert!(!undone.stderr.contains("mine.txt") && !undone.text().contains("mine.txt"), "{undone}");
}

#[tokio::test]
async fn an_undo_that_was_killed_is_run_again() {
    let stage = edited().await;
    stage.completed("edit").await;
    let killed = stage.buddy(["undo", "--yes"]).env("BUDDY_KILL_AT", "undo.step").run().await;
    assert_eq!(killed.signal, Some(9), "{killed}");
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
}

#[tokio::test]
async fn it_concerns_the_project_of_the_current_directory() {
    let stage = edited().await;
    stage.completed("edit").await;
    let other = stage.home.path().join("other");
    std::fs::create_dir_all(&other).unwrap();
    let listed = stage.buddy(["undo", "--list"]).cwd(&other).run().await.expect_code(0);
    assert_eq!(listed.text(), "", "{listed}");
    let refused = stage.buddy(["undo", "--yes"]).cwd(&other).run().await.expect_code(0);
    assert!(refused.stderr.contains("nothing to undo in"), "{refused}");
    assert_eq!(text(&stage), "two\n");
    let all = stage.buddy(["undo", "--list", "--all"]).cwd(&other).run().await.expect_code(0).text();
    let work = stage.home.work();
    let place = format!("  {}  ", work.canonicalize().unwrap().display());
    assert!(all.contains("edit a.txt") && all.contains(&place), "{all}");
    let here = stage.buddy(["undo", "--list", "--all"]).run().await.expect_code(0).text();
    assert!(!here.contains(&place), "the current project is not named: {here}");
    let listed = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let session = entries[0]["header"]["session"].as_str().unwrap().to_owned();
    stage.buddy(["undo", "--yes", "--session", &session]).cwd(&other).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
}

/// After an edit comes a change that undo does not cover.
async fn uncovered(name: &str, call: Value, mode: &str) -> Stage {
    let edit = json!({"path": "a.txt", "old": "one", "new": "two"});
    let turns = [turn().call("edit_file", edit), turn().call(name, call), turn().text("Done.")];
    let stage = Stage::new(turns).await;
    std::fs::write(stage.home.work().join("a.txt"), "one\n").unwrap();
    let big = std::fs::File::create(stage.home.work().join("big.bin")).unwrap();
    big.set_len(17 * 1024 * 1024).unwrap();
    stage.exec(["go"]).env("BUDDY_ENV", mode).run().await.expect_code(0);
    assert_eq!(text(&stage), "two\n");
    stage
}

/// The newest change is named and stays; the next undo takes the one before it.
async fn check_passed_over(stage: &Stage, named: &str, why: &str) {
    let first = stage.buddy(["undo", "--yes"]).run().await.expect_code(1);
    for expected in
        ["undo cannot restore this change", named, why, "nothing was undone", "`buddy undo` again"]
    {
        assert!(first.stderr.contains(expected), "{expected}: {first}");
    }
    assert_eq!(text(stage), "two\n", "nothing older is reverted: {first}");
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(text(stage), "one\n");
}

#[tokio::test]
async fn a_removal_that_is_not_kept_is_named_before_anything_older_is_undone() {
    let stage = uncovered("delete_path", json!({"path": "big.bin"}), "development").await;
    check_passed_over(&stage, "big.bin", "more than undo keeps of one file").await;
    let stage = uncovered("run_shell", crate::stage::shell("rm big.bin"), "development").await;
    check_passed_over(&stage, "rm big.bin", "larger than undo keeps of one file").await;
}

#[tokio::test]
async fn a_command_outside_the_sandbox_is_named_before_anything_older_is_undone() {
    let touch = crate::stage::shell("touch made");
    let stage = uncovered("run_shell", touch, "production").await;
    assert!(stage.home.work().join("made").exists());
    check_passed_over(&stage, "touch made", "outside the sandbox").await;
}

#[tokio::test]
async fn a_managed_process_is_named_before_anything_older_is_undone() {
    let stage = uncovered("process_start", shell("touch made"), "development").await;
    check_passed_over(&stage, "touch made", "this folder  the program ran on after its call").await;
}

#[tokio::test]
async fn a_command_that_does_not_start_is_no_change() {
    for mode in ["production", "development"] {
        let mut lost = shell("touch made");
        lost["cwd"] = json!("missing");
        let stage = uncovered("run_shell", lost, mode).await;
        let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
        assert_eq!(text(&stage), "one\n", "{mode}: {undone}");
    }
}

#[tokio::test]
async fn a_command_that_only_reads_outside_the_sandbox_is_no_change() {
    let stage = uncovered("run_shell", shell("ls"), "production").await;
    let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n", "{undone}");
}

#[tokio::test]
async fn long_lists_are_cut_and_say_how_to_see_the_rest() {
    let writes = (0..12)
        .map(|number| turn().call("write_file", json!({"path": format!("w{number}"), "content": "x"})));
    let many = crate::stage::run("for n in $(seq 15); do echo > many$n; done");
    let turns: Vec<_> = writes.chain([many, turn().text("Done.")]).collect();
    let stage = Stage::new(turns).await;
    stage.completed("write").await;
    let listed = stage.buddy(["undo", "--list"]).run().await.expect_code(0);
    assert_eq!(listed.text().lines().count(), 11, "a header and ten rows: {listed}");
    assert!(listed.stderr.contains("… and 3 more: `buddy undo --list --limit 13`"), "{listed}");
    let all = stage.buddy(["undo", "--list", "--limit", "13"]).run().await.expect_code(0);
    assert_eq!(all.text().lines().count(), 14, "{all}");
    let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(undone.stderr.matches("  removed   many").count(), 10, "{undone}");
    assert!(undone.stderr.contains("… and 5 more; `buddy undo "), "{undone}");
    assert!(undone.stderr.contains("15 paths removed"), "{undone}");
}

#[tokio::test]
async fn it_waits_for_a_call_that_runs_and_then_says_so() {
    let turns = [
        turn().call("edit_file", json!({"path": "a.txt", "old": "one", "new": "two"})),
        crate::stage::run("echo begun > ready; cat pipe"),
        turn().text("Done."),
    ];
    let stage = Stage::new(turns).await;
    let work = stage.home.work();
    std::fs::write(work.join("a.txt"), "one\n").unwrap();
    stage.in_bash("mkfifo pipe ready").run().await.expect_code(0);
    let running = stage.exec(["go"]).start();
    stage.in_bash("read line < ready").run().await.expect_code(0);
    let listed = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let edit = entries.as_array().unwrap().last().unwrap()["header"]["id"].as_str().unwrap().to_owned();
    let busy = stage.buddy(["undo", &edit, "--yes"]).run().await.expect_code(1);
    assert!(busy.stderr.contains("still changes files in this project"), "{busy}");
    assert_eq!(text(&stage), "two\n");
    stage.in_bash("echo go > pipe").run().await.expect_code(0);
    running.finish().await.expect_code(0);
    stage.buddy(["undo", &edit, "--yes"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
}

/// Plants files that programs take orders from, again and again.
const PLANT: &str = "git init -q lib && echo > began
while :; do echo bad > .envrc; echo bad > lib/.git/hooks/post-commit; done";

#[tokio::test]
async fn files_that_a_command_in_the_background_plants_are_not_restored() {
    let mut plant = shell("bash plant.sh");
    plant["wait"] = json!("2s");
    let turns = [
        turn().call("run_shell", plant),
        turn().call("run_shell", shell("cat .envrc lib/.git/hooks/post-commit && echo r > r")),
        turn().text("Done."),
    ];
    let stage = Stage::new(turns).await;
    std::fs::write(stage.home.work().join("plant.sh"), PLANT).unwrap();
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.buddy(["exec", "--approve", "auto", "go"]).run().await.expect_code(0);
    let orders = [".envrc", "lib/.git/hooks/post-commit"];
    let there = || orders.map(|path| stage.home.work().join(path).exists());
    assert_eq!(stage.home.text("r"), "r\n", "{:#?}", stage.results());
    assert_eq!(there(), [false; 2]);
    let undone = stage.buddy(["undo", "--yes", "--force"]).run().await.expect_code(0);
    assert_eq!((stage.home.text("r").as_str(), there()), ("", [false; 2]), "{undone}");
}
