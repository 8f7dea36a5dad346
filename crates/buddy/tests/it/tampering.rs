//! A store that somebody changed while buddy did not run: each command says so, shows what is whole, and adds nothing.

use std::fs;
use std::path::{Path, PathBuf};

use buddy_testkit::model::turn;

use crate::stage::Stage;

/// Copies the store into one file, whatever it still has in its log ahead.
async fn backup(stage: &Stage, name: &str) -> PathBuf {
    let directory = stage.home.path().join(name);
    fs::create_dir(&directory).unwrap();
    let path = directory.join("buddy.db");
    stage.buddy(["store", "backup", path.to_str().unwrap()]).run().await.expect_code(0);
    path
}

/// Changes the words wherever they stand in a file.
fn replace(path: &Path, words: &str, others: &str) {
    assert_eq!(words.len(), others.len());
    let mut bytes = fs::read(path).unwrap();
    let places = (0..bytes.len() - words.len()).filter(|at| bytes[*at..].starts_with(words.as_bytes()));
    let places: Vec<usize> = places.collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + words.len()].copy_from_slice(others.as_bytes());
    }
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_changed_word_is_found_and_what_comes_before_it_goes_on_in_a_copy() {
    let stage = Stage::new([
        turn().text("The first answer."),
        turn().text("The second answer."),
        turn().text("In a copy."),
    ])
    .await;
    let session = stage.completed("one").await.session();
    stage.exec(["two", "--resume", &session]).run().await.expect_code(0);
    let changed = backup(&stage, "copy").await;
    replace(&changed, "second answer", "forged answer");
    let home = changed.parent().unwrap();

    let checked = stage.buddy(["store", "check"]).env("BUDDY_HOME", home).run().await.expect_code(1);
    assert!(checked.text().contains(&session) && checked.text().contains("event "), "{checked}");
    let shown = stage.buddy(["show", &session]).env("BUDDY_HOME", home).run().await.expect_code(1);
    assert!(shown.text().contains("The first answer.") && !shown.text().contains("forged"), "{shown}");
    let shown = shown.expect_stderr("event ");
    let refused = stage.exec(["three", "--resume", &session]).env("BUDDY_HOME", home).run().await;
    let refused = refused.expect_code(1).expect_stderr("buddy store check").expect_stderr("--fork");
    let again = stage.buddy(["store", "check"]).env("BUDDY_HOME", home).run().await.expect_code(1);
    assert_eq!(again.text(), checked.text(), "{shown} {refused}");
    assert_eq!(stage.requests().len(), 2);
    let forked = stage.exec(["three", "--resume", &session, "--fork"]).env("BUDDY_HOME", home);
    forked.run().await.expect_code(0);
    let history = stage.requests().pop().unwrap().body.to_string();
    assert!(history.contains("The first answer.") && !history.contains("forged"), "{history}");
}

/// The database of yesterday in the place of that of today.
#[tokio::test]
async fn a_database_that_is_put_back_is_found() {
    let stage = Stage::new([turn().text("One."), turn().text("Two.")]).await;
    let session = stage.completed("one").await.session();
    let old = backup(&stage, "copy").await;
    stage.exec(["two", "--resume", &session]).run().await.expect_code(0);
    let data = stage.home.data();
    for name in ["buddy.db-wal", "buddy.db-shm"] {
        fs::remove_file(data.join(name)).unwrap();
    }
    fs::copy(&old, data.join("buddy.db")).unwrap();

    let checked = stage.buddy(["store", "check"]).run().await.expect_code(1);
    assert!(checked.text().contains("missing"), "{checked}");
    let shown = stage.buddy(["show", &session]).run().await.expect_code(1).expect_stderr("missing");
    assert!(shown.text().contains("One.") && !shown.text().contains("Two."), "{shown}");
    stage.exec(["three", "--resume", &session]).run().await.expect_code(1).expect_stderr("--fork");
    assert_eq!(stage.requests().len(), 2);
    // Who means it takes the anchors away too, and that is told at once and with every check.
    fs::remove_file(data.join("anchors")).unwrap();
    let opened = stage.buddy(["sessions"]).run().await.expect_code(0);
    assert!(opened.stderr.contains("`anchors` was missing"), "{opened}");
    for _ in 0..2 {
        let checked = stage.buddy(["store", "check"]).run().await.expect_code(0);
        assert!(checked.text().contains("anchors were made anew"), "{checked}");
        assert!(!checked.stderr.contains("was missing"), "{checked}");
    }
    let examined = stage.buddy(["doctor"]).run().await;
    assert!(examined.text().contains("anchors were made anew"), "{examined}");
}
