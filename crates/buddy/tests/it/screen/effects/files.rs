//! Files: what changed, taken back, and the checks of this machine.

use buddy_testkit::model::turn;
use serde_json::json;

use crate::git;
use crate::screen::Screen;
use crate::stage::Stage;

/// A conversation in which the agent has changed a file.
async fn edited() -> Screen {
    let call = json!({"path": "a.txt", "old": "one", "new": "two"});
    let stage = Stage::new(vec![turn().call("edit_file", call), turn().text("Changed.")]).await;
    std::fs::write(stage.home.work().join("a.txt"), "one\n").unwrap();
    let begin = "git init -q && git add . && git -c user.name=a -c user.email=b commit -q -m first";
    stage.in_bash(begin).run().await.expect_code(0);
    let screen = Screen::on(stage, &["--trust", "--approve", "all"], 80, 24).await;
    screen.line("change it");
    screen.wait_for("Changed.").await;
    screen.wait_idle().await;
    assert_eq!(screen.stage.home.text("a.txt"), "two\n");
    screen
}

#[tokio::test]
async fn what_changed_in_the_repository_is_shown() {
    let screen = edited().await;
    screen.line("/diff");
    screen
        .wait_until("the diff", |shown| {
            shown.contains("\n\n  a.txt  +1 −1\n        1 − one\n        1 + two")
        })
        .await;
    std::fs::write(screen.stage.home.work().join("new.txt"), "").unwrap();
    screen.line("/diff");
    screen.wait_for("not in git yet: new.txt").await;
    std::fs::remove_file(screen.stage.home.work().join("new.txt")).unwrap();
    let make = "printf 'first\nsecond' > made.txt; printf 'a\\0b' > bin.dat; head -c 100000 /dev/zero | tr '\\0' x > huge.txt; ln -s /etc/passwd link";
    screen.stage.in_bash(make).run().await.expect_code(0);
    screen.line("/diff");
    screen
        .wait_until("the new files", |shown| {
            shown.contains("\n  made.txt (new)  +2 −0\n        1 + first\n        2 + second")
                && shown.contains("not in git yet: bin.dat (binary, 3 bytes, not shown)")
                && shown.contains("not in git yet: huge.txt (100 kB, not shown)")
                && shown.contains("not in git yet: link (cannot be read)")
                && !shown.contains("not in git yet: made.txt")
        })
        .await;
    screen.stage.in_bash("rm made.txt bin.dat huge.txt link").run().await.expect_code(0);
    screen.line("/undo");
    screen.wait_until("the old text", |_| screen.stage.home.text("a.txt") == "one\n").await;
    screen.line("/diff");
    screen.wait_for("nothing changed").await;
}

#[tokio::test]
async fn the_diff_comes_from_no_program_of_the_project() {
    let stage = Stage::new([]).await;
    let begin = "git init -q && echo one > a.txt && git add . && git -c user.name=a -c user.email=b commit -q -m first
        echo two > a.txt; mkdir -p .venv/bin; printf '#!/bin/sh\necho > ran; echo PLANT\"\"ED' > .venv/bin/git; chmod +x .venv/bin/git";
    stage.in_bash(begin).run().await.expect_code(0);
    let path = format!("{}/.venv/bin:/usr/local/bin:/usr/bin:/bin", stage.home.work().display());
    let screen = Screen::bare(stage, &["--trust"], 80, 24, &[("PATH", &path)]);
    screen.wait_until("a prompt", crate::screen::has_prompt).await;
    screen.line("/diff");
    screen.wait_for("1 + two").await;
    assert!(!screen.stage.home.work().join("ran").exists() && !screen.everything().contains("PLANTED"));
}

/// Programs that the repository names, in settings of its own and of one within it.
#[tokio::test]
async fn the_diff_of_a_hostile_repository_starts_no_program() {
    for process in ["", "git config filter.evil.process \"touch $MARKS/process\""] {
        let (stage, marks) = git::stage(&[], &[git::HONEST, git::HOSTILE, process]).await;
        let screen = Screen::bare(stage, &[], 80, 40, &[]);
        screen.wait_for("trust").await;
        screen.keys(&["n"]);
        screen.wait_until("a prompt", crate::screen::has_prompt).await;
        screen.line("/diff");
        screen.wait_for("new.txt (new)").await;
        assert!(screen.everything().contains("+ two"), "{}", screen.everything());
        assert_eq!(git::marks_in(&marks), [""; 0]);
        let work = screen.stage.home.work();
        git::bash(&work, &marks, "git -c core.fsmonitor=false diff --no-ext-diff --no-textconv; true").await;
        assert!(!git::marks_in(&marks).is_empty(), "there was nothing to start");
    }
}

#[tokio::test]
async fn before_the_first_commit_every_file_is_new() {
    let screen = Screen::start([], 80, 24).await;
    screen.line("/diff");
    screen.wait_for("not a git repository").await;
    for (times, format) in (1..).zip(["sha1", "sha256"]) {
        let begin =
            format!("rm -rf .git; git init -q --object-format={format} && echo one > a.txt && git add a.txt");
        screen.stage.in_bash(&begin).run().await.expect_code(0);
        std::fs::write(screen.stage.home.work().join(format), "").unwrap();
        screen.line("/diff");
        screen.wait_for(&format!("not in git yet: {format}")).await;
        let all = screen.everything();
        assert_eq!(all.matches("1 + one").count(), times, "{format}: {all}");
    }
}

#[tokio::test]
async fn the_last_change_is_taken_back_unless_somebody_changed_the_file_since() {
    let screen = edited().await;
    std::fs::write(screen.stage.home.work().join("a.txt"), "mine\n").unwrap();
    screen.line("/undo");
    screen.wait_for("nothing was undone").await;
    assert_eq!(screen.stage.home.text("a.txt"), "mine\n");
    std::fs::write(screen.stage.home.work().join("a.txt"), "two\n").unwrap();
    screen.line("/undo");
    screen.wait_until("the old text", |_| screen.stage.home.text("a.txt") == "one\n").await;
    screen.line("/undo nonsense");
    screen.wait_for("buddy undo --list").await;
}

#[tokio::test]
async fn the_checks_of_this_machine_are_those_of_the_program() {
    let screen = Screen::start([], 120, 50).await;
    let report = screen.stage.buddy(["doctor"]).run().await.text();
    screen.line("/doctor");
    screen.wait_for("  exit code 0").await;
    let shown = screen.everything();
    // The last line counts them, and is told in other words.
    let lines: Vec<&str> = report.lines().collect();
    let (_, lines) = lines.split_last().unwrap();
    let checks: Vec<&str> = lines.iter().filter_map(|line| line.split([' ', ':']).next()).collect();
    assert!(checks.len() > 3, "{report}");
    for check in checks {
        assert!(shown.contains(&check.replace('_', " ")), "{check} is missing:\n{shown}\n--- of\n{report}");
    }
}
