//! `-o`: the last message in a file.

use std::os::unix::fs::{FileTypeExt, PermissionsExt};

use buddy_testkit::model::turn;
use serde_json::json;

use crate::stage::{Stage, done, run};

#[tokio::test]
async fn the_last_message_is_written_beside_every_format() {
    for format in ["text", "json", "stream-json"] {
        let stage = Stage::new([run("echo one"), turn().text("Two.")]).await;
        let file = stage.home.work().join("answer.txt");
        std::fs::write(&file, "an older and longer answer").unwrap();
        let finished =
            stage.exec(["go", "-o", "answer.txt", "--output-format", format]).run().await.expect_code(0);
        assert!(finished.text().contains("Two."), "{finished}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "Two.\n");
        assert_ne!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o400, 0);
        let names: Vec<_> =
            std::fs::read_dir(stage.home.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["answer.txt"], "nothing else is left");
    }
}

#[tokio::test]
async fn a_failed_run_leaves_no_older_answer() {
    let stage = Stage::new([turn().error(400, "bad", "no")]).await;
    let file = stage.home.work().join("answer.txt");
    std::fs::write(&file, "an older answer").unwrap();
    stage.exec(["go", "--output-last-message", "answer.txt"]).run().await.expect_code(1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
}

#[tokio::test]
async fn a_run_that_breaks_off_leaves_no_older_answer_and_tells_how_it_ended() {
    let stage = Stage::new([turn().text("x".repeat(1536 * 1024))]).await;
    let file = stage.home.work().join("answer.txt");
    std::fs::write(&file, "an older answer").unwrap();
    // The log cannot take the answer: no file may have more than 1 MiB.
    let line = "trap '' XFSZ; ulimit -f 1024; exec $BUDDY exec go -o answer.txt --output-format json";
    let finished = stage.in_bash(line).run().await.expect_code(1).expect_stderr("buddy: ");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "", "{finished}");
    let result: serde_json::Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!((&result["status"], &result["text"]), (&json!("failed"), &json!("")), "{result}");
    assert!(result["error"]["message"].is_string(), "{result}");
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_told_before_the_model_is_called() {
    let stage = Stage::new([]).await;
    std::fs::write(stage.home.work().join("file"), "").unwrap();
    for (place, why) in [
        ("nowhere/answer", "there is no directory `nowhere`"),
        (".", "it is a directory"),
        ("file/answer", "there is no directory"),
    ] {
        let finished = stage.exec(["go", "-o", place]).run().await.expect_code(2).expect_stderr(why);
        assert!(finished.stdout.is_empty(), "{finished}");
    }
    assert!(stage.requests().is_empty() && !stage.home.data().exists());
}

#[tokio::test]
async fn a_link_is_written_through_and_a_file_keeps_its_mode() {
    let stage = Stage::new([done(), done(), done()]).await;
    let work = stage.home.work();
    std::fs::create_dir(work.join("there")).unwrap();
    std::fs::write(work.join("there/open"), "old").unwrap();
    std::fs::set_permissions(work.join("there/open"), std::fs::Permissions::from_mode(0o646)).unwrap();
    for (link, target) in
        [("old", "there/open"), ("new", "there/fresh"), ("lost", "nowhere/fresh"), ("round", "round")]
    {
        std::os::unix::fs::symlink(target, work.join(link)).unwrap();
    }
    for (link, target) in [("old", "there/open"), ("new", "there/fresh")] {
        stage.exec(["go", "-o", link]).run().await.expect_code(0);
        assert!(work.join(link).is_symlink());
        assert_eq!(stage.home.text(target), "So be it.\n");
    }
    assert_eq!(std::fs::metadata(work.join("there/open")).unwrap().permissions().mode() & 0o777, 0o646);
    for (link, why) in [("lost", "there is no directory `nowhere`"), ("round", "too many links")] {
        stage.exec(["go", "-o", link]).run().await.expect_code(2).expect_stderr(why);
    }
    assert_eq!(stage.requests().len(), 2);
}

#[tokio::test]
async fn the_standard_output_is_written_to_also_where_it_is_a_file() {
    let stage = Stage::new([done(), done()]).await;
    let line =
        "$BUDDY exec --approve all go -o /dev/stdout > answers.txt; $BUDDY exec go -o /dev/stdout | cat";
    let finished = stage.in_bash(line).run().await.expect_code(0);
    let both = "So be it.\nSo be it.\n";
    assert_eq!((stage.home.text("answers.txt").as_str(), finished.text().as_str()), (both, both));
}

#[tokio::test]
async fn what_is_no_file_is_written_to_and_not_replaced() {
    let stage = Stage::new([done()]).await;
    stage.exec(["go", "-o", "/dev/null"]).run().await.expect_code(0);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[tokio::test]
async fn a_pipe_is_written_to_when_somebody_reads_it_and_never_waited_for() {
    let long = "x".repeat(200_000);
    let stage = Stage::new([turn().text(long.as_str()), turn().text("Two.")]).await;
    let line =
        "\"$BUDDY\" exec one -o >(wc -c > counted) > printed; while ! [ -s counted ]; do sleep 0.01; done";
    stage.in_bash(line).run().await.expect_code(0);
    assert_eq!(stage.home.text("counted").trim(), "200001");
    let finished =
        stage.in_bash("mkfifo alone; exec \"$BUDDY\" exec two -o alone").run().await.expect_code(1);
    finished.expect_stderr("cannot write the last message to `alone`");
}

#[tokio::test]
async fn a_link_is_written_through() {
    let stage = Stage::new([turn().call("list_directory", json!({"path": "."})), turn().text("Here.")]).await;
    let (real, link) = (stage.home.path().join("real"), stage.home.work().join("link"));
    std::fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    stage.exec(["go", "-o", "link"]).run().await.expect_code(0);
    assert!(link.is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "Here.\n");
}
