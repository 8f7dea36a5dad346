//! The rights of one run: modes, rules and further directories.

use buddy_testkit::model::{Turn, turn};
use serde_json::json;

use crate::stage::{APPROVE, Stage, UNCHECKED, done, run};

fn writing(path: &str) -> Turn {
    turn().call("write_file", json!({"path": path, "content": "x"}))
}

#[tokio::test]
async fn a_mode_says_what_goes_on() {
    for (mode, code, is_edited, is_run) in [
        ("ask", 5, false, false),
        ("edits", 5, true, false),
        ("plan", 5, false, false),
        ("none", 5, false, false),
        ("all", 0, true, true),
    ] {
        let stage = Stage::new([writing("edited"), run("touch ran"), done()]).await;
        let finished = stage
            .buddy(["exec", "--trust", "go", "--permission-mode", mode])
            .args(UNCHECKED)
            .run()
            .await
            .expect_code(code);
        let work = stage.home.work();
        assert_eq!(
            (work.join("edited").exists(), work.join("ran").exists()),
            (is_edited, is_run),
            "{mode}: {finished}"
        );
    }
}

#[tokio::test]
async fn a_mode_leaves_the_plan_of_a_session_that_goes_on() {
    let stage = Stage::new([done(), writing("planned"), done(), writing("edited"), done()]).await;
    stage.buddy(["exec", "--trust", "go", "--plan"]).run().await.expect_code(0);
    stage.exec(["go", "--last"]).run().await.expect_code(5);
    stage
        .buddy(["exec", "go", "--last", "--permission-mode", "edits"])
        .args(UNCHECKED)
        .run()
        .await
        .expect_code(0);
    let made = |name: &str| stage.home.work().join(name).exists();
    assert!(!made("planned") && made("edited"), "{:#?}", stage.results());
}

#[tokio::test]
async fn a_mode_stands_alone() {
    let stage = Stage::new([]).await;
    for arguments in [
        &["exec", "hi", "--permission-mode", "ask", "--plan"][..],
        &["--approve", "all", "exec", "hi", "--permission-mode", "ask"],
        &["--permission-mode", "ask", "exec", "--plan", "hi"],
        &["exec", "hi", "--permission-mode", "sometimes"],
    ] {
        stage.buddy(arguments).run().await.expect_code(2).expect_stderr("--permission-mode");
    }
    assert!(stage.requests().is_empty() && !stage.home.data().exists());
}

#[tokio::test]
async fn an_allowance_covers_its_pattern_and_nothing_else() {
    let stage = Stage::new([run("touch a"), run("mkdir b"), writing("c"), writing("d"), done()]).await;
    let rules = ["--allow", "touch *", "--allow", "{ write = \"c\" }"];
    stage.buddy(["exec", "--trust", "go"]).args(rules).args(UNCHECKED).run().await.expect_code(5);
    let made: Vec<bool> =
        ["a", "b", "c", "d"].iter().map(|name| stage.home.work().join(name).exists()).collect();
    assert_eq!(made, [true, false, true, false]);
}

#[tokio::test]
async fn a_denial_stands_whoever_allows() {
    let stage = Stage::new([run("touch a"), run("true && touch b"), run("mkdir c"), done()]).await;
    // Before and after the command, and against everything that allows.
    let finished = stage
        .buddy(["--deny", "touch *", "exec", "--trust", "go", "--approve", "all", "--allow", "touch *"])
        .run()
        .await
        .expect_code(5);
    finished.expect_stderr("denied: a rule of this run");
    let work = stage.home.work();
    assert!(!work.join("a").exists() && !work.join("b").exists() && work.join("c").exists());
    assert!(stage.results()[0]["error"].to_string().contains("a rule of this run"), "{}", stage.results()[0]);
}

#[tokio::test]
async fn an_allowance_loosens_no_denial_and_no_guard() {
    let stage = Stage::new([run("touch a"), run("sudo touch b"), writing(".envrc"), done()]).await;
    let config = stage.home.path().join(".config/buddy");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("rules.toml"), "deny = [\"touch a\"]\n").unwrap();
    let rules = ["--allow", "touch *", "--allow", "sudo *", "--allow", "{ write = \".envrc\" }"];
    stage.buddy(["exec", "--trust", "go"]).args(rules).run().await.expect_code(5);
    assert_eq!(std::fs::read_dir(stage.home.work()).unwrap().count(), 0);
    let results = stage.results();
    for (result, why) in
        results.iter().zip(["a rule of yours denies", "no command in the jail can", ".envrc"])
    {
        let message = result["error"]["message"].as_str().unwrap_or_default();
        assert!(result["ok"] == false && message.contains(why), "{result}");
    }
    assert_eq!(results.len(), 3);
}

#[tokio::test]
async fn rules_hold_in_a_conversation_too() {
    let stage = Stage::new([run("touch a"), run("touch b"), done()]).await;
    let arguments = ["--trust", "--allow", "touch a", "--deny", "touch b", "--approve", "ask"];
    let mut started = stage.buddy(arguments).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let finished = started.finish().await.expect_code(0);
    assert!(!finished.stderr.contains(APPROVE), "{finished}");
    assert!(stage.home.work().join("a").exists() && !stage.home.work().join("b").exists());
}

