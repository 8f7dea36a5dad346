//! Runs that cannot begin: a clear word, the right code, and nothing done.

use buddy_testkit::model::{ModelServer, turn};
use buddy_testkit::program::Program;

use crate::stage::Stage;

/// The command line makes no sense: nothing is written, not even the store.
async fn check_usage(arguments: &[&str], hint: &str) {
    let stage = Stage::new([]).await;
    let finished = stage.buddy(arguments).run().await.expect_code(2).expect_stderr(hint);
    // Who wants JSON gets a result that says so.
    assert_eq!(finished.stdout.is_empty(), !arguments.contains(&"--json"), "{finished}");
    assert!(!stage.home.data().exists() && stage.requests().is_empty());
}

#[tokio::test]
async fn bad_flags_are_named() {
    for (arguments, hint) in [
        (&["exec", "hi", "--max-turns", "0"][..], "--max-turns"),
        (&["exec", "hi", "--output-format", "xml"], "xml"),
        (&["exec", "hi", "--json", "--output-format", "json"], "cannot be used with"),
        (&["exec", "hi", "--resume", "x", "--last"], "cannot be used with"),
        (&["exec", "hi", "--timeout", "soon"], "not a duration"),
        (&["exec", "hi", "--timeout=-5"], "--timeout"),
        (&["exec", "hi", "--approve", "maybe"], "maybe"),
        (&["exec", "hi", "there"], "there"),
        (&["exec", "hi", "--frobnicate"], "--frobnicate"),
        (&["exec", "hi", "--trust", "--fork"], "--fork needs a session"),
        (&["exec", "--trust"], "there is no prompt"),
        (&["exec", "hi", "--trust", "--output-schema", "missing"], "missing"),
        (&["exec", "hi", "--trust", "-o", "missing/file"], "missing"),
        (&["exec", "hi", "-C", "/missing"], "cannot work in `/missing`"),
        (&["exec", "hi", "-C", "/there", "--ssh", "atlas:/here"], "already names a directory"),
        (&["resume", "-p"], "-p"),
        (&["frobnicate"], "frobnicate"),
        (&["show"], "ID"),
        (&["resume"], "buddy resume ID"),
        (&["store"], "check"),
    ] {
        check_usage(arguments, hint).await;
    }
}

/// The run fails before the model is called: no session is left behind.
async fn check_failure(stage: &Stage, program: Program, hint: &str) {
    check_refused(stage, program, 1, hint).await;
}

async fn check_refused(stage: &Stage, program: Program, code: i32, hint: &str) {
    let finished = program.run().await.expect_code(code).expect_stderr(hint);
    assert!(finished.stdout.is_empty() && finished.stderr.starts_with("buddy: "), "{finished}");
    assert!(stage.requests().is_empty());
    if stage.home.data().exists() {
        assert!(stage.log().await.is_empty());
    }
}

#[tokio::test]
async fn bad_variables_are_named() {
    let stage = Stage::new([]).await;
    for (name, value) in [("BUDDY_APPROVE", "maybe"), ("BUDDY_MODEL_IDLE_TIMEOUT", "soon")] {
        let finished = stage.buddy(["exec", "hi"]).env(name, value).run().await;
        finished.expect_code(2).expect_stderr(name);
    }
    check_failure(&stage, stage.buddy(["exec", "hi"]).env("BUDDY_LOG", "a=b=c"), "BUDDY_LOG").await;
    assert!(!stage.home.data().exists());
}

