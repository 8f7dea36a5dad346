//! Lists: `--format json`, its short form, and `--limit`, on each of them.

use buddy_testkit::model::{Script, turn};
use serde_json::{Value, json};

use crate::stage::Stage;

/// Everything that can be listed, twice.
async fn staged() -> Stage {
    let write = |name: &str| turn().call("write_file", json!({"path": name, "content": "x"}));
    let start = || {
        let arguments =
            json!({"command": "true", "why": "the test", "risk": "low", "mutation": true, "privesc": false});
        turn().call("process_start", arguments)
    };
    let turns = [write("a"), write("b"), start(), start(), turn().text("Yes.")];
    let stage = Stage::new(Script::from(turns).repeating_last()).await;
    for prompt in ["one", "two"] {
        stage.exec(["--trust", prompt]).run().await.expect_code(0);
    }
    for pattern in ["cargo *", "make *"] {
        stage.buddy(["grants", "--allow", pattern]).run().await.expect_code(0);
    }
    let other = stage.home.path().join("other");
    std::fs::create_dir(&other).unwrap();
    stage.buddy(["trust", other.to_str().unwrap()]).run().await.expect_code(0);
    stage
}

async fn rows(stage: &Stage, arguments: &[&str]) -> Vec<Value> {
    let finished = stage.buddy(arguments).run().await.expect_code(0);
    serde_json::from_str(&finished.text())
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {finished}"))
}

#[tokio::test]
async fn every_list_has_json_and_a_limit() {
    let stage = staged().await;
    for list in
        [&["sessions"][..], &["models"], &["ps"], &["grants"], &["undo", "--list"], &["trust", "--list"]]
    {
        let all = rows(&stage, &[list, &["--format", "json"]].concat()).await;
        assert!(all.len() >= 2, "{list:?}: {all:?}");
        assert_eq!(rows(&stage, &[list, &["--json"]].concat()).await, all, "{list:?}");
        assert_eq!(rows(&stage, &[list, &["--json", "--limit", "1"]].concat()).await, all[..1], "{list:?}");
        assert_eq!(
            rows(&stage, &[list, &["--json", "--limit", "0"]].concat()).await,
            [] as [Value; 0],
            "{list:?}"
        );
        let count = async |more: &[&str]| {
            let finished = stage.buddy([list, more].concat()).run().await.expect_code(0);
            finished.text().lines().count()
        };
        assert_eq!(count(&["--limit", "1"]).await, 2, "a header and one row: {list:?}");
        assert!(count(&["--format", "text"]).await >= 3, "{list:?}");
        assert_eq!(count(&["--limit", "0"]).await, 0, "{list:?}");
    }
    assert_eq!(rows(&stage, &["asks", "--format", "json", "--limit", "1"]).await, [] as [Value; 0]);
    assert_eq!(rows(&stage, &["sessions", "--grep", "yes", "--json", "--limit", "1"]).await.len(), 1);
}

#[tokio::test]
async fn bad_options_are_named() {
    let stage = Stage::new([]).await;
    for (arguments, hint) in [
        (&["sessions", "--format", "yaml"][..], "yaml"),
        (&["ps", "--json", "--format", "json"], "cannot be used with"),
        (&["models", "--limit", "few"], "few"),
        (&["undo", "--limit", "1"], "--list"),
        (&["trust", "--limit", "1"], "--list"),
    ] {
        stage.buddy(arguments).run().await.expect_code(2).expect_stderr(hint);
    }
}

#[tokio::test]
async fn a_reader_that_went_away_is_no_reason_to_complain() {
    let stage = Stage::new([turn().text("Yes.")]).await;
    stage.exec(["one"]).run().await.expect_code(0);
    for command in [
        "sessions",
        "models --json",
        "trust --list",
        "config show",
        "config schema",
        "completion bash",
        "man",
    ] {
        // A pipe whose reading end is closed before buddy starts.
        let line = format!(
            "rm -f pipe; mkfifo pipe; exec 3<>pipe; exec 4>pipe; exec 3>&-; \"$BUDDY\" trust; exec \"$BUDDY\" {command} >&4"
        );
        let finished = stage.in_bash(&line).run().await.expect_code(141);
        assert!(
            !finished.stderr.contains("panicked") && !finished.stderr.contains("buddy: "),
            "{command}: {finished}"
        );
    }
}