#[tokio::test]
async fn a_bad_rule_is_told() {
    let stage = Stage::new([]).await;
    for (flag, pattern) in
        [("--allow", "a | b"), ("--deny", "*"), ("--allow", "{ paint = \"x\" }"), ("--deny", "")]
    {
        stage.buddy(["exec", "hi", flag, pattern]).run().await.expect_code(2).expect_stderr(flag);
    }
    assert!(!stage.home.data().exists());
}

#[tokio::test]
async fn an_added_directory_is_worked_in_like_the_first() {
    for is_added in [true, false] {
        let stage = Stage::apart([
            writing("../beside/by-tool"),
            run("echo x > ../beside/by-command"),
            run("echo x > ../beyond/by-command"),
            run("echo x > ../beside/.envrc"),
            done(),
        ])
        .await;
        for name in ["beside", "beyond"] {
            std::fs::create_dir(stage.home.path().join(name)).unwrap();
        }
        let flags: &[&str] = if is_added { &["--add-dir", "../beside"] } else { &[] };
        stage.exec(["--trust", "go"]).args(flags).run().await;
        let made = |name: &str| stage.home.path().join(name).exists();
        assert_eq!(
            (made("beside/by-tool"), made("beside/by-command")),
            (is_added, is_added),
            "{:#?}",
            stage.results()
        );
        assert!(!made("beyond/by-command") && !made("beside/.envrc"), "{:#?}", stage.results());
        let told = stage.requests()[0].body.to_string().contains("further directories to work in: ");
        assert_eq!(told, is_added);
    }
}

#[tokio::test]
async fn changes_in_an_added_directory_ask_like_others_and_can_be_undone() {
    let stage = Stage::apart([writing("../beside/edited"), run("touch ../beside/ran"), done()]).await;
    let beside = stage.home.path().join("beside");
    std::fs::create_dir(&beside).unwrap();
    let arguments = ["exec", "--trust", "go", "--add-dir", "../beside", "--permission-mode", "edits"];
    stage.buddy(arguments).args(UNCHECKED).run().await.expect_code(5);
    assert!(beside.join("edited").exists() && !beside.join("ran").exists());
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert!(!beside.join("edited").exists());
}

#[tokio::test]
async fn what_a_command_changed_in_an_added_directory_can_be_undone() {
    let stage = Stage::apart([run("echo new > ../beside/kept; echo new > ../beside/made"), done()]).await;
    let beside = stage.home.path().join("beside");
    std::fs::create_dir(&beside).unwrap();
    std::fs::write(beside.join("kept"), "old\n").unwrap();
    stage.exec(["--trust", "go", "--add-dir", "../beside"]).run().await.expect_code(0);
    let kept = || std::fs::read_to_string(beside.join("kept")).unwrap();
    assert_eq!((kept().as_str(), beside.join("made").exists()), ("new\n", true), "{:#?}", stage.results());
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!((kept().as_str(), beside.join("made").exists()), ("old\n", false));
}

#[tokio::test]
async fn project_files_below_an_added_directory_are_guarded() {
    // Commands whose text names nothing that is guarded, as a build has them.
    for is_own in [true, false] {
        let project = if is_own { "work" } else { "other" };
        let build =
            format!("for f in .git/hooks/x .buddy/rules.toml plain; do echo x > ../{project}/$f; done");
        let stage = Stage::apart([run("sh ../build"), done()]).await;
        let home = stage.home.path();
        std::fs::write(home.join("build"), build).unwrap();
        for directory in [".git/hooks", ".buddy"] {
            std::fs::create_dir_all(home.join(project).join(directory)).unwrap();
        }
        if !is_own {
            stage.buddy(["trust", "../other"]).run().await.expect_code(0);
        }
        stage.exec(["go", "--add-dir", ".."]).run().await;
        let made = |name: &str| home.join(project).join(name).exists();
        assert!(made("plain"), "{:#?}", stage.results());
        assert!(!made(".git/hooks/x") && !made(".buddy/rules.toml"), "{project}: {:#?}", stage.results());
    }
}

#[tokio::test]
async fn a_conversation_has_added_directories_too() {
    let stage = Stage::apart([writing("../beside/edited"), done()]).await;
    std::fs::create_dir(stage.home.path().join("beside")).unwrap();
    let mut started = stage.buddy(["--trust", "--approve", "all", "--add-dir", "../beside"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.home.path().join("beside/edited").exists());
}

#[tokio::test]
async fn a_directory_that_cannot_be_added_is_told() {
    let stage = Stage::new([]).await;
    std::fs::write(stage.home.work().join("file"), "").unwrap();
    for (arguments, why) in [
        (&["--add-dir", "nowhere"][..], "nowhere"),
        (&["--add-dir", "file"], "it is not a directory"),
        (&["--add-dir", ".", "--ssh", "ann@atlas"], "works on other hosts alone"),
    ] {
        stage.exec(["hi"]).args(arguments).run().await.expect_code(2).expect_stderr(why);
    }
    assert!(!stage.home.data().exists());
}