#[tokio::test]
async fn an_empty_prompt_is_refused() {
    for (argument, input) in [(&[][..], ""), (&[], " \n\t\n"), (&["-"], ""), (&["  "], "")] {
        let stage = Stage::new([]).await;
        let program = stage.buddy(["exec"]).args(argument).input(input);
        check_refused(&stage, program, 2, "there is no prompt").await;
        assert!(!stage.home.data().exists());
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_refused() {
    const LIMIT: usize = 4 * 1024 * 1024;
    for (arguments, length) in [(&[][..], LIMIT + 1), (&["look:"], LIMIT)] {
        let stage = Stage::new([]).await;
        let program = stage.buddy(["exec"]).args(arguments).input(vec![b'x'; length]);
        check_refused(&stage, program, 2, "bytes").await;
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_long_with_its_schema_is_refused() {
    let stage = Stage::new([]).await;
    let input = vec![b'x'; 4 * 1024 * 1024];
    std::fs::write(stage.home.work().join("any.json"), "{}").unwrap();
    let program = stage.buddy(["exec", "--trust", "--output-schema", "any.json"]).input(input);
    check_refused(&stage, program, 2, "bytes").await;
    assert!(!stage.home.data().exists());
}

#[tokio::test]
async fn an_unknown_session_is_named() {
    let stage = Stage::new([]).await;
    let id = "ses_01jzzzzzzzzzzzzzzzzzzzzzzz";
    check_failure(&stage, stage.exec(["hi", "--resume", id]), id).await;
    check_failure(&stage, stage.buddy(["show", id]), id).await;
    check_failure(&stage, stage.buddy(["resume", id]), id).await;
    check_failure(&stage, stage.exec(["hi", "--resume", "../../etc/passwd"]), "is not a session id").await;
}

#[tokio::test]
async fn a_directory_that_is_none_is_named() {
    let stage = Stage::new([]).await;
    check_refused(&stage, stage.exec(["hi", "-C", "nowhere"]), 2, "cannot work in `nowhere`").await;
    std::fs::write(stage.home.work().join("file"), "").unwrap();
    check_refused(&stage, stage.exec(["hi", "-C", "file"]), 2, "not a directory").await;
}

#[tokio::test]
async fn a_home_that_cannot_be_written_is_named() {
    let stage = Stage::new([]).await;
    let file = stage.home.work().join("file");
    std::fs::write(&file, "mine").unwrap();
    for place in ["/proc/buddy".into(), file.join("data"), file.clone()] {
        let program = stage.exec(["hi"]).env("BUDDY_HOME", &place);
        check_failure(&stage, program, place.to_str().unwrap()).await;
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[tokio::test]
async fn a_model_that_is_not_configured_is_explained() {
    let stage = Stage::new([]).await;
    let finished = stage.exec(["hi"]).env_remove("BUDDY_MODEL").run().await.expect_code(6);
    assert!(finished.stdout.is_empty(), "{finished}");
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{finished}");
    assert!(lines[0].contains("Set BUDDY_MODEL") && lines[1].contains("--model demo"), "{finished}");
    assert!(stage.requests().is_empty());
    assert!(!stage.home.data().join("buddy.db").exists(), "no session is made");
}

#[tokio::test]
async fn an_address_that_is_none_is_explained() {
    let stage = Stage::new([]).await;
    for address in ["not a url", "ftp://example.com/v1", "http://"] {
        let finished = stage.exec(["hi"]).env("BUDDY_BASE_URL", address).run().await;
        finished.expect_code(1).expect_stderr("BUDDY_BASE_URL");
    }
}

#[tokio::test]
async fn a_closed_standard_error_is_no_reason_to_break() {
    let stage = Stage::new([turn().error(400, "bad", "no")]).await;
    for arguments in [&["exec", "hi", "--resume", "nonsense"][..], &["exec", "hi"], &["exec", "--bad-flag"]] {
        let mut started = stage.buddy(arguments).start();
        started.leave_outputs().await;
        let finished = started.finish().await;
        assert!(matches!(finished.code, Some(1 | 2 | 141)), "{arguments:?}: {finished}");
    }
}

#[tokio::test]
async fn the_key_goes_to_its_server_and_nowhere_else() {
    let stage =
        Stage::new([turn().call("run_shell", crate::stage::shell("env")), turn().text("Done.")]).await;
    let finished = stage.exec(["go", "--json"]).env("BUDDY_LOG", "trace").run().await.expect_code(0);
    let header = stage.requests()[0].headers.get("authorization").cloned();
    assert_eq!(header.as_deref(), Some("Bearer sk-test"));
    let printed = format!("{finished}");
    assert!(!printed.contains("sk-test"), "{printed}");
    assert!(!stage.results()[0].to_string().contains("sk-test"));
    let unreachable = ModelServer::unreachable_url().await;
    let program = stage.exec(["hi"]).env("BUDDY_BASE_URL", format!("{unreachable}/v1"));
    let finished = program.run().await.expect_code(1);
    assert!(!finished.stderr.contains("sk-test"), "{finished}");
}
